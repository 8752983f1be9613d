"""Half surrogate pairs in what is said of a compaction: replaced, and told with their path."""

import json
from typing import Any

import pytest

from tests.api.client import Api, Json, SessionApi, assistant, user
from tests.api.on_one_database import ON_SQLITE
from tests.unit.compaction.summaries import SUMMARY

HALF = "\ud800"


async def post(api: Api, path: str, body: Json) -> Json:
    # As an escape, since no text that is sent can hold it otherwise.
    response = await api.client.post(
        f"/v1/{path}",
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    assert response.is_success, response.text
    answer: Json = response.json()
    return answer


def told(path: str) -> list[Any]:
    return [{"code": "lone_surrogate_replaced", "path": path}]


async def talk(api: Api) -> SessionApi:
    session = await api.session()
    await session.append(user("q"), assistant("a"))
    return session


async def test_instructions_summaries_and_details_tell_what_was_replaced(api: Api) -> None:
    await talk(api)
    path = "sessions/s/compactions"
    started = await post(api, path, {"kind": "manual", "instructions": f"Keep {HALF}."})
    claim, own = started["claim"]["token"], f"{path}/{started['id']}"
    failure = {"claim": claim, "attempt": 1, "error": "transient", "detail": HALF}
    failed = await post(api, f"{own}/fail", failure)
    answer = {"claim": claim, "attempt": 2, "summary": f"{HALF} {SUMMARY}"}
    done = await post(api, f"{own}/complete", answer)

    assert started["repairs"] == told("/instructions")
    assert failed["repairs"] == told("/detail")
    assert done["repairs"] == told("/summary")
    assert done["status"] == "completed"


@ON_SQLITE
async def test_where_nothing_was_replaced_nothing_is_told(api: Api) -> None:
    await talk(api)

    assert "repairs" not in await post(api, "sessions/s/compactions", {"kind": "manual"})


SAID = [{"role": "user", "content": HALF}, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        (
            "plan",
            {
                "model_profile": {"name": "m", "context_window": 9_000},
                "kind": "manual",
                "conversation": SAID,
            },
            "/conversation/0/content",
        ),
        (
            "replace",
            {"kind": "manual", "summary": "s", "conversation": SAID},
            "/conversation/0/content",
        ),
        ("check-summary", {"text": HALF}, "/text"),
    ],
)
@ON_SQLITE
async def test_callers_with_their_own_store_are_told_too(
    api: Api, path: str, body: Json, where: str
) -> None:
    assert (await post(api, f"compaction/{path}", body))["repairs"] == told(where)
