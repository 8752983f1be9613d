from typing import cast

import pytest

from app.core.codex_normalize import Entry, EntryKind, codex_normalize

Pairs = list[tuple[str, str]]

ROWS: list[object] = [
    pytest.param([("call", "c1")], [("call", "c1"), ("out:aborted", "c1")], id="V166"),
    pytest.param([("out", "c1")], [], id="V167"),
    pytest.param([("call", "c1"), ("out", "c1")], [("call", "c1"), ("out", "c1")],
                 id="a pair stays"),
    pytest.param([("call", "c1"), ("call", "c2"), ("out", "c2")],
                 [("call", "c1"), ("out:aborted", "c1"), ("call", "c2"), ("out", "c2")],
                 id="V169"),
    pytest.param([("call", "c1"), ("out", "c1"), ("out", "c1")],
                 [("call", "c1"), ("out", "c1"), ("out", "c1")], id="V170"),
    pytest.param([("out", "c1"), ("call", "c1")], [("out", "c1"), ("call", "c1")],
                 id="an output in front of its call stays"),
    pytest.param([("shell", "s1")], [("shell", "s1"), ("out:aborted", "s1")], id="V172"),
    pytest.param([("shell", "s1"), ("out", "s1")], [("shell", "s1"), ("out", "s1")],
                 id="a shell call has a function's output"),
    pytest.param([("custom_out", "k1")], [], id="V173"),
    pytest.param([("custom", "k1")], [("custom", "k1"), ("custom_out:aborted", "k1")],
                 id="a custom call without output"),
    pytest.param([("custom", "k1"), ("out", "k1")],
                 [("custom", "k1"), ("custom_out:aborted", "k1")],
                 id="a function's output answers no custom call"),
    pytest.param([("call", "c1"), ("custom_out", "c1")], [("call", "c1"), ("out:aborted", "c1")],
                 id="a custom output answers no function call"),
    pytest.param([("other", ""), ("call", "c1"), ("other", "")],
                 [("other", ""), ("call", "c1"), ("out:aborted", "c1"), ("other", "")],
                 id="the output stands right behind its call"),
    pytest.param([], [], id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), ROWS)
def test_calls_and_outputs_are_paired_by_membership(given: Pairs, expected: Pairs) -> None:
    paired = codex_normalize([Entry(kind=cast("EntryKind", k), call_id=id_) for k, id_ in given])

    assert [(shown(entry), entry.call_id) for entry in paired] == expected
    assert codex_normalize(paired) == paired


def shown(entry: Entry) -> str:
    """The kind, and the text of an output that was made here."""
    return entry.kind if entry.text is None else f"{entry.kind}:{entry.text}"
