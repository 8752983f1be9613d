import pytest

from app.compaction.summary_check import SummaryAccepted, SummaryRejected
from app.compaction.summary_share import summary_cap, within_share
from app.core.counting import tokens_of_bytes


@pytest.mark.parametrize(
    ("window", "share", "cap"), [(200_000, 20, 40_000), (99, 20, 19), (0, 20, 0), (-5, 20, 0)]
)
def test_a_share_is_rounded_down(window: int, share: int, cap: int) -> None:
    assert summary_cap(window, share) == cap


@pytest.mark.parametrize("attempts_left", [0, 1])
@pytest.mark.parametrize("size", [1, 400])
def test_a_summary_within_its_share_stays_as_it_is(size: int, attempts_left: int) -> None:
    assert within_share("s" * size, 100, attempts_left) == SummaryAccepted(summary="s" * size)


def test_a_longer_one_is_asked_for_again() -> None:
    assert within_share("s" * 401, 100, 1) == SummaryRejected(
        reason="summary took 101 tokens, more than its share of 100"
    )


@pytest.mark.parametrize("text", ["s" * 5_000, "ß" * 5_000, "世" * 5_000, "🙂" * 5_000])
@pytest.mark.parametrize("cap", [0, 1, 11, 12, 13, 14, 100, 999])
def test_at_last_it_is_cut_to_its_share(text: str, cap: int) -> None:
    cut = within_share(text, cap, 0)
    assert isinstance(cut, SummaryAccepted)

    assert tokens_of_bytes(len(cut.summary.encode())) <= cap
    assert within_share(cut.summary, cap, 0) == cut


def test_a_cut_summary_keeps_head_and_tail() -> None:
    cut = within_share("a" * 400 + "b" * 400, 50, 0)
    assert isinstance(cut, SummaryAccepted)

    assert cut.summary == f"{'a' * 76}…648 chars truncated…{'b' * 76}"
