"""Core values as the contract's JSON."""

from collections.abc import Sequence

from app.core.block_counts import BlockCount
from app.core.budget import Budget, RegionTokens
from app.core.call_size import item_tokens, system_tokens
from app.core.counting import tokens_of_bytes
from app.core.engine import PreparedCall
from app.core.item_limits import AGENT_MESSAGE_TOKENS, SKILL_TOKENS, SYSTEM_PART_TOKENS
from app.core.items import Item
from app.core.limits import Decision, LimitOrigin, Limits
from app.core.messages import Real
from app.core.model_profile import ModelProfile
from app.core.policy import Policy
from app.core.prefix import Prefix
from app.core.request_copy import ProjectionSummary, Repair
from app.core.shares import share
from app.core.stored import LearnedLimit
from app.services.warnings import learned_origin

Answer = dict[str, object]

NOTHING_REPORTED_BASIS = "no usage was reported"
"""Why there is no calibrated number."""


def budget_answer(budget: Budget) -> Answer:
    """The budget of a request."""
    return {
        "system_context_tokens": budget.estimate.system_context,
        "conversation_tokens": budget.estimate.conversation,
        "tool_surface_tokens": budget.estimate.tool_surface,
        "estimated_input_tokens": budget.estimate.total,
        "reserved_output_tokens": budget.reserved_output_tokens,
        "used_percent": budget.used_percent,
        "used_percent_raw": budget.used_percent_raw,
        "remaining_tokens": budget.remaining_tokens,
        "state": budget.state,
        "fits": budget.fits,
        "suggested_max_output_tokens": budget.suggested_max_output_tokens,
        "counts": _counts(budget),
    }


def limits_answer(
    limits: Limits, profile: ModelProfile, policy: Policy, learned: LearnedLimit | None = None
) -> Answer:
    """The limits in force, those of single items included, and what was learned beside them."""
    origins = dict(limits.provenance)
    if learned is not None:
        origins["learned_limit"] = learned_origin(learned)
    return {
        "context_window": limits.context_window,
        "effective_input_tokens": limits.effective_input_tokens,
        "hard_limit_tokens": limits.hard_limit_tokens,
        "auto_compact_token_limit": limits.auto_compact_token_limit,
        "compact_at_input_tokens": limits.compact_at_input_tokens,
        "scope": limits.scope,
        "accepts_data_blocks": profile.accepts_data_blocks,
        "max_context_item_tokens": SYSTEM_PART_TOKENS,
        "max_tool_result_tokens": policy.max_tool_result_tokens,
        "max_skill_instruction_tokens": SKILL_TOKENS,
        "max_agent_message_tokens": AGENT_MESSAGE_TOKENS,
        "provenance": {name: _origin(origin) for name, origin in origins.items()},
    }


def decision_answer(decision: Decision) -> Answer:
    """What to do with the request."""
    return {
        "action": decision.action,
        "reason": decision.reason,
        "phase": decision.phase,
        "measured_tokens": decision.measured_tokens,
        "line_tokens": decision.line_tokens,
        "compact_with_model": decision.compact_with_model,
        "detail": decision.detail,
        "compaction": _compaction_call(decision),
        "background": [
            {"kind": call.kind, "plan_key": call.plan_key} for call in decision.background
        ],
        "reminder": decision.reminder,
        **({} if decision.retry_after_ms is None else {"retry_after_ms": decision.retry_after_ms}),
    }


def projection_answer(projection: ProjectionSummary) -> Answer:
    """What projection cut."""
    return {
        "truncated_tool_results": projection.truncated_tool_results,
        "original_tokens": projection.original_tokens,
        "projected_tokens": projection.projected_tokens,
    }


def pruned_answer(call: PreparedCall) -> Answer:
    """What pruning shortened, and up to where."""
    return {
        "through_sequence": call.boundary.through_sequence,
        "tool_results": call.pruned.tool_results,
        "arguments": call.pruned.arguments,
        "thinking": call.pruned.thinking,
        "references": call.pruned.references,
    }


def repair_answer(repair: Repair) -> Answer:
    """One repair of the request copy."""
    answer: Answer = {"code": repair.code, "item_index": repair.item_index}
    if repair.message_id is not None:
        answer["message_id"] = repair.message_id
    if repair.call_id is not None:
        answer["call_id"] = repair.call_id
    return answer


