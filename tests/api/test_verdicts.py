"""Verdicts: what became of every stored message in a request, whatever happened to it."""

from typing import Any

import pytest

from tests.api.client import (
    Api,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    succeeded,
    text_block,
    tool_result,
    user,
)
from tests.api.compacting import compact
from tests.api.on_one_database import ON_SQLITE

IMAGE: Json = {
    "type": "data",
    "source": {"source_type": "base64", "data": "AAAA", "media_type": "image/png"},
}


async def verdicts(session: SessionApi, **fields: Any) -> dict[str, tuple[str, str | None]]:
    prepared = await session.prepare(include=["verdicts"], **fields)
    judged = prepared["verdicts"]
    assert [entry["sequence"] for entry in judged] == list(range(1, prepared["message_count"] + 1))
    return {entry["message_id"]: (entry["verdict"], entry["rule"]) for entry in judged}


def history(*, size: int = 4) -> list[Json]:
    return [
        user("q", "m1"),
        calls("c1", message_id="m2"),
        message("tool", [tool_result("c1", "x" * size)], "m3"),
        assistant("a", "m4"),
        user("r", "m5"),
    ]


async def test_what_is_sent_as_it_is_has_no_rule(api: Api) -> None:
    session = await api.session()

    assert await verdicts(session, append=history()) == {
        f"m{number}": ("sent", None) for number in range(1, 6)
    }


async def test_folded_messages_name_their_compaction_and_later_ones_are_sent(api: Api) -> None:
    session = await api.session()
    await session.append(*history())
    done = await compact(session)
    found = await verdicts(session, append=[assistant("b", "m6")])

    assert found["m1"] == found["m3"] == ("summarised", done["checkpoint"]["id"])
    assert found["m6"] == ("sent", None)


async def test_a_long_result_is_truncated_and_behind_the_watermark_pruned(api: Api) -> None:
    profile = {"name": "model-a", "context_window": 12_000, "max_output_tokens": 1_000}
    session = await api.session(model_profile=profile)
    first = await verdicts(session, append=history(size=50_000)[:3])
    turns = [user("next", f"u{number}") for number in range(3)]
    later = await verdicts(session, append=[assistant("a", "m4"), *turns])

    assert first["m3"] == ("truncated", "max_tool_result_tokens")
    assert later["m3"][0] in ("truncated", "pruned")


async def test_hidden_messages_and_those_that_a_rewind_leaves_behind_are_hidden(api: Api) -> None:
    session = await api.session()
    await session.append(*history())
    await session.post("messages/m4/visibility", {"agent_visible": False})
    hidden = await verdicts(session)
    rewound = succeeded(await session.post("rewind", {"through_sequence": 1}))
    behind = await verdicts(session)

    assert hidden["m4"] == ("hidden", "visibility")
    assert behind["m1"] == ("sent", None)
    assert behind["m5"] == ("hidden", rewound["id"])


@pytest.mark.parametrize(
    ("policy", "appended", "expected"),
    [
        (
            {"context_policy": {"keep_last": 1}},
            history(),
            {"m1": ("dropped", "context_policy"), "m5": ("sent", None)},
        ),
        (
            {"max_images": 1},
            [message("user", [text_block("a"), IMAGE], f"m{number}") for number in range(3)],
            {"m0": ("truncated", "max_images"), "m2": ("sent", None)},
        ),
        (
            {"pairing": "clean"},
            [user("q", "m1"), calls("c1", message_id="m2"), user("r", "m3")],
            {"m2": ("dropped", "tool_call_dropped")},
        ),
        (
            {"pairing": "fix"},
            [user("a", "m1"), user("b", "m2"), assistant("c", "m3"), user("d", "m4")],
            {"m1": ("sent", "messages_merged"), "m2": ("sent", None)},
        ),
    ],
)
@ON_SQLITE
async def test_what_a_policy_leaves_out_names_its_rule(
    api: Api, policy: Json, appended: list[Json], expected: dict[str, Any]
) -> None:
    session = await api.session(policy={"preset": "openwork", **policy})
    found = await verdicts(session, append=appended)

    assert {name: found[name] for name in expected} == expected


async def test_what_the_provider_holds_is_not_sent(api: Api) -> None:
    session = await api.session()
    await session.append(*history())
    held = {"driver": "cli", "ref": "r", "through_sequence": 4}
    succeeded(await api.client.patch("/v1/sessions/s", json={"provider_context": held}))
    found = await verdicts(session)

    assert found["m1"] == ("hidden", "provider_context")
    assert found["m5"] == ("sent", None)


@ON_SQLITE
async def test_verdicts_are_told_where_they_are_asked_for(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(append=[user("q")])

    assert "verdicts" not in prepared
