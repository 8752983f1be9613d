from dataclasses import replace
from itertools import accumulate, takewhile

import pytest

from app.core.blocks import Artifact
from app.core.budget import (
    Budget,
    BudgetState,
    RegionTokens,
    array_bytes,
    estimate_regions,
    make_budget,
    tokenizer_regions,
)
from app.core.engine import prepare
from app.core.limits import Limits
from app.core.messages import Real
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.request_copy import PruneBoundary
from app.policies.line import decide_by_line
from app.policies.reserve import reserve_limits
from tests.requirements import requirement
from tests.unit.core.builders import (
    OPENWORK,
    READ,
    assistant,
    call,
    part,
    prepare_input,
    result,
    stored,
    surface_of,
    tool,
    user,
)

NOTHING = RegionTokens(system_context=0, conversation=0, tool_surface=0)


def limits(window: int | None, *, line: int | None, reserve: int = 0) -> Limits:
    return Limits(
        context_window=window,
        effective_input_tokens=window,
        auto_compact_token_limit=line,
        line_tokens=line,
        compact_at_input_tokens=None if line is None else line - reserve,
        reserved_output_tokens=reserve,
        provenance={},
    )


def budget(used: int, under: Limits, max_output: int | None = None) -> Budget:
    estimate = RegionTokens(system_context=0, conversation=used, tool_surface=0)
    return make_budget(
        estimate, NOTHING, "length/1", under, decide_by_line(used, under), max_output
    )


@requirement(
    "OW-7.1-three-regions",
    "OW-7.1-bytes-over-four",
    "OW-10-estimate-only-measures",
    "GO-7.1-every-part-counts",
)
def test_B7_each_region_is_rounded_up_once() -> None:
    given = prepare_input(
        user("hello"),
        parts=(part("system", "system"), part("project", "project")),
        tools=(READ,),
        profile=ModelProfile(name="m", context_window=200_000, max_output_tokens=256),
    )
    items, surface = given.items, given.surface
    made = prepare(given).budget

    assert [part.form.facts.json_bytes for part in surface.system] == [33, 34]
    assert len(surface.tools[0].encoded) + 2 == 76
    assert made.estimate == RegionTokens(system_context=17, conversation=8, tool_surface=19)
    assert (made.estimate.total, made.reserved_output_tokens) == (44, 256)
    assert (given.items, given.surface) == (items, surface)


def test_B8_without_tools_the_tool_surface_is_nothing() -> None:
    assert array_bytes([]) == 0
    assert array_bytes([74]) == 76
    assert array_bytes([1, 1, 1]) == len(b"[1,1,1]")
    assert estimate_regions([], [], []) == NOTHING