def prefix_answer(prefix: Prefix) -> Answer:
    """What the request repeats of the previous one."""
    broken = prefix.broken
    return {
        "chain": prefix.fingerprint.chain.hex(),
        "common_messages": prefix.common_messages,
        "common_bytes": prefix.common_bytes,
        "broken_at": None if broken is None else broken.at,
        "cause": None if broken is None else broken.cause,
        "segments": [
            {"name": part.name, "bytes": part.size_bytes, "sha256": part.chain.hex()}
            for part in prefix.fingerprint.segments
        ],
    }


def provenance_answer(item: Item) -> Answer:
    """Where a message of the request comes from."""
    source = item.source
    if not isinstance(source, Real):
        return {"type": "synthetic", "reason": source.reason, "id": source.id}
    if source.id is None:
        return {"type": "synthetic", "reason": "live", "id": None}
    return {"type": "stored", "message_id": source.id, "sequence": source.sequence}


def items_answer(call: PreparedCall, blocks: Sequence[Sequence[BlockCount]]) -> Answer:
    """The tokens of every message with its `blocks`, and of every tool, each by itself."""
    system = [(part.form.facts, system_tokens(part)) for part in call.surface.system]
    conversation = [(item.facts, item_tokens(item)) for item in call.conversation]
    return {
        "messages": [
            {
                **_part(fact.json_bytes, fact.tokenizer_tokens, _share(call, framed)),
                "blocks": [
                    block_answer(block, _share(call, block.tokenizer_tokens)) for block in inside
                ],
            }
            for (fact, framed), inside in zip((*system, *conversation), blocks, strict=True)
        ],
        "tools": [
            {
                "name": tool.name,
                **_part(
                    len(tool.encoded), tool.tokenizer_tokens, _share(call, tool.tokenizer_tokens)
                ),
            }
            for tool in call.surface.tools
        ],
    }


def block_answer(block: BlockCount, calibrated: int | None = None) -> Answer:
    """The tokens of one block by itself."""
    return {
        "type": block.type,
        "bytes": block.size_bytes,
        **_part(block.size_bytes, block.tokenizer_tokens, calibrated),
    }


def _part(size_bytes: int, tokenizer: int, calibrated: int | None) -> Answer:
    json_bytes = tokens_of_bytes(size_bytes)
    return {
        "policy": json_bytes,
        "json_bytes": json_bytes,
        "tokenizer": tokenizer,
        "calibrated": calibrated,
    }


def _share(call: PreparedCall, tokens: int) -> int | None:
    return None if call.prediction is None else share(tokens, call.size, call.prediction)


def _counts(budget: Budget) -> Answer:
    """The same request by every counter."""
    calibrated = budget.calibrated
    return {
        "policy": budget.estimate.total,
        "json_bytes": budget.estimate.total,
        "tokenizer": budget.tokenizer.total,
        "calibrated": None if calibrated is None else calibrated.regions.total,
        "regions": {
            "policy": _regions(budget.estimate),
            "json_bytes": _regions(budget.estimate),
            "tokenizer": _regions(budget.tokenizer),
            "calibrated": None if calibrated is None else _regions(calibrated.regions),
        },
        "basis": {
            "policy": "json_bytes",
            "json_bytes": "UTF-8 bytes of compact JSON / 4, rounded up once per region",
            "tokenizer": budget.tokenizer_basis,
            "calibrated": NOTHING_REPORTED_BASIS if calibrated is None else calibrated.basis,
        },
    }


def _compaction_call(decision: Decision) -> Answer | None:
    wanted = decision.compaction
    return None if wanted is None else {"kind": wanted.kind, "plan_key": wanted.plan_key}


def _regions(tokens: RegionTokens) -> Answer:
    return {
        "system_context": tokens.system_context,
        "conversation": tokens.conversation,
        "tool_surface": tokens.tool_surface,
    }


def _origin(origin: LimitOrigin) -> Answer:
    return {
        "requested": origin.requested,
        "effective": origin.effective,
        "source": origin.source,
        "why": origin.why,
    }
