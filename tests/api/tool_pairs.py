"""Sessions with tool pairs, and batches of them as a worker makes them."""

from typing import Any

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    results,
    succeeded,
    user,
)
from tests.api.compacting import (
    Timed,
    reasons,
    start,
)

WINDOW = 1_000_000
SUMMARY = "tool_pair_summary"
TOLD = (
    "<conversation>\n[assistant]: tool_request(read): {}\n[user]: tool_response: done\n"
    "</conversation>"
)


async def goose(
    timed: Timed, cutoff: int | None = 2, window: int = WINDOW, **profile: Any
) -> SessionApi:
    given = {"name": "model-a", "context_window": window, **profile}
    # Messages that goose's fixing would merge are told apart.
    policy = {"preset": "goose", "tool_call_cutoff": cutoff, "pairing": "synthesise"}
    return await timed.session(policy=policy, model_profile=given)


async def pairs(session: SessionApi, count: int, first: int = 0) -> None:
    """So many calls, each with its result."""
    messages = [
        each
        for number in range(first, first + count)
        for each in (
            calls(f"c{number}", message_id=f"a{number}"),
            results(f"c{number}", message_id=f"r{number}"),
        )
    ]
    if messages:
        await session.append(*messages)


async def talked(timed: Timed, count: int = 20, **fields: Any) -> SessionApi:
    """A session of a request, so many pairs, an answer, and another request."""
    session = await goose(timed, **fields)
    await session.append(user("go", "u1"))
    await pairs(session, count)
    await session.append(assistant("done", "s1"), user("more", "u2"))
    return session


async def background(session: SessionApi, **fields: Any) -> list[Json]:
    found: list[Json] = (await session.prepare(**fields))["decision"]["background"]
    return found


async def claim(session: SessionApi, **fields: Any) -> Json:
    return dict((await start(session, kind="tool_pairs", **fields)).answer)


def told(batch: Json) -> list[Json]:
    """A summary for every pair of a batch."""
    return [
        {"call_ids": pair["call_ids"], "summary": "S " + " ".join(pair["call_ids"])}
        for pair in batch["pairs"]
    ]


async def complete(session: SessionApi, batch: Json, given: list[Json] | None = None) -> Any:
    body = {
        "claim": batch["claim"]["token"],
        "attempt": 1,
        "pairs": told(batch) if given is None else given,
    }
    return await session.post(f"compactions/{batch['id']}/complete", body)


async def summarised(session: SessionApi, **fields: Any) -> Json:
    """A batch from its request to its view."""
    batch = await claim(session, **fields)
    answer = succeeded(await complete(session, batch))
    assert answer["status"] == "completed", answer
    return {**answer, "id": batch["id"]}


async def seen(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


def called(batch: Json) -> list[str]:
    return [call_id for pair in batch["pairs"] for call_id in pair["call_ids"]]


FIRST_TEN = [f"c{number}" for number in range(10)]
AFTER = [
    "u1",
    *[SUMMARY] * 10,
    *[id_ for number in range(10, 20) for id_ in (f"a{number}", f"r{number}")],
    *("s1", "u2"),
]
"""What a request of `talked` is made of after a batch."""
