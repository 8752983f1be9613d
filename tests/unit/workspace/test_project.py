import os
import socket
from pathlib import Path

import pytest

from app.workspace.errors import SectionError
from app.workspace.project import (
    LayoutEntry,
    ProjectContext,
    find_repository_root,
    read_layout,
    read_project,
)
from tests.requirements import requirement
from tests.unit.workspace.workspaces import no_free_descriptors


def failure(raised: pytest.ExceptionInfo[SectionError]) -> tuple[str, str]:
    return raised.value.code, raised.value.detail


@requirement("OW-3-project-lists-the-top-level")
def test_S30_a_nested_directory_lists_its_repository_root_without_git(tmp_path: Path) -> None:
    for name in (".git", "z-dir", "nested"):
        (tmp_path / name).mkdir()
    (tmp_path / "a-file").touch()

    project = read_project(tmp_path / "nested")

    assert project == ProjectContext(
        working_directory=str(tmp_path.resolve() / "nested"),
        repository_root=str(tmp_path.resolve()),
        entries=(
            LayoutEntry(name="a-file", type="file"),
            LayoutEntry(name="nested", type="directory"),
            LayoutEntry(name="z-dir", type="directory"),
        ),
    )


def test_S31_entries_have_their_own_type_and_other_dot_files_are_listed(tmp_path: Path) -> None:
    for name in ("a", "A", "src"):
        (tmp_path / name).mkdir()
    for name in ("a-file", "a.txt", "B", ".env"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("src")

    assert read_layout(tmp_path) == (
        LayoutEntry(name=".env", type="file"),
        LayoutEntry(name="A", type="directory"),
        LayoutEntry(name="B", type="file"),
        LayoutEntry(name="a", type="directory"),
        LayoutEntry(name="a-file", type="file"),
        LayoutEntry(name="a.txt", type="file"),
        LayoutEntry(name="link", type="symlink"),
        LayoutEntry(name="src", type="directory"),
    )


def test_all_entries_are_listed_however_many(tmp_path: Path) -> None:
    for number in range(65):
        (tmp_path / f"f{number:02}").touch()

    assert read_layout(tmp_path) == tuple(
        LayoutEntry(name=f"f{number:02}", type="file") for number in range(65)
    )


@requirement("OW-3-project-lists-the-top-level")
def test_S33_an_empty_directory_outside_a_repository_has_no_root_and_no_entries(
    tmp_path: Path,
) -> None:
    project = read_project(tmp_path)

    assert project == ProjectContext(
        working_directory=str(tmp_path.resolve()), repository_root=None, entries=()
    )


def test_S34_a_name_is_captured_raw(tmp_path: Path) -> None:
    (tmp_path / "a<b>&\nc\td").touch()

    assert read_layout(tmp_path) == (LayoutEntry(name="a<b>&\nc\td", type="file"),)


def test_a_fifo_a_socket_and_a_broken_link_have_types_too(
    tmp_path: Path, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")

    assert read_layout(tmp_path) == (
        LayoutEntry(name="broken", type="symlink"),
        LayoutEntry(name=fifo.name, type="other"),
        LayoutEntry(name="socket", type="other"),
    )


def test_a_name_that_is_not_utf8_is_left_out(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")).touch()
    (tmp_path / "界").touch()

    assert read_layout(tmp_path) == (LayoutEntry(name="界", type="file"),)


def test_entries_are_sorted_by_code_point_and_not_by_utf16(tmp_path: Path) -> None:
    for name in ("\U0001f600", "\uff61"):
        (tmp_path / name).touch()

    assert [entry.name for entry in read_layout(tmp_path)] == ["\uff61", "\U0001f600"]


def test_a_working_directory_that_is_not_utf8_is_displayed(tmp_path: Path) -> None:
    directory = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    directory.mkdir()

    assert read_project(directory).working_directory == f"{tmp_path.resolve()}/\ufffd"


def test_the_working_directory_is_canonical(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    project = read_project(tmp_path / "link")

    assert project.working_directory == str(tmp_path.resolve() / "real")


def test_the_nearest_of_two_nested_repositories_is_the_root(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (inner / ".git").mkdir()

    assert find_repository_root(inner / "deep") == inner


def test_the_file_of_a_worktree_marks_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n", encoding="utf-8")

    assert find_repository_root(tmp_path) == tmp_path


def test_a_broken_link_called_git_marks_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to("nowhere")

    assert find_repository_root(tmp_path) == tmp_path


def test_a_working_directory_that_is_gone_fails(tmp_path: Path) -> None:
    with pytest.raises(SectionError) as raised:
        read_project(tmp_path / "gone")

    assert failure(raised) == (
        "user_project_context_error",
        f"failed to resolve Session working directory {tmp_path}/gone: "
        "No such file or directory (os error 2)",
    )


def test_a_working_directory_that_is_a_file_cannot_be_inspected(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SectionError) as raised:
        read_project(tmp_path / "file")

    assert failure(raised) == (
        "user_project_context_error",
        f"failed to inspect project context path {tmp_path.resolve()}/file/.git: "
        "Not a directory (os error 20)",
    )


def test_a_layout_that_cannot_be_opened_fails(tmp_path: Path) -> None:
    with no_free_descriptors(), pytest.raises(SectionError) as raised:
        read_project(tmp_path)

    assert failure(raised) == (
        "user_project_context_error",
        f"failed to read project layout {tmp_path.resolve()}: Too many open files (os error 24)",
    )
