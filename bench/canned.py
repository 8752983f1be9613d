"""Canned summaries: what a summarizer would say, in the form that each style takes."""

import json

from app.compaction.summary_check import CLOSE_ROOT, HEADINGS, OPEN_ROOT
from app.policies.folding import StyleName

_SAID = (
    "The user ports selectors of a terminal program to themes and wants every check green.",
    "packages/coding-agent/src/theme/theme.ts holds the colours; the selectors read them there.",
    "After each change the project's own check was run, and its output was looked at.",
)
_FENCE = "```"


def canned_summary(style: StyleName, number: int) -> str:
    """The answer to the summary request of a session's compaction of that number, from 1."""
    lines = (f"Part {number} of the session.", *_SAID)
    match style:
        case "openwork":
            sections = ["\n".join([heading, *lines]) for heading in HEADINGS]
            return "\n".join([OPEN_ROOT, *sections, CLOSE_ROOT])
        case "hidden_history":
            summary = {"user_intent": lines, "pending_tasks": lines, "next_step": lines[-1]}
            return f"{_FENCE}json\n{json.dumps(summary)}\n{_FENCE}"
        case "codex" | "summary_tail":
            return "\n".join(lines)
