from dataclasses import replace

import pytest

from app.world_state.baseline import Absent, Known
from app.world_state.capture import Capture, CustomSection, Entry, Instructions, Skill
from app.world_state.diff import advance
from app.world_state.rendering import SectionWarning
from app.world_state.retained import retained_sections
from app.world_state.sampling import SampledSection, Sampling
from app.world_state.sections import sections_with
from tests.requirements import requirement
from tests.unit.world_state.captures import (
    ALL_IDS,
    COMMIT,
    INSTRUCTIONS_ID,
    INSTRUCTIONS_TEXT,
    PROJECT,
    PROJECT_ID,
    PROJECT_TEXT,
    SANDBOX_ID,
    SANDBOX_TEXT,
    SKILLS_ID,
    SKILLS_TEXT,
    WHOLE,
    goals,
    sampled,
    spoken,
)

FOUR = [
    (PROJECT_ID, PROJECT_TEXT),
    (INSTRUCTIONS_ID, INSTRUCTIONS_TEXT),
    (SKILLS_ID, SKILLS_TEXT),
    (SANDBOX_ID, SANDBOX_TEXT),
]


@requirement("OW-3-four-sections-in-order", "OW-3-changed-section-is-one-message")
def test_S1_the_first_sample_tells_all_four_sections_in_order_without_notices() -> None:
    sampling = sampled(WHOLE)

    assert spoken(sampling.emissions) == FOUR
    assert {emission.notice for emission in sampling.emissions} == {None}
    assert [emission.message_id for emission in sampling.emissions] == [
        "world-state:T1:1:1:runtime/user-project-context",
        "world-state:T1:1:1:project/AGENTS.md",
        "world-state:T1:1:1:skills/catalog",
        "world-state:T1:1:1:runtime/sandbox-policy",
    ]
    assert sampling.baseline == {section: Known(text=text) for section, text in FOUR}


@requirement("OW-3-unchanged-section-sends-nothing")
def test_S2_an_unchanged_world_that_is_kept_says_nothing() -> None:
    first = sampled(WHOLE)

    second = sampled(WHOLE, baseline=first.baseline, kept=ALL_IDS)

    assert second == Sampling(
        emissions=(),
        sections=tuple(replace(section, changed=False) for section in first.sections),
        warnings=(),
        baseline=first.baseline,
    )


@requirement("OW-3-changed-section-is-one-message", "OW-3-whole-text-every-time")
def test_S3_only_the_section_that_changed_is_told_and_whole() -> None:
    changed = replace(PROJECT, entries=(*PROJECT.entries, Entry(name="b.txt", type="file")))

    sampling = sampled(
        replace(WHOLE, project=changed), baseline=sampled(WHOLE).baseline, kept=ALL_IDS
    )

    assert spoken(sampling.emissions) == [
        (
            PROJECT_ID,
            "以下项目上下文取代先前提供的项目上下文。\n\n"
            + PROJECT_TEXT.replace("- src/", "- b.txt\n- src/"),
        )
    ]
    assert [section.changed for section in sampling.sections] == [True, False, False, False]


@requirement("OW-3-baseline-moves-after-all-writes", "OW-3-failed-write-changes-nothing")
def test_S5_the_same_is_told_until_the_baseline_advances() -> None:
    first, again = sampled(WHOLE), sampled(WHOLE)

    assert again == first
    assert sampled(WHOLE, baseline=first.baseline, kept=ALL_IDS).emissions == ()


@requirement("OW-3-baseline-moves-after-all-writes")
def test_S6_a_baseline_advanced_by_one_emission_leaves_the_others_to_tell() -> None:
    project_only = advance({}, sampled(WHOLE).emissions[:1])

    sampling = sampled(WHOLE, baseline=project_only, kept={PROJECT_ID})

    assert spoken(sampling.emissions) == FOUR[1:]


def test_S8_after_a_compaction_everything_is_told_again_without_notices() -> None:
    first = sampled(WHOLE)

    sampling = sampled(WHOLE, baseline=first.baseline)

    assert spoken(sampling.emissions) == FOUR
    assert sampling.baseline == first.baseline
    assert [section.changed for section in sampling.sections] == [False] * 4


@pytest.mark.parametrize(
    "capture",
    [
        replace(WHOLE, instructions=None, skills=None),
        replace(WHOLE, instructions=Instructions(content=" \n\t"), skills=()),
    ],
    ids=["absent", "rendered absent"],
)
def test_S9_a_section_that_never_was_is_not_mentioned(capture: Capture) -> None:
    sampling = sampled(capture)

    assert spoken(sampling.emissions) == [FOUR[0], FOUR[3]]
    assert sampling.sections[1:3] == (
        SampledSection(id=INSTRUCTIONS_ID, state=Absent(), changed=False),
        SampledSection(id=SKILLS_ID, state=Absent(), changed=False),
    )
    assert sampling.baseline == {
        PROJECT_ID: Known(text=PROJECT_TEXT),
        SANDBOX_ID: Known(text=SANDBOX_TEXT),
    }


