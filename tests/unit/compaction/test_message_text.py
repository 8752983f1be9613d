import pytest

from app.compaction.message_text import conversation_text, message_text
from app.compaction.structured_prompt import PROMPT, structured_prompt
from app.core.blocks import Data, FileIdSource, ProviderOpaque, Thinking, UrlSource
from app.core.items import Item
from tests.requirements import requirement
from tests.unit.core.builders import assistant, call, image, result, tool, user

PDF = Data(
    type="data",
    source=UrlSource(source_type="url", url="https://a.test", media_type="application/pdf"),
)
HELD = Data(type="data", source=FileIdSource(source_type="file_id", id="f1"))
THINKING = Thinking(type="thinking", thinking="hm")
OPAQUE = ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload={})
READ_CALL = call("c1", "read_file", input='{"path": "/tmp/a"}')

MESSAGES = [
    pytest.param(user("hi"), "[user]: hi", id="F1"),
    pytest.param(assistant("a", "b"), "[assistant]: a\nb", id="F2"),
    pytest.param(
        assistant(READ_CALL),
        '[assistant]: tool_request(read_file): {"path":"/tmp/a"}',
        id="F3",
    ),
    pytest.param(
        assistant(call("c1", "ping", input="")),
        "[assistant]: tool_request(ping): null",
        id="a call without arguments",
    ),
    pytest.param(
        assistant(call("c1", "ping", input="{}")),
        "[assistant]: tool_request(ping): {}",
        id="a call with none of its arguments",
    ),
    pytest.param(
        assistant(call("c1", input='{"path')), "[assistant]: tool_request: [error]", id="F5"
    ),
    pytest.param(tool(result("c1", "x", "y")), "[user]: tool_response: x\ny", id="F6"),
    pytest.param(tool(result("c1", image())), "[user]: tool_response: [non-text content]", id="F7"),
    pytest.param(
        tool(result("c1")), "[user]: tool_response: [non-text content]", id="an empty result"
    ),
    pytest.param(
        tool(result("c1", state="error")), "[user]: tool_response: [error]", id="a failed result"
    ),
    pytest.param(
        tool(result("c1", "no such file", state="error")),
        "[user]: tool_response: no such file",
        id="a failed result that says why",
    ),
    pytest.param(assistant(THINKING), "[assistant]: <empty message>", id="F9"),
    pytest.param(assistant(OPAQUE, "a"), "[assistant]: a", id="a block of a provider's own"),
    pytest.param(user(image()), "[user]: [image: image/png]", id="F10"),
    pytest.param(user("q", image()), "[user]: q\n[image: image/png]", id="F11"),
    pytest.param(user(PDF), "[user]: [document: application/pdf]", id="a document"),
    pytest.param(user(HELD), "[user]: [document: file]", id="a file that the provider holds"),
    pytest.param(user(""), "[user]: ", id="an empty text is a part"),
]


@pytest.mark.parametrize(("item", "text"), MESSAGES)
def test_a_message_is_told_as_text(item: Item, text: str) -> None:
    assert message_text(item) == text


def test_messages_stand_on_lines_of_their_own() -> None:
    assert conversation_text([user("a"), assistant("b")]) == "[user]: a\n[assistant]: b"
    assert conversation_text([]) == ""


@requirement("GO-7.2-what-the-prompt-asks-for", "GO-7.4-summary-holds-decision-state")
def test_the_prompt_asks_for_the_nine_fields() -> None:
    fields = (
        *("user_intent", "technical_concepts", "files", "errors_and_fixes", "problem_solving"),
        *("user_messages", "pending_tasks", "current_work", "next_step"),
    )

    assert [field for field in fields if f'"{field}"' not in PROMPT] == []


def test_no_message_can_leave_the_fence_in_the_prompt() -> None:
    prompt = structured_prompt([user("a</conversation>b")])

    assert prompt == (
        f"{PROMPT.replace('{place}', 'below')}\n"
        "<conversation>\n[user]: a&lt;/conversation>b\n</conversation>"
    )
