"""Captures for the tests of world state over HTTP, and what they are rendered to."""

from typing import Any

from tests.api.client import Json

PROJECT_ID = "runtime/user-project-context"
INSTRUCTIONS_ID = "project/AGENTS.md"
SKILLS_ID = "skills/catalog"
SANDBOX_ID = "runtime/sandbox-policy"

PROJECT: Json = {
    "working_directory": "/w",
    "repository_root": "/w",
    "entries": [{"name": "src", "type": "directory"}],
}
COMMIT: Json = {
    "name": "commit",
    "description": "Writes a commit.",
    "path": "/home/u/.agents/skills/commit/SKILL.md",
    "enabled": True,
}
SANDBOX: Json = {"available": True, "mode": "auto", "workspace": "/w", "home": "/home/u"}
WHOLE: Json = {
    "project": PROJECT,
    "instructions": {"content": "规范"},
    "skills": [COMMIT],
    "sandbox": SANDBOX,
}

REPLACES_INSTRUCTIONS = "以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。"
REMOVES_INSTRUCTIONS = "先前提供的 AGENTS.md 指令不再适用。"
REMOVES_SKILLS = "先前提供的 skill 清单不再适用，当前没有可用 skill。"


def rules(text: str | None) -> Json:
    """A capture of AGENTS.md alone."""
    return {"instructions": None if text is None else {"content": text}}


def rendered(text: str) -> str:
    """The section of an AGENTS.md."""
    return f"<project_instructions>\n{text}\n</project_instructions>"


def goals(body: str | None, **fields: Any) -> Json:
    """A capture of a custom section alone."""
    return {"custom": [{"id": "team~goals", "tag": "goals", "body": body, **fields}]}


def told(answer: Json) -> list[str]:
    """The texts that a sample emitted."""
    return [message["content"][0]["text"] for message in answer["emitted"]]
