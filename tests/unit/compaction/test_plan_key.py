from dataclasses import replace

import pytest

from app.compaction.plan_key import PlanContent, plan_key
from tests.unit.core.builders import assistant, stored, user

PLAN = PlanContent(
    policy={"preset": "openwork", "auto_compact_percent": 85},
    model="model-1",
    folded=stored(user("go"), assistant("done")),
    boundaries={"through_sequence": 2, "keep_from": 2},
    instructions=None,
)


def test_a_plan_key_is_a_sha256_in_hexadecimal() -> None:
    assert plan_key(PLAN) == "7813666ab9cf7e5281b405dc27687936aaf7b799f4c8c04927212292b6d89b9e"


@pytest.mark.parametrize(
    "same",
    [
        replace(PLAN, folded=list(PLAN.folded)),
        replace(PLAN, policy={"auto_compact_percent": 85, "preset": "openwork"}),
        replace(PLAN, boundaries={"keep_from": 2, "through_sequence": 2}),
        replace(PLAN, instructions=" \n"),
    ],
    ids=["items", "policy order", "boundary order", "blank instructions"],
)
def test_equal_plans_have_one_key(same: PlanContent) -> None:
    assert plan_key(same) == plan_key(PLAN)


def test_instructions_are_compared_without_the_space_around_them() -> None:
    one, other = replace(PLAN, instructions="focus"), replace(PLAN, instructions=" focus\n")

    assert plan_key(one) == plan_key(other)


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, policy={"preset": "openwork", "auto_compact_percent": 84}),
        replace(PLAN, model="model-2"),
        replace(PLAN, folded=PLAN.folded[:1]),
        replace(PLAN, folded=stored(user("go"), assistant("done!"))),
        replace(PLAN, folded=stored(user("go", kind="agent_message"), assistant("done"))),
        replace(PLAN, folded=(user("go", sequence=3), *PLAN.folded[1:])),
        replace(PLAN, folded=(PLAN.folded[1], PLAN.folded[0])),
        replace(PLAN, boundaries={"through_sequence": 3, "keep_from": 2}),
        replace(PLAN, boundaries={"through_sequence": None, "keep_from": 2}),
        replace(PLAN, boundaries={}),
        replace(PLAN, instructions="focus"),
    ],
    ids=[
        "policy",
        "model",
        "fewer items",
        "content",
        "kind",
        "id",
        "order",
        "boundary",
        "no boundary",
        "no boundaries",
        "instructions",
    ],
)
def test_another_plan_has_another_key(other: PlanContent) -> None:
    assert plan_key(other) != plan_key(PLAN)
