"""The rules of Awaken's context window."""

from tests.requirements.rule import Requirement, rules

AWAKEN: tuple[Requirement, ...] = (
    *rules(
        "awaken",
        "Two controls",
        (
            "AW-committed-messages-stay",
            "Preparing a call deletes and rewrites no committed message.",
        ),
    ),
    *rules(
        "awaken",
        "Two controls",
        (
            "AW-two-independent-controls",
            "Trimming of the request and compaction are independent of each other.",
        ),
    ),
    *rules(
        "awaken",
        "Static structure",
        (
            "AW-state-is-request-only",
            "What a compaction adds lives in the request's state; there is no second store of"
            " summaries.",
        ),
    ),
    *rules(
        "awaken",
        "Trimming",
        (
            "AW-trim-keeps-all-by-default",
            "Without a setting every message is kept.",
        ),
        (
            "AW-trim-keep-last",
            "`keep_last: n` keeps the system prefix and the last n messages that are not system"
            " messages.",
        ),
        (
            "AW-trim-keep-none",
            "`keep_last: 0` keeps the system prefix alone.",
        ),
    ),
    *rules(
        "awaken",
        "Compaction settings",
        (
            "AW-compact-by-tokens",
            "With `max_tokens` the trigger is estimate ≥ max_tokens × trigger_ratio.",
        ),
        (
            "AW-compact-by-count",
            "Without `max_tokens` the trigger is more messages than `threshold`.",
        ),
        (
            "AW-compact-keep-last",
            "The last `keep_last` messages stay as they are.",
        ),
        (
            "AW-compact-settings-refused",
            "Refused: an empty `agent_id`, `threshold` 0, `max_tokens` 0, `trigger_ratio` outside"
            " (0, 1], `prefetch_ratio` outside (0, 1).",
        ),
        (
            "AW-compact-defaults",
            "Defaults: threshold 40, keep_last 8, no max_tokens, trigger_ratio 0.8, prefetch_ratio"
            " 0.75.",
        ),
    ),
    *rules(
        "awaken",
        "Compaction settings",
        (
            "AW-compact-prefetch",
            "`prefetch_ratio` starts a summary in the background before the trigger; the call does"
            " not wait for it.",
        ),
        (
            "AW-compact-without-a-prefetched-summary",
            "At the trigger without a ready summary, the same compactor run with the same identity"
            " is resolved.",
        ),
        (
            "AW-compact-agent-and-instructions",
            "`agent_id` chooses the compactor, `instructions` is the prompt of each task,"
            " `agent_instructions` replaces the compactor's system instructions.",
        ),
    ),
    *rules(
        "awaken",
        "Dynamic behaviour",
        (
            "AW-dynamic-view-after-a-fold",
            "After a fold the request is summary, bridge and recent tail; the committed history is"
            " unchanged.",
        ),
        (
            "AW-dynamic-once-per-run",
            "A run evaluates the trigger at most once and records it also where nothing was"
            " folded.",
        ),
        (
            "AW-dynamic-artifact-must-fit",
            "A ready summary is used only where the prefix it covers fits the fold.",
        ),
        (
            "AW-dynamic-resume-replays",
            "Later steps and a resumed run use the recorded summary again.",
        ),
    ),
    *rules(
        "awaken",
        "Continuation of a cut-off answer",
        (
            "AW-continuation-is-apart",
            "An answer that stopped at its output limit after some text continues in the same step;"
            " this is no compaction.",
        ),
        (
            "AW-continuation-budget",
            "A step continues at most `max_continuation_retries` times, 2 by default.",
        ),
    ),
    *rules(
        "awaken",
        "Verification",
        (
            "AW-verify-edge-of-the-ratio",
            "Just below the ratio nothing is folded; exactly at it, it is.",
        ),
        (
            "AW-verify-summary-in-the-request",
            "After a fold the request holds `Summary of earlier conversation: ` with the summary,"
            " and the recent tail.",
        ),
    ),
    *rules(
        "awaken",
        "Verification",
        (
            "AW-verify-thread-unchanged",
            "After a fold the committed thread still holds its original messages.",
        ),
        (
            "AW-verify-restart-reuses",
            "A run that restarts or resumes reuses its recorded summary and computes none.",
        ),
    ),
)
