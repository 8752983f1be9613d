"""The sections of world state: what each is called and how its messages are recognised.

Source: docs/semantics/world-state.md#sections.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.world_state.capture import CustomSection


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section's identity. `name` is its field in a capture, or the id of a custom section."""

    id: str
    name: str
    open_tag: str
    replacement_notice: str
    removal_notice: str

    def recognises(self, text: str) -> bool:
        """Whether a world-state text is a message of this section.

        It is where it starts with the open tag, bare or behind the
        replacement notice and one blank line, or where it is the removal
        notice and nothing else.
        """
        superseding = with_notice(self.replacement_notice, self.open_tag)
        return text.startswith((self.open_tag, superseding)) or text == self.removal_notice


def with_notice(notice: str, text: str) -> str:
    """`text` behind a notice, one blank line between."""
    return f"{notice}\n\n{text}"


PROJECT = Section(
    id="runtime/user-project-context",
    name="project",
    # The tag is left open, since it carries a format version.
    open_tag="<user_project_context",
    replacement_notice="以下项目上下文取代先前提供的项目上下文。",
    removal_notice="先前提供的项目上下文不再适用。",
)

INSTRUCTIONS = Section(
    id="project/AGENTS.md",
    name="instructions",
    open_tag="<project_instructions>",
    replacement_notice="以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。",
    removal_notice="先前提供的 AGENTS.md 指令不再适用。",
)

SKILLS = Section(
    id="skills/catalog",
    name="skills",
    open_tag="<available_skills>",
    replacement_notice="以下 skill 清单取代先前提供的清单。",
    removal_notice="先前提供的 skill 清单不再适用，当前没有可用 skill。",
)

SANDBOX = Section(
    id="runtime/sandbox-policy",
    name="sandbox",
    open_tag="<sandbox_policy>",
    replacement_notice="The sandbox policy below replaces the previous one.",
    removal_notice="The previous sandbox policy no longer applies.",
)

BUILT_IN = (PROJECT, INSTRUCTIONS, SKILLS, SANDBOX)
"""The order in which a model is told about them; custom sections follow."""


def custom_section(custom: CustomSection) -> Section:
    """The section of a custom entry, with notices of ours where it brings none."""
    replacement, removal = custom.replacement_notice, custom.removal_notice
    return Section(
        id=custom.id,
        name=custom.id,
        open_tag=f"<{custom.tag}>",
        replacement_notice=(
            f"The {custom.tag} section below replaces the previous one."
            if replacement is None
            else replacement
        ),
        removal_notice=(
            f"The previous {custom.tag} section no longer applies." if removal is None else removal
        ),
    )


def sections_with(custom: Iterable[CustomSection]) -> tuple[Section, ...]:
    """Every section of a capture that holds `custom`, in the order of emission."""
    return (*BUILT_IN, *(custom_section(entry) for entry in custom))
