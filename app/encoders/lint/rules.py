"""What each provider takes, as values that the rules compare with.

Source: docs/semantics/lint.md#rules.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

Order: TypeAlias = Literal["free", "strict", "mistral"]
"""Whether speakers take turns: as they like, strictly, or with no user behind results."""
Answering: TypeAlias = Literal["next", "run", "anywhere"]
"""Where results stand: in the next message, in the messages right behind, or later on."""

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRules:
    """What one API takes."""

    required: tuple[str, ...]
    """Fields that a body must have."""
    call_id: re.Pattern[str]
    tool_name: re.Pattern[str]
    order: Order
    answering: Answering
    ids: Literal["once", "again", "loose"] = "again"
    """Whether a call may have an id that an earlier one has. Loose: names may stand for ids."""
    first: Set[str] = frozenset({"user", "assistant", "system"})
    last: Set[str] = frozenset({"user", "assistant", "system"})
    texts: Literal["any", "not_blank", "not_empty"] = "any"
    images: Set[str] = _IMAGES
    sounds: Set[str] = frozenset()
    most_media: int | None = None
    most_media_bytes: int | None = None
    """Of one medium in the body, as base64 text."""
    most_pixels: int | None = None
    """Along one side of an image."""
    many_images: int | None = None
    """Beyond so many, each may have `most_pixels_of_many` along a side."""
    most_pixels_of_many: int = 2_000
    thinking: Literal["signed", "followed", "free"] = "free"
    wants_tools: bool = False
    """Whether calls beside no tools are refused."""
    most_breakpoints: int | None = None
    refused_schema_keys: Set[str] = frozenset()
    """Keywords that a schema must not have at its top."""
    wants_object_schema: bool = True


_TOP_KEYS = frozenset({"oneOf", "anyOf", "allOf"})
_NAME_64 = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME_128 = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MB = 1024 * 1024

OPENAI_CHAT = ProviderRules(
    required=("model", "messages"),
    call_id=re.compile(r"[!-~]{1,40}"),
    tool_name=_NAME_64,
    order="free",
    answering="run",
    sounds=frozenset({"audio/wav", "audio/mpeg"}),
    most_media=500,
    most_media_bytes=50 * _MB,
    refused_schema_keys=_TOP_KEYS,
)
OPENAI_RESPONSES = ProviderRules(
    required=("model", "input"),
    call_id=re.compile(r"[!-~]{1,64}"),
    tool_name=_NAME_64,
    order="free",
    answering="anywhere",
    ids="once",
    most_media=500,
    most_media_bytes=50 * _MB,
    thinking="followed",
    refused_schema_keys=_TOP_KEYS,
)
ANTHROPIC = ProviderRules(
    required=("model", "messages", "max_tokens"),
    call_id=re.compile(r"[a-zA-Z0-9_-]+"),
    tool_name=_NAME_128,
    order="free",
    answering="next",
    ids="once",
    first=frozenset({"user"}),
    last=frozenset({"user"}),
    texts="not_blank",
    most_media=600,
    most_media_bytes=10 * _MB,
    most_pixels=8_000,
    many_images=20,
    thinking="signed",
    wants_tools=True,
    most_breakpoints=4,
    refused_schema_keys=_TOP_KEYS,
)
GEMINI = ProviderRules(
    required=("contents",),
    call_id=re.compile(r".*", re.DOTALL),
    tool_name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    order="strict",
    answering="next",
    ids="loose",
    first=frozenset({"user"}),
    last=frozenset({"user"}),
    texts="not_empty",
    images=frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}),
    most_media=3_600,
    most_media_bytes=100 * _MB,
    wants_object_schema=False,
)
BEDROCK = ProviderRules(
    required=("messages",),
    call_id=_NAME_64,
    tool_name=_NAME_64,
    order="strict",
    answering="next",
    ids="once",
    first=frozenset({"user"}),
    last=frozenset({"user"}),
    texts="not_blank",
    most_media_bytes=5 * _MB,
    most_pixels=8_000,
    thinking="signed",
    wants_tools=True,
    most_breakpoints=4,
    refused_schema_keys=_TOP_KEYS,
)
MISTRAL = ProviderRules(
    required=("model", "messages"),
    call_id=re.compile(r"[a-zA-Z0-9]{9}"),
    tool_name=_NAME_64,
    order="mistral",
    answering="run",
    first=frozenset({"user", "system"}),
    sounds=frozenset({"audio/wav", "audio/mpeg"}),
)
