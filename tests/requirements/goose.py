"""The rules of goose's context engineering.

Where goose's code differs from its document, the behaviour is the code's.
"""

from tests.requirements.rule import Requirement, rules

_PRESET = "arrives with the goose preset"

GOOSE: tuple[Requirement, ...] = (
    *rules(
        "goose",
        "§7.1 What the context is",
        (
            "GO-7.1-every-part-counts",
            "System parts, instructions, tools and messages together are the context, and the"
            " budget counts all of them.",
        ),
    ),
    *rules(
        "goose",
        "§7.1 What the context is",
        (
            "GO-7.1-agent-visible-decides",
            "Only messages that are visible to the agent reach the model.",
        ),
        (
            "GO-7.1-user-visible-is-for-people",
            "`user_visible` changes what people see and never what the model sees.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Decision",
        (
            "GO-7.2-estimate-without-usage",
            "Without reported usage the token counter estimates the agent-visible messages.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Decision",
        (
            "GO-7.2-usage-before-estimate",
            "The total of the latest reported call decides, 0 included; the sum over all calls"
            " never does.",
        ),
        (
            "GO-7.2-threshold-default",
            "The threshold is 0.8 of the model's context limit.",
        ),
        (
            "GO-7.2-threshold-override",
            "A given threshold replaces the default; at or below 0 and at or above 1 it switches"
            " automatic compaction off.",
        ),
        (
            "GO-7.2-strictly-greater",
            "A compaction is due when tokens / limit > threshold; equality is not enough.",
        ),
        (
            "GO-7.2-provider-owns-its-context",
            "A provider that manages its own context is never compacted from here.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Input of the summary",
        (
            "GO-7.2-removal-ladder",
            "The summary input is tried with 0, 10, 20, 50 and 100 % of the tool responses removed,"
            " at least one for every level above 0.",
        ),
        (
            "GO-7.2-removed-from-the-middle",
            "Tool responses are removed from the middle outwards.",
        ),
        (
            "GO-7.2-what-the-prompt-asks-for",
            "The prompt asks for user intent, technical concepts, files, errors and fixes, current"
            " work and next step.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Structured recovery",
        (
            "GO-7.2-lenient-summary",
            "Numbers, objects and strings in the summary's lists are all turned into text.",
        ),
        (
            "GO-7.2-raw-summary",
            "A summary without usable JSON is kept as its raw text.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Visibility",
        (
            "GO-7.2-old-messages-hidden-from-the-agent",
            "After a compaction the old messages stay visible to the user and are hidden from the"
            " agent.",
        ),
        (
            "GO-7.2-summary-for-the-agent-only",
            "Summary and continuation are visible to the agent alone.",
        ),
        (
            "GO-7.2-last-text-request-kept",
            "A compaction that nobody asked for keeps the last text-only user message.",
        ),
        (
            "GO-7.2-continuation-by-case",
            "The continuation text differs for a conversation, a tool loop and a manual"
            " compaction.",
        ),
    ),
    *rules(
        "goose",
        "§7.2 Writing back",
        (
            "GO-7.2-usage-after-compaction",
            "The session's usage becomes the retained tokens, and the summary's cost is added to"
            " the total.",
        ),
        (
            "GO-7.2-notice-then-replacement",
            "A notice goes out before the history is replaced.",
        ),
        (
            "GO-7.2-history-replaced-event",
            "The replacement is announced as an event, so a host need not guess.",
        ),
    ),
    *rules(
        "goose",
        "§7.3 Tool pairs",
        (
            "GO-7.3-pairs-of-this-turn-protected",
            "The tool pairs of the current reply are counted and never summarised with the older"
            " ones.",
        ),
        (
            "GO-7.3-pair-hidden-summary-shown",
            "The original pair is hidden from the agent and its summary is visible to the agent"
            " alone.",
        ),
        (
            "GO-7.3-user-keeps-the-output",
            "The user still sees the whole tool output.",
        ),
    ),
    *rules(
        "goose",
        "§7.3 Tool pairs",
        (
            "GO-7.3-not-where-the-provider-owns",
            "No pair is summarised where the provider manages its own context.",
        ),
    ),
    *rules(
        "goose",
        "§7.4 Reasons",
        (
            "GO-7.4-summary-holds-decision-state",
            "The summary has files, errors and fixes, pending tasks, current work and next step.",
        ),
        (
            "GO-7.4-compaction-is-billed",
            "The usage of the summary call is recorded.",
        ),
    ),
)
