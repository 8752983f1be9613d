import socket
import sys
from pathlib import Path

import pytest

from app.workspace.files import FileRefused, check_file, read_file


def refusal(raised: pytest.ExceptionInfo[FileRefused]) -> tuple[str, int]:
    return raised.value.problem, raised.value.size_bytes


def test_a_file_on_the_limit_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 8)

    check_file(path, 8)

    assert read_file(path, 8) == b"x" * 8


def test_a_file_one_byte_over_the_limit_is_refused_before_and_after_opening(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 9)

    with pytest.raises(FileRefused) as checked:
        check_file(path, 8)
    with pytest.raises(FileRefused) as read:
        read_file(path, 8)

    assert refusal(checked) == refusal(read) == ("too_large", 9)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that hides its size")
def test_a_file_that_holds_more_than_it_says_is_read_one_byte_past_the_limit() -> None:
    path = Path("/proc/self/status")
    assert path.stat().st_size == 0

    with pytest.raises(FileRefused) as raised:
        read_file(path, 8)

    assert refusal(raised) == ("too_large", 9)


def test_a_link_is_refused_by_name_and_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to("file")

    with pytest.raises(FileRefused) as raised:
        check_file(link, 8)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        read_file(link, 8)

    assert refusal(raised) == ("symlink", len("file"))


def test_a_fifo_is_refused_and_does_not_block(fifo: Path) -> None:
    with pytest.raises(FileRefused) as checked:
        check_file(fifo, 8)
    with pytest.raises(FileRefused) as read:
        read_file(fifo, 8)

    assert refusal(checked) == refusal(read) == ("not_regular", 0)


def test_a_socket_is_refused_by_name_and_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The address of a socket is short, so it is given relative to the directory.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")

        with pytest.raises(FileRefused) as raised:
            check_file(tmp_path / "socket", 8)
        with pytest.raises(OSError, match="No such device or address"):
            read_file(tmp_path / "socket", 8)

    assert raised.value.problem == "not_regular"


def test_a_directory_is_refused_by_name_and_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileRefused) as raised:
        check_file(tmp_path, 1 << 20)
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path, 1 << 20)

    assert raised.value.problem == "not_regular"
