"""The parts of the service's answers to a compaction that the demo looks at."""

from typing import Any, NotRequired, TypedDict

from demo.answers import Window


class Claim(TypedDict):
    """The right to answer a compaction's summary requests."""

    token: str


class Claimed(TypedDict):
    """A compaction that was claimed."""

    id: str
    kind: str
    attempt: int
    plan_key: str
    claim: Claim
    summary_request: dict[str, Any]


class Difference(TypedDict):
    """Tokens of the conversation by one counter."""

    before: int
    after: int
    reclaimed: int


class Receipt(TypedDict):
    """What a compaction took away, by every counter."""

    json_bytes: Difference
    tokenizer: Difference


class Checkpoint(TypedDict):
    """A stored summary."""

    id: str
    through_sequence: int


class Rejection(TypedDict):
    """Why a summary was not usable."""

    reason: str


class Reply(TypedDict):
    """The answer to a summary: another request, or what was installed."""

    status: str
    attempt: NotRequired[int]
    rejected: NotRequired[Rejection]
    summary_request: NotRequired[dict[str, Any]]
    checkpoint: NotRequired[Checkpoint]
    tokens: NotRequired[Receipt]
    window: NotRequired[Window]
    detail: NotRequired[str]
