import pytest

from app.core.text import (
    WHITE_SPACE,
    collapse_white_space,
    escape_markup,
    is_blank,
    is_control,
    prefix_within,
    suffix_within,
    trim,
)

BASIC_PLANE = tuple(map(chr, range(0x10000)))
INFORMATION_SEPARATORS = "\x1c\x1d\x1e\x1f"


def test_white_space_is_what_python_strips_without_the_information_separators() -> None:
    stripped = {character for character in BASIC_PLANE if not character.strip()}

    assert len(WHITE_SPACE) == 25
    assert set(WHITE_SPACE) == stripped - set(INFORMATION_SEPARATORS)


@pytest.mark.parametrize("character", WHITE_SPACE, ids=lambda character: f"U+{ord(character):04X}")
def test_white_space_is_trimmed_at_both_ends_and_kept_inside(character: str) -> None:
    assert trim(f"{character}a{character}b{character}{character}") == f"a{character}b"
    assert is_blank(character * 3)


@pytest.mark.parametrize("character", [*INFORMATION_SEPARATORS, "\u180e", "\u200b", "\ufeff"])
def test_what_looks_like_a_space_but_is_none_is_kept(character: str) -> None:
    assert trim(f" {character} ") == character
    assert not is_blank(character)
    assert collapse_white_space(f"a{character}{character}b") == f"a{character}{character}b"


def test_the_empty_text_is_blank() -> None:
    assert trim("") == ""
    assert is_blank("")


@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("", ""),
        (" \t\n", ""),
        ("word", "word"),
        ("  two \r\n\t words\u3000", "two words"),
        ("a\x85b\u2028c\x1fd", "a b c\x1fd"),
    ],
)
def test_runs_of_white_space_collapse_to_one_space(text: str, collapsed: str) -> None:
    assert collapse_white_space(text) == collapsed


def test_control_characters_are_the_sixty_five_of_category_cc() -> None:
    controls = [character for character in BASIC_PLANE[:0x1000] if is_control(character)]

    assert controls == [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]


def test_S34_markup_line_ends_and_control_characters_are_escaped() -> None:
    assert (
        escape_markup("a<b>&\nc\td\r\x85\x7f\"'") == "a&lt;b&gt;&amp;\\nc\ufffdd\\r\ufffd\ufffd\"'"
    )


def test_line_separators_and_ordinary_unicode_are_not_escaped() -> None:
    assert escape_markup("\u2028中😀\xa0") == "\u2028中😀\xa0"


@pytest.mark.parametrize(
    ("character", "limit_bytes", "kept"),
    [
        ("é", 3, 1),
        ("中", 3, 1),
        ("中", 4, 1),
        ("中", 5, 1),
        ("😀", 4, 1),
        ("😀", 5, 1),
        ("😀", 7, 1),
        ("😀", 8, 2),
        ("a", 2, 2),
        ("中", 2, 0),
    ],
)
def test_a_cut_inside_a_character_leaves_the_character_out(
    character: str, limit_bytes: int, kept: int
) -> None:
    encoded = (character * 4).encode()

    assert prefix_within(encoded, limit_bytes) == (character * kept).encode()
    assert suffix_within(encoded, limit_bytes) == (character * kept).encode()


@pytest.mark.parametrize("limit_bytes", [-5, 0])
def test_nothing_fits_into_no_room(limit_bytes: int) -> None:
    assert prefix_within(b"ab", limit_bytes) == b""
    assert suffix_within(b"ab", limit_bytes) == b""


@pytest.mark.parametrize("limit_bytes", [4, 5, 1_000])
def test_what_fits_is_not_cut(limit_bytes: int) -> None:
    encoded = "中a".encode()

    assert prefix_within(encoded, limit_bytes) == encoded
    assert suffix_within(encoded, limit_bytes) == encoded


def test_a_head_of_seven_bytes_of_chinese_holds_two_characters() -> None:
    assert len(prefix_within(("中" * 10).encode(), 7)) == 6
