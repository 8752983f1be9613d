import pytest

from app.core import canonical
from app.core.blocks import (
    Artifact,
    Base64Source,
    Block,
    Data,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
    ToolCall,
    UrlSource,
)
from app.core.content import block_json
from app.core.items import Item
from app.core.local_estimate import (
    approx_tokens,
    encrypted_output_bytes,
    item_tokens,
    old_reasoning_tokens,
    original_image_tokens,
    reasoning_tokens,
    trailing_tokens,
)
from app.core.messages import Role
from tests.unit.core.builders import assistant, call, mixed, result, synthetic, tool, user

TOKENS = [
    pytest.param(-1, 0, id="V101"),
    pytest.param(0, 0, id="no byte"),
    pytest.param(1, 1, id="V103"),
    pytest.param(4, 1, id="V104"),
    pytest.param(5, 2, id="one byte more"),
    pytest.param(14, 4, id="V106"),
    pytest.param(60, 15, id="V107"),
    pytest.param(-9, 0, id="far below"),
]
REASONING = [
    pytest.param(0, 0, id="no text"),
    pytest.param(800, 0, id="V133"),
    pytest.param(866, 0, id="V134"),
    pytest.param(867, 0, id="650 bytes exactly"),
    pytest.param(868, 1, id="the first byte beyond"),
    pytest.param(870, 1, id="V136"),
    pytest.param(872, 1, id="V137"),
    pytest.param(874, 2, id="655 bytes"),
    pytest.param(1_000, 25, id="V139"),
    pytest.param(2_400, 288, id="V140"),
    pytest.param(4_000, 588, id="four thousand"),
    pytest.param(40_000, 7_338, id="V142"),
]
ENCRYPTED_OUTPUT = [
    pytest.param(1_868, 1_051, id="V143"),
    pytest.param(16, 9, id="an exact share"),
    pytest.param(1, 1, id="one character"),
    pytest.param(0, 0, id="none"),
]
ORIGINAL_IMAGES = [
    pytest.param(3_200, 3_200, 10_000, id="the most by itself"),
    pytest.param(3_201, 3_201, 10_000, id="V145"),
    pytest.param(1, 1, 1, id="V146"),
    pytest.param(32, 32, 1, id="one square"),
    pytest.param(33, 32, 2, id="a pixel more"),
    pytest.param(1_024, 768, 768, id="an ordinary image"),
]


@pytest.mark.parametrize(("size", "expected"), TOKENS)
def test_a_token_is_four_bytes(size: int, expected: int) -> None:
    assert approx_tokens(size) == expected


@pytest.mark.parametrize(("length", "expected"), REASONING)
def test_encrypted_reasoning_is_charged_by_what_its_text_decodes_to(
    length: int, expected: int
) -> None:
    assert reasoning_tokens(length) == expected


@pytest.mark.parametrize(("length", "expected"), ENCRYPTED_OUTPUT)
def test_an_encrypted_output_is_charged_nine_sixteenths(length: int, expected: int) -> None:
    assert encrypted_output_bytes(length) == expected


@pytest.mark.parametrize(("width", "height", "expected"), ORIGINAL_IMAGES)
def test_an_image_in_full_detail_is_counted_in_squares(
    width: int, height: int, expected: int
) -> None:
    assert original_image_tokens(width, height) == expected


def reasoning(chars: int, text: str = "") -> Thinking:
    data = {"id": "rs_1", "encrypted_content": "x" * chars}
    state = ProviderState(driver="openai", model="m", data=data)
    return Thinking(type="thinking", thinking=text, provider_state=state)


def opaque(payload: object, kind: str = "reasoning") -> ProviderOpaque:
    return ProviderOpaque(type="provider_opaque", driver="openai", kind=kind, payload=payload)


def behind(url: str) -> Data:
    source = UrlSource(source_type="url", url=url, media_type="image/png")
    return Data(type="data", source=source)


def inline(data: str, media_type: str) -> Data:
    source = Base64Source(source_type="base64", data=data, media_type=media_type)
    return Data(type="data", source=source)


