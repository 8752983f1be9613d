"""Calls and results: each call has one result, and where the provider looks for it.

Source: docs/semantics/lint.md#findings.
"""

from collections.abc import Sequence

from app.encoders.lint.rules import ProviderRules
from app.encoders.lint.seen import SeenBody, SeenCall, SeenMessage, SeenResult


def check_pairs(seen: SeenBody, rules: ProviderRules) -> None:
    """Look at every call and every result."""
    open_calls: list[SeenCall] = []
    answered: set[str] = set()
    for message in seen.messages:
        results = message.results()
        if open_calls and not results and rules.answering != "anywhere":
            _tell_open(seen, open_calls)
            open_calls = []
        for result in results:
            _take(seen, result, open_calls, answered)
        if results:
            _check_front(seen, message, rules)
        if open_calls and results and rules.answering == "next":
            _tell_open(seen, open_calls)
            open_calls = []
        calls = message.calls()
        if calls:
            answered = set() if rules.answering != "anywhere" else answered
            open_calls += calls
    _tell_open(seen, open_calls)
    _check_ids(seen, rules)
    for message in seen.messages:
        for call in message.calls():
            if not call.has_object:
                detail = "the arguments must be a JSON object"
                seen.log.add("invalid_arguments", call.arguments_path, detail)


def _tell_open(seen: SeenBody, open_calls: Sequence[SeenCall]) -> None:
    for call in open_calls:
        seen.log.add("call_without_result", call.path, f"call {call.id!r} has no result behind it")


def _take(
    seen: SeenBody, result: SeenResult, open_calls: list[SeenCall], answered: set[str]
) -> None:
    """Let a result answer the first open call of its id."""
    for at, call in enumerate(open_calls):
        if call.id == result.id:
            del open_calls[at]
            answered.add(result.id)
            return
    if result.id in answered:
        detail = f"call {result.id!r} has a result already"
        seen.log.add("duplicate_result", result.path, detail)
    else:
        detail = f"no call {result.id!r} stands right in front"
        seen.log.add("result_without_call", result.path, detail)


def _check_front(seen: SeenBody, message: SeenMessage, rules: ProviderRules) -> None:
    """Results come first in their message, where others may stand beside them."""
    if rules.answering != "next":
        return
    kinds = [isinstance(part, SeenResult) for part in message.parts]
    if False in kinds and True in kinds[kinds.index(False) :] and rules.ids != "loose":
        detail = "results must stand in front of everything else"
        seen.log.add("result_behind_other", message.path, detail)


def _check_ids(seen: SeenBody, rules: ProviderRules) -> None:
    met: set[str] = set()
    for message in seen.messages:
        here: set[str] = set()
        for call in message.calls():
            if rules.call_id.fullmatch(call.id) is None:
                detail = f"{call.id!r} has letters or a length that are not taken"
                seen.log.add("invalid_call_id", call.path, detail)
            is_known = call.id in here or (rules.ids == "once" and call.id in met)
            if is_known and rules.ids != "loose":
                detail = f"{call.id!r} is the id of another call"
                seen.log.add("duplicate_call_id", call.path, detail)
            here.add(call.id)
        met |= here