def test_S12_without_a_record_what_is_kept_is_told_again_as_a_replacement() -> None:
    sampling = sampled(WHOLE, kept=ALL_IDS)

    assert [emission.notice for emission in sampling.emissions] == ["replacement"] * 4


def test_S19_disabling_every_skill_removes_the_catalogue() -> None:
    capture = replace(WHOLE, skills=(replace(COMMIT, enabled=False),))

    sampling = sampled(capture, baseline=sampled(WHOLE).baseline, kept=ALL_IDS)

    assert spoken(sampling.emissions) == [
        (SKILLS_ID, "先前提供的 skill 清单不再适用，当前没有可用 skill。")
    ]
    assert sampling.baseline[SKILLS_ID] == Absent()


def test_S26_an_edit_within_the_turn_is_told_as_a_replacement() -> None:
    edited = replace(WHOLE, instructions=Instructions(content="新规范"))

    sampling = sampled(edited, baseline=sampled(WHOLE).baseline, kept=ALL_IDS)

    assert spoken(sampling.emissions) == [
        (
            INSTRUCTIONS_ID,
            "以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。\n\n"
            "<project_instructions>\n新规范\n</project_instructions>",
        )
    ]


@pytest.mark.parametrize("samples", [10, 60], ids=["B127", "B128"])
def test_an_unchanged_world_is_told_once_however_often_it_is_sampled(samples: int) -> None:
    texts: list[str] = []
    sampling = sampled(WHOLE)
    for _ in range(samples):
        texts.extend(emission.text for emission in sampling.emissions)
        kept = retained_sections(texts, sections_with(WHOLE.custom))
        sampling = sampled(WHOLE, baseline=sampling.baseline, kept=kept)

    assert texts == [text for _, text in FOUR]


def test_a_section_left_out_says_nothing_and_keeps_its_record() -> None:
    first = sampled(WHOLE)

    sampling = sampled(Capture(), baseline=first.baseline)

    assert sampling == Sampling(emissions=(), sections=(), warnings=(), baseline=first.baseline)


def test_an_absent_project_and_sandbox_are_removed_like_any_other_section() -> None:
    sampling = sampled(
        replace(WHOLE, project=None, sandbox=None),
        baseline=sampled(WHOLE).baseline,
        kept=ALL_IDS,
    )

    assert [(emission.section, emission.notice) for emission in sampling.emissions] == [
        (PROJECT_ID, "removal"),
        (SANDBOX_ID, "removal"),
    ]


def test_custom_sections_follow_ours_in_the_order_given() -> None:
    plan = CustomSection(id="plan", tag="plan", body="1. test")
    capture = replace(WHOLE, custom=(plan, goals("ship it")))

    sampling = sampled(capture)

    assert spoken(sampling.emissions) == [
        *FOUR,
        ("plan", "<plan>\n1. test\n</plan>"),
        ("team~goals", "<goals>\nship it\n</goals>"),
    ]


def test_a_custom_section_is_replaced_and_removed_with_its_notices() -> None:
    first = sampled(Capture(custom=(goals("ship it"),)))
    kept = frozenset({"team~goals"})

    replaced = sampled(Capture(custom=(goals("rest"),)), baseline=first.baseline, kept=kept)
    removed = sampled(Capture(custom=(goals(None),)), baseline=replaced.baseline, kept=kept)
    not_listed = sampled(Capture(), baseline=replaced.baseline, kept=kept)

    assert spoken(replaced.emissions) == [
        (
            "team~goals",
            "The goals section below replaces the previous one.\n\n<goals>\nrest\n</goals>",
        )
    ]
    assert spoken(removed.emissions) == [
        ("team~goals", "The previous goals section no longer applies.")
    ]
    assert (not_listed.emissions, not_listed.baseline) == ((), replaced.baseline)


@requirement("OW-3-catalogue-warnings-stay-outside")
def test_warnings_of_the_catalogue_are_answered_and_not_told() -> None:
    long = Skill(name="long", description="d", path="/" + "p" * 8_000, enabled=True)

    sampling = sampled(Capture(skills=(COMMIT, long)))

    assert spoken(sampling.emissions) == [(SKILLS_ID, SKILLS_TEXT)]
    assert sampling.warnings == (
        SectionWarning(
            code="skill_omitted",
            detail="skill omitted from catalog because the 8000 character limit was exceeded",
            section=SKILLS_ID,
            path=long.path,
        ),
    )