def size_of(*blocks: Block) -> int:
    """Bytes of the blocks' content array."""
    return len(canonical.encode([block_json(block) for block in blocks]))


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(user("hello"), id="text"),
        pytest.param(user("\n" * 100), id="escapes count double"),
        pytest.param(user("中" * 100), id="three bytes a character"),
        pytest.param(assistant(), id="no block"),
        pytest.param(assistant("a", call("c", input='{"a":1}')), id="a call"),
        pytest.param(tool(result("c", "out")), id="a result"),
        pytest.param(user('"provider_state":{'), id="a text about provider state"),
    ],
)
def test_an_item_is_its_content_array_in_bytes(item: Item) -> None:
    assert item_tokens(item) == -(-len(item.content) // 4)


def test_an_artifact_beside_a_result_is_not_counted() -> None:
    artifact = Artifact(kind="file_change", payload={"path": "a" * 999})
    beside = tool(result("c", "out", artifacts=(artifact,)))

    assert item_tokens(beside) == item_tokens(tool(result("c", "out")))


IMAGES: list[object] = [
    pytest.param(inline("Z" * 40_000, "image/png"), 40_000, id="a large image"),
    pytest.param(inline("Z" * 40, "image/png"), 40, id="a small one costs more than its bytes"),
    pytest.param(inline("Z" * 40, "IMAGE/PNG"), 40, id="the type in capitals"),
    pytest.param(behind("data:image/png;base64," + "Z" * 9_999), 9_999, id="a data address"),
    pytest.param(behind("DATA:Image/png;a=b;BASE64," + "Z" * 99), 99, id="in capitals"),
]
NO_IMAGES = [
    pytest.param(inline("Z" * 40_000, "application/pdf"), id="a document"),
    pytest.param(inline("Z" * 40_000, "audio/wav"), id="sound"),
    pytest.param(behind("https://example.com/" + "a" * 9_999), id="an address"),
    pytest.param(behind("data:image/png," + "Z" * 9_999), id="no base64"),
    pytest.param(behind("data:text/plain;base64," + "Z" * 9_999), id="no image"),
    pytest.param(behind("data:image/png;base64"), id="no payload"),
    pytest.param(
        Data(type="data", source=FileIdSource(source_type="file_id", id="f" * 99)), id="a file"
    ),
]


@pytest.mark.parametrize(("block", "payload"), IMAGES)
def test_an_inline_image_has_a_fixed_size(block: Data, payload: int) -> None:
    expected = -(-(size_of(text(), block) - payload + 7_373) // 4)

    assert item_tokens(user(text(), block)) == expected


@pytest.mark.parametrize("block", NO_IMAGES)
def test_other_media_stays_at_its_size(block: Data) -> None:
    assert item_tokens(user(text(), block)) == -(-size_of(text(), block) // 4)


def text() -> Text:
    return Text(type="text", text="look")


def test_an_image_in_a_result_has_the_same_size() -> None:
    given = result("c", "captured", inline("Z" * 40_000, "image/png"))

    assert item_tokens(tool(given)) == -(-(size_of(given) - 40_000 + 7_373) // 4)


REASONING_ITEMS: list[object] = [
    pytest.param(assistant(reasoning(2_400)), 288, id="its length and the brackets"),
    pytest.param(assistant(reasoning(2_400, "thought" * 99)), 288, id="whatever it says beside"),
    pytest.param(assistant(opaque({"encrypted_content": "x" * 2_400})), 288, id="an opaque one"),
    pytest.param(assistant(reasoning(800)), 1, id="a short one"),
    pytest.param(assistant("hello", reasoning(2_400)), 296, id="beside a text of 29 bytes"),
    pytest.param(
        assistant(Thinking(type="thinking", thinking="hm")), 10, id="in the clear by its JSON"
    ),
]


@pytest.mark.parametrize(("item", "expected"), REASONING_ITEMS)
def test_encrypted_reasoning_takes_the_place_of_its_json(item: Item, expected: int) -> None:
    assert item_tokens(item) == expected


SIGNED: list[Block] = [
    Thinking(
        type="thinking",
        thinking="hm",
        provider_state=ProviderState(driver="anthropic", model="m", data={"signature": "s" * 999}),
    ),
    Thinking(
        type="thinking",
        thinking="hm",
        provider_state=ProviderState(driver="d", model="m", data="x" * 999),
    ),
    Thinking(
        type="thinking",
        thinking="hm",
        provider_state=ProviderState(driver="d", model="m", data={"encrypted_content": None}),
    ),
    opaque({"data": "x" * 999}),
    opaque("x" * 999),
    ToolCall(
        type="tool_call",
        id="c",
        name="read",
        input="{}",
        provider_state=ProviderState(driver="d", model="m", data={"encrypted_content": "x" * 999}),
    ),
]


@pytest.mark.parametrize("block", SIGNED)
def test_state_that_is_no_encrypted_reasoning_counts_as_its_json(block: Block) -> None:
    assert item_tokens(assistant(block)) == -(-size_of(block) // 4)


CALL = assistant(call("c1"), call("c2"))
ONE, TWO = tool(result("c1", "one")), tool(result("c2", "two" * 99))
NEXT = user("and now something else")
WORLD = user("the world", kind="world_state")
AFTER_MODEL: list[object] = [
    pytest.param((user("hi"), CALL, ONE, TWO), (ONE, TWO), (ONE, TWO), id="results"),
    pytest.param((user("hi"), CALL, ONE, TWO, NEXT), (ONE, TWO), (ONE, TWO, NEXT),
                 id="results and the next message"),
    pytest.param((CALL, ONE, WORLD, NEXT), (ONE,), (ONE, WORLD, NEXT), id="context too"),
    pytest.param((user("hi"), NEXT), (), (), id="nothing of a model at all"),
    pytest.param((user("hi"), CALL), (), (), id="nothing behind it"),
    pytest.param((), (), (), id="no items"),
]  # fmt: skip


@pytest.mark.parametrize(("items", "pre_turn", "mid_turn"), AFTER_MODEL)
def test_what_stands_behind_the_model_is_trailing(
    items: tuple[Item, ...], pre_turn: tuple[Item, ...], mid_turn: tuple[Item, ...]
) -> None:
    assert trailing_tokens(items, "pre_turn") == sum(map(item_tokens, pre_turn))
    assert trailing_tokens(items, "mid_turn") == sum(map(item_tokens, mid_turn))


def test_a_summary_is_no_message_of_a_model() -> None:
    summary = synthetic("user", "compaction_summary", "what happened")

    assert trailing_tokens((summary, NEXT), "mid_turn") == 0


THOUGHT = assistant("so", reasoning(2_400), opaque({"encrypted_content": "x" * 1_000}))
CLEAR = assistant(Thinking(type="thinking", thinking="hm" * 999))


@pytest.mark.parametrize(
    ("items", "boundary", "expected"),
    [
        pytest.param((user("a"), THOUGHT, user("b")), 2, 313, id="before the request"),
        pytest.param((user("a"), THOUGHT, user("b"), THOUGHT), 2, 313, id="not behind it"),
        pytest.param((user("a"), THOUGHT, user("b"), THOUGHT, user("c")), 4, 626, id="all turns"),
        pytest.param((user("a"), CLEAR, user("b")), 2, 0, id="reasoning in the clear"),
        pytest.param((user("a"), THOUGHT), 0, 0, id="the first request"),
        pytest.param((THOUGHT, THOUGHT), None, 0, id="no request at all"),
    ],
)
def test_old_reasoning_is_what_stands_before_the_last_request(
    items: tuple[Item, ...], boundary: int | None, expected: int
) -> None:
    assert old_reasoning_tokens(items, boundary) == expected


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_compaction_that_a_provider_made_counts_like_reasoning(role: Role) -> None:
    item = mixed(role, opaque({"encrypted_content": "x" * 2_400}, kind="compaction"))

    assert item_tokens(item) == 288
