"""An agent as large as real ones: about 11 000 tokens of system prompt and tools."""

from tests.api.client import Json

RULES = (
    "Read a file before you change it, and the files that show how the same thing is done"
    " elsewhere in the repository.",
    "Change as little as the task needs; leave names, formatting and order alone where they are"
    " not part of it.",
    "After a change run the project's own checks and report what they said, failures included.",
    "Never invent a path, a flag or a function: look it up, and say so where you could not.",
    "When the user corrects you, read their words again before you act.",
    "Prefer the tool that was made for a job over a shell command that happens to do it.",
)
TOPICS = ("Files", "Commands", "Tests", "Commits", "Reviews", "Migrations", "Releases", "Secrets")
SERVICES: dict[str, tuple[str, ...]] = {
    "github": ("issue", "pull_request", "review_comment", "workflow_run"),
    "jira": ("ticket", "sprint", "component"),
    "slack": ("channel", "thread"),
    "sentry": ("issue", "release"),
    "grafana": ("dashboard", "alert", "folder"),
}
VERBS = ("list", "get", "create", "update")


def large_agent() -> Json:
    """The definition of the agent."""
    sections = [f"## {topic}\n" + "\n".join(f"- {rule}" for rule in RULES) for topic in TOPICS]
    return {
        "system_prompt": "\n\n".join(["You are a coding agent in a repository.", *sections]),
        "tools": [*map(_local_tool, ("read", "bash", "edit", "write")), *_remote_tools()],
    }


def _local_tool(name: str) -> Json:
    return {
        "name": name,
        "description": f"The tool {name} of the user's machine, on paths below the repository.",
        "parameters": {"type": "object", "additionalProperties": True},
    }


def _remote_tools() -> list[Json]:
    return [
        {
            "name": f"{service}_{verb}_{noun}",
            "description": f"{verb.capitalize()} a {noun} of {service}, as its API documents it.",
            "parameters": _parameters(service, noun),
        }
        for service, nouns in SERVICES.items()
        for noun in nouns
        for verb in VERBS
    ]


def _parameters(service: str, noun: str) -> Json:
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": f"Which {noun}, by its id in {service}"},
            "project": {"type": "string", "description": f"The project that the {noun} belongs to"},
            "fields": {
                "type": "object",
                "description": f"Fields of the {noun} to write; the others stay as they are",
                "additionalProperties": {"type": "string"},
            },
            "labels": {
                "type": "array",
                "items": {"type": "string", "pattern": "^[a-z0-9-]+$"},
                "description": "Labels, all of which have to be there",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        },
        "required": ["project"],
        "additionalProperties": False,
    }
