import pytest

from app.core.due import NOT_DUE, Due
from app.policies.compact_config import DEFAULT_COMPACT, CompactConfig
from app.policies.compact_trigger import ConversationSize, due
from tests.requirements import requirement

BY_COUNT = requirement("AW-compact-by-count")
BY_TOKENS = requirement("AW-compact-by-tokens")
EDGE = requirement("AW-verify-edge-of-the-ratio")


def counted(threshold: int, keep_last: int, prefetch_ratio: float = 0.999) -> CompactConfig:
    return CompactConfig(threshold=threshold, keep_last=keep_last, prefetch_ratio=prefetch_ratio)


def measured(
    max_tokens: int, trigger_ratio: float, keep_last: int, prefetch_ratio: float = 0.999_999_999
) -> CompactConfig:
    return CompactConfig(
        max_tokens=max_tokens,
        trigger_ratio=trigger_ratio,
        keep_last=keep_last,
        prefetch_ratio=prefetch_ratio,
    )


def size(messages: int, tokens: int = 0) -> ConversationSize:
    return ConversationSize(messages=messages, estimated_tokens=tokens)


FOLDS: list[object] = [
    pytest.param(counted(4, 2), size(3), None, id="FP1 three"),
    pytest.param(counted(4, 2), size(4), None, id="FP1 four", marks=BY_COUNT),
    pytest.param(counted(4, 2), size(5), 3, id="FP2", marks=BY_COUNT),
    pytest.param(counted(4, 2), size(100, 10**9), 98, id="tokens do not matter to a count"),
    pytest.param(counted(1, 5), size(5), None, id="FP4"),
    pytest.param(counted(1, 9), size(5), None, id="a tail longer than the conversation"),
    pytest.param(counted(4, 0), size(5), 5, id="FP5"),
    pytest.param(counted(4, 4), size(5), 1, id="FP6"),
    pytest.param(measured(1_000, 0.8, 2), size(10, 799), None, id="FP8 below", marks=EDGE),
    pytest.param(measured(1_000, 0.8, 2), size(10, 800), 8, id="FP8 at it", marks=EDGE),
    pytest.param(measured(1_000, 0.8, 4), size(12, 5_000), 8, id="FP9", marks=BY_TOKENS),
    pytest.param(measured(1_000, 0.8, 5), size(3, 9_999), None, id="FP10"),
    pytest.param(measured(1_000, 0.8, 8), size(500, 799), None, id="a count does not matter"),
    pytest.param(measured(1_000, 1.0, 2), size(10, 999), None, id="FP12 below"),
    pytest.param(measured(1_000, 1.0, 2), size(10, 1_000), 8, id="FP12 at it"),
    pytest.param(measured(200_000, 0.8, 8), size(50, 159_999), None, id="FP13 below"),
    pytest.param(measured(200_000, 0.8, 8), size(50, 160_000), 42, id="FP13 at it"),
    pytest.param(measured(100, 0.55, 2), size(10, 55), None, id="FP14 below"),
    pytest.param(measured(100, 0.55, 2), size(10, 56), 8, id="FP14 over it"),
    pytest.param(DEFAULT_COMPACT, size(41), 33, id="FP16 over the threshold"),
    pytest.param(
        CompactConfig(max_tokens=10, threshold=9_999, keep_last=2), size(10, 22), 8, id="FP17"
    ),
]


@pytest.mark.parametrize(("config", "conversation", "fold_to"), FOLDS)
def test_a_fold_is_due_at_the_ratio_and_over_the_count(
    config: CompactConfig, conversation: ConversationSize, fold_to: int | None
) -> None:
    found = due(config, conversation)
    folded = found.fold_to if found.urgency == "hard" else None

    assert folded == fold_to


def test_FP16_at_the_threshold_no_fold_is_due() -> None:
    assert due(DEFAULT_COMPACT, size(40)).urgency == "soft"


@requirement("AW-compact-keep-last")
@pytest.mark.parametrize("keep_last", range(6))
def test_the_tail_is_never_folded(keep_last: int) -> None:
    found = due(counted(1, keep_last), size(5))

    assert found.fold_to == 5 - keep_last


SOFT: list[object] = [
    pytest.param(counted(10, 2, 0.5), size(6), 4, id="H15"),
    pytest.param(counted(10, 2, 0.5), size(5), None, id="a count that is equal"),
    pytest.param(counted(10, 6, 0.5), size(6), None, id="an empty prefix"),
    pytest.param(measured(20, 0.8, 2, 0.5), size(6, 13), 4, id="H16"),
    pytest.param(measured(20, 0.8, 2, 0.5), size(6, 8), 4, id="tokens that are equal"),
    pytest.param(measured(20, 0.8, 2, 0.5), size(6, 7), None, id="tokens below"),
    pytest.param(CompactConfig(max_tokens=1_000_000), size(10, 22), None, id="H19"),
    pytest.param(DEFAULT_COMPACT, size(5), None, id="H9"),
]


@pytest.mark.parametrize(("config", "conversation", "fold_to"), SOFT)
def test_a_summary_begins_before_its_fold_is_due(
    config: CompactConfig, conversation: ConversationSize, fold_to: int | None
) -> None:
    expected = NOT_DUE if fold_to is None else Due(urgency="soft", fold_to=fold_to)

    assert due(config, conversation) == expected
