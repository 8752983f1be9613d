"""The skills section: a catalogue of the enabled skills, one line each.

Source: docs/semantics/world-state.md#skills.
"""

from app.core.text import collapse_white_space
from app.world_state.capture import Skill
from app.world_state.rendering import Rendering, SectionWarning
from app.world_state.sections import SKILLS

MAX_CHARS = 8_000
"""Code points of the whole text, tags included."""

MAX_DESCRIPTION_CHARS = 1_024
"""Code points of a description, counted after its white space has been collapsed."""

HEADER = f"""{SKILLS.open_tag}
Skill 是一份放在 SKILL.md 里的操作指令。下面是本会话可用的全部 skill。

"""

FOOTER = """
任务落在某条描述的场景里时，先用 read 完整读它的 path 再动手，不要凭描述猜正文。
SKILL.md 里的相对路径相对它所在目录解析。有 scripts/ 就跑现成脚本，不要重写等价代码。
选中的指令文件要读完；不相关的 references/ 不要读。
</available_skills>"""


def render_skills(skills: tuple[Skill, ...]) -> Rendering:
    """The catalogue, absent where no enabled skill is left.

    While it has more than 8 000 code points, the last line goes; each
    skill that went is a warning, the last one first.
    """
    enabled = [skill for skill in skills if skill.enabled]
    lines = [_line(skill) for skill in enabled]
    fitting = _fitting(lines)
    return Rendering(
        text=HEADER + "".join(lines[:fitting]) + FOOTER if fitting else None,
        warnings=tuple(_omitted(skill) for skill in reversed(enabled[fitting:])),
    )


def normal_description(description: str) -> str:
    """A description as the catalogue shows it: one line of at most 1 024 code points."""
    return collapse_white_space(description)[:MAX_DESCRIPTION_CHARS]


def _line(skill: Skill) -> str:
    return f"- {skill.name}: {normal_description(skill.description)} (file: {skill.path})\n"


def _fitting(lines: list[str]) -> int:
    """How many of the first lines fit between header and footer."""
    chars = len(HEADER) + len(FOOTER)
    for index, line in enumerate(lines):
        chars += len(line)
        if chars > MAX_CHARS:
            return index
    return len(lines)


def _omitted(skill: Skill) -> SectionWarning:
    return SectionWarning(
        code="skill_omitted",
        detail=f"skill omitted from catalog because the {MAX_CHARS} character limit was exceeded",
        section=SKILLS.id,
        path=skill.path,
    )
