from dataclasses import replace

import pytest

from app.compaction.contributors import (
    CONTRIBUTORS,
    Contributor,
    Evidence,
    Necessity,
    collect_state,
    sections_of,
)
from app.compaction.errors import StateError
from app.compaction.reminder import Section, render_reminder
from app.compaction.runtime_state import (
    EMPTY_STATE,
    CollectionWarning,
    Extension,
    RuntimeState,
)
from app.compaction.turn_plan import EMPTY_PLAN, TurnPlan
from app.core.blocks import Artifact
from tests.requirements import requirement
from tests.unit.compaction.evidence import change, evidence, plan, undone

FUTURE = Extension(key="future_state", schema_version=7, value={"kept": True})
STALE = CollectionWarning(contributor_key="goals", code="collection_failed")
READING = plan(("read", "in_progress"))


def failing(state: RuntimeState, evidence: Evidence) -> RuntimeState:
    raise StateError("nothing to be had")


def contributor(key: str, *, necessity: Necessity = "required") -> Contributor:
    """One that writes its key behind the edited paths."""
    return Contributor(
        key=key,
        necessity=necessity,
        collect=lambda state, _: replace(state, edited_paths=(*state.edited_paths, key)),
        section=lambda _: Section(title=key, lines=(key,)),
    )


def reminder_after(base: RuntimeState, *artifacts: Artifact, plan: TurnPlan | None = None) -> str:
    return render_reminder(sections_of(collect_state(base, evidence(*artifacts, plan=plan))))


def test_K29_standing_changes_reach_the_state_and_the_reminder() -> None:
    artifacts = (change("b.rs"), change("a.rs"), undone("ignored.rs"), change("a.rs"))

    assert collect_state(EMPTY_STATE, evidence(*artifacts)) == replace(
        EMPTY_STATE, edited_paths=("a.rs", "b.rs")
    )
    assert reminder_after(EMPTY_STATE, *artifacts) == (
        '<system_reminder format_version="1">\n## Edited paths\n- a.rs\n- b.rs\n</system_reminder>'
    )


def test_K30_a_session_that_changed_nothing_says_so() -> None:
    assert reminder_after(EMPTY_STATE) == (
        '<system_reminder format_version="1">\n'
        "No additional durable runtime state was recorded at compaction time.\n"
        "</system_reminder>"
    )


def test_K31_paths_are_derived_anew_and_unknown_extensions_carry_over() -> None:
    base = RuntimeState(edited_paths=("a.rs", "b.rs"), extensions=(FUTURE,), warnings=())
    artifacts = (undone("a.rs"), change("b.rs"), change("c.rs"))

    assert collect_state(base, evidence(*artifacts)) == replace(base, edited_paths=("b.rs", "c.rs"))
    assert reminder_after(base, *artifacts) == (
        '<system_reminder format_version="1">\n## Edited paths\n- b.rs\n- c.rs\n</system_reminder>'
    )


def test_K32_a_best_effort_contributor_that_fails_leaves_one_fresh_warning() -> None:
    base = replace(EMPTY_STATE, warnings=(STALE, STALE))
    optional = replace(contributor("other", necessity="best_effort"), collect=failing)

    assert collect_state(base, evidence(change("a.rs")), (*CONTRIBUTORS, optional)) == replace(
        EMPTY_STATE,
        edited_paths=("a.rs",),
        warnings=(CollectionWarning(contributor_key="other", code="collection_failed"),),
    )


def test_stale_warnings_are_gone_where_everybody_delivers() -> None:
    assert collect_state(replace(EMPTY_STATE, warnings=(STALE,)), evidence()) == EMPTY_STATE


def test_a_best_effort_contributor_that_delivers_leaves_no_warning() -> None:
    optional = contributor("goals", necessity="best_effort")

    assert collect_state(EMPTY_STATE, evidence(), (optional,)) == replace(
        EMPTY_STATE, edited_paths=("goals",)
    )


def test_a_required_contributor_that_fails_fails_the_compaction() -> None:
    required = replace(contributor("goals"), collect=failing)

    with pytest.raises(StateError, match=r"^nothing to be had$"):
        collect_state(EMPTY_STATE, evidence(), (required,))


def test_an_undecodable_artifact_fails_the_compaction() -> None:
    broken = Artifact(kind="file_change", payload="a.rs")

    with pytest.raises(StateError, match=r"^file change artifact is not a JSON object$"):
        collect_state(EMPTY_STATE, evidence(broken))


def test_K34_contributors_come_in_the_order_of_their_keys() -> None:
    contributors = (contributor("b"), contributor("a"), contributor("B"))

    assert collect_state(EMPTY_STATE, evidence(), contributors).edited_paths == ("B", "a", "b")
    assert [section.title for section in sections_of(EMPTY_STATE, contributors)] == ["B", "a", "b"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (("a", ""), "runtime contributor key must not be blank"),
        (("\u2028",), "runtime contributor key must not be blank"),
        (("a", "b", "a"), "duplicate runtime contributor key: a"),
    ],
)
def test_blank_and_duplicate_keys_are_refused(keys: tuple[str, ...], message: str) -> None:
    contributors = tuple(map(contributor, keys))

    with pytest.raises(StateError, match=f"^{message}$"):
        collect_state(EMPTY_STATE, evidence(), contributors)
    with pytest.raises(StateError, match=f"^{message}$"):
        sections_of(EMPTY_STATE, contributors)


@requirement("OW-9-plan-in-the-reminder")
def test_K33_the_plan_of_the_turn_is_in_the_reminder() -> None:
    working = plan(
        ("read", "completed"),
        ("write", "in_progress"),
        ("test", "pending"),
        explanation="scoping the work",
    )

    assert reminder_after(EMPTY_STATE, plan=working) == (
        '<system_reminder format_version="1">\n'
        "## Current plan\n"
        "scoping the work\n"
        "- [completed] read\n"
        "- [in_progress] write\n"
        "- [pending] test\n"
        "</system_reminder>"
    )


def test_K35_a_plan_lasts_until_a_turn_clears_it() -> None:
    first = collect_state(EMPTY_STATE, evidence(plan=READING))
    without_a_turn = collect_state(first, evidence())
    cleared = collect_state(without_a_turn, evidence(plan=EMPTY_PLAN))

    assert without_a_turn == first
    assert sections_of(without_a_turn)[1].lines == ("- [in_progress] read",)
    assert sections_of(cleared)[1].lines == ()


def test_K36_paths_come_before_the_plan_with_one_blank_line_between() -> None:
    assert reminder_after(EMPTY_STATE, change("a.rs"), plan=READING) == (
        '<system_reminder format_version="1">\n'
        "## Edited paths\n"
        "- a.rs\n"
        "\n"
        "## Current plan\n"
        "- [in_progress] read\n"
        "</system_reminder>"
    )


def test_B079_open_work_is_told_by_the_caller_and_not_by_the_summary() -> None:
    steps = [(f"step {number}", "completed") for number in range(1, 9)]
    todo = plan(*[(step, "completed") for step, _ in steps], ("step 9", "pending"))
    lines = reminder_after(EMPTY_STATE, plan=todo).split("\n")

    assert lines[2:11] == [
        *(f"- [completed] step {number}" for number in range(1, 9)),
        "- [pending] step 9",
    ]


def test_B080_a_finished_plan_comes_back_as_finished() -> None:
    done = plan(("build", "completed"), ("ship", "completed"))
    carried = collect_state(collect_state(EMPTY_STATE, evidence(plan=done)), evidence())

    assert sections_of(carried)[1].lines == ("- [completed] build", "- [completed] ship")
