"""What becomes of a section that cannot be rendered.

Source: docs/semantics/world-state.md#when-a-section-fails.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from app.core.errors import ContextError
from app.world_state.capture import NOT_SAMPLED
from app.world_state.errors import UnknownSection
from app.world_state.rendering import Rendering, SectionWarning
from app.world_state.sections import Section

OnError: TypeAlias = Literal["fail", "skip", "last_good"]

DEFAULT_ON_ERROR: OnError = "fail"
"""A turn that lacks its instructions without anybody noticing is worse than one that stops."""


def check_on_error(on_error: Mapping[str, OnError], sections: Sequence[Section]) -> None:
    """Refuse a policy for a section that is not there.

    Raises:
        UnknownSection: A key is neither the id nor the name of a section.
    """
    known = {word for section in sections for word in (section.id, section.name)}
    for key in on_error:
        if key not in known:
            raise UnknownSection(f"on_error names no section: {key!r}", key=key)


def on_error_of(section: Section, on_error: Mapping[str, OnError]) -> OnError:
    """The policy of a section. Its id wins over its name where both are given."""
    return on_error.get(section.id, on_error.get(section.name, DEFAULT_ON_ERROR))


def fall_back(
    section: Section, error: ContextError, *, choice: OnError, last_good: str | None
) -> Rendering:
    """What stands in for a section that failed, with a warning that says so.

    Args:
        section: The section.
        error: Why it failed.
        choice: The policy of the section.
        last_good: The text of its last good rendering, None if there is none.

    Raises:
        ContextError: `error` itself, where the policy is to fail.
    """
    if choice == "fail":
        raise error
    text = last_good if choice == "last_good" else None
    outcome = "skipped" if text is None else "kept at its last good text"
    warning = SectionWarning(
        code=error.code, detail=f"{error.detail} (the section is {outcome})", section=section.id
    )
    return Rendering(text=NOT_SAMPLED if text is None else text, warnings=(warning,))
