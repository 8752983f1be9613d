import pytest

from app.world_state.baseline import Absent, Baseline, Known, SectionBaseline, SectionState, Unknown
from app.world_state.diff import Emission, Notice, advance, diff
from app.world_state.sample_point import SamplePoint
from app.world_state.sections import BUILT_IN, INSTRUCTIONS, PROJECT
from tests.requirements import requirement
from tests.unit.world_state.captures import INSTRUCTIONS_ID, POINT, PROJECT_ID

OLD = Known(text="<project_instructions>\n旧规范\n</project_instructions>")
NEW = Known(text="<project_instructions>\n新规范\n</project_instructions>")
REPLACEMENT = f"以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。\n\n{NEW.text}"
REMOVAL = "先前提供的 AGENTS.md 指令不再适用。"

GONE: frozenset[str] = frozenset()
KEPT = frozenset({INSTRUCTIONS_ID})


def emission(notice: Notice | None, text: str, state: SectionState) -> Emission:
    return Emission(
        section=INSTRUCTIONS_ID,
        message_id="world-state:T1:1:1:project/AGENTS.md",
        notice=notice,
        text=text,
        state=state,
    )


BODY_AGAIN = emission(None, OLD.text, OLD)
BODY = emission(None, NEW.text, NEW)
REPLACED = emission("replacement", REPLACEMENT, NEW)
REMOVED = emission("removal", REMOVAL, Absent())

ROWS = [
    pytest.param(
        Unknown(), GONE, NEW, BODY, id="row 1", marks=requirement("OW-3-baseline-none-gone-body")
    ),
    pytest.param(
        Unknown(),
        GONE,
        Absent(),
        None,
        id="row 2",
        marks=requirement("OW-3-baseline-none-gone-absent"),
    ),
    pytest.param(
        Unknown(),
        KEPT,
        NEW,
        REPLACED,
        id="row 3",
        marks=requirement("OW-3-baseline-none-kept-body"),
    ),
    pytest.param(
        Unknown(),
        KEPT,
        Absent(),
        REMOVED,
        id="S11 row 4",
        marks=requirement("OW-3-baseline-none-kept-absent"),
    ),
    pytest.param(
        OLD, KEPT, OLD, None, id="row 5", marks=requirement("OW-3-baseline-known-kept-same")
    ),
    pytest.param(
        OLD,
        KEPT,
        NEW,
        REPLACED,
        id="S18 row 6",
        marks=requirement(
            "OW-3-baseline-known-kept-changed", "OW-3-replacement-and-removal-notices"
        ),
    ),
    pytest.param(
        OLD,
        KEPT,
        Absent(),
        REMOVED,
        id="row 7",
        marks=requirement("OW-3-baseline-known-kept-absent"),
    ),
    pytest.param(
        OLD, GONE, OLD, BODY_AGAIN, id="row 8", marks=requirement("OW-3-baseline-known-gone-body")
    ),
    pytest.param(
        OLD, GONE, NEW, BODY, id="row 8 changed", marks=requirement("OW-3-baseline-known-gone-body")
    ),
    pytest.param(
        OLD, GONE, Absent(), None, id="row 9", marks=requirement("OW-3-baseline-known-gone-absent")
    ),
    pytest.param(
        Absent(),
        KEPT,
        Absent(),
        None,
        id="row 10",
        marks=requirement("OW-3-baseline-absent-kept-absent"),
    ),
    pytest.param(
        Absent(),
        KEPT,
        NEW,
        BODY,
        id="row 11",
        marks=requirement("OW-3-baseline-absent-kept-body"),
    ),
    pytest.param(
        Absent(),
        GONE,
        Absent(),
        None,
        id="row 12",
        marks=requirement("OW-3-baseline-absent-gone-absent"),
    ),
    pytest.param(
        Absent(), GONE, NEW, BODY, id="row 13", marks=requirement("OW-3-baseline-absent-gone-body")
    ),
]


@pytest.mark.parametrize(("base", "kept", "now", "expected"), ROWS)
def test_the_truth_table(
    base: SectionBaseline, kept: frozenset[str], now: SectionState, expected: Emission | None
) -> None:
    baseline = {INSTRUCTIONS_ID: base}

    emissions = diff([(INSTRUCTIONS, now)], baseline=baseline, kept=kept, point=POINT)

    assert emissions == (() if expected is None else (expected,))
    assert advance(baseline, emissions) == {INSTRUCTIONS_ID: now if expected else base}


