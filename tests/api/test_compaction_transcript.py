"""A real session of 914 messages on a model with a small window: it compacts, and goes on."""

from itertools import pairwise
from uuid import UUID

import pytest

from tests.api.client import Api, Json
from tests.api.large_agent import large_agent
from tests.api.player import Player
from tests.api.transcripts import coding_session, turns
from tests.requirements import requirement

SMALL: Json = {"name": "small", "context_window": 64_000, "max_output_tokens": 8_000}
"""Effective input 56 000, line 47 600: it compacts at an input of 39 600 tokens."""


@pytest.mark.long
@requirement(
    "OW-4.1-compacted-conversation",
    "OW-7.1-before-and-after",
    "OW-10-compaction-replaces-the-conversation-only",
    "OW-11-summary-then-later-messages",
    "OW-11-sources-are-read-again",
    "OW-11-prefix-survives-compaction",
    "OW-11-gap-prefix-bytes-across-compaction",
    "OW-3-sampled-again-after-compaction",
)
async def test_a_session_of_914_messages_is_compacted_again_and_again(api: Api) -> None:
    session = await api.session(model="small", model_profile=SMALL, agent=large_agent())
    player = Player(session)
    for number, messages in enumerate(turns(coding_session()), start=1):
        await player.play(f"turn-{number}", messages)
    told = await session.read()
    windows = [receipt["window"] for receipt in player.receipts]

    assert len(windows) >= 5
    assert player.causes == ["prune", *["compaction"] * len(windows)]
    assert windows[-1] == told["window"]
    assert [window["number"] for window in windows] == list(range(1, len(windows) + 1))
    assert [window["previous_window_id"] for window in windows] == [
        session.created["window"]["window_id"],
        *(window["window_id"] for window in windows[:-1]),
    ]
    assert {window["first_window_id"] for window in windows} == {windows[0]["previous_window_id"]}
    assert all(UUID(window["window_id"]).version == 7 for window in windows)
    assert all(before["window_id"] < after["window_id"] for before, after in pairwise(windows))
    check_receipts(player.receipts)


def check_receipts(receipts: list[Json]) -> None:
    """Every compaction took most of the conversation away, by every counter, and says so."""
    for receipt in receipts:
        by_bytes = receipt["tokens"]["json_bytes"]

        assert {key: receipt["tokens"][key] for key in by_bytes} == by_bytes
        for counted in (by_bytes, receipt["tokens"]["tokenizer"]):
            assert counted["reclaimed"] == counted["before"] - counted["after"]
            assert counted["after"] < counted["before"] / 10
