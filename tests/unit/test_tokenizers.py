"""The tokenizer: any text has a count, and none stalls or ends the process."""

from time import perf_counter

import pytest

from app.core.counting import tokens_of_bytes
from app.core.media import media_basis
from app.tokenizers import ENCODINGS, PIECE_BYTES, counter_for, pieces, tokens_of_piece

O200K = counter_for("o200k_base")
LONG = 1_000_000

# Panics and refusals happen inside the encoder, so it is asked itself.
ENCODER = O200K._encoding


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("run", [" ", "^", "a", "-", "\n", "1", "中", "\ud800"])
def test_B103_a_million_times_the_same_character_is_counted_in_time(
    encoding: str, run: str
) -> None:
    counter = counter_for(encoding)
    start = perf_counter()
    tokens = counter.count(run * LONG)

    # A stall takes minutes: the encoder is quadratic in the length of a run.
    assert perf_counter() - start < 30
    assert 0 < tokens <= 3 * LONG


def test_B103_a_panic_of_the_encoder_is_a_count_by_size() -> None:
    spaces = " " * LONG

    assert tokens_of_piece(ENCODER.encode_ordinary, spaces) == tokens_of_bytes(LONG)
    assert tokens_of_piece(O200K._encode, spaces) == tokens_of_bytes(LONG)


def test_what_is_no_fault_of_the_encoder_is_not_swallowed() -> None:
    def interrupted(piece: str) -> list[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokens_of_piece(interrupted, "a")


@pytest.mark.parametrize("token", ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"])
def test_B104_text_that_looks_like_a_special_token_is_ordinary_text(token: str) -> None:
    assert O200K.count(token) > 1
    assert O200K.count(f"before {token} after") > O200K.count("before  after")


@pytest.mark.parametrize(
    ("text", "tokens", "quarter_of_chars"),
    [
        pytest.param("你" * 400, 400, 100, id="B088 Chinese"),
        pytest.param("🦀" * 100, 300, 25, id="B088 emoji"),
    ],
)
def test_a_script_without_spaces_is_not_a_quarter_of_its_characters(
    text: str, tokens: int, quarter_of_chars: int
) -> None:
    assert len(text) // 4 == quarter_of_chars
    assert O200K.count(text) == tokens


def test_pieces_are_cut_between_characters_and_lose_nothing() -> None:
    text = "a" + "😀中é" * 20_000
    cut = list(pieces(text))

    assert "".join(cut) == text
    assert max(len(piece.encode()) for piece in cut) <= PIECE_BYTES


def test_the_basis_names_the_vocabulary_and_the_media_rule() -> None:
    gemini = counter_for(None, "gemini")

    assert "o200k_base" in gemini.basis
    assert gemini.basis.endswith(f", {media_basis('gemini')}")
    assert counter_for(None) is counter_for(None)
