import pytest

from app.compaction.errors import NothingToCompact
from app.compaction.fold import plan_fold
from app.compaction.gain import fold_gain, refuse_small_gain
from app.core.limits import Relief
from tests.unit.core.builders import assistant, stored, synthetic, user

TALK = stored(user("a" * 1_000), assistant("b" * 400), user("go"), assistant("c" * 400))


def test_the_gain_is_what_goes_less_the_request_that_is_shown_again() -> None:
    gone = [item.facts.json_bytes for item in (TALK[0], TALK[1], TALK[3])]

    assert fold_gain(TALK, plan_fold(TALK)) == -(-sum(gone) // 4)


def test_what_stands_for_an_earlier_fold_is_no_gain() -> None:
    earlier = (
        synthetic("user", "last_user_request_replay", "a" * 1_000),
        synthetic("user", "compaction_summary", "s" * 1_000),
    )
    items = (*earlier, *stored(assistant("b" * 5)))

    assert fold_gain(items, plan_fold(items)) == -(-items[2].facts.json_bytes // 4)


def test_a_fold_for_less_than_the_gain_is_refused() -> None:
    fold = plan_fold(TALK)
    gain = fold_gain(TALK, fold)
    refuse_small_gain(TALK, fold, Relief(target_tokens=None, min_gain_tokens=gain))

    with pytest.raises(NothingToCompact) as refused:
        refuse_small_gain(TALK, fold, Relief(target_tokens=None, min_gain_tokens=gain + 1))

    assert refused.value.detail == (
        f"a fold would take away {gain} tokens, fewer than the {gain + 1} that make one worth it"
    )
