import errno
import os
from pathlib import Path

import pytest

from app.workspace.errors import SectionError
from app.workspace.paths import (
    canonical,
    display,
    os_reason,
    resolve_working_directory,
    utf8_text,
)

NOT_UTF8 = Path(os.fsdecode(b"/w/\xe7\x95/x"))


def test_a_canonical_path_has_no_links_and_no_relative_parts(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    resolved = canonical(tmp_path / "link" / ".." / "link")

    assert resolved == tmp_path.resolve() / "real"


def test_a_relative_path_starts_at_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert canonical(Path()) == tmp_path.resolve()


def test_a_path_that_does_not_exist_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(SectionError) as raised:
        resolve_working_directory(tmp_path / "gone", "project_instruction_error")

    assert raised.value.code == "project_instruction_error"
    assert raised.value.detail == (
        f"failed to resolve Session working directory {tmp_path}/gone: "
        "No such file or directory (os error 2)"
    )


def test_a_circle_of_links_does_not_resolve(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(OSError, match="Too many") as raised:
        canonical(tmp_path / "a")

    assert os_reason(raised.value) == f"Too many levels of symbolic links (os error {errno.ELOOP})"


def test_a_path_with_a_nul_does_not_resolve() -> None:
    with pytest.raises(OSError, match="Invalid") as raised:
        canonical(Path("a\0b"))

    assert os_reason(raised.value) == "Invalid argument (os error 22)"


def test_a_broken_character_of_a_path_is_displayed_as_one_replacement() -> None:
    assert display(NOT_UTF8) == "/w/\ufffd/x"


def test_a_path_that_is_not_utf8_has_no_text() -> None:
    assert utf8_text(NOT_UTF8) is None


def test_a_path_in_utf8_is_its_own_text() -> None:
    assert utf8_text(Path("/w/界\t")) == display(Path("/w/界\t")) == "/w/界\t"
