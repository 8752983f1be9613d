"""The parts of the service's answers that the demo looks at."""

from typing import Any, NotRequired, TypedDict


class Counts(TypedDict):
    """Token counts of one request by every counter."""

    json_bytes: int
    tokenizer: int
    regions: dict[str, dict[str, int]]
    basis: dict[str, str]


class Budget(TypedDict):
    """What a request takes."""

    estimated_input_tokens: int
    reserved_output_tokens: int
    remaining_tokens: int
    used_percent: float
    state: str
    counts: Counts


class Limits(TypedDict):
    """The limits in force."""

    context_window: int
    effective_input_tokens: int
    auto_compact_token_limit: int
    compact_at_input_tokens: int
    max_tool_result_tokens: int


class WantedCompaction(TypedDict):
    """The compaction that a decision asks for."""

    kind: str
    plan_key: str


class Decision(TypedDict):
    """What to do with a request."""

    action: str
    reason: str
    detail: str
    compaction: WantedCompaction | None


class Projection(TypedDict):
    """What projection cut."""

    truncated_tool_results: int
    original_tokens: int
    projected_tokens: int


class Pruned(TypedDict):
    """What pruning shortened."""

    through_sequence: int | None
    tool_results: int


class Repair(TypedDict):
    """One thing that was mended in the request copy."""

    code: str


class Segment(TypedDict):
    """A part of a request that providers cache as a whole."""

    name: str
    bytes: int
    sha256: str


class Prefix(TypedDict):
    """What a request repeats of the one before."""

    chain: str
    common_messages: int
    common_bytes: int
    broken_at: int | None
    cause: str | None
    segments: list[Segment]


class Emitted(TypedDict):
    """A message that tells the model about one section."""

    id: str
    sequence: int
    content: list[dict[str, Any]]


class Sample(TypedDict):
    """What a sample of world state appended."""

    emitted: list[Emitted]


class Provenance(TypedDict):
    """Where a message of a request comes from."""

    type: str
    message_id: NotRequired[str]
    sequence: NotRequired[int]
    reason: NotRequired[str]


class ItemTokens(TypedDict):
    """The tokens of one message by every counter."""

    json_bytes: int
    tokenizer: int


class Items(TypedDict):
    """The tokens of every message of a request, system messages included."""

    messages: list[ItemTokens]


class GivenCall(TypedDict):
    """A call that was prepared from a conversation given whole."""

    budget: Budget
    pruned: Pruned


class Call(GivenCall):
    """A prepared call of a session, without its request."""

    prepared_id: str
    message_count: int
    limits: Limits
    decision: Decision
    projection: Projection
    repairs: list[Repair]
    world_state: Sample
    prefix: Prefix
    provenance: NotRequired[list[Provenance]]
    items: NotRequired[Items]


class Stored(TypedDict):
    """A stored message."""

    id: str
    sequence: int
    turn_id: str | None
    role: str
    kind: str
    content: list[dict[str, Any]]


class Page(TypedDict):
    """A page of stored messages."""

    items: list[Stored]
    next_cursor: str | None


class HistoryPage(TypedDict):
    """A page of the messages that a compaction covers."""

    messages: list[Stored]
    next_after_sequence: int | None


class Window(TypedDict):
    """The identity of a session's window."""

    number: int
    id: str


class UnresolvedCall(TypedDict):
    """A tool call without a result."""

    id: str


class Resume(TypedDict):
    """Where a worker that comes back goes on."""

    turn_id: str | None
    turn_status: str | None
    model_call: int | None
    sample: int | None
    last_prepared_id: str | None
    unresolved_tool_calls: list[UnresolvedCall]
    open_compaction_id: str | None


class SessionState(TypedDict):
    """A session."""

    message_count: int
    pruned_through_sequence: int | None
    window: Window
    resume: Resume
