"""What a capture changes for a model that was told a baseline, without a session."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.api.captures import (
    INSTRUCTIONS_ID,
    PROJECT_ID,
    REMOVES_INSTRUCTIONS,
    REPLACES_INSTRUCTIONS,
    SANDBOX_ID,
    SKILLS_ID,
    WHOLE,
    goals,
    rendered,
    rules,
)
from tests.api.client import Api, Json, message, succeeded, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

pytestmark = ON_SQLITE

UNKNOWN: Json = {"state": "unknown"}
ABSENT: Json = {"state": "absent"}
KNOWN: Json = {"state": "known", "text": rendered("B")}
OTHER: Json = {"state": "known", "text": rendered("B2")}
REPLACED = ("replacement", f"{REPLACES_INSTRUCTIONS}\n\n")
REMOVED = ("removal", REMOVES_INSTRUCTIONS)
PLAIN = (None, "")


async def diff(api: Api, capture: Json, **fields: Any) -> Json:
    body = {"capture": capture, "turn_id": "T1", "model_call": 2, "sample": 1, **fields}
    return succeeded(await api.client.post("/v1/world-state/diff", json=body))


ROWS: Mapping[str, tuple[Json, bool, str | None, tuple[str | None, str] | None, Json]] = {
    "S7 none gone B": (UNKNOWN, False, "B", PLAIN, KNOWN),
    "S13 none gone absent": (UNKNOWN, False, None, None, UNKNOWN),
    "none kept B": (UNKNOWN, True, "B", REPLACED, KNOWN),
    "S11 none kept absent": (UNKNOWN, True, None, REMOVED, ABSENT),
    "S2 known kept B": (KNOWN, True, "B", None, KNOWN),
    "S18 known kept other": (KNOWN, True, "B2", REPLACED, OTHER),
    "known kept absent": (KNOWN, True, None, REMOVED, ABSENT),
    "S7 known gone B": (KNOWN, False, "B", PLAIN, KNOWN),
    "known gone other": (KNOWN, False, "B2", PLAIN, OTHER),
    "known gone absent": (KNOWN, False, None, None, KNOWN),
    "S13 absent kept absent": (ABSENT, True, None, None, ABSENT),
    "S10 absent kept B": (ABSENT, True, "B", PLAIN, KNOWN),
    "absent gone absent": (ABSENT, False, None, None, ABSENT),
    "S10 absent gone B": (ABSENT, False, "B", PLAIN, KNOWN),
}


@requirement(
    "OW-3-baseline-none-gone-body",
    "OW-3-baseline-none-gone-absent",
    "OW-3-baseline-none-kept-body",
    "OW-3-baseline-none-kept-absent",
    "OW-3-baseline-known-kept-same",
    "OW-3-baseline-known-kept-changed",
    "OW-3-baseline-known-kept-absent",
    "OW-3-baseline-known-gone-body",
    "OW-3-baseline-known-gone-absent",
    "OW-3-baseline-absent-kept-absent",
    "OW-3-baseline-absent-kept-body",
    "OW-3-baseline-absent-gone-absent",
    "OW-3-baseline-absent-gone-body",
)
@pytest.mark.parametrize(("baseline", "kept", "now", "said", "after"), ROWS.values(), ids=ROWS)
async def test_every_row_of_the_truth_table(
    api: Api,
    baseline: Json,
    kept: bool,
    now: str | None,
    said: tuple[str | None, str] | None,
    after: Json,
) -> None:
    answer = await diff(
        api,
        rules(now),
        baseline={INSTRUCTIONS_ID: baseline},
        retained=[INSTRUCTIONS_ID] if kept else [],
    )

    assert answer["emissions"] == ([] if said is None else [emission(said, now)])
    assert answer["baseline"] == {INSTRUCTIONS_ID: after}
    assert (answer["warnings"], answer["repairs"]) == ([], [])


def emission(said: tuple[str | None, str], now: str | None) -> Json:
    notice, before = said
    return {
        "section": INSTRUCTIONS_ID,
        "message_id": f"world-state:T1:2:1:{INSTRUCTIONS_ID}",
        "notice": notice,
        "text": before if now is None else before + rendered(now),
    }


@requirement("OW-3-retained-by-kind-and-marker", "OW-11-lost-baseline-sends-with-notice")
@pytest.mark.parametrize(
    ("text", "kind", "notice"),
    [
        pytest.param(rendered("B"), "world_state", "replacement", id="S14"),
        pytest.param(REMOVES_INSTRUCTIONS, "world_state", "replacement", id="S15"),
        pytest.param(
            f"{REPLACES_INSTRUCTIONS}\n\n{rendered('A')}", "world_state", "replacement", id="S18"
        ),
        pytest.param(f" {rendered('B')}", "world_state", None, id="S21"),
        pytest.param(f"{REPLACES_INSTRUCTIONS}\n{rendered('B')}", "world_state", None, id="S22"),
        pytest.param(f"{REMOVES_INSTRUCTIONS} ", "world_state", None, id="longer than a notice"),
        pytest.param(rendered("B"), "normal", None, id="typed by a user"),
        pytest.param("hi", "normal", None, id="S17"),
    ],
)
async def test_the_conversation_tells_what_is_kept(
    api: Api, text: str, kind: str, notice: str | None
) -> None:
    conversation = [user("u"), message("user", text, kind=kind)]

    answer = await diff(api, rules("B"), conversation=conversation)

    assert [said["notice"] for said in answer["emissions"]] == [notice]


async def test_S1_S6_S9_all_sections_are_told_in_their_order(api: Api) -> None:
    first = await diff(api, {**WHOLE, **goals("ship")})
    without = await diff(api, {**WHOLE, "instructions": None, "skills": None})
    project_known = {PROJECT_ID: first["baseline"][PROJECT_ID]}
    rest = await diff(api, WHOLE, baseline=project_known, retained=[PROJECT_ID])

    assert sections(first) == [PROJECT_ID, INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID, "team~goals"]
    assert sections(without) == [PROJECT_ID, SANDBOX_ID]
    assert sections(rest) == [INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID]


def sections(answer: Json) -> list[str]:
    return [said["section"] for said in answer["emissions"]]


async def test_S5_a_diff_changes_nothing_until_its_baseline_is_given_back(api: Api) -> None:
    first, again = [await diff(api, WHOLE) for _ in range(2)]
    after = await diff(
        api, WHOLE, baseline=first["baseline"], retained=sections(first), model_call=3
    )

    assert first == again
    assert after["emissions"] == []
    assert after["baseline"] == first["baseline"]


@pytest.mark.parametrize(
    "fields",
    [
        {"retained": [], "conversation": []},
        {"baseline": {INSTRUCTIONS_ID: {"state": "absent", "text": "x"}}},
        {"baseline": {INSTRUCTIONS_ID: {"state": "told"}}},
        {"sample": 0},
    ],
    ids=str,
)
async def test_a_diff_of_contradictions_is_refused(api: Api, fields: Json) -> None:
    body = {"capture": {}, "turn_id": "T1", "model_call": 2, "sample": 1, **fields}

    response = await api.client.post("/v1/world-state/diff", json=body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
