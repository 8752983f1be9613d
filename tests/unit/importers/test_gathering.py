"""What holds of every format: ids, pairing, frames, lines."""

import pytest

from app.importers.transcript import InvalidTranscript
from tests.unit.importers.builders import (
    Json,
    call,
    imported,
    lines,
    messages_of,
    result,
    skipped,
    text,
    told,
)


def ai(*call_ids: str) -> Json:
    calls = [{"id": id_, "name": "read", "args": {}} for id_ in call_ids]
    return {"type": "ai", "content": "", "tool_calls": calls}


def tool(call_id: str, said: str = "r") -> Json:
    return {"type": "tool", "tool_call_id": call_id, "content": said}


def test_an_id_that_comes_again_after_its_result_is_kept() -> None:
    found = imported("langchain.messages", [ai("a"), tool("a", "1"), ai("a"), tool("a", "2")])

    assert messages_of(found) == [
        ("assistant", [call("a")]),
        ("tool", [result("a", "1")]),
        ("assistant", [call("a")]),
        ("tool", [result("a", "2")]),
    ]
    assert told(found) == []


def test_an_id_for_which_a_call_waits_is_replaced_and_results_go_in_order() -> None:
    found = imported("langchain.messages", [ai("a", "a"), tool("a", "1"), tool("a", "2")])
    first, second = (block["id"] for block in messages_of(found)[0][1])

    assert first == "a"
    assert second.startswith("call_")
    assert messages_of(found)[1:] == [
        ("tool", [result("a", "1")]),
        ("tool", [result(second, "2")]),
    ]
    assert told(found) == [("call_id_renamed", 0, second, "a")]


def test_calls_without_ids_get_different_ones_each_time_the_same() -> None:
    rows = [ai("", ""), tool(""), ai("")]
    found = imported("langchain.messages", rows)
    made = [block["id"] for _, blocks in messages_of(found) for block in blocks if "id" in block]

    assert len(set(made)) == 3
    assert imported("langchain.messages", rows) == found


def test_a_result_without_a_waiting_call_is_framed() -> None:
    rows = [{**tool('g"', "r"), "name": "read", "status": "error"}]
    found = imported("langchain.messages", rows)

    assert messages_of(found) == [
        (
            "user",
            [
                text('<tool_result id="g&quot;" name="read" state="error">'),
                text("r"),
                text("</tool_result>"),
            ],
        )
    ]
    assert told(found) == [("orphan_result_framed", 0, 'g"', "read")]


def test_damaged_lines_are_skipped_and_the_rest_goes_on() -> None:
    hello = {"type": "human", "content": "q"}
    found = imported(
        "langchain.messages",
        lines(
            hello,
            "",
            "not json",
            "[1]",
            '{"type": "human", "content": NaN}',
            '{"type": "human", "content": 1e999}',
            '{"type": "human", "content": ' + "[" * 70 + "]" * 70 + "}",
            '{"type": "human", "content": "\\ud800 \\ud83d\\ude00 \\\\ud800"}',
            '{"type": "human", "content": [{"type": "text", "text": "\\ud800"}, {}]}',
            '{"type": "human", "con',
        ),
    )

    assert messages_of(found) == [
        ("user", [text("q")]),
        ("user", [text("\ufffd \U0001f600 \\ud800")]),
    ]
    assert skipped(found) == [
        (3, "not_json"),
        (4, "not_an_object"),
        *((line, "not_json") for line in (5, 6, 7)),
        (9, "invalid_message"),
        (10, "not_json"),
    ]
    assert told(found) == [("lone_surrogate_replaced", 1)]


@pytest.mark.parametrize("written", ['[{"type": "human", "content": "q"}]', "\ufeff {0}\r\n"])
def test_a_list_and_a_byte_order_mark_are_read(written: str) -> None:
    found = imported(
        "langchain.messages", written.replace("{0}", '{"type": "human", "content": "q"}')
    )

    assert messages_of(found) == [("user", [text("q")])]


@pytest.mark.parametrize("name", ["claude_code.jsonl", "codex.rollout", "inspect.messages"])
def test_lines_are_text_or_a_list(name: object) -> None:
    with pytest.raises(InvalidTranscript):
        imported(name, {"messages": []})  # type: ignore[arg-type]
