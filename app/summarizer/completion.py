"""Chat completions as they come in: bytes are fed until there is an answer.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

from collections.abc import Mapping

from app.summarizer.answers import SummaryAnswer, SummaryFailure, SummaryText
from app.summarizer.reading import (
    json_object,
    list_of,
    object_of,
    text_of,
    usage_of,
    whole_text,
)
from app.summarizer.refusals import Refusal

UNUSABLE_JSON = SummaryFailure(error="transient", detail="the response was not valid JSON")
NO_COMPLETION = SummaryFailure(
    error="transient", detail="the response stream ended without a completion"
)
TWO_COMPLETIONS = SummaryFailure(
    error="deterministic", detail="the response stream went on after its completion"
)
TOOL_CALL_IN_STREAM = SummaryFailure(
    error="transient",
    detail="compaction response was not usable: the response stream requested a tool call",
)
"""Another attempt may answer with text, so this is no failure for good."""

_FINISH_REASON_CHARS = 64
"""No real one is longer."""
_DATA = b"data:"


class StreamedCompletion:
    """A completion in server-sent events. A `data` line is an event by itself."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._texts: list[str] = []
        self._finish_reason: str | None = None
        self._usage: Mapping[str, object] | None = None

    def feed(self, data: bytes) -> SummaryAnswer | None:
        """The answer, once the bytes so far hold one."""
        *endings, rest = data.split(b"\n")
        for ending in endings:
            self._line += ending
            answer = self._take_line()
            if answer is not None:
                return answer
        self._line += rest
        return None

    def end(self) -> SummaryAnswer:
        """The answer now that nothing more comes."""
        return self._take_line() or self._finished()

    def _take_line(self) -> SummaryAnswer | None:
        line = bytes(self._line)
        self._line.clear()
        payload = line.removeprefix(_DATA).strip(b" \r")
        if not line.startswith(_DATA) or not payload:
            return None
        if payload == b"[DONE]":
            return self._finished()
        event = json_object(payload)
        return UNUSABLE_JSON if event is None else self._take_event(event)

    def _take_event(self, event: Mapping[str, object]) -> SummaryFailure | None:
        if event.get("error"):
            return Refusal(status=None, body=event).failure()
        self._usage = usage_of(event.get("usage")) or self._usage
        failures = (self._take_choice(object_of(each)) for each in list_of(event.get("choices")))
        return next((failure for failure in failures if failure is not None), None)

    def _take_choice(self, choice: Mapping[str, object]) -> SummaryFailure | None:
        delta = object_of(choice.get("delta"))
        if delta.get("tool_calls") or delta.get("function_call"):
            return TOOL_CALL_IN_STREAM
        text = text_of(delta.get("content"))
        if text and self._finish_reason is not None:
            return TWO_COMPLETIONS
        self._texts.append(text)
        self._finish_reason = self._finish_reason or _finish_reason(choice)
        return None

    def _finished(self) -> SummaryAnswer:
        if self._finish_reason is None:
            return NO_COMPLETION
        return SummaryText(
            text=whole_text("".join(self._texts)),
            finish_reason=self._finish_reason,
            tool_calls=0,
            usage=self._usage,
        )


class WholeCompletion:
    """A completion in one JSON document, from servers that do not stream."""

    def __init__(self) -> None:
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Nothing: only the end shows that a document is whole."""
        self._body += data

    def end(self) -> SummaryAnswer:
        """The answer now that nothing more comes."""
        body = json_object(bytes(self._body))
        if body is None:
            return UNUSABLE_JSON
        choice = next(map(object_of, list_of(body.get("choices"))), None)
        if choice is None:
            return Refusal(status=None, body=body).failure() if body.get("error") else NO_COMPLETION
        message = object_of(choice.get("message"))
        return SummaryText(
            text=whole_text(text_of(message.get("content"))),
            finish_reason=_finish_reason(choice),
            tool_calls=len(list_of(message.get("tool_calls"))),
            usage=usage_of(body.get("usage")),
        )


def _finish_reason(choice: Mapping[str, object]) -> str | None:
    reason = choice.get("finish_reason")
    return whole_text(reason[:_FINISH_REASON_CHARS]) if isinstance(reason, str) else None
