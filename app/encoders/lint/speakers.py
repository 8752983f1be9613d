"""Roles: who begins, who ends, and who may follow whom.

Source: docs/semantics/lint.md#findings.
"""

from itertools import pairwise

from app.encoders.lint.rules import ProviderRules
from app.encoders.lint.seen import SeenBody, SeenMessage


def check_speakers(seen: SeenBody, rules: ProviderRules) -> None:
    """Look at the order of speakers."""
    messages = seen.messages
    if not messages:
        seen.log.add("no_messages", "", "a body must have a message")
        return
    first, last = messages[0], messages[-1]
    if first.speaker not in rules.first:
        detail = f"the {first.speaker} cannot begin"
        seen.log.add("first_role", first.path, detail)
    if last.speaker not in rules.last:
        seen.log.add("last_role", last.path, f"the {last.speaker} cannot have the last word")
    for before, after in pairwise(messages):
        _check_pair(seen, rules, before, after)


def _check_pair(
    seen: SeenBody, rules: ProviderRules, before: SeenMessage, after: SeenMessage
) -> None:
    if rules.order == "strict" and before.speaker == after.speaker:
        seen.log.add("role_order", after.path, f"two messages of the {after.speaker} in a row")
    if rules.order != "mistral":
        return
    is_user = after.speaker == "user" and not after.results()
    if before.results() and (is_user or after.speaker == "system"):
        detail = f"behind results only the assistant may speak, not the {after.speaker}"
        seen.log.add("role_order", after.path, detail)
    elif after.speaker == "system" and before.speaker != "system":
        detail = "system messages must stand in front"
        seen.log.add("system_in_conversation", after.path, detail)
