"""The neutral request as byte fragments, joined once by whoever sends it.

Source: docs/semantics/engine.md#request.
"""

from collections.abc import Iterable, Mapping, Sequence

from app.core import canonical
from app.core.generation import extra_fields
from app.core.items import Item
from app.core.messages import Role
from app.core.tool_surface import SystemMessage, ToolDefinition

_OPENINGS: Mapping[Role, bytes] = {
    role: b'{"role":"%b","content":' % role.encode()
    for role in ("system", "user", "assistant", "tool")
}


def element_bytes(role: Role, content_bytes: int) -> int:
    """Bytes of one message element of a neutral request."""
    return len(_OPENINGS[role]) + content_bytes + 1


def request_fragments(
    model: str,
    system: Sequence[SystemMessage],
    conversation: Sequence[Item],
    tools: Sequence[ToolDefinition],
    generation: Mapping[str, object],
    max_output_tokens: int | None,
) -> list[bytes]:
    """The request's JSON in pieces; joining them gives its exact bytes."""
    fragments = [b'{"model":', canonical.encode(model), b',"messages":[']
    fragments += _elements(system, conversation)
    settings = {
        "temperature": generation.get("temperature"),
        "top_p": generation.get("top_p"),
        "max_output_tokens": max_output_tokens,
        "thinking": generation.get("thinking"),
    }
    fragments += [b"],", canonical.encode(settings)[1:-1], b',"tools":[']
    fragments += [b",".join(tool.encoded for tool in tools), b"]"]
    extras = extra_fields(generation)
    if extras:
        fragments += [b",", canonical.encode(extras)[1:-1]]
    fragments.append(b"}")
    return fragments


def _elements(system: Sequence[SystemMessage], conversation: Sequence[Item]) -> list[bytes]:
    pieces: list[bytes] = []
    for role, content in _contents(system, conversation):
        pieces += (_OPENINGS[role], content, b"},")
    if pieces:
        pieces[-1] = b"}"
    return pieces


def _contents(
    system: Sequence[SystemMessage], conversation: Sequence[Item]
) -> Iterable[tuple[Role, bytes]]:
    for part in system:
        yield "system", part.form.content
    for item in conversation:
        yield item.role, item.content
