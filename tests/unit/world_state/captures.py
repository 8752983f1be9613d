"""Captures for the tests of world state, and a shorter way to sample them."""

from collections.abc import Mapping, Set

from app.world_state.baseline import Baseline
from app.world_state.capture import (
    Capture,
    CustomSection,
    Entry,
    Instructions,
    Project,
    Sandbox,
    Skill,
)
from app.world_state.diff import Emission
from app.world_state.on_error import OnError
from app.world_state.sample_point import SamplePoint
from app.world_state.sampling import Sampling, sample

POINT = SamplePoint(turn_id="T1", model_call=1, sample=1)

NOTHING_ON_RECORD: Baseline = {}
NOTHING_KEPT: Set[str] = frozenset()
ALL_FAIL: Mapping[str, OnError] = {}
NO_TEXTS: Mapping[str, str] = {}

PROJECT_ID = "runtime/user-project-context"
INSTRUCTIONS_ID = "project/AGENTS.md"
SKILLS_ID = "skills/catalog"
SANDBOX_ID = "runtime/sandbox-policy"
ALL_IDS = frozenset({PROJECT_ID, INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID})

PROJECT = Project(
    working_directory="/w",
    repository_root="/w",
    entries=(Entry(name="src", type="directory"),),
)
COMMIT = Skill(
    name="commit",
    description="Writes a commit.",
    path="/home/u/.agents/skills/commit/SKILL.md",
    enabled=True,
)
SANDBOX = Sandbox(available=True, mode="auto", workspace="/w", home="/home/u")
WHOLE = Capture(
    project=PROJECT,
    instructions=Instructions(content="规范"),
    skills=(COMMIT,),
    sandbox=SANDBOX,
)

PROJECT_TEXT = """<user_project_context format_version="1">
Working directory: /w
Repository root: /w
Project layout:
- src/
</user_project_context>"""
INSTRUCTIONS_TEXT = "<project_instructions>\n规范\n</project_instructions>"
SKILLS_TEXT = """<available_skills>
Skill 是一份放在 SKILL.md 里的操作指令。下面是本会话可用的全部 skill。

- commit: Writes a commit. (file: /home/u/.agents/skills/commit/SKILL.md)

任务落在某条描述的场景里时，先用 read 完整读它的 path 再动手，不要凭描述猜正文。
SKILL.md 里的相对路径相对它所在目录解析。有 scripts/ 就跑现成脚本，不要重写等价代码。
选中的指令文件要读完；不相关的 references/ 不要读。
</available_skills>"""
SANDBOX_TEXT = """<sandbox_policy>
mode: auto
workspace: /w
write / edit: can change files in the workspace.
bash: runs in the sandbox and can write the workspace and temporary directories.
</sandbox_policy>"""


def goals(body: str | None, *, max_tokens: int | None = None) -> CustomSection:
    return CustomSection(id="team~goals", tag="goals", body=body, max_tokens=max_tokens)


def sampled(
    capture: Capture,
    *,
    baseline: Baseline = NOTHING_ON_RECORD,
    kept: Set[str] = NOTHING_KEPT,
    on_error: Mapping[str, OnError] = ALL_FAIL,
    last_good: Mapping[str, str] = NO_TEXTS,
) -> Sampling:
    return sample(
        capture,
        point=POINT,
        baseline=baseline,
        kept=kept,
        on_error=on_error,
        last_good=last_good,
    )


def spoken(emissions: tuple[Emission, ...]) -> list[tuple[str, str]]:
    """Section and text of each emission."""
    return [(emission.section, emission.text) for emission in emissions]
