import pytest

from app.core.blocks import Block, Data, Text, text_block
from app.core.truncation import (
    Truncation,
    TruncationMode,
    formatted_truncate,
    record_budget,
    tool_limit_override,
    truncate,
    truncate_items,
)
from tests.requirements import requirement
from tests.unit.core.builders import image

EMOJIS = "😀😀😀😀😀😀😀😀😀😀\nsecond line with text\n"
LONG = "this is an example of a long output that should be truncated"
IMAGE = image()

CUTS: list[object] = [
    pytest.param("example output", "bytes", 1, "…13 chars truncated…t", id="V109"),
    pytest.param("example output", "tokens", 1, "ex…3 tokens truncated…ut", id="V110"),
    pytest.param("example output", "bytes", 14, "example output", id="bytes that fit"),
    pytest.param("example output", "tokens", 4, "example output", id="tokens that fit"),
    pytest.param("example output", "bytes", 13, "exampl…1 chars truncated… output", id="one over"),
    pytest.param("abcdef", "tokens", 0, "…2 tokens truncated…", id="V112"),
    pytest.param("abc", "bytes", 0, "…3 chars truncated…", id="V113"),
    pytest.param("", "bytes", 0, "", id="an empty text stays empty"),
    pytest.param("", "tokens", 0, "", id="an empty text of tokens too"),
    pytest.param(
        EMOJIS, "bytes", 20, "😀😀…21 chars truncated…with text\n", id="V115"
    ),
    pytest.param(
        EMOJIS, "tokens", 8, "😀😀😀😀…8 tokens truncated… line with text\n", id="V116"
    ),
    pytest.param(
        "😀😀", "bytes", 6, "…2 chars truncated…", id="half a character is none on either side"
    ),
    pytest.param(
        "中中中", "tokens", 2, "中…1 tokens truncated…中", id="tokens do not see the boundary"
    ),
]  # fmt: skip
FORMATTED: list[object] = [
    pytest.param(
        LONG, "tokens", 5,
        "Warning: truncated output (original token count: 15)\nTotal output lines: 1\n\n"
        "this is an…10 tokens truncated… truncated",
        id="V118",
    ),
    pytest.param(
        LONG, "bytes", 30,
        "Warning: truncated output (original token count: 15)\nTotal output lines: 1\n\n"
        "this is an exam…30 chars truncated…ld be truncated",
        id="V119",
    ),
    pytest.param("example output", "tokens", 4, "example output", id="tokens that fit"),
    pytest.param("example output", "bytes", 20, "example output", id="V121"),
    pytest.param("", "bytes", 0, "", id="an empty text has no warning"),
    pytest.param(
        "a\r\nb\rc\n\nd", "bytes", 0,
        "Warning: truncated output (original token count: 3)\nTotal output lines: 4\n\n"
        "…9 chars truncated…",
        id="a carriage return alone ends no line",
    ),
    pytest.param(
        "a\nb\n", "bytes", 0,
        "Warning: truncated output (original token count: 1)\nTotal output lines: 2\n\n"
        "…4 chars truncated…",
        id="a line end at the end adds no line",
    ),
]  # fmt: skip
SHARED: list[object] = [
    pytest.param(
        ["aaaa", "bbbb", "cccc"], "bytes", 8, ["aaaa", "bbbb", "[omitted 1 text items ...]"],
        id="V122",
    ),
    pytest.param(["aaaa", "bbbb"], "bytes", 8, ["aaaa", "bbbb"], id="the texts fit together"),
    pytest.param(
        ["abcdefgh", IMAGE], "bytes", 2, ["a…6 chars truncated…h", IMAGE], id="V124"
    ),
    pytest.param(
        ["aaaa", "bbbbbbbb", IMAGE, "c", "d"], "tokens", 2,
        ["aaaa", "bb…1 tokens truncated…bb", IMAGE, "[omitted 2 text items ...]"],
        id="tokens are charged by the text, rounded up",
    ),
    pytest.param(
        ["a", IMAGE, "b"], "bytes", 0, [IMAGE, "[omitted 2 text items ...]"], id="no room at all"
    ),
    pytest.param(["", "a", ""], "bytes", 1, ["", "a", "[omitted 1 text items ...]"],
                 id="an empty text passes while there is room"),
    pytest.param([IMAGE, IMAGE], "tokens", 0, [IMAGE, IMAGE], id="media alone"),
    pytest.param([], "tokens", 0, [], id="nothing"),
]  # fmt: skip
RECORDED = [
    pytest.param(10_000, 12_000, id="V125"),
    pytest.param(100, 120, id="a hundred tokens are 480 bytes"),
    pytest.param(10, 12, id="V127"),
    pytest.param(1, 2, id="V128"),
    pytest.param(4, 5, id="4.8 is 5"),
    pytest.param(5, 6, id="6 is 6"),
    pytest.param(0, 0, id="nothing"),
    pytest.param(2**62, -(-(2**62) * 6 // 5), id="integers stay exact"),
]


@pytest.mark.parametrize(("text", "mode", "limit", "expected"), CUTS)
def test_a_text_over_its_limit_loses_its_middle(
    text: str, mode: TruncationMode, limit: int, expected: str
) -> None:
    assert truncate(text, Truncation(mode=mode, limit=limit)) == expected


@pytest.mark.parametrize(("text", "mode", "limit", "expected"), FORMATTED)
def test_a_cut_output_says_how_large_it_was(
    text: str, mode: TruncationMode, limit: int, expected: str
) -> None:
    assert formatted_truncate(text, Truncation(mode=mode, limit=limit)) == expected


@pytest.mark.parametrize(("output", "mode", "limit", "expected"), SHARED)
def test_the_texts_of_an_output_share_one_limit(
    output: list[str | Block], mode: TruncationMode, limit: int, expected: list[str | Data]
) -> None:
    blocks = tuple(text_block(piece) if isinstance(piece, str) else piece for piece in output)
    kept = truncate_items(blocks, Truncation(mode=mode, limit=limit))

    assert [block.text if isinstance(block, Text) else block for block in kept] == expected


@pytest.mark.parametrize(("limit", "expected"), RECORDED)
def test_an_output_is_recorded_with_a_fifth_more(limit: int, expected: int) -> None:
    assert record_budget(limit) == expected


@pytest.mark.parametrize(
    ("truncation", "largest"),
    [
        pytest.param(Truncation(mode="bytes", limit=10_000), 12_000, id="bytes"),
        pytest.param(Truncation(mode="tokens", limit=100), 480, id="tokens"),
    ],
)
def test_what_is_recorded_whole_ends_at_the_wider_limit(
    truncation: Truncation, largest: int
) -> None:
    recorded = truncation.on_record
    cut = truncate("a" * (largest + 1), recorded)

    assert truncate("a" * largest, recorded) == "a" * largest
    assert cut == f"{'a' * (largest // 2)}…1 {recorded.mode.replace('bytes', 'chars')}" + (
        f" truncated…{'a' * (largest // 2)}"
    )


@requirement("CX-3-tool-output-limit-is-apart")
@pytest.mark.parametrize(
    ("mode", "limit", "expected"),
    [
        pytest.param("bytes", 100, Truncation(mode="bytes", limit=400), id="V130"),
        pytest.param("tokens", 50, Truncation(mode="tokens", limit=50), id="V131"),
    ],
)
def test_a_limit_in_tokens_takes_the_mode_of_the_model(
    mode: TruncationMode, limit: int, expected: Truncation
) -> None:
    assert tool_limit_override(mode, limit) == expected
    assert expected.budget_bytes == 4 * limit


def test_a_cut_text_is_shorter_than_its_limit_and_the_marker_allow() -> None:
    text = "a中😀" * 40
    for limit in range(len(text.encode())):
        head, marker, tail = truncate(text, Truncation(mode="bytes", limit=limit)).split("…")

        assert text.startswith(head)
        assert text.endswith(tail)
        assert len((head + tail).encode()) <= limit
        assert marker == f"{len(text) - len(head + tail)} chars truncated"
