"""Long tool output: bounded for the conversation, whole in a file."""

from pathlib import Path

import pytest

from app.workspace.spill import FOOTER_BYTES, MAX_OUTPUT_BYTES, bounded_output, head_end, spill

ROOM = MAX_OUTPUT_BYTES - FOOTER_BYTES
SAVED = Path("/spill/session/call-1.txt")


@pytest.mark.parametrize(
    ("text", "limit", "end"),
    [
        pytest.param("aaaa\nbbbb\ncccc", 12, 10, id="A8 line break"),
        pytest.param("中" * 10, 7, 6, id="A8 character"),
        pytest.param("aaaa\nbbbb\ncccc", 8, 5, id="on the half"),
        pytest.param("aaa\nbbbbbbbbbbb", 8, 8, id="in the first half"),
        pytest.param("aaaa\n", 12, 5, id="shorter"),
        pytest.param("aaaa", 2, 2, id="no line break"),
        pytest.param("", 12, 0, id="empty"),
    ],
)
def test_A8_a_head_ends_at_a_line_break_of_its_second_half(text: str, limit: int, end: int) -> None:
    assert head_end(text.encode(), limit) == end


@pytest.mark.parametrize("output", ["", "x" * MAX_OUTPUT_BYTES, "中" * 10_666])
def test_output_within_its_bound_is_left_alone(output: str) -> None:
    assert bounded_output(output, SAVED) == output


def test_longer_output_is_cut_at_its_end_and_says_where_the_rest_is() -> None:
    bounded = bounded_output("x" * 40_000, SAVED)
    footer = (
        f"... ({40_000 - ROOM} bytes omitted. Full output saved at {SAVED}"
        " \N{EM DASH} use read with offset/limit, or grep, to look at it.)"
    )

    assert bounded == "x" * ROOM + "\n" + footer


def test_output_that_is_saved_nowhere_says_how_much_is_missing() -> None:
    assert bounded_output("x" * 32_001) == "x" * ROOM + f"\n... ({32_001 - ROOM} bytes omitted.)"


def test_whole_lines_are_kept() -> None:
    line = "y" * 99 + "\n"
    bounded = bounded_output(line * 400)

    assert bounded == line * 314 + f"... ({40_000 - 31_400} bytes omitted.)"


@pytest.mark.parametrize(
    ("chars", "named"),
    [(1, True), (400, True), (420, False), (800, False)],
    ids=["short", "just fits", "just too long", "far too long"],
)
def test_no_footer_breaks_the_bound(chars: int, named: bool) -> None:
    saved = Path("/spill") / ("d" * chars)
    bounded = bounded_output("中" * 20_000, saved)

    assert len(bounded.encode()) <= MAX_OUTPUT_BYTES
    assert (str(saved) in bounded) is named


def test_W4_a_missing_file_is_written_and_one_that_is_there_is_kept(tmp_path: Path) -> None:
    directory = tmp_path / "spill" / "session"
    written = spill(directory, "../call 1", "whole\r\noutput\n")
    kept = spill(directory, "../call 1", "less")

    assert written == kept == directory / "___call_1.txt"
    assert written.read_bytes() == b"whole\r\noutput\n"
    assert [path.name for path in directory.iterdir()] == ["___call_1.txt"]


def test_output_that_cannot_be_written_fails(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(OSError, match="file"):
        spill(occupied, "c1", "output")
