"""What comes in is what comes out, whatever a text holds."""

import json
from http import HTTPStatus

from tests.api.client import (
    Api,
    Json,
    SessionApi,
    assistant,
    message,
    results,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
)
from tests.requirements import requirement

TEN_MEGABYTES = 10 * 1024 * 1024
NUL = "\x00"
SIX_CHARACTERS = "\\u0000"
"""How JSON spells a NUL; as text it is six characters that are nothing special."""

TEXTS = {
    "empty": "",
    "NUL": f"a{NUL}b",
    "escape of a NUL": f"a{SIX_CHARACTERS}b",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "astral plane": "\U0001f378 \U0001f469\u200d\U0001f4bb \U00020000 \U0010ffff",
    "noncharacters": "\ufffe\uffff\ufdd0",
    "combining": "e\u0301 \u00e9 \u202e\u2066",
    "line ends": "a\r\nb\rc\nd\u2028e\u2029f",
    "JSON": '{"a": "\\\\n", \'b\': "\\/"}',
    "SQL": "'; DROP TABLE messages; -- %s $1 :name ?",
}


async def sent_raw(session: SessionApi, body: bytes) -> Json:
    """The answer to an append whose body is given as bytes."""
    path = f"/v1/sessions/{session.id}/messages"
    return succeeded(await session.client.post(path, content=body))


async def test_a_text_is_read_as_it_was_written(api: Api) -> None:
    session = await api.session()
    await session.append(*map(user, TEXTS.values()))
    prepared = await session.prepare()
    stored = await session.messages()
    _, *sent = prepared["request"]["messages"]

    expected = {name: [text_block(text)] for name, text in TEXTS.items()}
    assert dict(zip(TEXTS, (m["content"] for m in stored), strict=True)) == expected
    assert dict(zip(TEXTS, (m["content"] for m in sent), strict=True)) == expected


async def test_everything_that_a_caller_names_may_hold_a_nul(api: Api) -> None:
    odd = f"c{NUL}\U0001f378"
    session = await api.session(metadata={odd: odd}, spill_directory=odd)
    call, result = tool_call(odd, name=odd, input=odd), tool_result(odd, odd)
    await session.append(message("assistant", [call]), message("tool", [result]))
    stored = await session.messages()

    assert (await session.read())["metadata"] == {odd: odd}
    assert stored[0]["content"] == [call | {"state": "finished"}]
    assert stored[1]["content"] == [result | {"name": odd, "state": "success"}]


async def test_B133_a_nul_and_the_text_of_its_escape_stay_two_things(api: Api) -> None:
    session = await api.session()
    text = f"{NUL}{SIX_CHARACTERS}\\{SIX_CHARACTERS}"
    await session.append(user(text, "m"))

    assert len(text) == 1 + 6 + 7
    assert (await session.read("messages/m"))["content"] == [text_block(text)]


async def test_B134_a_lone_surrogate_is_replaced_and_told_and_can_be_read_for_ever(
    api: Api,
) -> None:
    session = await api.session()
    body = rb'{"messages": [{"id": "m", "role": "user", "content": "a\udc88b"}]}'
    answer = await sent_raw(session, body)
    prepared = await session.prepare()

    assert answer["repairs"] == [
        {"code": "lone_surrogate_replaced", "path": "/messages/0/content", "message_id": "m"}
    ]
    assert (await session.read("messages/m"))["content"] == [text_block("a\ufffdb")]
    assert prepared["request"]["messages"][-1]["content"] == [text_block("a\ufffdb")]
    assert (await session.get("context")).status_code == HTTPStatus.OK


async def test_a_lone_surrogate_again_is_the_same_message(api: Api) -> None:
    session = await api.session()
    body = rb'{"messages": [{"id": "m", "role": "user", "content": "a\udc88b"}]}'
    first = await sent_raw(session, body)
    again = await sent_raw(session, body)

    assert first["messages"] == again["messages"] == [{"id": "m", "sequence": 1}]


async def test_B136_two_halves_of_a_pair_are_one_character(api: Api) -> None:
    session = await api.session()
    body = rb'{"messages": [{"id": "m", "role": "user", "content": "\ud83c\udf78"}]}'
    answer = await sent_raw(session, body)

    assert answer["repairs"] == []
    assert (await session.read("messages/m"))["content"] == [text_block("\U0001f378")]


@requirement("OW-7.3-tool-results-have-no-limit")
async def test_a_result_of_ten_megabytes_is_kept_whole_and_sent_short(api: Api) -> None:
    session = await api.session()
    line = f"2024-05-15 15:00:00 \U0001f378{NUL} request served\n"
    text = line * (TEN_MEGABYTES // len(line.encode()))
    await session.append(
        assistant("Reading."),
        message("assistant", [tool_call("c")]),
        message("tool", [tool_result("c", text)], "large"),
    )
    prepared = await session.prepare()
    (sent,) = prepared["request"]["messages"][-1]["content"]
    (output,) = sent["output"]
    shown = output["text"]

    assert (await session.read("messages/large"))["content"][0]["output"] == [text_block(text)]
    assert prepared["projection"]["truncated_tool_results"] == 1
    assert len(shown.encode()) <= 4 * 8_000
    assert shown.startswith(line)
    assert shown.endswith(line)


@requirement("OW-7.1-artifacts-never-count")
async def test_artifacts_are_kept_with_their_numbers_and_order(api: Api) -> None:
    session = await api.session()
    payload = {"z": 1.1, "a": [True, None, 12345678901234567890], "ä": {"": ""}}
    artifacts = [{"kind": "diff", "payload": payload}]
    await session.append(message("assistant", [tool_call("c")]))
    await session.append(message("tool", [tool_result("c", artifacts=artifacts)], "r"))
    stored = (await session.get("messages/r")).text

    assert json.dumps(payload, ensure_ascii=False, separators=(",", ":")) in stored


async def test_results_of_one_message_keep_their_order(api: Api) -> None:
    session = await api.session()
    await session.append(message("assistant", [tool_call(id_) for id_ in "abc"]))
    await session.append(results("c", "a", "b", message_id="r"))

    stored = (await session.read("messages/r"))["content"]
    assert [result["id"] for result in stored] == ["c", "a", "b"]
