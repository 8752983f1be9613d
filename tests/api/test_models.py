"""The catalogue over HTTP: every number with who says it, and no number for an unknown name."""

from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import pytest

from tests.api.client import Api, Json, succeeded
from tests.api.on_one_database import ON_SQLITE

LITELLM: Final = {"source": "litellm", "date": "2026-11-20"}
MODELS_DEV: Final = {"source": "models.dev", "date": "2026-09-16"}
TIKTOKEN: Final = {"source": "tiktoken", "date": "2026-08-17"}

UNKNOWN: Final = {
    "context_window": None,
    "max_context_window": None,
    "max_output_tokens": None,
    "max_reasoning_tokens": None,
    "media_rule": None,
    "accepts_data_blocks": True,
    "effective_context_window_percent": 95,
    "auto_compact_token_limit": None,
    "comp_hash": None,
    "encoding": None,
    "manages_own_context": False,
}

CURRENT: Final = """
gpt-6.1-sol              | openai    | 922_000 litellm      | 922_000 litellm   | 128_000 litellm
gpt-6-astra              | openai    | 1_050_000 models.dev | 922_000 litellm   | 128_000 litellm
gpt-5.6                  | openai    | 1_050_000 models.dev | 922_000 litellm   | 128_000 models.dev
gpt-5.5                  | openai    | 1_050_000 litellm    | 1_050_000 litellm | 128_000 litellm
gpt-5.4                  | openai    | 1_050_000 litellm    | 1_050_000 litellm | 128_000 litellm
gpt-5.4-mini             | openai    | 400_000 models.dev   | 272_000 litellm   | 128_000 litellm
gpt-5.2                  | openai    | 400_000 models.dev   | 272_000 litellm   | 128_000 litellm
gpt-5                    | openai    | 400_000 models.dev   | 272_000 litellm   | 128_000 models.dev
gpt-4.1                  | openai    | 1_047_576 models.dev | 1_047_576 litellm | 32_768 models.dev
gpt-4o                   | openai    | 128_000 models.dev   | 128_000 litellm   | 16_384 models.dev
o3                       | openai    | 200_000 models.dev   | 200_000 litellm   | 100_000 models.dev
claude-opus-5-5          | anthropic | 1_000_000 litellm    | 1_000_000 litellm | 128_000 litellm
claude-opus-5            | anthropic | 1_000_000 models.dev | 1_000_000 litellm | 128_000 models.dev
claude-sonnet-5-5        | anthropic | 1_000_000 litellm    | 1_000_000 litellm | 128_000 litellm
claude-sonnet-4-6        | anthropic | 1_000_000 models.dev | 1_000_000 litellm | 128_000 models.dev
claude-sonnet-4-5        | anthropic | 200_000 litellm      | 200_000 litellm   | 64_000 models.dev
claude-haiku-5-5         | anthropic | 1_000_000 litellm    | 1_000_000 litellm | 128_000 litellm
claude-haiku-4-5         | anthropic | 200_000 models.dev   | 200_000 litellm   | 64_000 models.dev
gemini-4-argon           | google    | 1_048_576 litellm    | 1_048_576 litellm | unknown
gemini-3.8-flash         | google    | 1_048_576 models.dev | 1_048_576 litellm | 65_536 models.dev
gemini-3.5-flash-lite    | google    | 1_048_576 models.dev | 1_048_576 litellm | 65_536 models.dev
gemini-3.1-pro-preview   | google    | 1_048_576 models.dev | 1_048_576 litellm | 65_536 models.dev
gemini-2.5-pro           | google    | 1_048_576 models.dev | 1_048_576 litellm | 65_536 models.dev
deepseek-flash           | deepseek  | 1_000_000 models.dev | 1_000_000 litellm | 384_000 models.dev
deepseek-v4-pro          | deepseek  | 1_000_000 litellm    | 1_000_000 litellm | 393_216 litellm
deepseek-v4-flash        | deepseek  | 1_000_000 litellm    | 1_000_000 litellm | 393_216 litellm
mistral-large-4          | mistral   | 1_048_576 litellm    | 1_048_576 litellm | unknown
mistral-large-latest     | mistral   | 262_144 models.dev   | 262_144 litellm   | unknown
mistral-medium-latest    | mistral   | 262_144 models.dev   | 262_144 litellm   | unknown
mistral-small-latest     | mistral   | 256_000 models.dev   | unknown           | unknown
codestral-latest         | mistral   | 128_000 litellm      | 128_000 litellm   | 4_096 models.dev
grok-4.7                 | xai       | 500_000 litellm      | 500_000 litellm   | unknown
grok-4.5                 | xai       | 500_000 models.dev   | 500_000 litellm   | unknown
grok-4.20-0309-reasoning | xai       | 1_000_000 models.dev | 1_000_000 litellm | 30_000 models.dev
grok-code-fast-1         | xai       | 256_000 litellm      | 256_000 litellm   | unknown
qwen3.8-max              | alibaba   | 991_808 litellm      | 991_808 litellm   | 131_072 litellm
"""
"""Name, provider, window, limit of the input, limit of the output."""


