import json

import pytest

from app.compaction.structured_summary import (
    MOST_FENCES,
    StructuredSummary,
    SummaryFile,
    plain_text,
    read_summary,
    summary_of,
)
from app.compaction.summary_template import summary_text
from tests.requirements import requirement

GOAL = '{"user_intent":["Real goal"]}'
FENCE = "```"
ANALYSIS = f"<analysis>as in\n{FENCE}json\n{GOAL}\n{FENCE}\n</analysis>\n"
CODE = f'{FENCE}json {{"next_step":"inner"}} {FENCE}'

RAW = [
    pytest.param("We fixed the bug.", id="J2"),
    pytest.param("", id="no text at all"),
    pytest.param("{}", id="J3"),
    pytest.param('{"notes":"x"}', id="J4"),
    pytest.param('{"user_intent":null,"files":[]}', id="nothing but nothing"),
    pytest.param('{"files":[{}],"user_intent":[" "]}', id="J6"),
    pytest.param(f'{FENCE}json\n{{"user_intent":["cut o', id="J7"),
    pytest.param(f"It is {GOAL} as I said.", id="J8"),
    pytest.param(f"{ANALYSIS}Only prose.", id="J10"),
    pytest.param(f"[{GOAL}]", id="J19"),
    pytest.param(f"{FENCE}\n{GOAL}\n{FENCE}", id="J20"),
    pytest.param(f"{FENCE}JSON\n{GOAL}\n{FENCE}", id="the fence is lower case"),
    pytest.param('{"user_intent":["a"],}', id="nothing is repaired"),
    pytest.param('{"next_step":' + "[" * 100 + "]" * 100 + "}", id="too deep"),
    pytest.param('{"next_step":NaN}', id="no JSON number"),
]
FOUND = [
    pytest.param(f"  \n{GOAL} and so on", id="an object at the start"),
    pytest.param(f"{FENCE}json\n{GOAL}\n{FENCE}", id="a fence"),
    pytest.param(f"<analysis>see {FENCE}json with {{braces</analysis>\n{GOAL}", id="J11"),
    pytest.param(f"{GOAL}</analysis> and that was it", id="an object in front of everything"),
    pytest.param(
        f'{FENCE}json\n{{"user_intent":["first"]}}\n{FENCE}\n{FENCE}json\n{GOAL}\n{FENCE}', id="J18"
    ),
    pytest.param(
        f"{FENCE}json\n{GOAL}\n{FENCE}\n{FENCE}json\n{{}}\n{FENCE}",
        id="J18 the last usable one",
    ),
    pytest.param(
        f'<analysis></analysis>{{"user_intent":["x"]}}</analysis>{GOAL}',
        id="the last end of an analysis counts",
    ),
]
LISTS = [
    pytest.param("one", ("one",), id="J12"),
    pytest.param(5, ("5",), id="a number in a list's place"),
    pytest.param([42], ("42",), id="J14"),
    pytest.param(
        [True, 1.5, [1, [2, "x"]], {"a": {"b": 1}}], ("true", "1.5", "1; 2; x", "a: b: 1"), id="J24"
    ),
    pytest.param(
        ["a", " ", None, " b "], ("a", " b "), id="blank ones go, others stay as they are"
    ),
    pytest.param({"a": 1, "b": 2}, ("a: 1; b: 2",), id="an object in a list's place"),
    pytest.param(None, (), id="null"),
]
FILES = [
    pytest.param(
        ["a.rs", {"path": "b.rs", "summary": "S"},
         {"path": "c.rs", "summary": 42, "key_code": ["x", "y"]}, ""],
        [("a.rs", "", None), ("b.rs", "S", None), ("c.rs", "42", "x; y")],
        id="J16",
    ),
    pytest.param([{"summary": "s"}], [("", "s", None)], id="J26"),
    pytest.param([{"key_code": "x"}], [("", "", "x")], id="code alone"),
    pytest.param([{"path": "a", "key_code": " \n"}], [("a", "", None)], id="blank code is none"),
    pytest.param({"path": "a"}, [("a", "", None)], id="a single file"),
    pytest.param("a.rs", [("a.rs", "", None)], id="a single path"),
    pytest.param([7, None], [("7", "", None)], id="what is no object is a path"),
    pytest.param(None, [], id="null"),
]  # fmt: skip


