"""The three numbers against what providers report: measured, and as the documentation says."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from click.testing import CliRunner

from app.api.blocks import blocks_of
from app.api.wire import MessageIn
from app.core.calibration import Report
from app.core.counting import TokenCounter, count_blocks
from app.core.facts import form_of
from app.core.items import item_of
from app.core.messages import Real
from app.tokenizers import counter_for
from bench.calibration import CODING_SESSION, Call, Errors, calls_of, cells, errors_of, main
from bench.transcript import Line, read_transcript
from tests.api.transcripts import CHAT_TRANSCRIPTS, chat_transcript, messages_of
from tests.markdown import read_page, section, table_rows

OURS = counter_for("o200k_base")
MESSAGE_TOKENS = 3
"""Of the simulated provider, which counts by another vocabulary than ours."""


@cache
def coding_session() -> tuple[Line, ...]:
    return tuple(read_transcript(CODING_SESSION, OURS))


def by_number(calls: Sequence[Call]) -> dict[str, Errors]:
    return {errors.number: errors for errors in errors_of(calls)}


@cache
def coding_errors() -> dict[str, Errors]:
    return by_number(list(calls_of(coding_session())))


def test_calibrated_is_better_than_the_plain_anchor_on_a_real_session() -> None:
    measured = coding_errors()
    calibrated, plain = measured["calibrated"], measured["plain anchor"]

    assert calibrated.n == 438
    assert calibrated.median < 0.01 < plain.median
    assert calibrated.p95 < 0.1 < plain.p95
    assert calibrated.mean < plain.mean / 2
    assert measured["json_bytes"].median > 7
    assert measured["tokenizer"].median > 18


@pytest.mark.parametrize("part", range(4))
def test_calibrated_is_better_in_every_quarter_of_it_by_itself(part: int) -> None:
    quarter = coding_session()[part * 228 : (part + 1) * 228]
    measured = by_number(list(calls_of(quarter)))
    calibrated, plain = measured["calibrated"], measured["plain anchor"]

    assert calibrated.median < plain.median / 3
    assert calibrated.p95 < plain.p95
    assert calibrated.mean < plain.mean


@pytest.mark.parametrize("factor", [0.001, 10, 1_000])
def test_one_absurd_report_leaves_all_the_others_as_they_are(factor: float) -> None:
    lines = list(coding_session())
    index = next(index for index, line in enumerate(lines) if index > 450 and line.report)
    given = lines[index].report
    assert given is not None
    absurd = round(given.input_tokens * factor)
    lines[index] = replace(lines[index], report=replace(given, input_tokens=absurd))
    calls = [call for call in calls_of(lines) if call.observed != absurd]
    calibrated = by_number(calls)["calibrated"]

    assert calibrated.median == pytest.approx(coding_errors()["calibrated"].median, abs=0.001)
    assert calibrated.mean == pytest.approx(coding_errors()["calibrated"].mean, abs=0.005)


def simulated(name: str, provider: TokenCounter, reasoning_tokens: int) -> Iterator[Line]:
    """A chat with the reports of a provider that counts by its own vocabulary.

    Its answers hold hidden reasoning, which is output and never input again.
    """
    random, total = Random(name), 4_000
    for sequence, message in enumerate(messages_of(chat_transcript(name)), start=1):
        given = MessageIn.model_validate({key: message[key] for key in ("role", "content")})
        blocks = blocks_of(given.content)
        tokens = count_blocks(blocks, provider)
        hidden = random.randint(0, 2 * reasoning_tokens)
        source = Real(id=f"m{sequence}", sequence=sequence)
        yield Line(
            item=item_of(given.role, "normal", form_of(given.role, blocks, OURS), source),
            report=Report(model="simulated", input_tokens=total, output_tokens=tokens + hidden)
            if given.role == "assistant"
            else None,
        )
        total += tokens + MESSAGE_TOKENS


@pytest.mark.parametrize("reasoning_tokens", [0, 600])
def test_calibrated_is_better_on_chats_whose_provider_has_another_vocabulary(
    reasoning_tokens: int,
) -> None:
    provider = counter_for("cl100k_base")
    calls = [
        call
        for name in CHAT_TRANSCRIPTS
        for call in calls_of(list(simulated(name, provider, reasoning_tokens)))
    ]
    measured = by_number(calls)

    assert measured["calibrated"].n > 200
    assert measured["calibrated"].median < measured["plain anchor"].median
    assert measured["calibrated"].mean < measured["plain anchor"].mean


def test_the_documentation_has_the_measured_figures() -> None:
    rows = table_rows(section(read_page("semantics/calibration.md"), "Figures"))
    documented = {name.strip("`"): tuple(figures) for name, *figures in rows}

    assert documented == {number: cells(errors) for number, errors in coding_errors().items()}


def test_the_command_prints_a_table_for_any_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("transcripts") / "short.jsonl"
    lines = CODING_SESSION.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:12]), encoding="utf-8")
    table = CliRunner().invoke(main, [str(path)])
    nothing = CliRunner().invoke(main, [str(path), "--json"])

    assert (table.exit_code, nothing.exit_code) == (0, 0)
    assert "calibrated" in table.output
    assert '"number": "plain anchor"' in nothing.output
