import pytest

from app.core.errors import ContextError
from app.world_state.baseline import Known
from app.world_state.capture import (
    Capture,
    CaptureFailure,
    CustomSection,
    EncodedInstructions,
    Entry,
    Instructions,
    Project,
)
from app.world_state.errors import InvalidCustomSection, ProjectInstructionError, UnknownSection
from app.world_state.on_error import OnError
from app.world_state.rendering import SectionWarning
from app.world_state.sampling import SampledSection
from tests.requirements import requirement
from tests.unit.world_state.captures import (
    ALL_IDS,
    INSTRUCTIONS_ID,
    INSTRUCTIONS_TEXT,
    PROJECT_ID,
    PROJECT_TEXT,
    WHOLE,
    goals,
    sampled,
    spoken,
)

FAILURE = CaptureFailure(code="symlink", detail="it is a link: /w/AGENTS.md")
FAILED_INSTRUCTIONS = Capture(instructions=FAILURE)
UNREADABLE = Capture(instructions=EncodedInstructions(content_base64="//4="))
FAILED_CUSTOM = CustomSection(id="team~goals", tag="goals", body=FAILURE)


def warning(outcome: str) -> SectionWarning:
    return SectionWarning(
        code="project_instruction_error",
        detail=f"it is a link: /w/AGENTS.md (the section is {outcome})",
        section=INSTRUCTIONS_ID,
    )


@requirement("OW-3-failed-section-fails-the-sample")
@pytest.mark.parametrize(
    ("capture", "code", "section"),
    [
        (Capture(project=FAILURE), "user_project_context_error", PROJECT_ID),
        (FAILED_INSTRUCTIONS, "project_instruction_error", INSTRUCTIONS_ID),
        (Capture(skills=FAILURE), "skill_catalog_task_error", "skills/catalog"),
        (Capture(sandbox=FAILURE), "section_capture_failed", "runtime/sandbox-policy"),
        (Capture(custom=(FAILED_CUSTOM,)), "section_capture_failed", "team~goals"),
    ],
    ids=["project", "S37 a symbolic link", "skills", "sandbox", "custom"],
)
def test_a_failure_of_the_worker_carries_its_words_under_the_sections_code(
    capture: Capture, code: str, section: str
) -> None:
    with pytest.raises(ContextError) as refusal:
        sampled(capture)

    assert refusal.value.code == code
    assert refusal.value.detail == "it is a link: /w/AGENTS.md"
    assert refusal.value.details == {"key": section, "capture_code": "symlink"}


@requirement("OW-3-failed-section-fails-the-sample")
def test_the_first_section_that_fails_is_the_one_reported() -> None:
    capture = Capture(sandbox=FAILURE, custom=(FAILED_CUSTOM,), instructions=FAILURE)

    with pytest.raises(ProjectInstructionError):
        sampled(capture)


def test_the_path_of_a_refused_file_is_in_the_working_directory() -> None:
    capture = Capture(project=WHOLE.project, instructions=Instructions(content="x" * 65_537))

    with pytest.raises(ProjectInstructionError) as refusal:
        sampled(capture)

    assert refusal.value.detail == (
        "project instruction file is too large: /w/AGENTS.md (65537 bytes, maximum 65536)"
    )


@pytest.mark.parametrize("key", ["project/AGENTS.md", "instructions"])
def test_a_skipped_section_says_nothing_and_keeps_its_record(key: str) -> None:
    baseline = {INSTRUCTIONS_ID: Known(text=INSTRUCTIONS_TEXT)}

    sampling = sampled(FAILED_INSTRUCTIONS, baseline=baseline, on_error={key: "skip"})

    assert (sampling.emissions, sampling.sections) == ((), ())
    assert sampling.baseline == baseline
    assert sampling.warnings == (warning("skipped"),)


def test_the_last_good_text_stands_in_for_a_failed_section() -> None:
    sampling = sampled(
        FAILED_INSTRUCTIONS,
        on_error={"instructions": "last_good"},
        last_good={INSTRUCTIONS_ID: INSTRUCTIONS_TEXT},
    )

    assert spoken(sampling.emissions) == [(INSTRUCTIONS_ID, INSTRUCTIONS_TEXT)]
    assert sampling.sections == (
        SampledSection(id=INSTRUCTIONS_ID, state=Known(text=INSTRUCTIONS_TEXT), changed=True),
    )
    assert sampling.warnings == (warning("kept at its last good text"),)


