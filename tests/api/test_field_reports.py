"""What broke for users of similar systems and has no other place, by the numbers of the reports."""

import json
from typing import Any

import pytest

from tests.api.client import (
    Api,
    Json,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
)
from tests.api.compacting import compact, reasons
from tests.api.requests import badly_paired

PNG: Json = {"source_type": "base64", "data": "AAAA", "media_type": "image/png"}


def paired(prepared: Json) -> bool:
    return badly_paired(prepared["request"]["messages"]) == []


async def test_B004_a_result_in_a_user_message_goes_with_its_call_and_the_text_stays(
    api: Api,
) -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "x"},
        {"type": "text", "text": "And now this."},
    ]
    asked = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
    transcript = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": content},
        {"role": "assistant", "content": "Done."},
    ]
    body = {"format": "anthropic.messages", "transcript": {"messages": transcript}, "model": "m"}
    imported = succeeded(await api.client.post("/v1/import", json=body))
    session = await api.session()
    await session.append(*imported["messages"])
    await compact(session)
    prepared = await session.prepare(include=["provenance"])

    assert paired(prepared)
    assert "tool_result" not in json.dumps(prepared["request"]["messages"])
    assert "And now this." in json.dumps(prepared["request"]["messages"])


async def test_B007_no_number_of_newest_messages_leaves_a_result_in_front(api: Api) -> None:
    for keep in range(6):
        policy = {"preset": "openwork", "context_policy": {"keep_last": keep}}
        session = await api.session(f"s{keep}", policy=policy)
        prepared = await session.prepare(
            append=[
                *(user("u"), assistant("a"), calls("123"), results("123")),
                *(user("v"), assistant("b")),
            ]
        )
        assert paired(prepared)
        roles = [entry["role"] for entry in prepared["request"]["messages"]]
        assert roles[1:2] != ["tool"]


async def test_B023_the_result_of_the_call_that_compacts_stays_pairable(api: Api) -> None:
    session = await api.session()
    asking = message("assistant", [tool_call("compact", state="pending")], "m3")
    await session.append(user("q", "m1"), assistant("a", "m2"), user("r", "m4"), asking)
    await compact(session)
    await session.append(results("compact"))
    prepared = await session.prepare(include=["provenance"])

    assert paired(prepared)
    assert "m3" in reasons(prepared)
    assert prepared["repairs"] == []


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("x" * 15_000_000, id="15 MB"),
        pytest.param(json.dumps([{"name": f"n{n}", "value": n} for n in range(9_000)]), id="JSON"),
    ],
)
async def test_B152_B154_a_result_is_cut_in_the_request_and_whole_where_its_message_is_read(
    api: Api, output: str
) -> None:
    session = await api.session()
    answer = message("tool", [tool_result("c1", output)], "big")
    prepared = await session.prepare(
        append=[user("q"), calls("c1"), answer], include=["provenance"]
    )
    shown = prepared["request"]["messages"][-1]["content"][0]["output"][0]["text"]
    original = await session.read("messages/big")

    assert len(shown) < 100_000
    assert prepared["projection"]["truncated_tool_results"] == 1
    assert prepared["provenance"][-1]["message_id"] == "big"
    assert original["content"][0]["output"][0]["text"] == output


async def test_B155_B157_images_beyond_the_limit_give_way_in_steps(api: Api) -> None:
    session = await api.session(policy={"preset": "openwork", "max_images": 5})
    image = {"type": "data", "source": PNG}
    counts: list[int] = []
    causes: list[Any] = []
    for number in range(9):
        prepared = await session.prepare(
            append=[message("user", [text_block("look"), image], f"m{number}"), assistant("ok")]
        )
        counts.append(json.dumps(prepared["request"]).count('"base64"'))
        causes.append(prepared["prefix"]["cause"])

    assert counts == [1, 2, 3, 4, 5, 4, 5, 4, 5]
    assert [number for number, cause in enumerate(causes) if cause == "images_aged"] == [5, 7]
    codes = [(repair["code"], repair["message_id"]) for repair in prepared["repairs"]]
    assert codes == [("image_aged_out", f"m{number}") for number in range(4)]
    again = await session.read(f"prepared/{prepared['prepared_id']}")
    assert again == prepared["request"]


