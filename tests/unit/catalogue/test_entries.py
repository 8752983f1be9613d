from datetime import date
from typing import Any

import pytest

from app.catalogue.entries import Entry, Said, catalogue_from_json
from app.core.errors import InvalidModelProfile
from app.core.model_profile import ModelProfile, ProfileOrigin
from app.model_catalogue import packaged_catalogue

SOURCES = {"a": {"date": "2026-01-02"}, "b": {"date": "2026-02-03"}}


def parsed(**record: Any) -> Entry:
    document = {"sources": SOURCES, "models": {"x-1": {"provider": "x", **record}}}
    return catalogue_from_json(document).entries["x-1"]


def test_an_entry_says_who_says_what_and_since_when() -> None:
    entry = parsed(
        context_window=[1_000, "a"],
        max_input_tokens=[800, "b"],
        aliases=["x"],
        others={"context_window": [900, "b"]},
    )

    assert entry == Entry(
        name="x-1",
        provider="x",
        aliases=("x",),
        fields={
            "context_window": Said(value=1_000, source="a", date="2026-01-02"),
            "max_input_tokens": Said(value=800, source="b", date="2026-02-03"),
        },
        others={"context_window": Said(value=900, source="b", date="2026-02-03")},
    )
    assert entry.max_input_tokens == 800


def test_an_entry_becomes_a_profile_with_its_origin() -> None:
    entry = parsed(
        context_window=[1_000, "a"],
        max_output_tokens=[100, "b"],
        accepts_data_blocks=[False, "a"],
        encoding=["cl100k_base", "a"],
    )

    assert entry.profile("y/x-1") == ModelProfile(
        name="x-1",
        context_window=1_000,
        max_output_tokens=100,
        accepts_data_blocks=False,
        encoding="cl100k_base",
        origin=ProfileOrigin(
            source="catalogue", why="a of 2026-01-02 on 'x-1', which 'y/x-1' resolves to"
        ),
    )


def test_a_field_that_no_source_says_is_unknown() -> None:
    entry = parsed()

    assert entry.profile("x-1") == ModelProfile(name="x-1", context_window=None)
    assert entry.max_input_tokens is None


@pytest.mark.parametrize(
    "record",
    [
        {"context_window": [0, "a"]},
        {"context_window": [True, "a"]},
        {"context_window": ["1000", "a"]},
        {"context_window": [1_000, "c"]},
        {"accepts_data_blocks": [1, "a"]},
        {"encoding": ["p50k_base", "a"]},
        {"windows": [1_000, "a"]},
    ],
    ids=["zero", "truth value", "text", "no source", "number", "encoding", "field"],
)
def test_an_entry_that_cannot_be_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cannot be|no entry has"):
        parsed(**record)


def test_an_output_that_leaves_no_room_is_refused_when_the_catalogue_is_read() -> None:
    with pytest.raises(InvalidModelProfile):
        parsed(context_window=[1_000, "a"], max_output_tokens=[1_000, "a"])


def test_the_packaged_catalogue_holds_every_large_provider() -> None:
    entries = packaged_catalogue().entries.values()

    assert {entry.provider for entry in entries} == {
        *("alibaba", "anthropic", "deepseek", "google", "mistral", "openai", "xai"),
    }
    assert all("context_window" in entry.fields for entry in entries)


def test_every_packaged_number_has_a_source_and_a_day() -> None:
    said = [
        said
        for entry in packaged_catalogue().entries.values()
        for said in (*entry.fields.values(), *entry.others.values())
    ]

    assert {each.source for each in said} == {"litellm", "models.dev", "tiktoken"}
    assert all(date.fromisoformat(each.date).year >= 2026 for each in said)


def test_an_input_limit_never_exceeds_its_window() -> None:
    over = [
        entry.name
        for entry in packaged_catalogue().entries.values()
        if (entry.max_input_tokens or 0) > (entry.profile(entry.name).context_window or 0)
    ]

    assert over == []


def test_no_alias_is_the_name_of_another_entry() -> None:
    catalogue = packaged_catalogue()

    assert catalogue.by_alias.keys() & catalogue.entries.keys() == set()
    assert len(catalogue.by_alias) == sum(
        len(entry.aliases) for entry in catalogue.entries.values()
    )
