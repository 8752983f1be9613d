import json
from collections.abc import Sequence
from hashlib import sha256

import pytest

from app.core.engine import PreparedCall, prepare
from app.core.items import Item
from app.core.prefix import (
    START,
    Fingerprint,
    Segment,
    common_length,
    element_digests,
    extend,
    fingerprint,
    is_prefix,
    neutral_elements,
    prepared_id,
    repeats,
)
from app.core.request_copy import PruneBoundary
from tests.unit.core.builders import (
    READ,
    assistant,
    call,
    part,
    prepare_input,
    request_json,
    result,
    stored,
    tool,
    user,
)

PARTS = (part("core/agent-system", "s"), part("a", "中"))
HISTORY = stored(
    user("hello"),
    assistant(call("c1")),
    tool(result("c1", "x" * 9_000)),
    assistant(call("c2", state="pending")),
    user("and?"),
    tool(result("c2", "late")),
)


def prepared(*items: Item, boundary: PruneBoundary | None = None) -> PreparedCall:
    given = prepare_input(*items, parts=PARTS, tools=(READ,), boundary=boundary or PruneBoundary())
    return prepare(given)


def printed(call: PreparedCall, known: Fingerprint | None = None) -> Fingerprint:
    return fingerprint(neutral_elements(call), known)


def elements(call: PreparedCall) -> list[bytes]:
    """The exact JSON of each message, cut out of the parsed request."""
    return [compact(message) for message in request_json(call)["messages"]]


def compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def chained(parts: Sequence[bytes]) -> bytes:
    """The chain by its definition."""
    chain = b"\0" * 32
    for element in parts:
        chain = sha256(chain + sha256(element).digest()).digest()
    return chain


def test_the_chain_of_a_system_and_a_user_message() -> None:
    call = prepare(prepare_input(user("hello"), parts=(part("p", "s"),)))
    made = printed(call)

    assert [len(element) for element in elements(call)] == [56, 58]
    assert made.chain.hex() == "aab84ff2d679c1de9f17b5afdb2c39f30b10736de12ae27007bbc669268bb76d"
    assert made.message_bytes == 56 + 58


def test_the_chain_of_no_message_is_its_start() -> None:
    assert START == b"\0" * 32
    assert extend(START, []) == START


def test_a_chain_is_extended_by_what_is_new() -> None:
    digests = [sha256(bytes([number])).digest() for number in range(5)]

    assert extend(extend(START, digests[:2]), digests[2:]) == extend(START, digests)


@pytest.mark.parametrize("count", range(7))
def test_a_fingerprint_equals_one_made_from_the_bytes_of_the_request(count: int) -> None:
    call = prepared(*HISTORY[:count])
    sent = elements(call)
    system, conversation = sent[:2], sent[2:]
    definitions = [compact(tool) for tool in request_json(call)["tools"]]

    assert printed(call) == Fingerprint(
        message_count=len(sent),
        message_bytes=sum(map(len, sent)),
        chain=chained(sent),
        segments=(
            Segment(name="system", size_bytes=sum(map(len, system)), chain=chained(system)),
            Segment(name="tools", size_bytes=len(definitions[0]), chain=chained(definitions)),
            Segment(name="messages", size_bytes=sum(map(len, conversation)), chain=chained(sent)),
        ),
    )
    assert element_digests(call) == [sha256(element).digest() for element in sent]


@pytest.mark.parametrize("known_count", range(1, 5))
def test_a_known_fingerprint_is_continued(known_count: int) -> None:
    known = printed(prepared(*HISTORY[:3]))
    later = prepared(*HISTORY[: 3 + known_count - 1])

    assert printed(later, known) == printed(later)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [(0, 1, True), (1, 2, True), (2, 3, False), (3, 5, True), (4, 5, True), (5, 6, False)],
    ids=["user", "call", "result", "more", "waiting", "late result"],
)
def test_a_call_repeats_the_one_before_unless_a_result_moved_in(
    before: int, after: int, same: bool
) -> None:
    previous = printed(prepared(*HISTORY[:before]))
    later = prepared(*HISTORY[:after])

    assert repeats(later, previous, before) is same
    assert is_prefix(previous, element_digests(later)) is same


def test_a_shorter_call_repeats_nothing() -> None:
    previous = printed(prepared(*HISTORY[:3]))

    assert not repeats(prepared(*HISTORY[:1]), previous, 3)
    assert not is_prefix(previous, element_digests(prepared(*HISTORY[:1])))


def test_a_call_repeats_itself() -> None:
    previous = printed(prepared(*HISTORY))

    assert repeats(prepared(*HISTORY), previous, 6)
    assert is_prefix(previous, element_digests(prepared(*HISTORY)))


def test_a_call_is_no_prefix_of_one_with_other_bytes() -> None:
    previous = printed(prepared(*HISTORY[:3]))
    pruned = prepared(*HISTORY[:3], boundary=PruneBoundary(through_sequence=3))

    assert not is_prefix(previous, element_digests(pruned))


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ([], [], 0),
        ([], [b"a"], 0),
        ([b"a"], [b"a"], 1),
        ([b"a", b"b"], [b"a", b"b", b"c"], 2),
        ([b"a", b"b", b"c"], [b"a", b"b"], 2),
        ([b"a", b"x", b"c"], [b"a", b"b", b"c"], 1),
        ([b"x"], [b"a"], 0),
    ],
)
def test_the_common_length_ends_at_the_first_difference(
    left: list[bytes], right: list[bytes], common: int
) -> None:
    assert common_length(left, right) == common


def test_the_sizes_of_elements_are_those_of_their_bytes() -> None:
    call = prepared(*HISTORY)

    assert neutral_elements(call).sizes == tuple(map(len, elements(call)))


def test_a_prepared_id_is_a_hash_of_what_was_prepared() -> None:
    made = printed(prepared(*HISTORY))
    chains = [made.chain, *(segment.chain for segment in made.segments)]
    parts = ["i-1", "neutral", "model-1", '{"top_p":1}', *(chain.hex() for chain in chains)]

    assert prepared_id("i-1", "neutral", "model-1", b'{"top_p":1}', made) == (
        f"prep-{sha256(compact(parts)).hexdigest()[:32]}"
    )


def test_each_part_of_a_prepared_call_changes_its_id() -> None:
    made = printed(prepared(*HISTORY))
    ids = {
        prepared_id("i-1", "neutral", "m", b"{}", made),
        prepared_id("i-2", "neutral", "m", b"{}", made),
        prepared_id("i-1", "other", "m", b"{}", made),
        prepared_id("i-1", "neutral", "n", b"{}", made),
        prepared_id("i-1", "neutral", "m", b'{"top_p":1}', made),
        prepared_id("i-1", "neutral", "m", b"{}", printed(prepared(*HISTORY[:5]))),
        prepared_id(
            "i-1",
            "neutral",
            "m",
            b"{}",
            printed(prepare(prepare_input(*HISTORY, parts=PARTS, tools=()))),
        ),
    }

    assert len(ids) == 7
