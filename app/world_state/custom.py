"""Custom sections: the worker's own text between its own tags.

Source: docs/semantics/world-state.md#custom-sections.
"""

import re
from collections.abc import Iterable

from app.core.blocks import text_block
from app.core.content import encode_content
from app.core.counting import tokens_of_bytes
from app.world_state.capture import CustomSection
from app.world_state.errors import InvalidCustomSection, SectionOverLimit
from app.world_state.rendering import Rendering
from app.world_state.sections import BUILT_IN

DEFAULT_MAX_TOKENS = 10_000
"""The cap of a section that brings none: what one item of a request may cost at most."""

_ID = re.compile(r"[A-Za-z0-9._~:/-]{1,128}")
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_RESERVED_IDS = frozenset(word for section in BUILT_IN for word in (section.id, section.name))


def render_custom(body: str, *, section: CustomSection) -> Rendering:
    """A body between its tags.

    Raises:
        SectionOverLimit: It costs as many tokens as its cap allows, or
            more, at four bytes of content JSON to a token.
    """
    text = f"<{section.tag}>\n{body}\n</{section.tag}>"
    limit_tokens = DEFAULT_MAX_TOKENS if section.max_tokens is None else section.max_tokens
    tokens = tokens_of_bytes(len(encode_content((text_block(text),))))
    if tokens >= limit_tokens:
        raise SectionOverLimit(
            f"section {section.id} needs {tokens} tokens, over the {limit_tokens}-token cap",
            key=section.id,
            tokens=tokens,
            limit_tokens=limit_tokens,
        )
    return Rendering(text=text)


def check_custom_sections(custom: Iterable[CustomSection]) -> None:
    """Refuse custom sections that could be taken for another section.

    Raises:
        InvalidCustomSection: An id or a tag is malformed, used twice or
            one of ours.
    """
    ids: set[str] = set()
    tags: set[str] = set()
    for section in custom:
        fault = _id_fault(section.id, ids) or _tag_fault(section.tag, tags)
        if fault:
            raise InvalidCustomSection(f"custom section {section.id!r}: {fault}", key=section.id)
        ids.add(section.id)
        tags.add(section.tag)


def _id_fault(section_id: str, taken: set[str]) -> str | None:
    if not _ID.fullmatch(section_id):
        return f"the id must match {_ID.pattern}"
    if section_id in _RESERVED_IDS:
        return "the id belongs to a built-in section"
    return "the id is used twice" if section_id in taken else None


def _tag_fault(tag: str, taken: set[str]) -> str | None:
    if not _TAG.fullmatch(tag):
        return f"the tag {tag!r} must match {_TAG.pattern}"
    # A prefix is enough: an open tag of ours need not be closed.
    if f"<{tag}>".startswith(tuple(section.open_tag for section in BUILT_IN)):
        return f"the tag {tag!r} belongs to a built-in section"
    return f"the tag {tag!r} is used twice" if tag in taken else None