def test_B8_tools_are_measured_as_one_array() -> None:
    tools = surface_of(tools=(READ, READ.__class__(name="a", description="", parameters={}))).tools
    together = len(b",".join(tool.encoded for tool in tools)) + 2

    assert estimate_regions([], [], tools).tool_surface == -(-together // 4)


@requirement("OW-7.1-artifacts-never-count", "OW-11-budget-of-the-prepared-request")
def test_B9_artifacts_stay_in_the_request_and_out_of_the_budget() -> None:
    artifact = Artifact(kind="file_change", payload={"afterContent": "x" * 100_000})
    edited = result("c1", "Edited src/lib.rs:3 (+1 -1)", name="edit", artifacts=(artifact,))
    plain = result("c1", "Edited src/lib.rs:3 (+1 -1)", name="edit")
    calling = assistant(call("c1", "edit"))
    with_artifact = prepare(prepare_input(calling, tool(edited)))
    without = prepare(prepare_input(calling, tool(plain)))

    assert with_artifact.budget == without.budget
    assert b"x" * 100_000 in b"".join(with_artifact.request_fragments())


def test_B11_messages_are_summed_before_they_are_rounded() -> None:
    assert estimate_regions([], [user("h"), user("h")], []).conversation == 14


@requirement("OW-7.1-conversation-as-stored")
def test_B12_a_conversation_by_itself_is_measured_as_it_is_stored() -> None:
    artifact = Artifact(kind="file_change", payload="x" * 1_000)
    history = stored(
        assistant(call("c1"), call("c2")),
        tool(result("c1", "x" * 100_000, artifacts=(artifact,))),
        user("stop"),
        tool(result("ghost", "y" * 40_000)),
    )
    json_bytes = sum(item.facts.json_bytes for item in history)
    given = prepare_input(*history, boundary=PruneBoundary(through_sequence=4))

    assert estimate_regions([], history, []).conversation == -(-json_bytes // 4) > 35_000
    assert prepare(given).budget.estimate.conversation < 3_000


def test_the_tokenizer_counts_are_summed_by_region() -> None:
    surface = surface_of((part("a", "12"), part("b", "345")), (READ,))
    conversation = [user("1"), assistant("22", call("c", "333", input="{}"))]

    assert tokenizer_regions(surface.system, conversation, surface.tools) == RegionTokens(
        system_context=5, conversation=8, tool_surface=74
    )
    assert tokenizer_regions([], [], []) == NOTHING


@pytest.mark.parametrize(
    ("used", "state"),
    [
        (0, "ok"),
        (74_990, "ok"),
        # The share that is shown decides, and it is rounded to two decimals.
        (74_999, "warning"),
        (89_990, "warning"),
        (89_999, "danger"),
        (94_999, "danger"),
        (95_000, "over"),
        (200_000, "over"),
    ],
)
def test_the_state_changes_exactly_at_three_quarters_nine_tenths_and_the_line(
    used: int, state: BudgetState
) -> None:
    assert budget(used, limits(100_000, line=95_000)).state == state


def test_the_line_comes_before_the_shares() -> None:
    under = limits(100_000, line=50_000, reserve=10_000)

    assert budget(39_999, under).state == "ok"
    assert budget(40_000, under).state == "over"


def test_without_a_line_no_size_is_over_it() -> None:
    made = budget(1_000, limits(100, line=None))

    assert (made.state, made.remaining_tokens) == ("danger", None)


@requirement("CX-10-unknown-window-is-no-number")
def test_an_unknown_window_has_numbers_for_nothing_but_the_input() -> None:
    under = reserve_limits(unknown_profile("m"), 85, 0)
    estimate = RegionTokens(system_context=1, conversation=2, tool_surface=3)

    made = make_budget(estimate, NOTHING, "length/1", under, decide_by_line(6, under), None)

    assert made == Budget(
        estimate=estimate,
        tokenizer=NOTHING,
        tokenizer_basis="length/1",
        reserved_output_tokens=0,
        used_percent_raw=None,
        remaining_tokens=None,
        state="unknown",
        fits=None,
        suggested_max_output_tokens=None,
    )
    assert budget(1, under).used_percent is None


def test_an_unknown_window_keeps_its_reserve() -> None:
    profile = ModelProfile(name="m", context_window=None, max_output_tokens=500)
    made = budget(1, reserve_limits(profile, 85, 500), 500)

    assert (made.reserved_output_tokens, made.suggested_max_output_tokens) == (500, None)


@pytest.mark.parametrize(
    ("used", "raw", "clamped"),
    [
        (0, 0.0, 0.0),
        (1, 0.03, 0.03),
        (1_000, 33.33, 33.33),
        (2_000, 66.67, 66.67),
        (3_000, 100.0, 100.0),
        (5_190, 173.0, 100.0),
    ],
)
def test_the_used_share_has_two_decimals_and_is_clamped_beside_its_raw_value(
    used: int, raw: float, clamped: float
) -> None:
    made = budget(used, limits(3_000, line=3_000))

    assert (made.used_percent_raw, made.used_percent) == (raw, clamped)


@pytest.mark.parametrize(
    ("used", "remaining"), [(0, 40_000), (39_999, 1), (40_000, 0), (90_000, 0)]
)
def test_what_remains_is_counted_down_to_the_line_and_not_below_zero(
    used: int, remaining: int
) -> None:
    under = limits(100_000, line=50_000, reserve=10_000)

    assert budget(used, under).remaining_tokens == remaining


@pytest.mark.parametrize(("used", "fits"), [(90_000, True), (90_001, False)])
def test_a_request_fits_where_input_and_reserve_do(used: int, fits: bool) -> None:
    assert budget(used, limits(100_000, line=100_000, reserve=10_000)).fits is fits


@pytest.mark.parametrize(
    ("used", "max_output", "suggested"),
    [
        (0, 64_000, 64_000),
        (136_000, 64_000, 64_000),
        (136_001, 64_000, 63_999),
        (178_959, 64_000, 21_041),
        (200_000, 64_000, 0),
        (250_000, 64_000, 0),
        (0, None, None),
    ],
)
def test_a_smaller_output_is_suggested_where_the_window_leaves_less(
    used: int, max_output: int | None, suggested: int | None
) -> None:
    under = limits(200_000, line=200_000, reserve=max_output or 0)

    assert budget(used, under, max_output).suggested_max_output_tokens == suggested


@requirement("OW-7.1-measures-what-is-sent", "OW-7.1-never-changes-the-request")
def test_a_shortened_result_is_measured_as_it_is_sent() -> None:
    whole = tool(result("c1", "x" * 100_000), sequence=2)
    given = prepare_input(assistant(call("c1"), sequence=1), whole, policy=OPENWORK)
    prepared = prepare(given)
    sent = sum(item.facts.json_bytes for item in prepared.conversation)

    assert whole.source == Real(id="m2", sequence=2)
    assert prepared.budget.estimate.conversation == -(-sent // 4) < 8_100
    assert given.items[1] == whole


@pytest.mark.parametrize(
    ("input_tokens", "raw", "shown", "state"),
    [
        pytest.param(50_000, 25.0, 25.0, "ok", id="B098 50k of 200k"),
        pytest.param(692_000, 346.0, 100.0, "over", id="B098 346 percent"),
        pytest.param(350_000, 175.0, 100.0, "over", id="B098 50k + 150k + 150k of 200k"),
    ],
)
def test_a_share_is_clamped_and_the_raw_one_and_the_state_are_told(
    input_tokens: int, raw: float, shown: float, state: BudgetState
) -> None:
    made = budget(input_tokens, limits(200_000, line=170_000))

    assert (made.used_percent_raw, made.used_percent, made.state) == (raw, shown, state)
    assert (made.remaining_tokens, made.fits) == (
        max(0, 170_000 - input_tokens),
        input_tokens <= 200_000,
    )


def test_B095_eighty_tool_schemas_and_the_prompt_count_in_every_number() -> None:
    tools = [replace(READ, name=f"tool_{number}") for number in range(80)]
    given = prepare_input(*stored(user("hi"), assistant("hello")), tools=tools)
    whole, bare = prepare(given), prepare(prepare_input(*stored(user("hi")), parts=()))

    for regions in (whole.budget.estimate, whole.budget.tokenizer, whole.size.regions):
        assert regions.tool_surface > 80 * 15
        assert regions.system_context > 0
        assert regions.total > 10 * bare.size.tokens


def test_B089_the_counter_that_triggers_is_the_counter_that_cuts() -> None:
    """Each message's own number adds up to the region's, whatever the script."""
    items = stored(*(user("日本語の文章" * number) for number in range(1, 40)))
    call = prepare(prepare_input(*items, tools=[READ]))
    kept = takewhile(
        lambda total: total <= 100, accumulate(item.facts.tokenizer_tokens for item in items)
    )

    assert call.budget.tokenizer.conversation == sum(
        item.facts.tokenizer_tokens for item in call.conversation
    )
    assert max(kept) == 90
    assert estimate_regions([], items[:5], []).total == 102
