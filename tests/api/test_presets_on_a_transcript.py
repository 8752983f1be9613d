"""A coding session under every preset, on a model with a window so small that each compacts."""

from typing import Any

import httpx
import pytest

from app.policies.presets import PRESETS
from bench.calibration import CODING_SESSION
from bench.presets import PROFILE, play, read_messages

MESSAGES = 60
WINDOW = 22_000
OVERRIDES: dict[str, dict[str, Any]] = {"awaken": {"compact": {"threshold": 12, "keep_last": 2}}}
"""Eight messages of this session alone may be larger than the window."""


@pytest.mark.parametrize("preset", PRESETS)
async def test_every_request_of_a_session_that_compacts_is_valid(
    client: httpx.AsyncClient, preset: str
) -> None:
    policy = {"preset": preset, **OVERRIDES.get(preset, {})}
    profile = {**PROFILE, "context_window": WINDOW, "max_output_tokens": 1_000}
    played = await play(client, policy, profile, read_messages(CODING_SESSION)[:MESSAGES])

    assert played.invalid == []
    # Awaken promises the newest messages, and the request may be an older one.
    assert played.without_request == 0 or preset == "awaken"
    assert len(played.folds) >= 2
    assert all(fold.after_tokens < fold.before_tokens for fold in played.folds)
    assert played.largest_sent_tokens <= WINDOW
