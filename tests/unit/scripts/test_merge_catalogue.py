"""What the two lists say becomes one catalogue."""

from typing import Any

import pytest

from scripts.merge_catalogue import Record, merged
from scripts.refresh_catalogue import document, known_encoding

Row = dict[str, Any]


def litellm(**fields: Any) -> Row:
    return {"litellm_provider": "openai", "mode": "chat", **fields}


def limits(limit: int, output: int | None = None, **fields: Any) -> Row:
    return litellm(max_input_tokens=limit, max_output_tokens=output, **fields)


def models_dev(window: int, output: int, *media: str, **fields: Any) -> Row:
    modalities = {"input": ["text", *media], "output": ["text"]}
    return {"context_window": window, "max_output": output, "modalities": modalities, **fields}


def merge(rows: dict[str, Row], registry: dict[str, Row]) -> dict[str, Record]:
    return merged(rows, registry, lambda _: None)


def only(row: Row | None, record: Row | None) -> Record:
    """The entry of one model that is in one list or in both."""
    found = merge(
        {} if row is None else {"gpt-x": row}, {} if record is None else {"openai/gpt-x": record}
    )
    return found["gpt-x"]


def test_a_window_and_an_input_limit_are_two_numbers() -> None:
    found = only(limits(272_000, 128_000), models_dev(400_000, 128_000))

    assert found == {
        "provider": "openai",
        "context_window": [400_000, "models.dev"],
        "max_input_tokens": [272_000, "litellm"],
        "max_output_tokens": [128_000, "models.dev"],
        "accepts_data_blocks": [False, "models.dev"],
    }


def test_an_input_limit_alone_is_a_window_that_is_not_too_large() -> None:
    assert only(limits(272_000, 128_000), None) == {
        "provider": "openai",
        "context_window": [272_000, "litellm"],
        "max_input_tokens": [272_000, "litellm"],
        "max_output_tokens": [128_000, "litellm"],
    }


@pytest.mark.parametrize(
    ("window", "limit", "chosen", "others"),
    [
        (1_000_000, 200_000, [200_000, "litellm"], {"context_window": [1_000_000, "models.dev"]}),
        (264_000, 200_000, [264_000, "models.dev"], None),
        (264_001, 200_000, [200_000, "litellm"], {"context_window": [264_001, "models.dev"]}),
        (128_000, 262_144, [128_000, "models.dev"], {"max_input_tokens": [262_144, "litellm"]}),
    ],
    ids=["too large", "input and output", "one more", "too small"],
)
def test_where_the_lists_contradict_each_other_the_smaller_window_counts(
    window: int, limit: int, chosen: list[Any], others: Record | None
) -> None:
    found = only(limits(limit, 64_000), models_dev(window, 64_000))

    assert found["context_window"] == chosen
    assert found.get("others") == others


@pytest.mark.parametrize(
    ("row", "record", "output"),
    [
        (limits(1_000, 1_000), models_dev(1_000, 1_000), None),
        (limits(1_000, 1_000), models_dev(1_000, 300), [300, "models.dev"]),
        (limits(1_000, 200), models_dev(1_000, 1_000), [200, "litellm"]),
        (limits(1_000, 200), models_dev(1_000, 300), [300, "models.dev"]),
        (limits(1_000), None, None),
    ],
    ids=["both whole", "one whole", "the other whole", "two", "none"],
)
def test_an_output_as_large_as_all_the_rest_is_no_limit(
    row: Row, record: Row | None, output: list[Any] | None
) -> None:
    assert only(row, record).get("max_output_tokens") == output


def test_another_output_is_told_beside_the_one_that_counts() -> None:
    found = only(limits(1_000, 200), models_dev(1_000, 300))

    assert found["others"] == {"max_output_tokens": [200, "litellm"]}


@pytest.mark.parametrize(
    ("row", "record", "media"),
    [
        (limits(1_000), models_dev(1_000, 100, "image"), [True, "models.dev"]),
        (limits(1_000, supports_vision=True), models_dev(1_000, 100), [True, "litellm"]),
        (limits(1_000, supports_pdf_input=True), None, [True, "litellm"]),
        (limits(1_000), models_dev(1_000, 100), [False, "models.dev"]),
        (limits(1_000), None, None),
    ],
    ids=["modalities", "either", "flag", "text alone", "silence"],
)
def test_media_are_refused_only_where_a_list_says_text_alone(
    row: Row, record: Row | None, media: list[Any] | None
) -> None:
    assert only(row, record).get("accepts_data_blocks") == media


