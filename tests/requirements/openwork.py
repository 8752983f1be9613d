"""The rules of OpenWork's context window, sections 1, 2 and 4 to 9.

Where OpenWork's code differs from its document, the behaviour is the code's.
"""

from tests.requirements.rule import Requirement, rules

_NO_DRAFTS = "not in the contract: a message is appended whole, there are no drafts"

OPENWORK: tuple[Requirement, ...] = (
    *rules(
        "openwork",
        "§1 What a request is made of",
        (
            "OW-1-three-regions",
            "A request is made of three regions (system context, conversation, tool surface) that"
            " are built apart and meet only in prepare.",
        ),
        (
            "OW-1-system-changes-with-agent-only",
            "The bytes of the system context and of the tool surface change only when the"
            " session's agent does.",
        ),
        (
            "OW-1-regions-never-change-their-source",
            "A region is a read-only result: preparing a call changes nothing that it was built"
            " from.",
        ),
        (
            "OW-1-workspace-context-is-conversation",
            "Project layout, AGENTS.md, skill catalogue and sandbox policy reach the model as"
            " world-state messages of the conversation, never as system parts.",
        ),
    ),
    *rules(
        "openwork",
        "§2 System context",
        (
            "OW-2-one-part",
            "A system prompt becomes exactly one part, `core/agent-system`: the prompt followed"
            " by the rules of the advertised tools.",
        ),
        (
            "OW-2-rule-only-where-advertised",
            "A tool's rule stands in the system part only in sessions that advertise the tool.",
        ),
        (
            "OW-2-same-bytes-in-every-call",
            "Every model call of a session with an unchanged agent carries the same system bytes.",
        ),
        (
            "OW-2-reads-no-conversation",
            "The system context depends on the agent and the session alone: it is the same"
            " whatever the conversation holds.",
        ),
        (
            "OW-2-parts-are-checked",
            "Assembly refuses a blank key, a repeated key, a part without blocks, and a part of"
            " 10 000 tokens or more.",
        ),
    ),
    *rules(
        "openwork",
        "§2 System context",
        (
            "OW-2-manual-compaction-uses-the-bare-prompt",
            "The summary request of a manual compaction carries the agent's prompt without the"
            " tools' rules.",
        ),
    ),
    *rules(
        "openwork",
        "§4.1 Chat state",
        (
            "OW-4.1-append-is-the-only-writer",
            "Only an append changes the conversation; sequences are per session, start at 1 and"
            " have no gap.",
        ),
        (
            "OW-4.1-real-items",
            "A stored message is a real item with an id and a sequence; an item that is not stored"
            " yet has neither.",
        ),
        (
            "OW-4.1-four-kinds",
            "The kinds are `normal` (the default), `skill_instruction`, `agent_message` and"
            " `world_state`.",
        ),
        (
            "OW-4.1-contextual-kinds-are-user-role",
            "Every kind but `normal` is of role user.",
        ),
        (
            "OW-4.1-user-request-by-kind",
            "A user request is a message of role user and kind `normal`; the role alone never"
            " decides.",
        ),
        (
            "OW-4.1-no-system-message",
            "A system message is refused, on append and where a conversation is loaded.",
        ),
        (
            "OW-4.1-result-needs-an-open-call",
            "A tool result must answer a call that has no final result yet.",
        ),
        (
            "OW-4.1-open-call-id-is-unique",
            "A tool-call id may not be declared again while it is unresolved; once answered it"
            " may.",
        ),
        (
            "OW-4.1-view-is-read-for-every-call",
            "Every model call reads the items and the watermark anew.",
        ),
        (
            "OW-4.1-takes-messages-alone",
            "Chat state knows no model, system prompt, tool definition or context source.",
        ),
        (
            "OW-4.1-whole-conversation",
            "Without a compaction the conversation is every committed message of the session.",
        ),
    ),
    *rules(
        "openwork",
        "§4.1 Chat state",
        (
            "OW-4.1-view-without-draft",
            "A draft of an assistant message is never part of the conversation view.",
        ),
        deferred=_NO_DRAFTS,
    ),
    *rules(
        "openwork",
        "§4.1 Chat state",
        (
            "OW-4.1-synthetic-items",
            "The items that a compaction makes have a synthetic source with one of three reasons:"
            " last user request replayed, compaction summary, system reminder.",
        ),
        (
            "OW-4.1-compacted-conversation",
            "After a compaction the conversation is the last real user request, the summary, the"
            " reminder and the messages after the boundary.",
        ),
    ),
    *rules(
        "openwork",
        "§4.2 Request copy",
        (
            "OW-4.2-stored-messages-untouched",
            "Preparing changes neither the stored messages nor anything else that is stored about"
            " the conversation.",
        ),
        (
            "OW-4.2-prune-project-normalize",
            "The copy is pruned, then projected, then normalized, in this order.",
        ),
        (
            "OW-4.2-prune-head-and-tail",
            "A tool result at or below the watermark with more than 8 192 characters keeps its"
            " first 4 096 and last 1 024 characters around a marker.",
        ),
        (
            "OW-4.2-project-over-8000-tokens",
            "A tool result of more than 8 000 tokens (raw visible bytes / 4, rounded up) loses its"
            " data blocks and, if its text is still too long, its middle.",
        ),
        (
            "OW-4.2-project-75-25",
            "A projected text keeps 75 % of the room beside the marker for its head and 25 % for"
            " its tail, on character boundaries.",
        ),
        (
            "OW-4.2-results-follow-their-calls",
            "Results stand directly behind the assistant message that made the calls, one message"
            " each, in the order of the calls.",
        ),
        (
            "OW-4.2-stray-results-removed",
            "Misplaced, repeated and unknown results are left out of the copy and reported.",
        ),
        (
            "OW-4.2-missing-result-synthesised",
            "A finished call without a result gets one of state `interrupted` with the text `Tool"
            " result unavailable: the previous turn ended before a durable result was recorded.`",
        ),
        (
            "OW-4.2-synthesised-bytes-are-stable",
            "The same history gives the same synthesised bytes every time.",
        ),
        (
            "OW-4.2-data-in-user-request-refused",
            "Where the model takes no data blocks, one in a user request fails the request.",
        ),
        (
            "OW-4.2-data-elsewhere-removed",
            "Where the model takes no data blocks, those in skill texts, agent messages and tool"
            " results are removed.",
        ),
    ),
    *rules(
        "openwork",
        "§4.2 Request copy",
        (
            "OW-4.2-watermark-moves",
            "When the line is reached the watermark moves to the latest assistant message that is"
            " stored, if that makes a result prunable.",
        ),
    ),
    *rules(
        "openwork",
        "§5 Tool surface",
        (
            "OW-5-advertised-is-resolvable",
            "Every advertised name resolves to the definition that was advertised.",
        ),
        (
            "OW-5-unadvertised-is-not-found",
            "A name that is not advertised answers `tool_not_found`.",
        ),
        (
            "OW-5-root-only-tools",
            "Root-only tools are advertised in a session without a parent; in a session with one"
            " they are neither advertised nor resolvable.",
        ),
        (
            "OW-5-collision-refused",
            "A control tool that shares its name with another tool is refused with"
            " `tool_name_collision`, and no session is made.",
        ),
        (
            "OW-5-sandbox-parameters",
            "Where the sandbox is unavailable the schemas lack their sandbox parameters; the"
            " session's mode changes nothing in them.",
        ),
        (
            "OW-5-built-once",
            "Every model call of a session carries the same tool bytes.",
        ),
    ),
    *rules(
        "openwork",
        "§5 Tool surface",
        (
            "OW-5-conversation-history-tool",
            "The exact messages behind a compaction can be read page by page by a tool of the"
            " default agent.",
        ),
    ),
    *rules(
        "openwork",
        "§6 Assembly",
        (
            "OW-6-order-of-checks",
            "Prepare makes the request copy, checks the system parts in order, checks that the"
            " conversation has no system message, measures, builds; the first refusal is the"
            " answer.",
        ),
        (
            "OW-6-request-shape",
            "The request has one system message per part in the order given, then the"
            " conversation; tools stand in their own field.",
        ),
        (
            "OW-6-generation-defaults",
            "`max_output_tokens` is the model's; `temperature`, `top_p` and `thinking` are null.",
        ),
        (
            "OW-6-pure",
            "Prepare reads no file, calls no provider, and the same input gives the same bytes.",
        ),
        (
            "OW-6-provider-neutral",
            "The request is neutral: nothing in it belongs to one provider's protocol.",
        ),
        (
            "OW-6-prepared-call",
            "The answer holds the request, the budget, the projection summary and, for each"
            " conversation message, whether it is stored or synthetic.",
        ),
    ),
    *rules(
        "openwork",
        "§7.1 Estimate",
        (
            "OW-7.1-three-regions",
            "System context, conversation and tool surface are measured apart; the input estimate"
            " is their sum and the reserve is the model's `max_output_tokens`.",
        ),
        (
            "OW-7.1-bytes-over-four",
            "A region's tokens are its JSON bytes / 4, rounded up once for the region.",
        ),
        (
            "OW-7.1-artifacts-never-count",
            "The artifacts of a tool result do not count.",
        ),
        (
            "OW-7.1-measures-what-is-sent",
            "The estimate measures the request copy that is submitted.",
        ),
        (
            "OW-7.1-never-changes-the-request",
            "Measuring truncates, refuses and reorders nothing.",
        ),
        (
            "OW-7.1-conversation-as-stored",
            "The estimate of a conversation by itself measures its items as they are: not pruned,"
            " not projected, not normalized, without artifacts.",
        ),
    ),
    *rules(
        "openwork",
        "§7.1 Estimate",
        (
            "OW-7.1-before-and-after",
            "A compaction compares the conversation before and after with the estimate of the"
            " conversation by itself.",
        ),
    ),
    *rules(
        "openwork",
        "§7.2 Limits of the model",
        (
            "OW-7.2-effective-input",
            "`effective_input_tokens` is window − max output − max reasoning (0 where absent).",
        ),
        (
            "OW-7.2-line-85-percent",
            "`auto_compact_token_limit` is 85 % of the effective input, rounded up.",
        ),
        (
            "OW-7.2-line-reached",
            "The line is reached when input + output reserve ≥ min(line, effective input);"
            " equality reaches it.",
        ),
        (
            "OW-7.2-example",
            "Window 200 000 and output 32 000 give effective input 168 000, line 142 800, reached"
            " from an input of 110 800 on.",
        ),
    ),
    *rules(
        "openwork",
        "§7.2 Limits of the model",
        (
            "OW-7.2-summary-output-limit",
            "A summary may have 16 384 output tokens.",
        ),
    ),
    *rules(
        "openwork",
        "§7.3 Limits of one item",
        (
            "OW-7.3-refused-not-cut",
            "An item that its author controls is refused whole when it reaches its limit, never"
            " cut.",
        ),
        (
            "OW-7.3-system-part-10000",
            "A system part of 10 000 tokens or more fails the assembly.",
        ),
        (
            "OW-7.3-skill-8000",
            "A skill text of 8 000 tokens or more is refused on append.",
        ),
        (
            "OW-7.3-agent-message-4000",
            "An agent message of 4 000 tokens or more is refused on append.",
        ),
        (
            "OW-7.3-tool-results-have-no-limit",
            "A tool result of any size is stored whole; only the projection shortens it.",
        ),
    ),
    *rules(
        "openwork",
        "§8 Preview",
        (
            "OW-8-preview-contents",
            "The preview shows the system parts, the conversation, the tool surface, the budget and"
            " the percentage of the compaction line.",
        ),
        (
            "OW-8-preview-same-engine",
            "The preview goes through prepare's own engine call; its conversation is the request"
            " after the system messages.",
        ),
        (
            "OW-8-preview-samples-nothing",
            "The preview reads stored messages and the current watermark; it samples no world"
            " state.",
        ),
        (
            "OW-8-preview-stores-nothing",
            "A preview stores nothing: the next prepare answers as if nobody had looked.",
        ),
    ),
    *rules(
        "openwork",
        "§9 Where each ability lives",
        (
            "OW-9-skill-in-three-places",
            "The skill catalogue is world state, a selected skill is a `skill_instruction` message,"
            " and neither adds a tool.",
        ),
        (
            "OW-9-plan-rule-and-calls",
            "The planning tool's rule is in the system part and its calls and results are ordinary"
            " messages.",
        ),
        (
            "OW-9-sub-agents",
            "Sub-agent rules are in the system part, answers are `agent_message` messages, control"
            " tools are on the tool surface.",
        ),
        (
            "OW-9-sandbox",
            "The sandbox policy is world state; sandbox parameters follow its availability.",
        ),
        (
            "OW-9-selected-skill-is-plain-text",
            "A selected skill is a stored user-role text before the user message; the engine treats"
            " it as any other text.",
        ),
    ),
    *rules(
        "openwork",
        "§9 Where each ability lives",
        (
            "OW-9-plan-in-the-reminder",
            "After a compaction the turn's plan is part of the runtime reminder.",
        ),
    ),
)
