"""The text of a SKILL.md: YAML frontmatter with a name and a description, then a body.

The YAML is composed into nodes and never constructed into values, so no
date, number, merge key or alias of a hostile file is ever evaluated.

Source: docs/semantics/workspace.md#frontmatter.
"""

import re
from dataclasses import dataclass

import yaml

from app.core.text import WHITE_SPACE, collapse_white_space
from app.workspace.errors import SkillUnreadable

MAX_DESCRIPTION_CHARS = 1_024
"""The catalog shows one line a skill; a longer description is cut, in code points."""

_DELIMITER = "---"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_STRING_TAG = "tag:yaml.org,2002:str"
_NULL_TAG = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDocument:
    """What a SKILL.md says."""

    name: str
    description: str
    body: str


def is_skill_name(name: str) -> bool:
    """Whether `name` is 1 to 64 of `a-z`, `0-9` and `-`, with no `-` at either end."""
    return _NAME.fullmatch(name) is not None


def parse_skill(source: str, directory_name: str) -> SkillDocument:
    """The document in `source`, whose name defaults to its directory's.

    Raises:
        SkillUnreadable: A rule of the frontmatter is broken; the first one in
            the order of the page is named.
    """
    frontmatter, body = _split(source)
    fields = _fields(frontmatter)
    if "description" not in fields:
        raise SkillUnreadable("skill frontmatter is missing the required description field")
    return SkillDocument(
        name=_name(fields, directory_name),
        description=_line(fields, "description")[:MAX_DESCRIPTION_CHARS],
        body=body.lstrip("\r\n").rstrip(WHITE_SPACE),
    )


def _split(source: str) -> tuple[str, str]:
    """The frontmatter with its opening line, a document marker in YAML, and the body."""
    lines = source.split("\n")
    delimiters = [index for index, line in enumerate(lines) if _is_delimiter(line)]
    if len(delimiters) < 2 or delimiters[0] != 0:
        raise SkillUnreadable("SKILL.md must start with YAML frontmatter delimited by --- lines")
    closing = delimiters[1]
    return "\n".join(lines[:closing]), "\n".join(lines[closing + 1 :])


def _is_delimiter(line: str) -> bool:
    return line.removesuffix("\r") == _DELIMITER


def _fields(frontmatter: str) -> dict[str, yaml.Node]:
    """The values of the top-level keys that are strings; of no keys where there is nothing."""
    document = _compose(frontmatter)
    if document is None or document.tag == _NULL_TAG:
        return {}
    if not isinstance(document, yaml.MappingNode):
        raise _invalid("expected a mapping")
    fields: dict[str, yaml.Node] = {}
    for key, value in document.value:
        if not _is_string(key):
            continue
        if key.value in fields:
            raise _invalid(f"duplicate key in line {key.start_mark.line + 1}")
        fields[key.value] = value
    return fields


def _compose(frontmatter: str) -> yaml.Node | None:
    try:
        return yaml.compose(frontmatter, Loader=yaml.SafeLoader)
    except RecursionError as error:
        raise _invalid("nested too deeply") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The last two come from escapes and version numbers out of range.
        raise _invalid(collapse_white_space(str(error))) from error


def _name(fields: dict[str, yaml.Node], directory_name: str) -> str:
    name = _line(fields, "name") if "name" in fields else directory_name
    if not is_skill_name(name):
        raise SkillUnreadable(
            f"skill name does not match the required lowercase name format: {name}"
        )
    if name != directory_name:
        raise SkillUnreadable(
            f'skill frontmatter name "{name}" must match directory name "{directory_name}"'
        )
    return name


def _line(fields: dict[str, yaml.Node], field: str) -> str:
    node = fields[field]
    if not _is_string(node):
        raise SkillUnreadable(f"skill frontmatter field {field} must be a string")
    text = collapse_white_space(node.value)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _invalid(f"field {field} holds a lone surrogate")
    return text


def _is_string(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == _STRING_TAG


def _invalid(reason: str) -> SkillUnreadable:
    return SkillUnreadable(f"SKILL.md YAML frontmatter is invalid: {reason}")