def test_a_section_without_a_record_is_unknown() -> None:
    baseline: Baseline = {}

    assert diff([(INSTRUCTIONS, NEW)], baseline=baseline, kept=KEPT, point=POINT) == (REPLACED,)


def test_a_text_that_is_the_one_kept_is_sent_again_where_nothing_is_on_record() -> None:
    emissions = diff([(INSTRUCTIONS, OLD)], baseline={}, kept=KEPT, point=POINT)

    assert [each.text for each in emissions] == [
        f"以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。\n\n{OLD.text}"
    ]


def test_the_slightest_change_of_a_text_is_a_change() -> None:
    trailing = Known(text=OLD.text + " ")

    emissions = diff(
        [(INSTRUCTIONS, trailing)], baseline={INSTRUCTIONS_ID: OLD}, kept=KEPT, point=POINT
    )

    assert [each.state for each in emissions] == [trailing]


def test_S7_a_text_whose_message_is_gone_is_sent_without_a_notice() -> None:
    body = Known(text="<project_instructions>\n规范\n</project_instructions>")

    emissions = diff(
        [(INSTRUCTIONS, body)], baseline={INSTRUCTIONS_ID: body}, kept=GONE, point=POINT
    )

    assert emissions == (emission(None, body.text, body),)


def test_S10_a_section_that_returns_after_its_removal_needs_no_notice() -> None:
    emissions = diff(
        [(INSTRUCTIONS, NEW)], baseline={INSTRUCTIONS_ID: Absent()}, kept=KEPT, point=POINT
    )

    assert emissions == (BODY,)


@pytest.mark.parametrize("baseline", [{}, {INSTRUCTIONS_ID: Absent()}], ids=["none", "absent"])
def test_S13_nothing_is_said_of_a_section_that_was_not_there_and_is_not(
    baseline: Baseline,
) -> None:
    assert diff([(INSTRUCTIONS, Absent())], baseline=baseline, kept=GONE, point=POINT) == ()


def test_a_section_that_was_not_sampled_keeps_its_record() -> None:
    baseline: Baseline = {INSTRUCTIONS_ID: OLD, PROJECT_ID: Absent()}
    body = Known(text="<user_project_context>")

    emissions = diff([(PROJECT, body)], baseline=baseline, kept=KEPT, point=POINT)

    assert [each.section for each in emissions] == [PROJECT_ID]
    assert advance(baseline, emissions) == {INSTRUCTIONS_ID: OLD, PROJECT_ID: body}
    assert baseline == {INSTRUCTIONS_ID: OLD, PROJECT_ID: Absent()}


@requirement("OW-3-replacement-and-removal-notices")
def test_every_section_has_its_own_notices() -> None:
    removals = diff(
        [(section, Absent()) for section in BUILT_IN],
        baseline={},
        kept={section.id for section in BUILT_IN},
        point=POINT,
    )
    replacements = diff(
        [(section, Known(text="B")) for section in BUILT_IN],
        baseline={},
        kept={section.id for section in BUILT_IN},
        point=POINT,
    )

    assert [each.text for each in removals] == [
        "先前提供的项目上下文不再适用。",
        "先前提供的 AGENTS.md 指令不再适用。",
        "先前提供的 skill 清单不再适用，当前没有可用 skill。",
        "The previous sandbox policy no longer applies.",
    ]
    assert [each.text for each in replacements] == [
        "以下项目上下文取代先前提供的项目上下文。\n\nB",
        "以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。\n\nB",
        "以下 skill 清单取代先前提供的清单。\n\nB",
        "The sandbox policy below replaces the previous one.\n\nB",
    ]


@requirement("OW-3-message-id")
@pytest.mark.parametrize(
    ("point", "section", "message_id"),
    [
        (
            SamplePoint(turn_id="T1", model_call=2, sample=2),
            "skills/catalog",
            "world-state:T1:2:2:skills/catalog",
        ),
        (
            SamplePoint(turn_id="a:b~c", model_call=10, sample=1),
            "runtime/sandbox-policy",
            "world-state:a:b~c:10:1:runtime/sandbox-policy",
        ),
    ],
    ids=["S23", "a turn id with colons"],
)
def test_a_message_id_names_turn_call_sample_and_section(
    point: SamplePoint, section: str, message_id: str
) -> None:
    assert point.message_id(section) == message_id
