"""Views: which messages are shown, and what becomes of them when another view is made."""

from dataclasses import replace

import pytest

from app.compaction.view import WHOLE, Coverage, PairPlace, View

FOLDED = View(checkpoint_id="c1", ranges=(), open_after=4)
"""A summary stands for the first four messages."""
REWOUND = View(checkpoint_id="c1", ranges=((4, 6),), open_after=10)
"""Of the messages behind the summary, 5 and 6 are shown again, and all from 11 on."""


def shown(view: View, through: int = 14) -> list[int]:
    return [sequence for sequence in range(1, through + 1) if view.shows(sequence)]


def test_the_view_of_a_session_that_was_never_compacted_shows_everything() -> None:
    assert shown(WHOLE, 3) == [1, 2, 3]
    assert WHOLE.checkpoint_id is None


def test_a_fold_shows_what_comes_behind_its_boundary() -> None:
    assert WHOLE.folded("c1", 4) == FOLDED
    assert shown(FOLDED, 6) == [5, 6]


def test_ranges_are_shown_beside_what_is_open() -> None:
    assert shown(REWOUND) == [5, 6, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("view", "sequence", "ranges", "seen"),
    [
        (WHOLE, 3, ((0, 3),), [1, 2, 3]),
        (FOLDED, 6, ((4, 6),), [5, 6]),
        (FOLDED, 4, (), []),
        (REWOUND, 5, ((4, 5),), [5]),
        (REWOUND, 8, ((4, 6),), [5, 6]),
        (REWOUND, 12, ((4, 6), (10, 12)), [5, 6, 11, 12]),
    ],
)
def test_an_earlier_view_shows_no_message_that_came_later(
    view: View, sequence: int, ranges: tuple[tuple[int, int], ...], seen: list[int]
) -> None:
    earlier = view.through(sequence)
    now = earlier.closed_at(14)

    assert earlier == View(checkpoint_id=view.checkpoint_id, ranges=ranges, open_after=sequence)
    assert shown(earlier, sequence) == seen
    assert shown(now) == seen
    assert shown(now, 15) == [*seen, 15]


def test_a_fold_of_a_rewound_view_takes_the_ranges_it_covers() -> None:
    assert REWOUND.folded("c2", 5) == View(checkpoint_id="c2", ranges=((5, 6),), open_after=10)
    assert REWOUND.folded("c2", 6) == View(checkpoint_id="c2", ranges=(), open_after=10)
    assert REWOUND.folded("c2", 12) == View(checkpoint_id="c2", ranges=(), open_after=12)


def test_a_hidden_message_is_covered_by_the_view_that_hides_it() -> None:
    coverage = Coverage(view=REWOUND, view_id="compaction-2")

    assert [coverage.of(sequence) for sequence in (4, 5, 6, 7, 10, 11)] == [
        "compaction-2",
        None,
        None,
        "compaction-2",
        "compaction-2",
        None,
    ]


def test_a_message_that_a_checkpoint_shows_again_is_shown() -> None:
    view = FOLDED.folded("c2", 6, (2, 5))

    assert [sequence for sequence in range(1, 9) if view.shows(sequence)] == [2, 5, 7, 8]
    assert view.through(7).again == view.closed_at(9).again == (2, 5)
    assert view.folded("c3", 8).again == ()


EARLY = PairPlace(compaction_id="p1", index=0, sequences=(5, 6))
SPREAD = PairPlace(compaction_id="p1", index=1, sequences=(8, 9, 12))


def test_pairs_leave_holes_and_everything_between_them_stays() -> None:
    view = FOLDED.with_pairs((EARLY, SPREAD), "c1")

    assert view.ranges == ((6, 7), (9, 11))
    assert view.open_after == 12
    assert shown(view) == [7, 10, 11, 13, 14]
    assert [pair.sequence for pair in view.pairs] == [6, 12]
    assert view.stands_on == "c1"


def test_pairs_may_stand_in_ranges_that_are_shown_again() -> None:
    view = REWOUND.with_pairs((EARLY,), "r1")

    assert (view.ranges, view.open_after) == ((), 10)
    assert shown(view) == [11, 12, 13, 14]


def test_a_later_batch_stands_beside_an_earlier_one_in_order() -> None:
    first = WHOLE.with_pairs((SPREAD,), None)
    both = first.with_pairs((replace(EARLY, compaction_id="p2"),), None)

    assert [pair.compaction_id for pair in both.pairs] == ["p2", "p1"]
    assert shown(both) == [1, 2, 3, 4, 7, 10, 11, 13, 14]


def test_a_fold_takes_the_summaries_of_pairs_through_its_boundary() -> None:
    view = WHOLE.with_pairs((EARLY, SPREAD), None)

    assert view.folded("c2", 7) == View(
        checkpoint_id="c2", ranges=((9, 11),), open_after=12, pairs=(SPREAD,)
    )
    assert view.folded("c2", 12) == View(checkpoint_id="c2", ranges=(), open_after=12)


def test_an_earlier_view_has_no_summary_of_what_came_later() -> None:
    view = WHOLE.with_pairs((EARLY, SPREAD), None)

    assert view.through(11).pairs == (EARLY,)
    assert view.through(12).closed_at(20).pairs == (EARLY, SPREAD)


def test_a_pair_is_covered_by_the_batch_that_summarised_it() -> None:
    coverage = Coverage(view=FOLDED.with_pairs((EARLY,), "c1"), view_id="c1")

    assert [coverage.of(sequence) for sequence in (4, 5, 6, 7)] == ["c1", "p1", "p1", None]
