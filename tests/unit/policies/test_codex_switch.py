import pytest

from app.core.limits import LimitScope
from app.core.model_profile import ModelProfile
from app.policies.codex_switch import SwitchReason, switch
from app.policies.codex_window import ModelWindow, WindowOverrides, resolve_window
from tests.requirements import requirement


def model(
    name: str,
    window: int | None,
    *,
    limit: int | None = None,
    comp_hash: str | None = None,
    override: int | None = None,
) -> ModelWindow:
    profile = ModelProfile(
        name=name, context_window=window, auto_compact_token_limit=limit, comp_hash=comp_hash
    )
    return resolve_window(profile, WindowOverrides(context_window=override))


BIG, SMALL = model("big", 272_000), model("small", 128_000)

IN_TOTAL = [
    pytest.param(115_199, BIG, SMALL, None, id="below the new line"),
    pytest.param(115_200, BIG, SMALL, None, id="V085"),
    pytest.param(115_201, BIG, SMALL, "model_downshift", id="V086"),
    pytest.param(121_599, BIG, SMALL, "model_downshift", id="one below the new hard limit"),
    pytest.param(121_600, BIG, SMALL, "model_downshift", id="V088"),
    pytest.param(100_000, SMALL, BIG, None, id="V089"),
    pytest.param(10**9, SMALL, BIG, None, id="a larger window is no downshift"),
    pytest.param(10**9, BIG, model("other", 272_000), None, id="equal windows"),
    pytest.param(10**9, BIG, model("big", 128_000), None, id="the same model"),
    pytest.param(
        50_000, model("big", 272_000, limit=50_000), model("small", 128_000, limit=50_000), None,
        id="on an explicit line",
    ),
    pytest.param(
        50_001, model("big", 272_000, limit=50_000), model("small", 128_000, limit=50_000),
        "model_downshift", id="V100",
    ),
]  # fmt: skip
IN_BODY = [
    pytest.param(115_201, None, id="the line is not looked at"),
    pytest.param(121_599, None, id="V091"),
    pytest.param(121_600, "model_downshift", id="V092"),
]
HASHES = [
    pytest.param(
        10, model("big", 272_000, comp_hash="a"), model("small", 272_000, comp_hash="b"),
        "comp_hash_changed", id="another hash",
    ),
    pytest.param(
        10, model("big", 272_000, comp_hash="a"), model("small", 272_000, comp_hash="a"), None,
        id="V094",
    ),
    pytest.param(
        10, model("big", 272_000), model("small", 272_000, comp_hash="b"), None, id="V095"
    ),
    pytest.param(
        10, model("big", 272_000, comp_hash="a"), model("small", 272_000), None,
        id="the new model has none",
    ),
    pytest.param(
        10, model("small", 128_000, comp_hash="a"), model("big", 272_000, comp_hash="b"),
        "comp_hash_changed", id="V097",
    ),
    pytest.param(
        121_600, model("big", 272_000, comp_hash="a"), model("small", 128_000, comp_hash="b"),
        "comp_hash_changed", id="it comes before a downshift",
    ),
    pytest.param(
        0, model("m", None, comp_hash="a"), model("m", None, comp_hash="b"),
        "comp_hash_changed", id="whatever the windows and the name",
    ),
    pytest.param(
        0, model("m", None, comp_hash="a"), model("m", None, comp_hash="A"),
        "comp_hash_changed", id="it is compared as it stands",
    ),
]  # fmt: skip
UNKNOWN = [
    pytest.param(BIG, model("small", None), id="V098"),
    pytest.param(model("big", None), SMALL, id="the old window is unknown"),
    pytest.param(None, SMALL, id="there was no model before"),
    pytest.param(BIG, model("small", None, limit=50_000), id="a new line without a window"),
]


@requirement("CX-9-downshift", "CX-9-downshift-total", "CX-11-switch-need-not-compact")
@pytest.mark.parametrize(("active", "previous", "new", "reason"), IN_TOTAL)
def test_a_smaller_model_is_reached_above_its_line(
    active: int, previous: ModelWindow, new: ModelWindow, reason: SwitchReason | None
) -> None:
    assert switch(active, previous, new, "total") == reason


@requirement("CX-9-downshift-body")
@pytest.mark.parametrize(("active", "reason"), IN_BODY)
def test_in_body_scope_only_the_new_hard_limit_counts(
    active: int, reason: SwitchReason | None
) -> None:
    assert switch(active, BIG, SMALL, "body_after_prefix") == reason


@requirement("CX-9-comp-hash-changed", "CX-2-comp-hash-is-opaque")
@pytest.mark.parametrize("scope", ["total", "body_after_prefix"])
@pytest.mark.parametrize(("active", "previous", "new", "reason"), HASHES)
def test_two_known_and_different_hashes_compact_whatever_the_use(
    active: int,
    previous: ModelWindow,
    new: ModelWindow,
    reason: SwitchReason | None,
    scope: LimitScope,
) -> None:
    assert switch(active, previous, new, scope) == reason


@requirement("CX-9-unknown-window-skips")
@pytest.mark.parametrize(("previous", "new"), UNKNOWN)
def test_without_two_windows_there_is_no_downshift(
    previous: ModelWindow | None, new: ModelWindow
) -> None:
    assert switch(240_000, previous, new, "total") is None


def test_an_override_of_both_windows_leaves_no_downshift() -> None:
    previous = model("big", 272_000, override=100_000)
    new = model("small", 128_000, override=100_000)

    assert switch(10**9, previous, new, "total") is None
