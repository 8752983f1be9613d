from base64 import b64encode

import pytest

from app.world_state.capture import (
    NOT_SAMPLED,
    Captured,
    CaptureFailure,
    EncodedInstructions,
    Instructions,
    Project,
)
from app.world_state.errors import ProjectInstructionError
from app.world_state.instructions import instructions_path, render_instructions
from tests.requirements import requirement
from tests.unit.world_state.captures import PROJECT


def encoded(content: bytes) -> EncodedInstructions:
    return EncodedInstructions(content_base64=b64encode(content).decode())


@requirement("OW-3-instructions-one-file")
@pytest.mark.parametrize(
    "content",
    ["规范", "# Rules\r\n\n- <b> & </project_instructions>\n", "\ufeff", "a\x00b\x85\u2028", " x "],
    ids=["S7", "markup, CRLF and a last newline", "byte order mark", "controls", "outer spaces"],
)
def test_the_file_is_passed_on_verbatim(content: str) -> None:
    as_text = render_instructions(Instructions(content=content), "AGENTS.md")
    as_bytes = render_instructions(encoded(content.encode()), "AGENTS.md")

    assert as_text.text == f"<project_instructions>\n{content}\n</project_instructions>"
    assert as_bytes == as_text


@requirement("OW-3-instructions-missing-or-blank")
@pytest.mark.parametrize(
    "content",
    [" \n\t", "", "\x85\u2028\u3000\r\n"],
    ids=["S35", "empty", "Unicode white space"],
)
def test_white_space_alone_is_an_absent_section(content: str) -> None:
    assert render_instructions(Instructions(content=content), "AGENTS.md").text is None


def test_a_separator_that_is_no_white_space_is_content() -> None:
    text = render_instructions(Instructions(content="\x1f"), "AGENTS.md").text

    assert text == "<project_instructions>\n\x1f\n</project_instructions>"


@requirement("OW-3-instructions-refused")
@pytest.mark.parametrize(
    ("instructions", "detail"),
    [
        (
            encoded(b"\xff\xfe"),
            "project instruction file is not valid UTF-8: /w/AGENTS.md",
        ),
        (
            Instructions(content="x" * 65_537),
            "project instruction file is too large: /w/AGENTS.md (65537 bytes, maximum 65536)",
        ),
        (
            Instructions(content="界" * 21_846),
            "project instruction file is too large: /w/AGENTS.md (65538 bytes, maximum 65536)",
        ),
        (
            encoded(b"\xff" * 65_537),
            "project instruction file is too large: /w/AGENTS.md (65537 bytes, maximum 65536)",
        ),
        (
            Instructions(content=" " * 65_537),
            "project instruction file is too large: /w/AGENTS.md (65537 bytes, maximum 65536)",
        ),
        (
            EncodedInstructions(content_base64="a*=="),
            "project instruction file is not valid base64: /w/AGENTS.md",
        ),
        (
            EncodedInstructions(content_base64="é"),
            "project instruction file is not valid base64: /w/AGENTS.md",
        ),
    ],
    ids=[
        "S37 not UTF-8",
        "S37 too large",
        "bytes, not characters",
        "size before UTF-8",
        "size before blankness",
        "not base64",
        "base64 that is not ASCII",
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    instructions: Instructions | EncodedInstructions, detail: str
) -> None:
    with pytest.raises(ProjectInstructionError) as refusal:
        render_instructions(instructions, "/w/AGENTS.md")

    assert refusal.value.detail == detail
    assert refusal.value.details == {"key": "project/AGENTS.md"}


@requirement("OW-3-instructions-refused")
def test_S36_exactly_65536_bytes_pass() -> None:
    content = "x" * 65_536

    text = render_instructions(Instructions(content=content), "AGENTS.md").text

    assert text == f"<project_instructions>\n{content}\n</project_instructions>"


@pytest.mark.parametrize(
    ("project", "path"),
    [
        (PROJECT, "/w/AGENTS.md"),
        (Project(working_directory="/", repository_root=None, entries=()), "/AGENTS.md"),
        (None, "AGENTS.md"),
        (NOT_SAMPLED, "AGENTS.md"),
        (CaptureFailure(code="io", detail="gone"), "AGENTS.md"),
    ],
    ids=["captured", "root directory", "absent", "not sampled", "failed"],
)
def test_the_path_in_messages_needs_a_captured_project(
    project: Captured[Project], path: str
) -> None:
    assert instructions_path(project) == path
