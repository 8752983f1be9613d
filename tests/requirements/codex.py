"""The rules of Codex CLI's context window and model limits."""

from tests.requirements.rule import Requirement, rules

CODEX: tuple[Requirement, ...] = (
    *rules(
        "codex",
        "§1 Four layers",
        (
            "CX-1-four-numbers",
            "Declared window, resolved window, effective hard limit and compaction line are four"
            " numbers with four meanings.",
        ),
        (
            "CX-1-hard-limit-is-not-the-line",
            "The hard limit bounds a request; the line starts a compaction earlier. Neither stands"
            " in for the other.",
        ),
    ),
    *rules(
        "codex",
        "§2 Model metadata",
        (
            "CX-2-max-window-bounds-overrides",
            "`max_context_window` bounds a local override; it is not the window in use.",
        ),
        (
            "CX-2-line-derived-and-clamped",
            "Without an explicit line it is 90 % of the window; an explicit one is clamped to 90 %"
            " where the window is known.",
        ),
        (
            "CX-2-comp-hash-is-opaque",
            "`comp_hash` is an opaque id that is only compared for equality.",
        ),
        (
            "CX-2-percent-defaults-to-95",
            "An absent `effective_context_window_percent` is 95.",
        ),
    ),
    *rules(
        "codex",
        "§3 Overrides",
        (
            "CX-3-window-override-is-clamped",
            "An override of the window is cut to `max_context_window` and replaces the declared"
            " window in both directions.",
        ),
        (
            "CX-3-window-override-without-max",
            "Without a maximum the override is the window as it stands.",
        ),
        (
            "CX-3-line-override-replaces",
            "An override of the line replaces the declared line.",
        ),
        (
            "CX-3-tool-output-limit-is-apart",
            "A tool-output limit of n is 4n bytes in bytes mode and n tokens in tokens mode; it"
            " says nothing about the window.",
        ),
        (
            "CX-3-example",
            "Window 273 000, maximum 400 000, override 500 000: resolved 400 000, hard limit"
            " 380 000 at 95 %.",
        ),
    ),
    *rules(
        "codex",
        "§4 Resolution",
        (
            "CX-4-declared-window-first",
            "The resolved window is the declared one, even above the maximum, when nothing"
            " overrides it.",
        ),
        (
            "CX-4-max-window-as-fallback",
            "Where the declared window is absent the maximum is the resolved window.",
        ),
        (
            "CX-4-line-derived",
            "Window 100 000 without an explicit line: line 90 000.",
        ),
        (
            "CX-4-explicit-line-below",
            "Window 100 000 with an explicit line of 70 000: line 70 000.",
        ),
        (
            "CX-4-explicit-line-above",
            "Window 100 000 with an explicit line of 120 000: line 90 000.",
        ),
        (
            "CX-4-unknown-window-explicit-line",
            "Unknown window with an explicit line of 70 000: line 70 000.",
        ),
        (
            "CX-4-unknown-window-no-line",
            "Unknown window without an explicit line: no line.",
        ),
        (
            "CX-4-a-line-is-no-window",
            "An explicit line with an unknown window gives no hard limit and is not reported as a"
            " window.",
        ),
    ),
    *rules(
        "codex",
        "§5 Effective limit",
        (
            "CX-5-effective-percent",
            "The hard limit is resolved window × percent / 100, saturating and rounded down.",
        ),
        (
            "CX-5-overrides-apply-once",
            "Overrides are applied when the model is resolved and not again for the hard limit.",
        ),
        (
            "CX-5-each-layer-uses-the-last",
            "Each layer takes what the layer before it decided; the status does not read the"
            " configuration again.",
        ),
    ),
    *rules(
        "codex",
        "§6 Scope",
        (
            "CX-6-scope-body-after-prefix",
            "Scope `body_after_prefix` compares active context minus the window's prefill baseline"
            " with the line.",
        ),
        (
            "CX-6-body-line-is-not-clamped",
            "In body scope a configured line is used unclamped; without one the model's line"
            " holds.",
        ),
        (
            "CX-6-baseline-is-absolute",
            "The baseline is the window's absolute input tokens, not the growth; without one the"
            " growth is 0.",
        ),
        (
            "CX-6-observed-baseline-wins",
            "The first input tokens that the provider reports in a window replace an estimated"
            " baseline, and no estimate replaces them.",
        ),
        (
            "CX-6-scope-total",
            "Scope `total`, the default, compares the whole active context with the line.",
        ),
        (
            "CX-6-prefix-counted-once",
            "After a compaction the carried prefix is not counted again, while new output and later"
            " growth are.",
        ),
    ),
    *rules(
        "codex",
        "§6 Scope",
        (
            "CX-6-window-id",
            "The window's id is the session's id, a colon and the window number.",
        ),
        (
            "CX-6-window-chain",
            "A window carries its own id, the first and the previous one.",
        ),
        (
            "CX-6-window-advances-with-the-history",
            "The window number advances in the same step that replaces the history.",
        ),
    ),
    *rules(
        "codex",
        "§7 Hard limit and line",
        (
            "CX-7-remaining-is-the-smaller",
            "Remaining tokens are the smaller of what is left to the scope's line and to the hard"
            " limit; unknown ones are left out.",
        ),
        (
            "CX-7-hard-limit-reached",
            "The hard limit is reached when active tokens ≥ hard limit, in both scopes.",
        ),
        (
            "CX-7-token-limit-reached",
            "The token limit is reached when scope tokens ≥ buffered line or the hard limit is"
            " reached.",
        ),
    ),
    *rules(
        "codex",
        "§7 Hard limit and line",
        (
            "CX-7-fallback-buffer",
            "A fallback buffer raises the line only where a fallback prompt is configured, and"
            " never the hard limit.",
        ),
    ),
    *rules(
        "codex",
        "§8 After a sample",
        (
            "CX-8-roll-over-needs-a-follow-up",
            "A window rolls over only when the model or pending input needs a follow-up and the"
            " limit is reached or a new context was asked for.",
        ),
        (
            "CX-8-fallback-only-without-roll-over",
            "The fallback is allowed only where nothing rolls over and the limit is not reached.",
        ),
        (
            "CX-8-mid-turn-layout",
            "A compaction inside a turn puts the initial context before the last user message.",
        ),
    ),
    *rules(
        "codex",
        "§8 After a sample",
        (
            "CX-8-decided-after-the-sample",
            "The limits are computed anew after each sample and its pending input.",
        ),
        (
            "CX-8-ended-turn-waits",
            "A turn that ended over the limit compacts before the next turn's sample, not at once.",
        ),
        (
            "CX-8-reminder-gets-the-remaining",
            "The reminder is decided on the remaining tokens before a roll-over.",
        ),
    ),
    *rules(
        "codex",
        "§9 Change of model",
        (
            "CX-9-comp-hash-changed",
            "Two present and different `comp_hash` values compact whatever the use; one missing"
            " value does not.",
        ),
        (
            "CX-9-downshift",
            "A model with another name and a smaller effective window compacts first when the use"
            " passes its limits.",
        ),
        (
            "CX-9-downshift-total",
            "In total scope the limit is passed when active > new line or active ≥ new hard limit.",
        ),
        (
            "CX-9-downshift-body",
            "In body scope only active ≥ new hard limit counts.",
        ),
        (
            "CX-9-unknown-window-skips",
            "Where either window is unknown the downshift is not looked at.",
        ),
        (
            "CX-9-next-call-has-the-new-window",
            "After a session's model changed, the next prepared call reports the new model's"
            " window.",
        ),
    ),
    *rules(
        "codex",
        "§9 Change of model",
        (
            "CX-9-previous-model-compacts",
            "The previous model makes the compaction of a downshift or a changed `comp_hash`,"
            " before the turn's first sample.",
        ),
    ),
    *rules(
        "codex",
        "§10 Unknown window",
        (
            "CX-10-unknown-window-is-no-number",
            "An unknown window is reported as null and as unknown, never as a number and never as"
            " unlimited.",
        ),
        (
            "CX-10-unknown-window-never-hits-a-hard-limit",
            "Without a window the hard limit is null; without an explicit line nothing compacts.",
        ),
        (
            "CX-10-switch-reports-both",
            "Models of 272 000 and 128 000 at 95 % report 258 400 and then 121 600.",
        ),
    ),
    *rules(
        "codex",
        "§11 Tests",
        (
            "CX-11-percent-leaves-the-metadata",
            "100 at 50 % and 200 at 25 % both report 50, and the raw window stays as it was.",
        ),
        (
            "CX-11-prefix-alone-does-not-compact",
            "A prefix over the body's line does not compact by itself.",
        ),
        (
            "CX-11-growth-compacts-again",
            "Growth after a compaction that reaches the body's line compacts again.",
        ),
        (
            "CX-11-body-line-above-the-window",
            "A body line above the window leaves the hard limit in force.",
        ),
        (
            "CX-11-switch-need-not-compact",
            "A change to a smaller model compacts only if use, scope or `comp_hash` call for it.",
        ),
    ),
    *rules(
        "codex",
        "§12 Exercise",
        (
            "CX-12-the-chain-is-visible",
            "An answer shows every step of the chain: declared and overridden window, percent,"
            " line, scope, baseline, buffer, and which of them was reached.",
        ),
    ),
)
