"""Short ways to say a conversation and what a call is prepared from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.agent import AGENT_SYSTEM_KEY, Agent, SystemPart, Tool
from app.core.blocks import (
    Artifact,
    Base64Source,
    Block,
    Blocks,
    CallState,
    Data,
    ResultState,
    Text,
    ToolCall,
    ToolResult,
    text_block,
)
from app.core.content import decode_content
from app.core.engine import PreparedCall, PrepareInput
from app.core.facts import Form, form_of
from app.core.items import Item, item_of
from app.core.media import DEFAULT_MEDIA_RULE
from app.core.messages import Kind, Real, Role, Source, Synthetic, SyntheticReason
from app.core.model_profile import ModelProfile
from app.core.policy import Policy
from app.core.request_copy import Memo, PruneBoundary, RequestCopy, StepContext
from app.core.tool_surface import Surface, SurfaceOptions, build_surface
from app.policies.presets import PRESETS
from app.policies.shaping import Shaping

OPENWORK = PRESETS["openwork"]
PROFILE = ModelProfile(name="model-1", context_window=200_000, max_output_tokens=32_000)
TEXT_ONLY = ModelProfile(
    name="model-1", context_window=200_000, max_output_tokens=32_000, accepts_data_blocks=False
)
ROOT = SurfaceOptions(is_root=True, sandbox_available=True, tool_order="given")
PROMPT = SystemPart(key=AGENT_SYSTEM_KEY, content=(text_block("You are careful."),))
READ = Tool(name="read", description="Read a file", parameters={"type": "object"})
NOWHERE = PruneBoundary()
UNSHAPED = Shaping()


class LengthCounter:
    """A character is a token."""

    basis = "length/1"
    media_rule = DEFAULT_MEDIA_RULE

    def count(self, text: str) -> int:
        return len(text)


COUNTER = LengthCounter()


def image(data: str = "Z" * 40, *, name: str | None = None) -> Data:
    source = Base64Source(source_type="base64", data=data, media_type="image/png")
    return Data(type="data", source=source, name=name)


def call(
    id: str, name: str = "read", *, input: str = "{}", state: CallState = "finished"
) -> ToolCall:
    return ToolCall(type="tool_call", id=id, name=name, input=input, state=state)


def result(
    id: str,
    *output: str | Block,
    name: str | None = "read",
    state: ResultState = "success",
    artifacts: tuple[Artifact, ...] = (),
) -> ToolResult:
    return ToolResult(
        type="tool_result",
        id=id,
        name=name,
        output=as_blocks(output),
        state=state,
        artifacts=artifacts,
    )


def form(role: Role, *content: str | Block) -> Form:
    return form_of(role, as_blocks(content), COUNTER)


def user(*content: str | Block, kind: Kind = "normal", sequence: int | None = None) -> Item:
    return _item("user", kind, content, sequence)


def assistant(*content: str | Block, sequence: int | None = None) -> Item:
    return _item("assistant", "normal", content, sequence)


def tool(*results: ToolResult, sequence: int | None = None) -> Item:
    return _item("tool", "normal", results, sequence)


def system(*content: str | Block) -> Item:
    return _item("system", "normal", content, None)


def mixed(role: Role, *content: str | Block, sequence: int | None = None) -> Item:
    """A message with any blocks, also such as its role does not hold."""
    return _item(role, "normal", content, sequence)


def synthetic(role: Role, reason: SyntheticReason, *content: str | Block) -> Item:
    return item_of(role, "normal", form(role, *content), Synthetic(reason=reason, id=f"s-{reason}"))


def stored(*items: Item) -> tuple[Item, ...]:
    """The items as messages m1, m2 and so on, with the sequences 1, 2 and so on."""
    return tuple(
        item_of(
            item.role,
            item.kind,
            Form(content=item.content, facts=item.facts),
            Real(id=f"m{sequence}", sequence=sequence),
        )
        for sequence, item in enumerate(items, start=1)
    )


def said(items: Sequence[Item]) -> list[tuple[Role, Blocks]]:
    """Role and blocks of each item."""
    return [(item.role, decode_content(item.content)) for item in items]


def output_of(item: Item) -> Blocks:
    """The output of the item's only result."""
    (block,) = decode_content(item.content)
    assert isinstance(block, ToolResult)
    return block.output


def texts_of(item: Item) -> list[str]:
    """The texts of the item's only result."""
    return [block.text for block in output_of(item) if isinstance(block, Text)]


def copy_of(*items: Item) -> RequestCopy:
    return RequestCopy(items=items)


def step_context(
    *,
    boundary: PruneBoundary = NOWHERE,
    prune_chars: int = 8_192,
    max_result_tokens: int = 8_000,
    shaping: Shaping = UNSHAPED,
    profile: ModelProfile = PROFILE,
    scope: str = "scope-1",
    memo: Memo | None = None,
    is_partial: bool = False,
) -> StepContext:
    return StepContext(
        boundary=boundary,
        prune_tool_result_chars=prune_chars,
        max_tool_result_tokens=max_result_tokens,
        shaping=shaping,
        accepts_data_blocks=profile.accepts_data_blocks,
        scope=scope,
        counter=COUNTER,
        memo={} if memo is None else memo,
        is_partial=is_partial,
    )


def part(key: str, *content: str | Block) -> SystemPart:
    return SystemPart(key=key, content=as_blocks(content))


def surface_of(
    parts: Sequence[SystemPart] = (PROMPT,),
    tools: Sequence[Tool] = (),
    options: SurfaceOptions = ROOT,
) -> Surface:
    agent = Agent(system_parts=tuple(parts), tools=tuple(tools))
    return build_surface(agent, options, COUNTER)


def prepare_input(
    *items: Item,
    parts: Sequence[SystemPart] = (PROMPT,),
    tools: Sequence[Tool] = (),
    profile: ModelProfile = PROFILE,
    policy: Policy = OPENWORK,
    boundary: PruneBoundary = NOWHERE,
    generation: Mapping[str, object] | None = None,
    memo: Memo | None = None,
) -> PrepareInput:
    return PrepareInput(
        model=profile.name,
        profile=profile,
        policy=policy,
        surface=surface_of(parts, tools),
        items=items,
        boundary=boundary,
        generation=generation or {},
        scope="scope-1",
        counter=COUNTER,
        memo={} if memo is None else memo,
    )


def request_bytes(call: PreparedCall) -> bytes:
    return b"".join(call.request_fragments())


def request_json(call: PreparedCall) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(request_bytes(call))
    return request


def as_blocks(content: Sequence[str | Block]) -> Blocks:
    """Strings as text blocks, blocks as they are."""
    return tuple(text_block(piece) if isinstance(piece, str) else piece for piece in content)


def _item(role: Role, kind: Kind, content: Sequence[str | Block], sequence: int | None) -> Item:
    source: Source = Real() if sequence is None else Real(id=f"m{sequence}", sequence=sequence)
    return item_of(role, kind, form(role, *content), source)
