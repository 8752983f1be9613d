"""Estimates: sizes of things as they are, by every counter."""

from typing import Any

import pytest

from tests.api.client import (
    PROFILE,
    Api,
    Json,
    calls,
    message,
    succeeded,
    text_block,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement
from tests.unit.core.media_files import png

pytestmark = ON_SQLITE

READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
IMAGE: Json = {
    "type": "data",
    "source": {
        "source_type": "url",
        "url": "https://example.test/a.png",
        "media_type": "image/png",
    },
}


async def estimated(api: Api, **body: Any) -> Json:
    return succeeded(await api.client.post("/v1/estimate", json=body))


def sizes(estimate: Json) -> tuple[int, int]:
    """Bytes, and tokens by the policy's own counter."""
    assert estimate["policy"] == estimate["json_bytes"]
    return estimate["bytes"], estimate["json_bytes"]


@requirement("OW-7.1-bytes-over-four")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"text": ""}, (0, 0), id="B1 0 bytes"),
        pytest.param({"text": "a"}, (1, 1), id="B1 1 byte"),
        pytest.param({"text": "abcd"}, (4, 1), id="B1 4 bytes"),
        pytest.param({"text": "abcde"}, (5, 2), id="B1 5 bytes"),
        pytest.param({"content": "hello"}, (32, 8), id="B2"),
        pytest.param({"content": ""}, (27, 7), id="B3 empty text"),
        pytest.param({"content": []}, (2, 1), id="B3 no block"),
        pytest.param({"content": "\u0001"}, (33, 9), id="B5"),
        pytest.param({"content": "中"}, (30, 8), id="B6 中"),
        pytest.param({"content": "😀"}, (31, 8), id="B6 😀"),
        pytest.param({"content": [IMAGE]}, (120, 30), id="B10"),
        pytest.param({"messages": [user("h"), user("h")]}, (56, 14), id="B11"),
        pytest.param({"tools": [READ]}, (76, 19), id="B7 tools"),
        pytest.param({"tools": []}, (0, 0), id="B7 no tools"),
        pytest.param({"messages": []}, (0, 0), id="no messages"),
    ],
)
async def test_a_token_is_four_bytes_of_json(
    api: Api, body: Json, expected: tuple[int, int]
) -> None:
    assert sizes((await estimated(api, **body))["total"]) == expected


async def test_B7_a_region_is_rounded_once(api: Api) -> None:
    messages = [user("system"), user("project!")]

    answer = await estimated(api, messages=messages)

    assert [sizes(item) for item in answer["items"]] == [(33, 9), (35, 9)]
    assert sizes(answer["total"]) == (68, 17)


@requirement("OW-7.1-artifacts-never-count", "OW-7.1-conversation-as-stored")
async def test_B9_artifacts_do_not_count_and_nothing_is_cut(api: Api) -> None:
    artifact = {"kind": "file_change", "payload": "x" * 100_000}
    result = tool_result("call-1", "Edited src/lib.rs:3 (+1 -1)", name="edit")

    with_artifact = await estimated(
        api, messages=[message("tool", [{**result, "artifacts": [artifact]}])]
    )
    without = await estimated(api, content=[result])
    long = await estimated(
        api, messages=[calls("c1"), message("tool", [tool_result("c1", "y" * 40_000)])]
    )

    assert sizes(with_artifact["total"]) == sizes(without["total"]) == (134, 34)
    assert long["items"][1]["bytes"] > 40_000


async def test_the_tokenizer_is_that_of_the_model(api: Api) -> None:
    text = "上下文工程改造"
    cl100k = await estimated(api, text=text, model_profile={**PROFILE, "encoding": "cl100k_base"})
    o200k = await estimated(api, text=text)

    assert "cl100k_base" in cl100k["basis"]["tokenizer"]
    assert "o200k_base" in o200k["basis"]["tokenizer"]
    assert o200k["total"]["tokenizer"] == 5
    assert cl100k["total"]["tokenizer"] == 7


async def test_text_that_looks_like_a_special_token_is_text(api: Api) -> None:
    answer = await estimated(api, text="<|endoftext|>" + " " * 100_000)

    assert answer["total"]["bytes"] == 100_013
    assert answer["total"]["tokenizer"] > 1


async def test_media_of_unknown_size_has_a_fixed_price(api: Api) -> None:
    answer = await estimated(api, content=[text_block("hello"), IMAGE])

    assert answer["total"]["tokenizer"] == 1_601
    assert "media/2 anthropic, 1600 tokens" in answer["basis"]["tokenizer"]


async def test_every_block_is_measured_by_itself_and_nothing_is_calibrated(api: Api) -> None:
    answer = await estimated(api, messages=[message("user", [text_block("hello"), IMAGE])])
    (item,) = answer["items"]

    assert item["blocks"] == [
        {
            "type": "text",
            "bytes": 30,
            "policy": 8,
            "json_bytes": 8,
            "tokenizer": 1,
            "calibrated": None,
        },
        {
            "type": "data",
            "bytes": 118,
            "policy": 30,
            "json_bytes": 30,
            "tokenizer": 1_600,
            "calibrated": None,
        },
    ]
    assert item["bytes"] == 30 + 118 + len("[,]")
    assert (item["calibrated"], answer["total"]["calibrated"]) == (None, None)
    assert answer["basis"]["calibrated"] == "no usage was reported"
    assert (await estimated(api, tools=[READ]))["items"][0]["blocks"] == []


@pytest.mark.parametrize(
    ("rule", "tokens"),
    [
        pytest.param(None, 640, id="B092 the default rule"),
        pytest.param("openai", 765, id="B092 tiles"),
        pytest.param("gemini", 1_032, id="B092 crops"),
        pytest.param("bytes", 25_009, id="B094 raw base64"),
    ],
)
async def test_an_image_counts_by_the_media_rule_of_the_profile(
    api: Api, rule: str | None, tokens: int
) -> None:
    source = {
        "source_type": "base64",
        "data": png(800, 600, behind=75_000),
        "media_type": "image/png",
    }
    shown = {**tool_result("c1"), "output": [{"type": "data", "source": source}]}
    answer = await estimated(api, content=[shown], model_profile={**PROFILE, "media_rule": rule})

    assert answer["total"]["tokenizer"] == tokens
    assert f"media/2 {rule or 'anthropic'}," in answer["basis"]["tokenizer"]
    assert answer["total"]["policy"] > 25_000


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("你" * 400, 400, id="B088"),
        pytest.param("<|endoftext|>", 7, id="B104"),
        pytest.param(" " * 1_000_000, 7_813, id="B103 spaces"),
        pytest.param("^" * 1_000_000, 125_000, id="B103 carets"),
    ],
)
async def test_any_text_has_a_count(api: Api, text: str, tokens: int) -> None:
    assert (await estimated(api, text=text))["total"]["tokenizer"] == tokens
