"""OpenWork's invariants (section 10) and acceptance items with their named gaps (section 11)."""

from tests.requirements.rule import Requirement, rules

_FORMATS = "arrives with the provider formats"
_NO_DRAFTS = "not in the contract: a message is appended whole, there are no drafts"

_INVARIANTS = (
    *rules(
        "openwork",
        "§10 Invariants",
        (
            "OW-10-system-context-outside-the-conversation",
            "A system prompt is one part, `core/agent-system`, and is never written to the"
            " conversation.",
        ),
        (
            "OW-10-no-system-message-in-conversation",
            "The conversation holds no system message.",
        ),
        (
            "OW-10-system-before-conversation",
            "The system context stands before the conversation.",
        ),
        (
            "OW-10-one-source-of-tools",
            "Advertised definitions and the resolution of a name come from one tool surface.",
        ),
        (
            "OW-10-estimate-only-measures",
            "The budget estimate measures the request and never changes it.",
        ),
        (
            "OW-10-generated-user-messages-are-marked",
            "A message of role user that no user wrote has a kind other than `normal` or a"
            " synthetic source.",
        ),
        (
            "OW-10-same-history-same-bytes",
            "The same history, sources and order give a request copy equal byte for byte.",
        ),
    ),
    *rules(
        "openwork",
        "§10 Invariants",
        (
            "OW-10-encoders-load-no-context",
            "Encoding a request for a provider loads no source of context.",
        ),
        deferred=_FORMATS,
    ),
    *rules(
        "openwork",
        "§10 Invariants",
        (
            "OW-10-compaction-replaces-the-conversation-only",
            "A compaction replaces the conversation alone; its summary is made without world-state"
            " messages and copies neither the system context nor the tools.",
        ),
    ),
)

_SYSTEM_CONTEXT = rules(
    "openwork",
    "§11 Acceptance: system context",
    (
        "OW-11-system-only-the-agent-prompt",
        "The system context is the agent's prompt alone; AGENTS.md appears as a world-state message"
        " of the conversation.",
    ),
    (
        "OW-11-instructions-loaded-or-absent",
        "A root AGENTS.md is loaded; where it is missing or blank the section is absent and no"
        " empty message is sent.",
    ),
    (
        "OW-11-gap-blank-instructions-through-a-turn",
        "A whole turn with an AGENTS.md of white space alone sends no instructions message.",
    ),
    (
        "OW-11-instructions-refused",
        "An AGENTS.md that is a symbolic link or over 64 KiB is refused, before any request and"
        " with nothing stored.",
    ),
    (
        "OW-11-duplicate-key-fails",
        "The same system key twice fails, and fails the same way every time.",
    ),
)

_CONVERSATION = (
    *rules(
        "openwork",
        "§11 Acceptance: conversation",
        (
            "OW-11-whole-conversation-before-compaction",
            "Before a compaction the request carries the whole committed conversation, over HTTP"
            " and on both databases.",
        ),
        (
            "OW-11-no-system-message",
            "A conversation with a system message is refused.",
        ),
        (
            "OW-11-gap-loading-a-system-message",
            "Chat state refuses a system message where stored items are loaded.",
        ),
        (
            "OW-11-messages-reach-the-next-call",
            "An assistant message and its tool results, several ones in the order of the calls, are"
            " in the next request.",
        ),
        (
            "OW-11-skill-snapshot-before-the-user-message",
            "A selected skill enters as a snapshot with name, path and body before the user"
            " message.",
        ),
        (
            "OW-11-gap-skill-edited-after-acceptance",
            "A change of the skill's file after its snapshot was appended does not rewrite the"
            " message.",
        ),
        (
            "OW-11-engine-knows-no-skills",
            "The engine assembles contextual text as it stands and reads no skill.",
        ),
        (
            "OW-11-chat-state-takes-messages-alone",
            "Chat state takes no model, system prompt or tool definition.",
        ),
    ),
    *rules(
        "openwork",
        "§11 Acceptance: conversation",
        (
            "OW-11-summary-then-later-messages",
            "After a compaction the conversation is the summary's projection and what was appended"
            " later.",
        ),
    ),
    *rules(
        "openwork",
        "§11 Acceptance: conversation",
        (
            "OW-11-no-draft",
            "The conversation view holds no draft.",
        ),
        deferred=_NO_DRAFTS,
    ),
)