def row_of(model: Json) -> list[str]:
    """An answer as a row of the table."""
    fields = ("context_window", "max_input_tokens", "max_output_tokens")
    return [model["name"], model["provider"], *(said(model, field) for field in fields)]


def said(model: Json, field: str) -> str:
    """A number of an answer and who says it."""
    value = {**model["profile"], "max_input_tokens": model["max_input_tokens"]}[field]
    source = model["sources"].get(field)
    if value is None:
        return "unknown" if source is None else "a source of nothing"
    assert source in (LITELLM, MODELS_DEV)
    return f"{value:_} {source['source']}"


async def read(api: Api, name: str) -> Json:
    return succeeded(await api.client.get(f"/v1/models/{quote(name)}"))


@ON_SQLITE
async def test_current_models_answer_each_number_with_its_source_and_day(api: Api) -> None:
    rows = [[cell.strip() for cell in row.split("|")] for row in CURRENT.strip().split("\n")]
    models = [await read(api, name) for name, *_ in rows]

    assert [row_of(model) for model in models] == rows
    assert {model["state"] for model in models} == {"known"}
    assert {model["profile"]["max_reasoning_tokens"] for model in models} == {None}
    assert len(models) >= 30
    assert len({model["provider"] for model in models}) >= 6


async def test_a_known_model_is_answered_whole(api: Api) -> None:
    assert await read(api, "openai/gpt-5-2025-08-07") == {
        "name": "openai/gpt-5-2025-08-07",
        "resolved_name": "gpt-5",
        "state": "known",
        "provider": "openai",
        "profile": {
            **UNKNOWN,
            "name": "gpt-5",
            "context_window": 400_000,
            "max_output_tokens": 128_000,
            "encoding": "o200k_base",
        },
        "max_input_tokens": 272_000,
        "sources": {
            "context_window": MODELS_DEV,
            "max_input_tokens": LITELLM,
            "max_output_tokens": MODELS_DEV,
            "accepts_data_blocks": MODELS_DEV,
            "encoding": TIKTOKEN,
        },
        "others": {},
        "learned": [],
    }


async def test_what_another_source_says_is_told_beside_it(api: Api) -> None:
    model = await read(api, "claude-sonnet-4-5")

    assert model["profile"]["context_window"] == 200_000
    assert model["others"] == {"context_window": {"value": 1_000_000, **MODELS_DEV}}


async def test_an_unknown_name_is_answered_without_any_number(api: Api) -> None:
    assert await read(api, "model-a") == {
        "name": "model-a",
        "resolved_name": None,
        "state": "unknown",
        "provider": None,
        "profile": {**UNKNOWN, "name": "model-a"},
        "max_input_tokens": None,
        "sources": {},
        "others": {},
        "learned": [],
    }


@ON_SQLITE
@pytest.mark.parametrize("name", ["gpt-4o", "anthropic/claude-sonnet-4.5", "model-a", "o1"])
async def test_an_answered_profile_can_be_given_back(api: Api, name: str) -> None:
    profile = (await read(api, name))["profile"]
    session = await api.session(model=name, model_profile=profile)

    assert session.created["model_profile"] == profile


