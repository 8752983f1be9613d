"""Predict what a provider will count, from what it has counted before.

A prediction starts at the last input that was reported in this window,
adds the output that was reported with it, and an estimate of everything
else that came after, scaled by the ratio of reports to estimates that this
session has shown. The state is one small value: nothing is ever read again.

Source: docs/semantics/calibration.md.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from app.core.call_size import Answer, CallSize

LOWEST_RATIO, HIGHEST_RATIO = 0.5, 2.0
"""No vocabulary is further than this from another one on the text of agents."""

KEPT_MODELS = 4
"""Models of a session whose ratios are kept; the least recently used one goes first."""

FIRST_WEIGHT_TOKENS = 256
"""What a model's first report counts for: a guess that any later report outweighs."""

_BELIEVABLE_WHOLE = (2 / 3, 3 / 2)
"""A first input outside of this holds things that we do not know of, so it tells no ratio."""

_LEAST_WEIGHT_TOKENS, _MOST_WEIGHT_TOKENS = 1_024, 8_192
"""The weight of one report: at most what all before it weigh, and within these bounds."""

_MEMORY_TOKENS = 32_768
"""Older reports fade beyond this, so that the ratio follows the session."""

_SLACK_TOKENS = 1_024
"""Reports that are off by less are never doubted, however small the request is."""

_CALL_SLACK_TOKENS = 64
"""What a provider may spend on the frame of an answer or of a tool call in it."""

