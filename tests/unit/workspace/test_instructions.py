from pathlib import Path

import pytest

from app.workspace.errors import SectionError
from app.workspace.instructions import read_instructions, resolve_inside
from tests.requirements import requirement
from tests.unit.workspace.workspaces import no_free_descriptors


def read_failure(cwd: Path) -> tuple[str, str]:
    with pytest.raises(SectionError) as raised:
        read_instructions(cwd)
    return raised.value.code, raised.value.detail


@requirement("OW-3-instructions-missing-or-blank", "OW-11-instructions-loaded-or-absent")
def test_S35_a_missing_file_is_absent(cwd: Path) -> None:
    assert read_instructions(cwd) is None


@requirement("OW-3-instructions-missing-or-blank", "OW-11-instructions-loaded-or-absent")
@pytest.mark.parametrize("content", ["", " \n\t", "\r\n\u3000\u0085\u2028"])
def test_S35_a_file_of_white_space_is_absent(cwd: Path, content: str) -> None:
    (cwd / "AGENTS.md").write_bytes(content.encode())

    assert read_instructions(cwd) is None


def test_a_file_separator_is_not_white_space(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_text("\x1c", encoding="utf-8")

    assert read_instructions(cwd) == "\x1c"


@requirement("OW-3-instructions-one-file", "OW-11-instructions-loaded-or-absent")
def test_the_content_is_verbatim(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes("\ufeff 规范\r\n<b>\0\n\n".encode())

    assert read_instructions(cwd) == "\ufeff 规范\r\n<b>\0\n\n"


@requirement("OW-3-instructions-one-file")
def test_the_file_of_the_repository_root_is_not_read_from_below(cwd: Path) -> None:
    (cwd / ".git").mkdir()
    (cwd / "AGENTS.md").write_text("root", encoding="utf-8")
    (cwd / "nested").mkdir()

    assert read_instructions(cwd / "nested") is None


def test_a_working_directory_behind_a_link_is_followed(cwd: Path, tmp_path: Path) -> None:
    (cwd / "AGENTS.md").write_text("rule", encoding="utf-8")
    (tmp_path / "link").symlink_to("cwd")

    assert read_instructions(tmp_path / "link") == "rule"


@requirement("OW-3-instructions-refused")
def test_exactly_65536_bytes_pass(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"x" * 65_536)

    assert read_instructions(cwd) == "x" * 65_536


@requirement("OW-3-instructions-refused", "OW-11-instructions-refused")
def test_S27_S37_65537_bytes_are_refused(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"x" * 65_537)

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction file is too large: {cwd}/AGENTS.md (65537 bytes, maximum 65536)",
    )


def test_the_size_in_the_message_is_the_whole_file(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"\xff" * 100_000)

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction file is too large: {cwd}/AGENTS.md (100000 bytes, maximum 65536)",
    )


@requirement("OW-3-instructions-refused", "OW-11-instructions-refused")
@pytest.mark.parametrize("target", ["rules.md", "../outside.md", "nowhere", "AGENTS.md"])
def test_S37_a_link_is_refused_wherever_it_leads(cwd: Path, target: str) -> None:
    (cwd / "rules.md").write_text("inside", encoding="utf-8")
    (cwd.parent / "outside.md").write_text("outside", encoding="utf-8")
    (cwd / "AGENTS.md").symlink_to(target)

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction file must not be a symlink: {cwd}/AGENTS.md",
    )


@requirement("OW-3-instructions-refused")
def test_S37_bytes_that_are_not_utf8_are_refused(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"\xff\xfe")

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction file is not valid UTF-8: {cwd}/AGENTS.md",
    )


def test_an_encoded_surrogate_is_not_utf8(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"\xed\xa0\x80")

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction file is not valid UTF-8: {cwd}/AGENTS.md",
    )


@requirement("OW-3-instructions-refused")
def test_a_directory_is_not_a_regular_file(cwd: Path) -> None:
    (cwd / "AGENTS.md").mkdir()

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction path is not a regular file: {cwd}/AGENTS.md",
    )


@requirement("OW-3-instructions-refused")
def test_a_fifo_is_not_a_regular_file_and_does_not_block(cwd: Path, fifo: Path) -> None:
    fifo.rename(cwd / "AGENTS.md")

    assert read_failure(cwd) == (
        "project_instruction_error",
        f"project instruction path is not a regular file: {cwd}/AGENTS.md",
    )


def test_a_working_directory_that_is_gone_fails(tmp_path: Path) -> None:
    assert read_failure(tmp_path / "gone") == (
        "project_instruction_error",
        f"failed to resolve Session working directory {tmp_path}/gone: "
        "No such file or directory (os error 2)",
    )


def test_a_working_directory_that_is_a_file_cannot_be_inspected(cwd: Path) -> None:
    (cwd / "file").touch()

    assert read_failure(cwd / "file") == (
        "project_instruction_error",
        f"failed to inspect project instruction file {cwd}/file/AGENTS.md: "
        "Not a directory (os error 20)",
    )


def test_a_file_that_cannot_be_opened_fails(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_text("rule", encoding="utf-8")

    with no_free_descriptors():
        failed = read_failure(cwd)

    assert failed == (
        "project_instruction_error",
        f"failed to read project instruction file {cwd}/AGENTS.md: "
        "Too many open files (os error 24)",
    )


def test_a_path_that_has_come_to_lead_outside_is_refused(cwd: Path) -> None:
    outside = cwd.parent / "outside.md"
    outside.write_text("outside", encoding="utf-8")
    (cwd / "AGENTS.md").symlink_to(outside)

    with pytest.raises(SectionError) as raised:
        resolve_inside(cwd / "AGENTS.md", cwd)

    assert raised.value.detail == (
        f"project instruction resolved outside the Session working directory: {outside}"
    )


def test_a_path_that_has_gone_meanwhile_cannot_be_inspected(cwd: Path) -> None:
    with pytest.raises(SectionError) as raised:
        resolve_inside(cwd / "AGENTS.md", cwd)

    assert raised.value.detail == (
        f"failed to inspect project instruction file {cwd}/AGENTS.md: "
        "No such file or directory (os error 2)"
    )