async def test_broken_arguments_are_wrapped_and_stay_stored_as_the_model_wrote_them(
    api: Api,
) -> None:
    session = await api.session(policy={"preset": "openwork", "invalid_arguments": "wrap"})
    broken = message("assistant", [tool_call("c1", input='{"path": "/a')], "m2")
    prepared = await session.prepare(append=[user("q"), broken, results("c1")])
    sent = prepared["request"]["messages"][2]["content"][0]["input"]
    stored = await session.read("messages/m2")

    assert json.loads(sent) == {"_raw": '{"path": "/a'}
    assert stored["content"][0]["input"] == '{"path": "/a'
    assert prepared["repairs"] == [
        {"code": "arguments_wrapped", "item_index": 1, "message_id": "m2", "call_id": "c1"}
    ]


async def test_B019_two_calls_with_one_id_are_taken_and_told_apart_where_the_policy_says_so(
    api: Api,
) -> None:
    session = await api.session(policy={"preset": "openwork", "duplicate_call_ids": "rename"})
    answers = message("tool", [tool_result("x", "r1"), tool_result("x", "r2")], "m3")
    await session.append(user("q", "m1"), calls("x", "x", message_id="m2"))
    open_calls = (await session.read())["resume"]["unresolved_tool_calls"]
    prepared = await session.prepare(append=[answers])
    stored = await session.read("messages/m2")
    forked = succeeded(await session.post("fork", {"id": "f"}))
    shown = prepared["request"]["messages"]

    assert [each["id"] for each in open_calls] == ["x"]
    assert paired(prepared)
    assert [block["id"] for block in shown[2]["content"]] == ["x", "x~2"]
    assert [entry["content"][0]["output"][0]["text"] for entry in shown[3:]] == ["r1", "r2"]
    assert [block["id"] for block in stored["content"]] == ["x", "x"]
    assert prepared["repairs"] == [
        {"code": "call_id_renamed", "item_index": 1, "message_id": "m2", "call_id": "x"}
    ]
    assert forked["message_count"] == 3


async def test_two_calls_with_one_id_are_refused_where_the_policy_says_nothing(api: Api) -> None:
    session = await api.session()
    refused = await session.post("messages", {"messages": [user("q"), calls("x", "x")]})

    assert (refused.status_code, refused.json()["code"]) == (409, "duplicate_tool_call")


async def test_media_that_a_model_does_not_take_gives_way_to_a_line_where_the_policy_says_so(
    api: Api,
) -> None:
    blind = {"name": "model-a", "context_window": 200_000, "accepts_data_blocks": False}
    policy = {"preset": "openwork", "unsupported_data": "placeholder"}
    session = await api.session(policy=policy, model_profile=blind)
    image = {"type": "data", "source": PNG, "name": "a.png"}
    answer = message("tool", [{**tool_result("c1"), "output": [image]}], "m3")
    prepared = await session.prepare(
        append=[message("user", [text_block("look"), image], "m1"), calls("c1"), answer]
    )
    seeing = {**blind, "accepts_data_blocks": True}
    succeeded(await api.client.patch("/v1/sessions/s", json={"model_profile": seeing}))
    after = await session.prepare()

    assert json.dumps(prepared["request"]).count("[media left out: image/png, a.png]") == 2
    assert {(each["code"], each["message_id"]) for each in prepared["repairs"]} == {
        *(("data_block_filtered", "m1"), ("data_block_filtered", "m3")),
    }
    assert json.dumps(after["request"]).count('"base64"') == 2
    refused = await (await api.session("t", model_profile=blind)).post(
        "messages", {"messages": [message("user", [image])]}
    )
    assert refused.json()["code"] == "unsupported_user_data"


async def test_a_cut_result_that_is_json_stays_json_where_the_policy_says_so(api: Api) -> None:
    session = await api.session(policy={"preset": "openwork", "cut": "json"})
    output = json.dumps([{"name": f"n{number}", "log": "x" * 50} for number in range(9_000)])
    answer = message("tool", [tool_result("c1", output)], "m3")
    prepared = await session.prepare(append=[user("q"), calls("c1"), answer])
    shown = prepared["request"]["messages"][-1]["content"][0]["output"][0]["text"]
    rows = json.loads(shown)

    assert len(shown.encode()) <= 32_000
    assert rows[0]["name"] == "n0"
    assert rows[-1].endswith("items omitted]")
    assert prepared["projection"]["truncated_tool_results"] == 1