def test_a_hosts_window_counts_where_the_makers_limits_add_up_to_it() -> None:
    rows = {"gpt-x": limits(272_000, 128_000), "gpt-y": limits(272_000, 128_000)}
    hosts = {
        "azure/gpt-x": models_dev(400_000, 1_000, "image"),
        "azure/gpt-y": models_dev(399_999, 1_000),
    }
    found = merge(rows, hosts)

    assert found["gpt-x"] == {
        "provider": "openai",
        "context_window": [400_000, "models.dev"],
        "max_input_tokens": [272_000, "litellm"],
        "max_output_tokens": [128_000, "litellm"],
    }
    assert found["gpt-y"]["context_window"] == [272_000, "litellm"]


def test_a_dated_name_is_kept_only_where_it_differs() -> None:
    rows = {
        "gpt-x": limits(272_000, 128_000),
        "gpt-x-2026-01-02": limits(272_000, 128_000),
        "gpt-x-20260203": limits(272_000, 64_000),
        "gpt-z-2026-01-02": limits(1_000, 100),
    }
    registry = {"openai/gpt-x": models_dev(400_000, 128_000, aliases=["gptx"])}

    assert list(merge(rows, registry)) == ["gpt-x", "gpt-x-20260203", "gpt-z-2026-01-02"]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gpt-x", limits(1_000, mode="embedding")),
        ("gpt-x", litellm(max_output_tokens=100)),
        ("gpt-x", limits(1_000, litellm_provider="somebody")),
        ("ft:gpt-x", limits(1_000)),
        ("gpt-x-audio-preview", limits(1_000)),
        ("whisper-x", limits(1_000)),
    ],
    ids=["mode", "no limit", "provider", "fine-tuned", "trade", "family"],
)
def test_what_is_no_chat_model_of_its_maker_is_left_out(name: str, row: Row) -> None:
    assert merge({name: row}, {}) == {}


def test_what_writes_more_than_text_is_left_out() -> None:
    record = models_dev(1_000, 100) | {"modalities": {"input": ["text"], "output": ["audio"]}}

    assert merge({}, {"openai/gpt-x": record}) == {}


def test_the_first_of_a_makers_two_lists_counts() -> None:
    rows = {
        "gemini-x": limits(1_000, 99, litellm_provider="vertex_ai-language-models"),
        "gemini/gemini-x": limits(1_000, 100, litellm_provider="gemini"),
    }

    assert merge(rows, {})["gemini-x"]["max_output_tokens"] == [100, "litellm"]


def test_aliases_that_a_rule_spells_are_left_out() -> None:
    aliases = ["claude-x-1.2", "claude-x-1-2@20260101", "claudex"]
    found = merge({}, {"anthropic/claude-x-1-2": models_dev(1_000, 100, aliases=aliases)})

    assert found["claude-x-1-2"]["aliases"] == ["claudex"]


def test_encodings_are_asked_for_openai_alone() -> None:
    registry = {
        "openai/gpt-x": models_dev(1_000, 100),
        "anthropic/claude-x": models_dev(1_000, 100),
    }
    found = merged({}, registry, lambda _: "o200k_base")

    assert found["gpt-x"]["encoding"] == ["o200k_base", "tiktoken"]
    assert "encoding" not in found["claude-x"]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-5.2", "o200k_base"),
        ("gpt-oss-20b", None),
        ("gpt-6-sol", None),
    ],
)
def test_an_encoding_that_tiktoken_does_not_name_is_unknown(
    name: str, encoding: str | None
) -> None:
    assert known_encoding(name) == encoding


def test_the_file_has_a_line_per_model() -> None:
    text = document({"a": {"date": "2026-01-02"}}, {"x": {"provider": "y"}, "z": {}})

    assert text == (
        '{"sources": {\n"a": {"date": "2026-01-02"}\n},\n'
        '"models": {\n"x": {"provider": "y"},\n"z": {}\n}}\n'
    )
