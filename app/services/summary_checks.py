"""Whether a model's answer is the summary that a compaction asked for."""

import asyncio

from app.compaction.summary_check import SummaryAccepted, SummaryCheck
from app.compaction.summary_share import summary_cap, within_share
from app.core.model_profile import ModelProfile
from app.policies.presets import PresetPolicy
from app.services.profiles import style_of


async def checked_summary(
    policy: PresetPolicy,
    profile: ModelProfile,
    text: str,
    finish_reason: str | None,
    tool_calls: int,
    attempts_left: int,
) -> SummaryCheck:
    """The summary in the policy's style and within its share, or what is wrong with the answer.

    Whatever a model wrote is looked through on a thread: long answers would hold up everybody.

    Args:
        policy: The session's.
        profile: Of the model that will read it; without a window nothing is too long.
        text: The model's answer.
        finish_reason: Why the model stopped.
        tool_calls: Calls in the answer.
        attempts_left: How often the model can still be asked.
    """
    style = style_of(policy)
    found = await asyncio.to_thread(style.check, text, finish_reason, tool_calls)
    share, window = policy.folding.summary_share_percent, profile.context_window
    if not isinstance(found, SummaryAccepted) or share is None or window is None:
        return found
    return within_share(found.summary, summary_cap(window, share), attempts_left)
