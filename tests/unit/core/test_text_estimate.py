import pytest

from app.core.blocks import Thinking
from app.core.text_estimate import text_tokens
from tests.unit.core.builders import assistant, call, image, result, tool, user

ESTIMATES: list[object] = [
    pytest.param(("abc",), 0, id="E2 three"),
    pytest.param(("abcd",), 1, id="E2 four"),
    pytest.param(("abcde",), 1, id="E2 five"),
    pytest.param(("abcdefg",), 1, id="E2 seven"),
    pytest.param(("abcdefgh",), 2, id="E2 eight"),
    pytest.param(("abcdef", "ghijkl"), 3, id="E3"),
    pytest.param(("你好世界",), 3, id="E4 twelve bytes"),
    pytest.param(("你",), 0, id="E4 three bytes"),
    pytest.param((), 0, id="nothing"),
    pytest.param(tuple(f"message {number}" for number in range(10)), 22, id="ten messages"),
]


@pytest.mark.parametrize(("texts", "tokens"), ESTIMATES)
def test_a_quarter_of_all_text_bytes_is_rounded_down_once(
    texts: tuple[str, ...], tokens: int
) -> None:
    assert text_tokens(map(user, texts)) == tokens


def test_the_blocks_of_a_message_are_one_text() -> None:
    assert text_tokens([user("ab", "cd")]) == 1


def test_E6_calls_and_results_count_nothing() -> None:
    items = (assistant(call("c1", input='{"a":"b"}')), tool(result("c1", "x" * 10_240)))

    assert text_tokens(items) == 0


def test_media_and_thinking_count_nothing() -> None:
    thinking = Thinking(type="thinking", thinking="x" * 400)

    assert text_tokens([user("abcd", image("Z" * 400)), assistant(thinking)]) == 1
