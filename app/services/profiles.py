"""The model profile and policy of a session as values."""

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
