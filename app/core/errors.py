"""The refusals of the core: one flat tree under `ContextError`.

Each class has a stable `code`; `details` names the offender in wire terms
(`message_id`, `block_index`, `key`, `tokens`, `limit_tokens`). What HTTP
status a refusal becomes is not decided here.

Source: docs/errors.md.
"""

from typing import ClassVar


class ContextError(Exception):
    """A refusal with a code, a sentence and what names the offender."""

    code: ClassVar[str]

    def __init__(self, detail: str, **details: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.details = details


class InvalidModelProfile(ContextError):
    """The reserves of a model profile leave no room for input."""

    code = "invalid_model_profile"


class UnsupportedUserData(ContextError):
    """A user request holds media that the model does not take."""

    code = "unsupported_user_data"


class ItemOverLimit(ContextError):
    """An author-controlled item is at or over its limit."""

    code = "item_over_limit"


class EmptySystemContextKey(ContextError):
    """A system part has a blank key."""

    code = "empty_system_context_key"


class EmptySystemContext(ContextError):
    """A system part holds no block."""

    code = "empty_system_context"


class DuplicateSystemContext(ContextError):
    """Two system parts share a key."""

    code = "duplicate_system_context"


class SystemMessageInConversation(ContextError):
    """A message of role system stands where only the conversation may stand."""

    code = "system_message_in_conversation"


class ToolNameCollision(ContextError):
    """Two tools share a name."""

    code = "tool_name_collision"


class ToolNotFound(ContextError):
    """The session advertises no tool of that name."""

    code = "tool_not_found"


class EmptyMessage(ContextError):
    """A user or tool message holds no block."""

    code = "empty_message"


class InvalidToolMessage(ContextError):
    """A tool message holds something else than tool results."""

    code = "invalid_tool_message"


class UnexpectedRole(ContextError):
    """A block or a kind stands in a message whose role cannot hold it."""

    code = "unexpected_role"


class UnmatchedToolResult(ContextError):
    """A result names no call that still waits for one."""

    code = "unmatched_tool_result"


class DuplicateToolCall(ContextError):
    """A call uses an id whose earlier call has no result yet."""

    code = "duplicate_tool_call"


class SessionNotFound(ContextError):
    """No session has that id."""

    code = "session_not_found"


class MessageNotFound(ContextError):
    """The session holds no message of that id."""

    code = "message_not_found"


class PreparedNotFound(ContextError):
    """The session has no prepared call of that id."""

    code = "prepared_not_found"


class SessionConflict(ContextError):
    """A session of that id was created with another body."""

    code = "session_conflict"


class VersionConflict(ContextError):
    """The session has changed since the version that the caller expects."""

    code = "version_conflict"


class PreconditionFailed(ContextError):
    """The session is not the one that `If-Match` names."""

    code = "precondition_failed"


class ImmutableField(ContextError):
    """A field of a session can never change."""

    code = "immutable_field"


class ConversationMoved(ContextError):
    """The session does not hold the number of messages that the caller expects."""

    code = "conversation_moved"


class MessageConflict(ContextError):
    """A message of that id is stored with other content."""

    code = "message_conflict"


class ReservedId(ContextError):
    """A message id has a prefix that is kept for messages made here."""

    code = "reserved_id"


class UnexpectedKind(ContextError):
    """A message has a kind that only the service itself may write."""

    code = "unexpected_kind"


class TurnRequired(ContextError):
    """A world-state sample does not say which turn, call and sample it is."""

    code = "turn_required"


class InvalidId(ContextError):
    """An id holds characters that ids do not have, or is too short or too long."""

    code = "invalid_id"


class MessageTooLarge(ContextError):
    """One message is larger than the service takes."""

    code = "message_too_large"


class InvalidRequest(ContextError):
    """The body, the path or the query is not what the contract says."""

    code = "invalid_request"


class UnknownField(ContextError):
    """The body names a field that the contract does not have."""

    code = "unknown_field"


class MalformedJson(ContextError):
    """The body is no JSON in UTF-8."""

    code = "malformed_json"


class TooDeep(ContextError):
    """The body is nested deeper than the service takes."""

    code = "too_deep"


class BodyTooLarge(ContextError):
    """The body is larger than the service takes."""

    code = "body_too_large"


class TooManyMessages(ContextError):
    """A batch holds more messages than the service takes."""

    code = "too_many_messages"


class InvalidCursor(ContextError):
    """A cursor was not made by the list that it is given to."""

    code = "invalid_cursor"