def test_a_last_good_text_that_the_model_still_has_is_not_sent_again() -> None:
    sampling = sampled(
        FAILED_INSTRUCTIONS,
        baseline={INSTRUCTIONS_ID: Known(text=INSTRUCTIONS_TEXT)},
        kept=ALL_IDS,
        on_error={"instructions": "last_good"},
        last_good={INSTRUCTIONS_ID: INSTRUCTIONS_TEXT},
    )

    assert sampling.emissions == ()
    assert sampling.warnings == (warning("kept at its last good text"),)


def test_without_a_last_good_text_the_section_is_skipped() -> None:
    sampling = sampled(
        FAILED_INSTRUCTIONS,
        on_error={"instructions": "last_good"},
        last_good={PROJECT_ID: PROJECT_TEXT},
    )

    assert (sampling.emissions, sampling.sections) == ((), ())
    assert sampling.warnings == (warning("skipped"),)


@pytest.mark.parametrize(
    ("capture", "key", "expected"),
    [
        (
            UNREADABLE,
            "instructions",
            SectionWarning(
                code="project_instruction_error",
                detail=(
                    "project instruction file is not valid UTF-8: AGENTS.md "
                    "(the section is skipped)"
                ),
                section=INSTRUCTIONS_ID,
            ),
        ),
        (
            Capture(
                project=Project(
                    working_directory="/w",
                    repository_root=None,
                    entries=(Entry(name="x" * 20_000, type="file"),),
                )
            ),
            "project",
            SectionWarning(
                code="user_project_context_error",
                detail=("user/project context exceeded 16384 characters (the section is skipped)"),
                section=PROJECT_ID,
            ),
        ),
        (
            Capture(custom=(goals("x" * 4_000, max_tokens=1_000),)),
            "team~goals",
            SectionWarning(
                code="section_over_limit",
                detail=(
                    "section team~goals needs 1012 tokens, over the 1000-token cap "
                    "(the section is skipped)"
                ),
                section="team~goals",
            ),
        ),
    ],
    ids=["instructions", "project", "B131"],
)
def test_a_policy_covers_texts_that_we_refuse_ourselves(
    capture: Capture, key: str, expected: SectionWarning
) -> None:
    sampling = sampled(capture, on_error={key: "skip"})

    assert (sampling.emissions, sampling.warnings) == ((), (expected,))


def test_the_other_sections_are_sampled_beside_a_skipped_one() -> None:
    capture = Capture(project=WHOLE.project, instructions=FAILURE, sandbox=WHOLE.sandbox)

    sampling = sampled(capture, on_error={"instructions": "skip"})

    assert [each.section for each in sampling.emissions] == [PROJECT_ID, "runtime/sandbox-policy"]


def test_the_policy_of_one_section_does_not_cover_another() -> None:
    with pytest.raises(ProjectInstructionError):
        sampled(FAILED_INSTRUCTIONS, on_error={"skills": "skip", "sandbox": "last_good"})


@pytest.mark.parametrize(
    "on_error",
    [
        {"project/AGENTS.md": "skip", "instructions": "fail"},
        {"instructions": "fail", "project/AGENTS.md": "skip"},
    ],
)
def test_the_policy_under_a_sections_id_wins_over_the_one_under_its_name(
    on_error: dict[str, OnError],
) -> None:
    assert sampled(FAILED_INSTRUCTIONS, on_error=on_error).warnings == (warning("skipped"),)


@pytest.mark.parametrize("key", ["custom", "AGENTS.md", "team~goals", ""])
def test_a_policy_for_a_section_that_is_not_there_is_refused(key: str) -> None:
    with pytest.raises(UnknownSection) as refusal:
        sampled(WHOLE, on_error={key: "skip"})

    assert refusal.value.detail == f"on_error names no section: {key!r}"
    assert refusal.value.details == {"key": key}


def test_no_policy_covers_a_custom_section_that_could_be_taken_for_another() -> None:
    capture = Capture(custom=(CustomSection(id="project", tag="x", body="b"),))

    with pytest.raises(InvalidCustomSection):
        sampled(capture, on_error={"project": "skip"})