@requirement("GO-7.2-raw-summary")
@pytest.mark.parametrize("answer", RAW)
def test_an_answer_without_a_usable_object_is_kept_as_it_is(answer: str) -> None:
    assert read_summary(answer) is None
    assert summary_text(answer) == answer


@pytest.mark.parametrize("answer", FOUND)
def test_the_object_is_found_in_what_a_model_wraps_around_it(answer: str) -> None:
    assert read_summary(answer) == StructuredSummary(user_intent=("Real goal",))


@requirement("GO-7.2-lenient-summary")
@pytest.mark.parametrize(("value", "texts"), LISTS)
def test_everything_in_a_list_becomes_text(value: object, texts: tuple[str, ...]) -> None:
    answer = json.dumps({"user_intent": value, "pending_tasks": value, "next_step": "go"})

    assert read_summary(answer) == StructuredSummary(
        user_intent=texts, pending_tasks=texts, next_step="go"
    )


@requirement("GO-7.2-lenient-summary")
@pytest.mark.parametrize(("value", "files"), FILES)
def test_files_are_read_from_objects_and_paths(
    value: object, files: list[tuple[str, str, str | None]]
) -> None:
    answer = json.dumps({"files": value, "next_step": "go"})

    assert read_summary(answer) == StructuredSummary(
        files=tuple(
            SummaryFile(path=path, summary=text, key_code=code) for path, text, code in files
        ),
        next_step="go",
    )


def test_J15_an_object_in_place_of_a_text_is_its_pairs_in_order() -> None:
    summary = read_summary('{"current_work":{"task":"t","status":"s"}}')

    assert summary == StructuredSummary(current_work="task: t; status: s")


def test_J22_a_raw_line_end_in_a_string_is_kept() -> None:
    summary = read_summary('{"next_step":"a\nb\t\\"c"}')

    assert summary == StructuredSummary(next_step='a\nb\t"c')


def test_J23_a_next_step_of_0_is_a_text() -> None:
    assert read_summary('{"user_intent":[],"next_step":0}') == StructuredSummary(next_step="0")


def test_J27_a_fence_in_code_does_not_hide_the_object_around_it() -> None:
    answer = f"{FENCE}json\n{json.dumps({'files': [{'path': 'a', 'key_code': CODE}]})}\n{FENCE}"

    assert read_summary(answer) == StructuredSummary(
        files=(SummaryFile(path="a", summary="", key_code=CODE),)
    )


def test_unknown_keys_are_kept_beside_the_nine_fields() -> None:
    summary = summary_of({"next_step": "go", "notes": [1]})

    assert summary == StructuredSummary(next_step="go", extra={"notes": [1]})
    assert summary_of({"notes": [1]}).is_empty


def test_null_is_no_text() -> None:
    assert plain_text([None, "a"]) == "; a"


def test_only_the_last_fences_are_looked_at() -> None:
    fenced = '```json\n{"user_intent": "Real goal"}\n'
    other = '```json\n{"other": 1}\n'

    assert read_summary(fenced + other * (MOST_FENCES - 1)) is not None
    assert read_summary(fenced + other * MOST_FENCES) is None


@pytest.mark.parametrize("noise", ['```json\n{"a', "```json\n{", '{"a', '\\"', "{"])
def test_an_answer_that_opens_more_than_it_closes_is_gone_through_once(noise: str) -> None:
    # Were every fence and every string followed to the end, this would not come to an end.
    assert read_summary(f'{{"{noise * 100_000}') is None
    assert read_summary(noise * 100_000) is None
