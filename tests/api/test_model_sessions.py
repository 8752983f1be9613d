"""What a session knows of its model, and from whom."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import AGENT, Api, Json, SessionApi, assistant, succeeded, user
from tests.api.on_one_database import ON_SQLITE

GIVEN: Json = {"name": "given", "context_window": 50_000}


async def create(api: Api, session_id: str = "s", **fields: Any) -> httpx.Response:
    """A session without a profile, unless the fields give one."""
    body = {"id": session_id, "model": "gpt-4o", "agent": AGENT, **fields}
    return await api.client.post("/v1/sessions", json=body)


async def session_of(api: Api, model: str, session_id: str = "s", **fields: Any) -> SessionApi:
    created = succeeded(await create(api, session_id, model=model, **fields))
    return SessionApi(client=api.client, id=session_id, created=created)


async def put(api: Api, name: str, **fields: Any) -> None:
    succeeded(await api.client.put(f"/v1/models/{name}", json=fields))


async def change(api: Api, **fields: Any) -> Json:
    return succeeded(await api.client.patch("/v1/sessions/s", json=fields))


async def window_of(session: SessionApi) -> Json:
    """Where the window of the session's next call comes from."""
    origin: Json = (await session.prepare())["limits"]["provenance"]["context_window"]
    return origin


async def test_a_session_without_a_profile_takes_the_published_one(api: Api) -> None:
    session = await session_of(api, "openai/gpt-4o-2024-08-06")
    published = (await api.client.get("/v1/models/gpt-4o")).json()["profile"]

    assert session.created["model_profile"] == published
    assert await window_of(session) == {
        "requested": None,
        "effective": 128_000,
        "source": "catalogue",
        "why": (
            "models.dev of 2026-09-16 on 'gpt-4o', which 'openai/gpt-4o-2024-08-06' resolves to"
        ),
    }


async def test_the_own_profile_counts_before_the_operators_and_that_before_the_published(
    api: Api,
) -> None:
    published = await session_of(api, "gpt-4o", "s-1")
    await put(api, "gpt-4o", context_window=64_000)
    operators = await session_of(api, "gpt-4o", "s-2")
    own = await session_of(api, "gpt-4o", "s-3", model_profile=GIVEN)

    origins = [await window_of(session) for session in (published, operators, own)]
    found = [(origin["effective"], origin["source"]) for origin in origins]
    assert found == [(128_000, "catalogue"), (64_000, "operator"), (50_000, "session")]
    assert "for 'gpt-4o'" in origins[1]["why"]


async def test_B106_a_large_window_is_known_and_says_who_knows_it(api: Api) -> None:
    session = await session_of(api, "claude-opus-5")
    await session.append(user("x" * 1_000_000, "m"))
    prepared = await session.prepare()

    assert prepared["limits"]["context_window"] == 1_000_000
    assert prepared["limits"]["provenance"]["context_window"]["source"] == "catalogue"
    assert prepared["decision"]["action"] == "submit"
    assert prepared["request"]["max_output_tokens"] == 128_000
    assert (prepared["budget"]["state"], prepared["budget"]["fits"]) == ("ok", True)


async def test_B107_an_unknown_window_is_a_state_and_never_a_number(api: Api) -> None:
    session = await session_of(api, "model-a")
    await session.append(user("long " * 100_000, "m1"), assistant("Done.", "m2"))
    prepared = await session.prepare()
    budget, limits = prepared["budget"], prepared["limits"]

    assert session.created["model_profile"] is None
    assert (prepared["decision"]["action"], prepared["decision"]["reason"]) == (
        "submit",
        "unknown_window",
    )
    assert budget["state"] == "unknown"
    for name in ("used_percent", "used_percent_raw", "remaining_tokens", "fits"):
        assert budget[name] is None, name
    for name in ("context_window", "effective_input_tokens", "auto_compact_token_limit"):
        assert limits[name] is None, name
    assert limits["compact_at_input_tokens"] is None
    assert limits["provenance"]["context_window"]["source"] == "unknown"
    assert prepared["request"]["max_output_tokens"] is None
    seen = await session.read()
    assert (seen["state"], seen["used_percent"]) == ("unknown", None)
    preview = await session.read("context", content="false")
    assert preview["budget"]["context_window_tokens"] is None
    assert (await session.read("compactions"))["items"] == []


