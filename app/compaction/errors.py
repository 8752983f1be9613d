"""The refusals of compaction.

Source: docs/semantics/compaction.md#errors.
"""

from app.core.errors import ContextError


class EmptyConversation(ContextError):
    """There is no message that a summary could speak of."""

    code = "empty_conversation"


class MissingLastUser(ContextError):
    """No message is a user request that a compaction could preserve."""

    code = "missing_last_user"


class NothingToCompact(ContextError):
    """No message may be folded, so a summary would replace nothing."""

    code = "nothing_to_compact"


class StateError(ContextError):
    """The runtime state or its reminder cannot be read, collected or rendered."""

    code = "state_error"


class CompactionNotFound(ContextError):
    """The session has no compaction of that id."""

    code = "compaction_not_found"
