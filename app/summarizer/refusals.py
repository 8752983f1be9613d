"""What an endpoint's refusal means: by its status and its codes, never by its words.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from app.summarizer.answers import SummaryError, SummaryFailure
from app.summarizer.reading import object_of

_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""What OpenAI and llama.cpp call an input that is longer than the model's window."""
_TRANSIENT_CODES = frozenset({"overloaded", "overloaded_error", "rate_limit_exceeded"})
"""Refusals of the moment that some gateways send with a status of the request."""
_TRANSIENT_STATUSES = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Codes look like this; anything else may be text that is not ours to repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer that says no."""

    status: int | None
    """None for a refusal in the middle of a stream, which began with 200."""
    body: Mapping[str, object]

    @property
    def wants_other_limit(self) -> bool:
        """Whether all that is wrong is the name of the output limit."""
        error = self._error
        return (error.get("code"), error.get("param")) == ("unsupported_parameter", "max_tokens")

    def failure(self) -> SummaryFailure:
        """The failure that it is."""
        labels = tuple(self._labels())
        status = self._status
        told = "the response stream ended in an error" if status is None else f"HTTP {status}"
        detail = f"{told} ({', '.join(labels)})" if labels else told
        return SummaryFailure(error=_class(status, frozenset(labels)), detail=detail)

    @property
    def _error(self) -> Mapping[str, object]:
        # Some servers put the members of the error at the top.
        return object_of(self.body.get("error")) or self.body

    @property
    def _status(self) -> int | None:
        code = self._error.get("code")
        # Gateways pass the status of whoever stands behind them on as a code.
        is_status = self.status is None and type(code) is int and 400 <= code <= 599
        return code if is_status and isinstance(code, int) else self.status

    def _labels(self) -> Iterator[str]:
        for name in ("code", "type"):
            label = self._error.get(name)
            if isinstance(label, str) and _LABEL.fullmatch(label):
                yield label


def _class(status: int | None, labels: frozenset[str]) -> SummaryError:
    if labels & _OVERFLOW_CODES or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return "context_overflow"
    if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "transient"
    if status in _TRANSIENT_STATUSES or labels & _TRANSIENT_CODES:
        return "transient"
    return "deterministic"
