from app.core.block_counts import BlockCount, block_counts, form_block_counts
from app.core.blocks import Artifact
from tests.unit.core.builders import COUNTER, as_blocks, call, form, result

OUTPUT = result("c1", "four", artifacts=(Artifact(kind="k", payload="x" * 1_000),))


def test_a_block_is_measured_without_its_array_and_without_artifacts() -> None:
    assert block_counts(as_blocks(["four"]), COUNTER) == (
        BlockCount(type="text", size_bytes=29, tokenizer_tokens=4),
    )
    assert block_counts((OUTPUT,), COUNTER)[0].size_bytes < 200
    assert block_counts((), COUNTER) == ()


def test_blocks_add_up_to_their_message() -> None:
    message = form("assistant", "words", call("c1", input='{"path":"a"}'), call("c2"))
    counts = form_block_counts(message, COUNTER)

    assert [count.type for count in counts] == ["text", "tool_call", "tool_call"]
    assert sum(count.tokenizer_tokens for count in counts) == message.facts.tokenizer_tokens
    # Two brackets and two commas stand around three blocks.
    assert sum(count.size_bytes for count in counts) + 4 == message.facts.json_bytes


def test_a_single_block_is_not_counted_again() -> None:
    alone = form("tool", OUTPUT)

    assert form_block_counts(alone, COUNTER) == block_counts((OUTPUT,), COUNTER)
    assert form_block_counts(alone, COUNTER)[0].json_tokens == -(-(alone.facts.json_bytes - 2) // 4)
