"""The model profile and policy of a session as values."""

from app.compaction.record import CompactionKind
from app.compaction.style import Style
from app.compaction.styles import STYLES
from app.core.limits import Limits
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.stored import Session
from app.policies.presets import PresetPolicy, policy_from


def profile_of(session: Session) -> ModelProfile:
    """The session's profile; without one, everything about its model is unknown."""
    return session.model_profile or unknown_profile(session.model)


def policy_of(session: Session) -> PresetPolicy:
    """The session's policy."""
    return policy_from(session.policy)


def limits_of(session: Session) -> Limits:
    """The limits of a session's next call.

    Raises:
        InvalidWindow: Its model and policy make none that could be kept.
    """
    profile = profile_of(session)
    return policy_of(session).limits(profile, profile.max_output_tokens or 0)


def style_of(policy: PresetPolicy) -> Style:
    """The style in which a policy compacts, with the policy's values for it."""
    return STYLES[policy.folding.style](**policy.folding.style_values)


_WITH_THE_PREVIOUS_MODEL: frozenset[CompactionKind] = frozenset(
    {"model_downshift", "comp_hash_changed"}
)


def compact_with(session: Session, kind: CompactionKind) -> ModelProfile | None:
    """The model that summarises for a compaction of that kind; None is the session's own.

    After a change of model it is the one that answered last, where there was one.
    """
    previous = session.usage.answered_by if kind in _WITH_THE_PREVIOUS_MODEL else None
    return None if previous == profile_of(session) else previous