async def test_null_says_that_the_model_is_unknown_whatever_is_published(api: Api) -> None:
    session = await session_of(api, "gpt-4o", model_profile=None)

    assert session.created["model_profile"] is None
    assert (await window_of(session))["source"] == "unknown"


async def test_a_session_keeps_the_profile_that_it_took(api: Api) -> None:
    session = await session_of(api, "gpt-4o")
    await put(api, "gpt-4o", context_window=64_000)

    assert (await session.read())["model_profile"]["context_window"] == 128_000
    assert (await window_of(session))["source"] == "catalogue"


async def test_a_repeat_is_the_same_session_whatever_was_published_since(api: Api) -> None:
    created = (await create(api)).json()
    await put(api, "gpt-4o", context_window=64_000)
    again = await create(api)
    null = await create(api, model_profile=None)
    given = await create(api, model_profile=created["model_profile"])

    assert again.status_code == HTTPStatus.OK
    assert again.json() == created
    for other in (null, given):
        assert other.status_code == HTTPStatus.CONFLICT
        assert other.json()["differs"] == ["model_profile"]


async def test_a_new_model_brings_its_own_profile(api: Api) -> None:
    session = await session_of(api, "gpt-4o", model_profile=GIVEN)
    await put(api, "my/own", context_window=32_000)
    changed = [await change(api, model=model) for model in ("gpt-4.1", "my/own", "model-a")]
    windows = [(answer["model_profile"] or {}).get("context_window") for answer in changed]

    assert windows == [1_047_576, 32_000, None]
    assert (await window_of(session))["source"] == "unknown"


async def test_a_change_of_the_profile_alone_replaces_it(api: Api) -> None:
    session = await session_of(api, "gpt-4o")
    same = await change(api, model="gpt-4o")
    given = await change(api, model_profile=GIVEN)
    source = (await window_of(session))["source"]
    none = await change(api, model_profile=None)
    both = await change(api, model="gpt-4.1", model_profile=None)

    assert (same["version"], same["model_profile"]["context_window"]) == (0, 128_000)
    assert (given["model_profile"]["context_window"], source) == (50_000, "session")
    assert (none["model_profile"], both["model_profile"]) == (None, None)


async def test_a_fork_keeps_the_profile_and_its_origin(api: Api) -> None:
    session = await session_of(api, "gpt-4o")
    await put(api, "gpt-4o", context_window=64_000)
    forked = succeeded(await session.post("fork", {"id": "f"}))

    assert forked["model_profile"]["context_window"] == 128_000
    fork = SessionApi(client=api.client, id="f", created=forked)
    assert (await window_of(fork))["source"] == "catalogue"


async def test_a_prepared_call_stays_the_same_after_the_models_profile_changed(api: Api) -> None:
    session = await session_of(api, "gpt-4o")
    await session.append(user("hi", "m"))
    before = await session.prepare()
    await put(api, "gpt-4o", context_window=64_000, max_output_tokens=1)

    assert (await session.prepare())["prepared_id"] == before["prepared_id"]
    assert await session.read(f"prepared/{before['prepared_id']}") == before["request"]


@ON_SQLITE
@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "gpt-4o"])
async def test_a_published_encoding_counts(api: Api, model: str) -> None:
    session = await session_of(api, model)
    encoding = session.created["model_profile"]["encoding"]

    assert encoding in (await session.prepare())["budget"]["counts"]["basis"]["tokenizer"]


@ON_SQLITE
async def test_a_model_that_takes_text_alone_refuses_media(api: Api) -> None:
    session = await session_of(api, "gpt-3.5-turbo")
    image = {"source_type": "url", "url": "https://example.test/a.png", "media_type": "image/png"}
    content = [{"type": "data", "source": image}]
    response = await session.post("prepare", {"append": [{"role": "user", "content": content}]})

    assert (response.status_code, response.json()["code"]) == (422, "unsupported_user_data")
