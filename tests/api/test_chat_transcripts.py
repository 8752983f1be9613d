"""Real sessions in the format of OpenAI's chat API are prepared without loss."""

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from tests.api.client import Api, Json
from tests.api.follower import Follower
from tests.api.requests import badly_paired
from tests.api.transcripts import CHAT_TRANSCRIPTS, agent_of, chat_transcript, messages_of
from tests.requirements import requirement

Fact: TypeAlias = tuple[str, ...]
"""A text, a call or a result, with all that a model should know of it."""


@requirement("OW-11-messages-reach-the-next-call")
async def test_every_text_call_and_result_is_sent_in_order(api: Api) -> None:
    lost: dict[str, object] = {}
    for name in CHAT_TRANSCRIPTS:
        transcript = chat_transcript(name)
        session = await api.session(name, agent=agent_of(transcript))
        prepared = await session.prepare(append=messages_of(transcript))
        sent = prepared["request"]["messages"]
        faults = (*badly_paired(sent), *prepared["repairs"])
        if faults or list(facts_sent(sent)) != list(facts_said(transcript)):
            lost[name] = faults

    assert len(CHAT_TRANSCRIPTS) == 25
    assert lost == {}


@requirement("OW-4.1-open-call-id-is-unique")
async def test_an_id_that_comes_back_belongs_to_its_own_result_each_time(api: Api) -> None:
    transcript = chat_transcript("repeated-call-ids")
    session = await api.session(agent=agent_of(transcript))
    follower = Follower(session)
    for message in messages_of(transcript):
        request = await follower.prepare(message)
    sent = [element.message for element in request.elements]
    uses = Counter(fact[1] for fact in facts_sent(sent) if fact[0] == "call")

    assert max(uses.values()) > 1
    assert list(facts_sent(sent)) == list(facts_said(transcript))
    assert set(follower.causes) == {"interrupted_result_replaced"}


def facts_said(transcript: Json) -> Iterator[Fact]:
    """What a chat transcript says."""
    names: dict[str, str] = {}
    for message in transcript["messages"]:
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            yield ("result", call_id, names[call_id], message["content"])
            continue
        if message["content"] is not None:
            yield (message["role"], message["content"])
        for call in message.get("tool_calls", []):
            function = call["function"]
            names[call["id"]] = function["name"]
            yield ("call", call["id"], function["name"], function["arguments"])


def facts_sent(messages: list[Json]) -> Iterator[Fact]:
    """What the messages of a request say."""
    for message in messages:
        for block in message["content"]:
            match block:
                case {"type": "text", "text": text}:
                    yield (message["role"], text)
                case {"type": "tool_call", "id": id_, "name": name, "input": arguments}:
                    yield ("call", id_, name, arguments)
                case {"type": "tool_result", "id": id_, "name": name, "output": [output]}:
                    yield ("result", id_, name, output["text"])
