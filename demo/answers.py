"""The parts of the service's answers that the demo looks at."""

from typing import Any, TypedDict


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


class Decision(TypedDict):
    """What to do with a request."""

    action: str
    reason: str
    detail: str


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


class Stored(TypedDict):
    """A stored message."""

    id: str
    sequence: int
    role: str
    kind: str
    content: list[dict[str, Any]]


class Page(TypedDict):
    """A page of stored messages."""

    items: list[Stored]
    next_cursor: str | None
