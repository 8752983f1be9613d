from hashlib import sha256

import pytest

from app.core.blocks import (
    Artifact,
    Base64Source,
    Block,
    Data,
    FileIdSource,
    ProviderOpaque,
    UrlSource,
    text_block,
)
from app.core.counting import tokens_of_bytes
from app.core.facts import (
    CallFact,
    Facts,
    ResultFact,
    form_of,
    joined_text,
    neutral_element,
    visible_bytes,
)
from app.core.media import UNKNOWN_MEDIA_TOKENS
from tests.requirements import requirement
from tests.unit.core.builders import COUNTER, as_blocks, call, form, image, result

FILE_CHANGE = Artifact(kind="file_change", payload={"afterContent": "x" * 100_000, "undone": False})


def test_facts_say_all_that_the_rules_ask_about_a_message() -> None:
    blocks = (
        text_block("中"),
        call("c1", "read", state="pending"),
        call("c2", "list", input="[]"),
    )
    content = (
        '[{"type":"text","text":"中"},'
        '{"type":"tool_call","id":"c1","name":"read","input":"{}","state":"pending"},'
        '{"type":"tool_call","id":"c2","name":"list","input":"[]","state":"finished"}]'
    ).encode()
    made = form_of("assistant", blocks, COUNTER)

    assert made.content == content
    assert made.facts == Facts(
        content_bytes=len(content),
        json_bytes=len(content),
        tokenizer_tokens=1 + 4 + 2 + 4 + 2,
        token_basis="length/1",
        has_data=False,
        element_sha256=sha256(b'{"role":"assistant","content":%b}' % content).digest(),
        calls=(
            CallFact(id="c1", name="read", state="pending"),
            CallFact(id="c2", name="list", state="finished"),
        ),
        results=(),
        text_bytes=3,
    )


def test_results_have_their_sizes_among_the_facts() -> None:
    facts = form(
        "tool",
        result("c1", "中文", image("ZZ"), "é", name=None),
        result("c2", state="running"),
    ).facts

    assert facts.results == (
        ResultFact(
            id="c1",
            name=None,
            state="success",
            joined_chars=4,
            visible_bytes=6 + 2 + len("image/png") + 2,
        ),
        ResultFact(id="c2", name="read", state="running", joined_chars=0, visible_bytes=0),
    )
    assert facts.has_data
    assert facts.tokenizer_tokens == 2 + 1 + UNKNOWN_MEDIA_TOKENS


@requirement("OW-7.1-artifacts-never-count")
@pytest.mark.parametrize("artifacts", [(), (FILE_CHANGE,), (FILE_CHANGE, FILE_CHANGE)])
def test_B9_artifacts_do_not_count(artifacts: tuple[Artifact, ...]) -> None:
    edited = result("call-1", "Edited src/lib.rs:3 (+1 -1)", name="edit", artifacts=artifacts)
    made = form("tool", edited)

    assert made.facts.json_bytes == 134
    assert tokens_of_bytes(made.facts.json_bytes) == 34
    assert made.facts.content_bytes == len(made.content)


@requirement("OW-7.1-bytes-over-four")
@pytest.mark.parametrize(
    ("content", "json_bytes", "tokens"),
    [
        pytest.param(["hello"], 32, 8, id="B2"),
        pytest.param([""], 27, 7, id="B3"),
        pytest.param([], 2, 1, id="B3 without a block"),
        pytest.param(['"\\\n\t'], 35, 9, id="B4 quote, backslash, LF and TAB take two bytes each"),
        pytest.param(["\r\b\f/"], 34, 9, id="B4 so do CR, BS and FF, and a slash takes one"),
        pytest.param(["\x01"], 33, 9, id="B5"),
        pytest.param(["\x7f"], 28, 7, id="B5 DEL is not escaped"),
        pytest.param(["中"], 30, 8, id="B6"),
        pytest.param(["😀"], 31, 8, id="B6 outside the basic plane"),
        pytest.param(
            [
                Data(
                    type="data",
                    source=UrlSource(
                        source_type="url", url="https://example.test/a.png", media_type="image/png"
                    ),
                )
            ],
            120,
            30,
            id="B10",
        ),
    ],
)
def test_content_is_measured_as_its_json(
    content: list[str | Block], json_bytes: int, tokens: int
) -> None:
    facts = form("user", *content).facts

    assert facts.json_bytes == json_bytes
    assert tokens_of_bytes(facts.json_bytes) == tokens


def test_the_identity_of_a_message_is_its_role_and_content() -> None:
    digest = form("user", "a").facts.element_sha256

    assert digest == sha256(neutral_element("user", b'[{"type":"text","text":"a"}]')).digest()
    assert digest != form("assistant", "a").facts.element_sha256
    assert digest != form("user", "b").facts.element_sha256


def test_the_texts_of_a_result_are_joined_with_one_newline() -> None:
    assert joined_text(as_blocks(["a", image(), "", "b"])) == "a\n\nb"
    assert joined_text(()) == ""


@pytest.mark.parametrize(
    ("block", "size"),
    [
        (text_block('"中'), 4),
        (
            Data(
                type="data",
                source=UrlSource(source_type="url", url="http://é", media_type="a/b"),
                name="中",
            ),
            9 + 3 + 3,
        ),
        (
            Data(
                type="data",
                source=Base64Source(source_type="base64", data="Zm9v", media_type="a/b"),
            ),
            4 + 3,
        ),
        (
            Data(type="data", source=FileIdSource(source_type="file_id", id="file-1"), name="n"),
            6 + 1,
        ),
        (ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload="long"), 0),
        (result("c", "inner"), 0),
    ],
)
def test_visible_bytes_are_raw_bytes_and_not_json(block: Block, size: int) -> None:
    assert visible_bytes((block, block)) == 2 * size