@ON_SQLITE
async def test_the_list_is_a_page_by_name(api: Api) -> None:
    first = succeeded(await api.client.get("/v1/models", params={"limit": 500}))
    names = [model["name"] for model in first["items"]]

    assert names == sorted(names)
    assert {row.split()[0] for row in CURRENT.strip().split("\n")} <= set(names)
    assert {model["state"] for model in first["items"]} == {"known"}
    assert first["next_cursor"] is None


async def every_page(api: Api, **query: str | int) -> list[str]:
    """The names on all pages of a list."""
    names: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = succeeded(await api.client.get("/v1/models", params={**query, **cursor}))
        names += [model["name"] for model in page["items"]]
        if page["next_cursor"] is None:
            return names
        cursor = {"cursor": page["next_cursor"]}


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_pages_join_what_is_published_and_what_is_put(api: Api, order: str) -> None:
    put = ["0-first", "gpt-4o", "my/own-model", "zz", "\U0001f600", "ﬀ"]
    for name in put:
        succeeded(await api.client.put(f"/v1/models/{quote(name)}", json={"context_window": 9}))

    whole = await every_page(api, order=order, limit=500)
    paged = await every_page(api, order=order, limit=7)

    assert paged == whole == sorted(whole, reverse=order == "desc")
    assert set(put) <= set(whole)
    assert len(whole) == len(set(whole))


async def test_a_list_can_be_filtered(api: Api) -> None:
    succeeded(await api.client.put("/v1/models/my/gpt-5", json={"context_window": 9}))

    assert all(name.startswith("grok") for name in await every_page(api, provider="xai", limit=3))
    assert await every_page(api, q="sonnet-4", limit=1) == [
        "claude-sonnet-4-5",
        "claude-sonnet-4-6",
    ]
    assert "my/gpt-5" in await every_page(api, q="gpt-5")
    assert await every_page(api, provider="openai", q="gpt-4o-m") == ["gpt-4o-mini"]
    assert await every_page(api, provider="nobody") == []


@ON_SQLITE
@pytest.mark.parametrize("cursor", ["nope", "WyJtb2RlbHMiLDFd", "WyJtb2RlbHMiLCJcdWQ4MDAiXQ"])
async def test_a_cursor_that_no_list_made_is_refused(api: Api, cursor: str) -> None:
    response = await api.client.get("/v1/models", params={"cursor": cursor})

    assert (response.status_code, response.json()["code"]) == (422, "invalid_cursor")


NAMES: Final = [
    "a b",
    "m/learned/x",
    "模型/一",
    "\U0001f600",
    "e\u0301",
    "a\u202eb",
    "%41",
    "a?b#c",
]


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_is_any_visible_text(api: Api, name: str) -> None:
    path = f"/v1/models/{quote(name, safe='')}"
    put = succeeded(await api.client.put(path, json={"context_window": 1_000}))
    session = await api.session(model=name, model_profile={"name": "x", "context_window": 5})
    await session.client.patch(f"/v1/sessions/{session.id}", json={"model": "other"})
    changed = await session.client.patch(f"/v1/sessions/{session.id}", json={"model": name})

    assert put["name"] == put["resolved_name"] == name
    assert (await read(api, name))["profile"]["context_window"] == 1_000
    assert changed.json()["model_profile"]["context_window"] == 1_000


@pytest.mark.parametrize("name", ["%00", "a%00b", "%1F", "%7F", "x" * 257, "%F0%9F%98%80" * 257])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_name_that_no_model_can_have_is_refused(api: Api, method: str, name: str) -> None:
    body = {"context_window": 1_000} if method == "PUT" else None
    response = await api.client.request(method, f"/v1/models/{name}", json=body)
    problem = response.json()

    assert (response.status_code, problem["code"]) == (422, "invalid_request")
    assert [fault["path"] for fault in problem["errors"]] == ["/path/name"]


async def test_the_longest_name_is_taken(api: Api) -> None:
    name = "\U0001f600" * 256
    succeeded(await api.client.put(f"/v1/models/{quote(name)}", json={"context_window": 1_000}))

    assert (await read(api, name))["state"] == "known"
    assert (
        await api.client.delete(f"/v1/models/{quote(name)}")
    ).status_code == HTTPStatus.NO_CONTENT
    assert (await read(api, name))["state"] == "unknown"