_TOOL_SURFACE = rules(
    "openwork",
    "§11 Acceptance: tool surface",
    (
        "OW-11-definitions-and-resolution-agree",
        "What is advertised and what resolves are the same set.",
    ),
    (
        "OW-11-unadvertised-cannot-be-called",
        "A tool that is not advertised does not resolve.",
    ),
    (
        "OW-11-tool-order-is-fixed",
        "Unchanged input gives the tools in the same order.",
    ),
    (
        "OW-11-gap-two-equal-surfaces",
        "Two tool surfaces built from the same input are equal byte for byte.",
    ),
)

_ASSEMBLY = rules(
    "openwork",
    "§11 Acceptance: assembly",
    (
        "OW-11-regions-in-the-request",
        "The three regions enter the request at fixed places, system parts in the order given.",
    ),
    (
        "OW-11-system-message-fails-assembly",
        "A system message in the conversation fails the assembly.",
    ),
    (
        "OW-11-request-is-provider-neutral",
        "The request is provider-neutral: sampling parameters are unset unless the caller gave"
        " them.",
    ),
    (
        "OW-11-gap-neutral-request-has-fixed-fields",
        "The neutral request has its own fields and no other, whatever the model's name.",
    ),
    (
        "OW-11-budget-of-the-prepared-request",
        "The budget is of the request that was prepared, artifacts left out.",
    ),
    (
        "OW-11-gap-budget-equals-a-re-measurement",
        "The budget equals a new measurement of the returned request.",
    ),
    (
        "OW-11-preview-uses-the-same-projection",
        "The preview shows the projection that a real request has.",
    ),
    (
        "OW-11-gap-preview-equals-the-request",
        "Over HTTP the preview's conversation equals that of the request prepared next, byte for"
        " byte, world state aside.",
    ),
)

_ACROSS_COMPACTION = rules(
    "openwork",
    "§11 Acceptance: across a compaction",
    (
        "OW-11-sources-are-read-again",
        "After a compaction system context, tool surface and world state are built from their own"
        " sources again.",
    ),
    (
        "OW-11-prefix-survives-compaction",
        "Unchanged system and tool bytes are the same before and after a compaction.",
    ),
    (
        "OW-11-gap-prefix-bytes-across-compaction",
        "A test compares system and tool bytes across a compaction.",
    ),
    (
        "OW-11-contextual-messages-are-no-request",
        "Synthetic items and contextual messages are never taken for the last real user request,"
        " and a rewind injects nothing twice.",
    ),
    (
        "OW-11-gap-world-state-is-no-request",
        "A world-state message is never taken for the last real user request.",
    ),
    (
        "OW-11-gap-rewind-injects-once",
        "The conversation after a rewind is compared whole, not by its length.",
    ),
)

_WORLD_STATE = rules(
    "openwork",
    "§11 Acceptance: world state",
    (
        "OW-11-first-sample-sends-all",
        "The first sample sends every present section in the fixed order; without a change nothing"
        " follows.",
    ),
    (
        "OW-11-edit-inside-a-turn",
        "An AGENTS.md edited within a turn reaches the next model call with the replacement"
        " notice.",
    ),
    (
        "OW-11-lost-baseline-sends-with-notice",
        "Without a baseline a section that is still in the conversation is sent again with the"
        " replacement notice; imitated tags in user text do not count.",
    ),
    (
        "OW-11-gap-restart",
        "After a restart of the service on its database, the stored baseline holds: an unchanged"
        " workspace sends nothing.",
    ),
    (
        "OW-11-missing-result-is-stable",
        "A call without a result gets the fixed interrupted result in the request copy, stable byte"
        " for byte.",
    ),
)

OPENWORK_ACCEPTANCE: tuple[Requirement, ...] = (
    *_INVARIANTS,
    *_SYSTEM_CONTEXT,
    *_CONVERSATION,
    *_TOOL_SURFACE,
    *_ASSEMBLY,
    *_ACROSS_COMPACTION,
    *_WORLD_STATE,
)
