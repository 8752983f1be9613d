"""Requests to say in every format: the real transcripts, and one with something of everything."""

from typing import Any

from app.api.encoding_models import NeutralRequestIn
from app.services.encoding import GivenRequest
from tests.api.client import Json, assistant, message, text_block, tool_call, tool_result, user
from tests.api.transcripts import agent_of, chat_transcript, coding_session, messages_of

MODEL = "model-1"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
READ: Json = {
    "name": "read",
    "description": "Read a file",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where it is"}},
        "required": ["path"],
    },
}


def given(messages: list[Json], agent: Json, **fields: Any) -> GivenRequest:
    """A request of an agent and what was said."""
    system = {"role": "system", "content": agent["system_prompt"]}
    said = [{"role": entry["role"], "content": entry["content"]} for entry in messages]
    request = {"model": MODEL, "messages": [system, *said], "tools": agent["tools"], **fields}
    return NeutralRequestIn.model_validate(request).request()


def chat_request(name: str) -> GivenRequest:
    """A chat transcript to its end."""
    transcript = chat_transcript(name)
    return given(messages_of(transcript), agent_of(transcript), max_output_tokens=4_096)


def coding_request() -> GivenRequest:
    """The coding session to its end."""
    return given(coding_session(), {"system_prompt": "You fix bugs.", "tools": [READ]})


def rich_request() -> GivenRequest:
    """Media, parallel calls, results of every state, thinking, settings, and a cut-off answer."""
    image = {"source_type": "base64", "data": PNG, "media_type": "image/png"}
    pdf = {"source_type": "base64", "data": "JVBERi0xLjQK", "media_type": "application/pdf"}
    link = {"source_type": "url", "url": "https://example.com/a.png", "media_type": "image/png"}
    thought = {"type": "thinking", "thinking": "Let me look."}
    seen = message(
        "user",
        [
            text_block("What is this?"),
            {"type": "data", "source": image, "name": "a.png"},
            {"type": "data", "source": pdf, "name": "b.pdf"},
            {"type": "data", "source": link},
        ],
    )
    asked = message(
        "assistant",
        [
            thought,
            text_block("I will read both."),
            tool_call("call_PTLP8xhu3uwZk4l3nlnrrJha", input='{"path":"a"}'),
            tool_call("b/ü", input='{"path":'),
            tool_call("c3", input=""),
        ],
    )
    shown = tool_result("call_PTLP8xhu3uwZk4l3nlnrrJha", "text")
    shown["output"].append({"type": "data", "source": image})
    answered = message(
        "tool",
        [shown, tool_result("b/ü", "no such file", state="error"), tool_result("c3", "")],
    )
    messages = [
        assistant("Hello."),
        seen,
        asked,
        answered,
        user("Go on."),
        user("Please."),
        message("assistant", []),
        assistant("It is a dot. "),
    ]
    agent = {"system_prompt": "You see.", "tools": [READ]}
    settings = {"temperature": 0.5, "top_p": 0.9, "tool_choice": "auto", "stop": ["END"]}
    return given(messages, agent, max_output_tokens=512, **settings)
