from app.core.items import Item
from app.core.request_copy import RequestCopy
from app.core.trim_step import show_newest
from app.core.trimming import Trimming
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    result,
    step_context,
    stored,
    synthetic,
    tool,
    user,
)

SUMMARY = synthetic("user", "compaction_summary", "S")


def shown(trimming: Trimming, *items: Item) -> RequestCopy:
    return show_newest(copy_of(*items), step_context(shaping=Shaping(context_policy=trimming)))


def test_without_a_limit_the_copy_is_the_same() -> None:
    copy = copy_of(*stored(user("a")))

    assert show_newest(copy, step_context()) is copy


def test_the_newest_stay_with_what_stands_for_a_fold_and_tells_of_the_workspace() -> None:
    env, *talk = stored(user("cwd", kind="world_state"), user("a"), assistant("b"), user("c"))
    copy = shown(Trimming(keep_last=2), SUMMARY, env, *talk)

    assert copy.items == (SUMMARY, env, *talk[1:])
    assert copy.origins == (0, 1, 3, 4)
    assert copy.repairs == ()


def test_a_result_goes_with_its_call_and_is_no_repair() -> None:
    items = stored(user("a"), assistant(call("c1")), tool(result("c1", "x")), user("b"))

    assert shown(Trimming(keep_last=2), *items).items == items[3:]
    assert shown(Trimming(keep_last=3), *items).items == items[1:]


def test_a_result_that_never_had_a_call_is_left_for_normalize() -> None:
    items = stored(user("a"), tool(result("ghost", "x")), user("b"))

    assert shown(Trimming(keep_last=2), *items).items == items[1:]


def test_tokens_limit_whole_rounds_and_a_pinned_message_stays() -> None:
    items = stored(
        user("pin" * 10), user("x" * 400), assistant(call("c1")), tool(result("c1", "y")), user("b")
    )
    trimming = Trimming(keep_tokens=90, pinned=frozenset({"m1"}))

    assert shown(trimming, *items).items == (items[0], *items[2:])


def test_a_second_trim_changes_nothing() -> None:
    items = stored(*(user(str(number)) for number in range(5)))
    once = shown(Trimming(keep_last=2), *items)

    assert shown(Trimming(keep_last=2), *once.items).items == once.items
