"""What sub-agents report: messages of kind `agent_message`, each delivered once."""

from app.core.envelopes import agent_message_text
from tests.api.client import Api, Json, SessionApi, assistant, text_block, user
from tests.api.compacting import compact, texts
from tests.api.on_one_database import ON_SQLITE

REPORT = agent_message_text("find_auth_flow", "final_answer", "Found it.")


def report(message_id: str = "agent:child-1:turn-3") -> Json:
    """The report of a child session's turn, under an id that both make up."""
    return {**user(REPORT, message_id), "kind": "agent_message"}


async def delivered(api: Api) -> SessionApi:
    session = await api.session()
    await session.append(user("Find it.", "m1"), assistant("Asking.", "m2"))
    await session.append(report())
    return session


@ON_SQLITE
async def test_A5_a_report_reaches_the_model_in_its_envelope(api: Api) -> None:
    session = await delivered(api)
    prepared = await session.prepare()

    assert prepared["request"]["messages"][-1] == {"role": "user", "content": [text_block(REPORT)]}


async def test_A6_the_same_report_twice_is_one_message(api: Api) -> None:
    session = await delivered(api)
    again = await session.append(report())
    prepared = await session.prepare(append=[report()])

    assert again["message_count"] == prepared["message_count"] == 3
    assert texts(prepared["request"]).count(REPORT) == 1
    assert [kept["kind"] for kept in await session.messages()] == [
        "normal",
        "normal",
        "agent_message",
    ]


@ON_SQLITE
async def test_A6_a_report_that_was_folded_is_not_delivered_again(api: Api) -> None:
    session = await delivered(api)
    await compact(session)
    await session.append(report())

    assert REPORT not in texts((await session.prepare())["request"])
    assert texts((await session.prepare())["request"])[0] == "Find it."
