from dataclasses import replace

import pytest

from app.compaction.artifact import (
    SUMMARY_TASK,
    Artifact,
    Asker,
    Refusal,
    latest_ready,
    refusal,
    resolve,
    summary_task,
)
from tests.requirements import requirement
from tests.unit.core.builders import said, stored, user

TALK = stored(*(user(f"message {number}") for number in range(10)))
ASKER = Asker(scope="session-1", agent_id="compactor", prompt=None)


def ready(covered: int, *, asker: Asker = ASKER, summary: str = "s") -> Artifact:
    task = summary_task(TALK, covered, asker)
    return Artifact(scope=task.scope, key=task.key, covered_messages=covered, summary=summary)


def test_a_seed_is_the_covered_messages_and_the_prompt() -> None:
    task = summary_task(TALK, 8, ASKER)

    assert said(task.seed) == said([*TALK[:8], user(SUMMARY_TASK)])
    assert summary_task(TALK, 8, replace(ASKER, prompt="Keep paths.")).seed[8].content == (
        user("Keep paths.").content
    )


def test_an_equal_task_has_the_same_key_however_long_the_tail_is() -> None:
    again = stored(*(user(f"message {number}") for number in range(12)))

    assert summary_task(again, 8, ASKER) == summary_task(TALK, 8, ASKER)
    assert summary_task(TALK, 8, ASKER).key.startswith("compact-")


@pytest.mark.parametrize(
    "asker",
    [
        replace(ASKER, scope="session-2"),
        replace(ASKER, agent_id="other"),
        replace(ASKER, prompt=""),
        replace(ASKER, prompt="Keep paths."),
        replace(ASKER, prompt=f"{SUMMARY_TASK} "),
    ],
)
def test_another_asker_has_another_key(asker: Asker) -> None:
    assert summary_task(TALK, 8, asker).key != summary_task(TALK, 8, ASKER).key


def test_other_messages_have_another_key() -> None:
    changed = (*stored(user("message 0, edited")), *TALK[1:])

    assert summary_task(changed, 8, ASKER).key != summary_task(TALK, 8, ASKER).key
    assert summary_task(TALK, 7, ASKER).key != summary_task(TALK, 8, ASKER).key


def test_the_ready_artifact_that_covers_the_most_is_given_out() -> None:
    other = ready(7, asker=replace(ASKER, scope="session-2"))
    artifacts = (ready(4), ready(6), ready(9), other)

    assert latest_ready(artifacts, "session-1", 8) == ready(6)
    assert latest_ready(artifacts, "session-1", 3) is None


def test_H4_an_artifact_that_covers_too_much_is_not_given_out() -> None:
    assert latest_ready((ready(9),), "session-1", 8) is None


REFUSALS: list[object] = [
    pytest.param(ready(8), None, id="H3"),
    pytest.param(ready(6), None, id="it covers less"),
    pytest.param(ready(9), "covers_too_much", id="H4"),
    pytest.param(ready(8, asker=replace(ASKER, scope="session-2")), "other_scope", id="H5 scope"),
    pytest.param(replace(ready(8), key="compact-0"), "changed", id="H5 key"),
    pytest.param(replace(ready(8), covered_messages=7), "changed", id="another coverage"),
    pytest.param(ready(8, asker=replace(ASKER, prompt="other")), "changed", id="another prompt"),
    pytest.param(ready(8, summary=" \n\t"), "blank", id="a blank summary"),
]


@requirement("AW-dynamic-artifact-must-fit")
@pytest.mark.parametrize(("artifact", "why"), REFUSALS)
def test_an_artifact_is_used_only_where_it_fits_and_else_the_task_runs(
    artifact: Artifact, why: Refusal | None
) -> None:
    resolution = resolve(artifact, TALK, 8, ASKER)

    assert refusal(artifact, TALK, 8, ASKER) == why
    assert resolution.artifact == (artifact if why is None else None)
    assert resolution.task == (None if why is None else summary_task(TALK, 8, ASKER))


def test_an_artifact_of_messages_that_changed_is_refused() -> None:
    changed = (*stored(user("edited")), *TALK[1:])

    assert refusal(ready(8), changed, 8, ASKER) == "changed"


def test_H17_a_fold_asks_by_the_key_of_the_summary_that_is_under_way() -> None:
    under_way = summary_task(TALK[:10], 8, ASKER)

    assert latest_ready((), "session-1", 8) is None
    assert resolve(None, TALK, 8, ASKER).task == under_way
