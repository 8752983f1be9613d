"""The model profile and policy of a session as values."""

from app.core.model_profile import ModelProfile, unknown_profile
from app.core.stored import Session
from app.policies.presets import PresetPolicy, policy_from


def profile_of(session: Session) -> ModelProfile:
    """The session's profile; without one, everything about its model is unknown."""
    return session.model_profile or unknown_profile(session.model)


def policy_of(session: Session) -> PresetPolicy:
    """The session's policy."""
    return policy_from(session.policy)
