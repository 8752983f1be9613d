"""The agent's workspace: a copy that the demo may change, and captures of it."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from app.workspace.capture import SandboxFacts, capture_document, capture_workspace

SHOWN_AS = "/home/dev"
"""Captures show this in place of the temporary folder, whose name differs from run to run."""

RULE_ADDED_IN_TURN = 5
"""Before this turn AGENTS.md changes, so that the model has to be told again."""

NEW_RULE = "- Every theme defines every key; a missing one fails `npm run check`.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A project and a home directory below `root`."""

    root: Path

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.root / "project"

    def capture(self) -> dict[str, object]:
        """What a worker sends of the workspace as it is now."""
        home = self.root / "home"
        sandbox = SandboxFacts(available=True, mode="auto", workspace=self.project, home=home)
        document = capture_document(capture_workspace(self.project, home, sandbox=sandbox))
        shown: dict[str, object] = json.loads(
            json.dumps(document).replace(str(self.root), SHOWN_AS)
        )
        return shown

    def before_turn(self, turn: int) -> None:
        """Once, write one more rule into AGENTS.md, as somebody does while the agent works."""
        if turn == RULE_ADDED_IN_TURN:
            with (self.project / "AGENTS.md").open("a", encoding="utf-8") as instructions:
                instructions.write(NEW_RULE)


def copy_workspace(source: Path, root: Path) -> Workspace:
    """A copy of `source` at `root`, which becomes a repository."""
    shutil.copytree(source, root)
    workspace = Workspace(root=root.resolve())
    (workspace.project / ".git").mkdir()
    return workspace