_MOST_VOTES = 3
_VOTE_SLACK_TOKENS = 64
"""A difference below this is lost in the noise of what came after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a provider reported for a call, normalised: the input includes its cached part."""

    model: str
    input_tokens: int
    output_tokens: int | None
    reasoning_output_tokens: int | None = None
    """The part of the output that was reasoning. None where it is not told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The last report of this window beside the size of its request."""

    report: Report
    basis: str
    through_sequence: int
    tokens: int
    is_whole: bool = True
    """Whether the request held all that was counted; else it can be compared with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRatio:
    """How a model's reports compare to the estimates of one counter."""

    model: str
    basis: str
    observed_tokens: int
    estimated_tokens: int
    """Never zero."""
    reports: int
    returns: int = 0
    """Above zero where whole outputs came back as input, below where their hidden part did not."""

    @property
    def value(self) -> float:
        """Reported tokens for each estimated one, bounded."""
        return min(HIGHEST_RATIO, max(LOWEST_RATIO, self.observed_tokens / self.estimated_tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All that a session remembers of its reports."""

    anchor: Anchor | None = None
    ratios: tuple[ModelRatio, ...] = ()
    """The most recently used one last."""
    has_doubt: bool = False
    """Whether the last report was too far off to be believed without a second one."""

    @property
    def through_sequence(self) -> int | None:
        """The last message of the last reported request. None: none was reported in this window."""
        return None if self.anchor is None else self.anchor.through_sequence

    def in_new_window(self) -> "Calibration":
        """The same after history was replaced: what was reported of it says nothing any more."""
        return replace(self, anchor=None, has_doubt=False)


NOTHING_REPORTED = Calibration()
"""Where every session begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The input that the next call is expected to be reported with, and how it was made."""

    tokens: int
    ratio: ModelRatio
    anchor: Anchor | None
    answer_tokens: int
    """Of the answer to the anchor's call, as it comes back."""
    later_tokens: int
    """The estimate of all else since the anchor, or of the whole request; unscaled."""

    @property
    def basis(self) -> str:
        """How the number was made, for people."""
        scale = (
            f"{self.later_tokens} estimated tokens x {self.ratio.value:.3f}"
            f" ({self.ratio.reports} reports of {self.ratio.model},"
            f" bounds {LOWEST_RATIO} to {HIGHEST_RATIO})"
        )
        if self.anchor is None:
            return f"no report in this window: {scale}"
        report = self.anchor.report
        return (
            f"reported input {report.input_tokens} of {report.model}"
            f" through message {self.anchor.through_sequence}"
            f" + answer {self.answer_tokens} + {scale}"
        )


def predict(calibration: Calibration, model: str, call: CallSize) -> Prediction | None:
    """The input that `model` will report for a request; None where no report tells anything.

    A model without reports of its own borrows the ratio of the one before
    it. The input of another model is converted by the two ratios. Of what a
    provider holds itself nobody knows what it will count.
    """
    ratio = _ratio(calibration, model, call.basis)
    if ratio is None or not call.is_whole:
        return None
    anchor = _usable_anchor(calibration, call)
    if anchor is None:
        return Prediction(
            tokens=round(call.tokens * ratio.value),
            ratio=ratio,
            anchor=None,
            answer_tokens=0,
            later_tokens=call.tokens,
        )
    before = _ratio(calibration, anchor.report.model, call.basis) or ratio
    answer, _ = _returned(anchor.report, call.answer, before)
    later = _later(anchor, call)
    known = (anchor.report.input_tokens + answer) * ratio.value / before.value
    return Prediction(
        tokens=max(0, round(known + later * ratio.value)),
        ratio=ratio,
        anchor=anchor,
        answer_tokens=answer,
        later_tokens=later,
    )


def observed(calibration: Calibration, call: CallSize, report: Report) -> Calibration:
    """What is remembered after `report` was made of the request of size `call`.

    A report of an older request than the last one changes nothing. One that
    is more than twice or less than half of what was predicted changes
    nothing either, unless the one before it was like that too. One of a
    request that was only a part teaches nothing.
    """
    anchor = calibration.anchor
    if anchor is not None and call.through_sequence < anchor.through_sequence:
        return calibration
    if not call.is_whole:
        return replace(calibration, anchor=_anchor(call, report), has_doubt=False)
    expected = predict(calibration, report.model, call)
    is_believable = expected is None or expected.anchor is None or _is_near(expected, report)
    if not is_believable and not calibration.has_doubt:
        return replace(calibration, has_doubt=True)
    ratio = _own_ratio(calibration, report.model, call.basis)
    if ratio is None:
        ratio = _first_ratio(call, report)
    elif is_believable:
        ratio = _learned(ratio, _usable_anchor(calibration, call), call, report)
    return Calibration(anchor=_anchor(call, report), ratios=_with_ratio(calibration.ratios, ratio))


def calibration_json(calibration: Calibration) -> dict[str, object]:
    """A calibration as JSON; `calibration_from_json` takes it back."""
    return asdict(calibration)


def calibration_from_json(value: object) -> Calibration:
    """The calibration of a value that `calibration_json` made."""
    # Only values made by `calibration_json` come here, so their shape is known.
    fields = cast("Mapping[str, Any]", value)
    anchor = fields["anchor"]
    return Calibration(
        anchor=None
        if anchor is None
        else Anchor(**{**anchor, "report": Report(**anchor["report"])}),
        ratios=tuple(ModelRatio(**ratio) for ratio in fields["ratios"]),
        has_doubt=fields["has_doubt"],
    )


def _anchor(call: CallSize, report: Report) -> Anchor:
    return Anchor(
        report=report,
        basis=call.basis,
        through_sequence=call.through_sequence,
        tokens=call.tokens,
        is_whole=call.is_whole,
    )


def _own_ratio(calibration: Calibration, model: str, basis: str) -> ModelRatio | None:
    for ratio in calibration.ratios:
        if (ratio.model, ratio.basis) == (model, basis):
            return ratio
    return None


def _ratio(calibration: Calibration, model: str, basis: str) -> ModelRatio | None:
    own = _own_ratio(calibration, model, basis)
    if own is not None:
        return own
    borrowed = [ratio for ratio in calibration.ratios if ratio.basis == basis]
    return borrowed[-1] if borrowed else None


def _usable_anchor(calibration: Calibration, call: CallSize) -> Anchor | None:
    """The anchor, where the request continues the one that was reported."""
    anchor = calibration.anchor
    if anchor is None or not anchor.is_whole or anchor.basis != call.basis:
        return None
    return anchor if call.after_sequence == anchor.through_sequence else None


def _later(anchor: Anchor, call: CallSize) -> int:
    """The estimate of what a request has more than the anchor's, its answer left out."""
    answer = 0 if call.answer is None else call.answer.tokens
    return call.tokens - anchor.tokens - answer


def _returned(report: Report, answer: Answer | None, ratio: ModelRatio) -> tuple[int, int | None]:
    """Tokens of a reported output that come back as input, and the other reading of it.

    Reasoning that the request does not hold stays behind, and so may what it
    holds. The usage of an answer that was cut off may leave out nearly all
    of it; whether calls without a result come back is then not known, and
    the report is as good as any guess.
    """
    if answer is None:
        return 0, None
    estimate = round(answer.tokens * ratio.value)
    whole = report.output_tokens
    if whole is None:
        return estimate, None
    if whole * 2 < estimate:
        return (estimate if answer.is_settled else whole), None
    if report.reasoning_output_tokens:
        visible, is_seen = max(0, whole - report.reasoning_output_tokens), False
    elif whole > 2 * estimate:
        slack = _CALL_SLACK_TOKENS * (1 + answer.calls)
        visible, is_seen = estimate, whole <= 2 * estimate + slack
    else:
        return whole, None
    comes_back = ratio.returns >= 0 if is_seen or answer.has_reasoning else ratio.returns > 0
    return (whole, visible) if comes_back else (visible, whole)


def _is_near(expected: Prediction, report: Report) -> bool:
    seen = report.input_tokens
    return (
        expected.tokens <= 2 * seen + _SLACK_TOKENS and seen <= 2 * expected.tokens + _SLACK_TOKENS
    )


def _first_ratio(call: CallSize, report: Report) -> ModelRatio:
    """The ratio of a whole input, or 1 where the request is not all that the provider saw."""
    lowest, highest = _BELIEVABLE_WHOLE
    whole = report.input_tokens / max(1, call.tokens)
    is_whole = lowest <= whole <= highest
    return ModelRatio(
        model=report.model,
        basis=call.basis,
        observed_tokens=round(FIRST_WEIGHT_TOKENS * whole) if is_whole else FIRST_WEIGHT_TOKENS,
        estimated_tokens=FIRST_WEIGHT_TOKENS,
        reports=1,
    )


def _learned(
    ratio: ModelRatio, anchor: Anchor | None, call: CallSize, report: Report
) -> ModelRatio:
    """The ratio after what was reported of the growth since the anchor."""
    if anchor is None or anchor.report.model != report.model:
        return ratio
    later = _later(anchor, call)
    if later <= 0:
        return ratio
    grown = report.input_tokens - anchor.report.input_tokens
    answer, other = _returned(anchor.report, call.answer, ratio)
    returns = ratio.returns
    if other is not None:
        fitting = min((answer, other), key=lambda read: abs(grown - read - later * ratio.value))
        if abs(answer - other) * 4 > later * ratio.value + _VOTE_SLACK_TOKENS:
            returns += 1 if fitting == max(answer, other) else -1
            returns = min(_MOST_VOTES, max(-_MOST_VOTES, returns))
        answer = fitting
    return _weighed(
        replace(ratio, returns=returns, reports=ratio.reports + 1), grown - answer, later
    )


def _weighed(ratio: ModelRatio, seen: int, estimate: int) -> ModelRatio:
    """The ratio with one more report, whose influence is bounded in size and in weight."""
    bounded = min(HIGHEST_RATIO * estimate, max(LOWEST_RATIO * estimate, seen))
    most = max(_LEAST_WEIGHT_TOKENS, min(ratio.estimated_tokens, _MOST_WEIGHT_TOKENS))
    weight = min(estimate, most)
    observed_tokens = ratio.observed_tokens + bounded * weight / estimate
    estimated_tokens = ratio.estimated_tokens + weight
    fading = min(1.0, _MEMORY_TOKENS / estimated_tokens)
    return replace(
        ratio,
        observed_tokens=round(observed_tokens * fading),
        estimated_tokens=round(estimated_tokens * fading),
    )


def _with_ratio(ratios: tuple[ModelRatio, ...], ratio: ModelRatio) -> tuple[ModelRatio, ...]:
    others = tuple(
        other for other in ratios if (other.model, other.basis) != (ratio.model, ratio.basis)
    )
    return (*others, ratio)[-KEPT_MODELS:]
