import pytest

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
    ToolResult,
    UrlSource,
    text_block,
)
from app.core.content import decode_content, encode_content
from tests.unit.core.builders import call, image, result

STATE = ProviderState(driver="anthropic", model="m", data={"signature": "s", "n": [1, 2.5, None]})
ADDRESS = Data(
    type="data",
    source=UrlSource(source_type="url", url="https://example.test/a.png", media_type="image/png"),
)

PRINTED: list[tuple[str, Block, str]] = [
    ("text", text_block("hello"), '{"type":"text","text":"hello"}'),
    (
        "thinking",
        Thinking(type="thinking", thinking="reasoning"),
        '{"type":"thinking","thinking":"reasoning"}',
    ),
    (
        "data by address",
        ADDRESS,
        '{"type":"data","source":{"source_type":"url","url":"https://example.test/a.png",'
        '"media_type":"image/png"},"name":null}',
    ),
    (
        "data by file id",
        Data(type="data", source=FileIdSource(source_type="file_id", id="file-1")),
        '{"type":"data","source":{"source_type":"file_id","id":"file-1"},"name":null}',
    ),
    (
        "tool call",
        call("call-1", "read", state="submitted"),
        '{"type":"tool_call","id":"call-1","name":"read","input":"{}","state":"submitted"}',
    ),
    (
        "tool result",
        result("call-1", "ok", name="edit"),
        '{"type":"tool_result","id":"call-1","name":"edit",'
        '"output":[{"type":"text","text":"ok"}],"state":"success"}',
    ),
]

FURTHER: list[tuple[str, Block, str]] = [
    (
        "data in the message",
        Data(
            type="data",
            source=Base64Source(source_type="base64", data="Zm9v", media_type="image/png"),
            name="foo.png",
        ),
        '{"type":"data","source":{"source_type":"base64","data":"Zm9v",'
        '"media_type":"image/png"},"name":"foo.png"}',
    ),
    (
        "opaque",
        ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload={"b": 1, "a": []}),
        '{"type":"provider_opaque","driver":"d","kind":"k","payload":{"b":1,"a":[]}}',
    ),
    (
        "text with provider state",
        Text(type="text", text="a", provider_state=STATE),
        '{"type":"text","text":"a","provider_state":{"driver":"anthropic","model":"m",'
        '"data":{"signature":"s","n":[1,2.5,null]}}}',
    ),
    (
        "thinking with provider state",
        Thinking(
            type="thinking",
            thinking="",
            provider_state=ProviderState(driver="d", model="m", data=None),
        ),
        '{"type":"thinking","thinking":"","provider_state":{"driver":"d","model":"m","data":null}}',
    ),
    (
        "tool call with provider state",
        ToolCall(
            type="tool_call",
            id="c",
            name="n",
            input='{"path":"a"}',
            provider_state=ProviderState(driver="d", model="m", data="sig"),
        ),
        '{"type":"tool_call","id":"c","name":"n","input":"{\\"path\\":\\"a\\"}",'
        '"state":"finished","provider_state":{"driver":"d","model":"m","data":"sig"}}',
    ),
    (
        "tool result without a name",
        result("c", name=None, state="denied"),
        '{"type":"tool_result","id":"c","name":null,"output":[],"state":"denied"}',
    ),
    (
        "tool result with artifacts",
        result(
            "c", artifacts=(Artifact(kind="file_change", payload={"path": "a", "additions": 1}),)
        ),
        '{"type":"tool_result","id":"c","name":"read","output":[],"state":"success",'
        '"artifacts":[{"kind":"file_change","payload":{"path":"a","additions":1}}]}',
    ),
]


@pytest.mark.parametrize(
    ("block", "encoded"),
    [pytest.param(block, encoded, id=name) for name, block, encoded in PRINTED + FURTHER],
)
def test_a_block_has_one_form_and_comes_back_from_it(block: Block, encoded: str) -> None:
    assert encode_content((block,)) == f"[{encoded}]".encode()
    assert decode_content(f"[{encoded}]".encode()) == (block,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "\\u0000",
        'a\nb\r\n\t"\\',
        "\x7f\x85\u2028",
        "中",
        "\N{COCKTAIL GLASS}",
        "\U0010ffff",
    ],
)
def test_any_text_survives(text: str) -> None:
    blocks = (
        text_block(text),
        Thinking(type="thinking", thinking=text),
        call(text, text, input=text),
        result(text, text, image(text, name=text), name=text),
    )

    assert decode_content(encode_content(blocks)) == blocks


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**80),
        0.1,
        1e-300,
        1.7976931348623157e308,
        "\0😀",
        [],
        {},
        {"z": {"b": [1, {"y": None}], "a": ""}, "a": 1.0},
    ],
)
def test_free_json_survives(value: object) -> None:
    blocks = (
        ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload=value),
        Text(
            type="text",
            text="a",
            provider_state=ProviderState(driver="d", model="m", data=value),
        ),
        result("c", artifacts=(Artifact(kind="any", payload=value),)),
    )

    assert decode_content(encode_content(blocks)) == blocks
    assert encode_content(decode_content(encode_content(blocks))) == encode_content(blocks)


def test_free_json_keeps_the_order_of_its_keys() -> None:
    given = ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload={"b": 1, "a": 2})
    other = ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload={"a": 2, "b": 1})

    assert encode_content((given,)) != encode_content((other,))
    assert b'{"b":1,"a":2}' in encode_content(decode_content(encode_content((given,))))


def test_an_output_may_hold_any_block() -> None:
    inner = (
        ADDRESS,
        text_block("a"),
        ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload=1),
    )
    outer = ToolResult(type="tool_result", id="c", output=inner)

    assert decode_content(encode_content((outer,))) == (outer,)


def test_no_blocks_are_an_empty_array() -> None:
    assert encode_content(()) == b"[]"
    assert decode_content(b"[]") == ()
