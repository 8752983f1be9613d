"""An operator's word: before the catalogue's, after the session's own."""

import asyncio
from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import Api, Json, succeeded
from tests.api.on_one_database import ON_SQLITE


async def put(api: Api, path: str, **fields: Any) -> Json:
    return succeeded(await api.client.put(f"/v1/models/{path}", json=fields))


async def read(api: Api, name: str) -> Json:
    return succeeded(await api.client.get(f"/v1/models/{name}"))


async def test_an_operators_profile_replaces_the_published_one_whole(api: Api) -> None:
    answer = await put(api, "gpt-4o", context_window=64_000, comp_hash="a\0b")
    model = await read(api, "gpt-4o")

    assert answer == {**model, "repairs": []}
    assert model["profile"]["context_window"] == 64_000
    assert model["profile"]["max_output_tokens"] is None
    assert model["profile"]["encoding"] is None
    assert model["profile"]["comp_hash"] == "a\0b"
    assert model["max_input_tokens"] is None
    assert model["provider"] == "openai"
    assert model["sources"].keys() == {
        *("context_window", "accepts_data_blocks", "effective_context_window_percent"),
        *("comp_hash", "manages_own_context"),
    }
    assert {source["source"] for source in model["sources"].values()} == {"operator"}


async def test_a_profile_counts_for_every_spelling_of_its_name(api: Api) -> None:
    await put(api, "gpt-4o", context_window=64_000)
    dated, own = await read(api, "openai/gpt-4o-2024-08-06"), await read(api, "gpt-4o-2024-05-13")

    assert (dated["resolved_name"], dated["profile"]["context_window"]) == ("gpt-4o", 64_000)
    assert (own["resolved_name"], own["profile"]["context_window"]) == (
        "gpt-4o-2024-05-13",
        128_000,
    )


async def test_the_closest_spelling_counts_first(api: Api) -> None:
    await put(api, "gpt-4o", context_window=64_000)
    await put(api, "azure/gpt-4o", context_window=32_000)

    windows = [
        (await read(api, name))["profile"]["context_window"]
        for name in ("azure/gpt-4o", "openai/gpt-4o", "gpt-4o")
    ]
    assert windows == [32_000, 64_000, 64_000]


async def test_without_the_operators_profile_the_published_one_counts_again(api: Api) -> None:
    before = await read(api, "gpt-4o")
    await put(api, "gpt-4o", context_window=64_000)
    for _ in range(2):
        deleted = await api.client.delete("/v1/models/gpt-4o")

        assert (deleted.status_code, deleted.content) == (HTTPStatus.NO_CONTENT, b"")
    assert await read(api, "gpt-4o") == before


async def test_a_model_of_ones_own_becomes_known_and_unknown_again(api: Api) -> None:
    await put(api, "my/own", context_window=32_000)
    known = await read(api, "my/own")
    await api.client.delete("/v1/models/my/own")

    assert (known["state"], known["resolved_name"]) == ("known", "my/own")
    assert (await read(api, "my/own"))["state"] == "unknown"


async def test_a_profile_may_say_that_a_window_is_unknown(api: Api) -> None:
    model = await put(api, "gpt-4o", context_window=None)
    session = await api.session(model="gpt-4o", model_profile=None)

    assert (model["state"], model["profile"]["context_window"]) == ("known", None)
    assert "context_window" not in model["sources"]
    assert (await session.prepare())["budget"]["state"] == "unknown"


async def test_a_profile_keeps_the_name_that_it_is_given(api: Api) -> None:
    model = await put(api, "deployment-7", name="gpt-4o", context_window=64_000)

    assert (model["resolved_name"], model["profile"]["name"]) == ("deployment-7", "gpt-4o")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "invalid_request"),
        ({"context_window": 0}, "invalid_model_profile"),
        ({"context_window": 100, "max_output_tokens": 100}, "invalid_model_profile"),
        ({"context_window": "100"}, "invalid_request"),
        ({"context_window": 2**64}, "invalid_request"),
        ({"context_window": 100, "encoding": "p50k_base"}, "invalid_request"),
        ({"context_window": 100, "max_input_tokens": 90}, "unknown_field"),
        ({"context_window": 100, "name": "a\0"}, "invalid_request"),
    ],
)
@ON_SQLITE
async def test_a_profile_that_cannot_be_is_refused(api: Api, fields: Json, code: str) -> None:
    response = await api.client.put("/v1/models/m", json=fields)

    assert (response.status_code, response.json()["code"]) == (422, code)
    assert (await read(api, "m"))["state"] == "unknown"


async def test_half_a_surrogate_is_mended_and_told(api: Api) -> None:
    body = b'{"context_window": 100, "comp_hash": "a\\ud800"}'
    answer = succeeded(await api.client.put("/v1/models/m", content=body))

    assert answer["profile"]["comp_hash"] == "a\ufffd"
    assert [repair["code"] for repair in answer["repairs"]] == ["lone_surrogate_replaced"]


async def test_puts_at_once_leave_one_whole_profile(api: Api) -> None:
    windows = range(1_000, 1_020)
    answers = await asyncio.gather(
        *(put(api, "m", context_window=window, comp_hash=str(window)) for window in windows)
    )
    profile = (await read(api, "m"))["profile"]

    assert [answer["profile"]["context_window"] for answer in answers] == list(windows)
    assert profile["context_window"] in windows
    assert profile["comp_hash"] == str(profile["context_window"])


async def test_puts_and_deletes_at_once_do_not_fail(api: Api) -> None:
    calls = [
        *(api.client.put("/v1/models/m", json={"context_window": 9}) for _ in range(10)),
        *(api.client.delete("/v1/models/m") for _ in range(10)),
        *(api.client.get("/v1/models/m") for _ in range(10)),
    ]
    answers = await asyncio.gather(*calls)

    assert {answer.status_code for answer in answers} == {HTTPStatus.OK, HTTPStatus.NO_CONTENT}
