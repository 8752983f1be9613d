import pytest

from app.compaction.errors import StateError
from app.compaction.file_changes import (
    MAX_EDITED_PATHS,
    MAX_PATH_CHARS,
    artifacts_in,
    artifacts_of,
    edited_paths,
    edited_paths_section,
)
from app.compaction.reminder import Section
from app.compaction.runtime_state import RuntimeState
from app.core.blocks import Artifact
from tests.unit.compaction.evidence import change, undone
from tests.unit.core.builders import assistant, call, result, synthetic, tool, user


def test_K29_standing_changes_are_distinct_and_sorted() -> None:
    artifacts = [change("b.rs"), change("a.rs"), undone("ignored.rs"), change("a.rs")]

    assert edited_paths(artifacts) == ("a.rs", "b.rs")


def test_a_path_whose_other_change_was_undone_is_still_edited() -> None:
    assert edited_paths([undone("a.rs"), change("a.rs"), undone("a.rs")]) == ("a.rs",)


def test_paths_are_sorted_by_code_point() -> None:
    paths = ["a/b", "a.txt", "a-file", "B", "\u00e4", "中", "A/"]

    assert edited_paths(map(change, paths)) == (
        "A/",
        "B",
        "a-file",
        "a.txt",
        "a/b",
        "\u00e4",
        "中",
    )


@pytest.mark.parametrize("character", ["x", "中", "😀"])
def test_a_path_is_cut_to_1024_characters(character: str) -> None:
    long = character * (MAX_PATH_CHARS + 1)

    assert edited_paths([change(long), change(long[:-1])]) == (character * 1_024,)


@pytest.mark.parametrize("path", ["", " \t", "\u2028", " " * MAX_PATH_CHARS + "a.rs"])
def test_a_blank_path_is_skipped(path: str) -> None:
    assert edited_paths([change(path)]) == ()


def test_a_path_that_only_looks_blank_is_kept() -> None:
    assert edited_paths([change("\x1c"), change(" a ")]) == ("\x1c", " a ")


def test_the_first_128_paths_are_kept() -> None:
    paths = [f"{number:03}" for number in range(MAX_EDITED_PATHS + 1)]

    assert edited_paths(map(change, reversed(paths))) == tuple(paths[:128])


def test_artifacts_of_another_kind_mean_nothing() -> None:
    assert edited_paths([Artifact(kind="preview", payload=7), change("a.rs")]) == ("a.rs",)


def test_a_whole_artifact_needs_no_more_than_path_and_undone() -> None:
    payload = {
        "changeId": "c-1",
        "path": "a.rs",
        "kind": "update",
        "additions": 1,
        "deletions": 0,
        "hunks": [],
        "beforeHash": "0",
        "afterHash": "1",
        "undone": False,
    }

    assert edited_paths([Artifact(kind="file_change", payload=payload)]) == ("a.rs",)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (None, "file change artifact is not a JSON object"),
        (["a.rs"], "file change artifact is not a JSON object"),
        ({"undone": False}, "path of a file change artifact is not a JSON string"),
        ({"path": 7, "undone": True}, "path of a file change artifact is not a JSON string"),
        ({"path": "a.rs"}, "undone of a file change artifact is not a JSON boolean"),
        ({"path": "a.rs", "undone": 0}, "undone of a file change artifact is not a JSON boolean"),
    ],
)
def test_an_undecodable_file_change_fails(payload: object, message: str) -> None:
    with pytest.raises(StateError) as refused:
        edited_paths([Artifact(kind="file_change", payload=payload)])

    assert refused.value.detail == message


def test_artifacts_are_those_of_real_results_in_order() -> None:
    first = tool(
        result("c1", "ok", artifacts=(change("b.rs"), change("a.rs"))),
        result("c2", "ok", artifacts=(change("c.rs"),)),
        sequence=3,
    )
    made = synthetic(
        "tool", "interrupted_tool_result", result("c3", "ok", artifacts=(change("made.rs"),))
    )
    live = tool(result("c4", "ok", artifacts=(undone("d.rs"),)))
    items = (user("hello"), assistant(call("c1"), call("c2")), first, made, live)

    assert artifacts_of(items) == (change("b.rs"), change("a.rs"), change("c.rs"), undone("d.rs"))


def test_messages_without_artifacts_have_none() -> None:
    items = (user("hello"), tool(result("c1", "ok")))

    assert artifacts_of(items) == ()
    assert [artifacts_in(item.content) for item in items] == [(), ()]


def test_an_artifact_inside_an_output_is_not_one_of_the_result() -> None:
    inner = result("c2", "ok", artifacts=(change("inner.rs"),))

    assert artifacts_in(tool(result("c1", inner)).content) == ()


def test_the_section_lists_the_paths() -> None:
    state = RuntimeState(edited_paths=("a.rs", "b.rs"), extensions=(), warnings=())

    assert edited_paths_section(state) == Section(title="Edited paths", lines=("- a.rs", "- b.rs"))
