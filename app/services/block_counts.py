"""The blocks of a prepared call, each measured by itself. Only who asks for it pays for it."""

import asyncio

from app.core.block_counts import BlockCount, form_block_counts
from app.core.engine import PreparedCall
from app.core.facts import Form
from app.services.resources import counter_of


async def count_call_blocks(call: PreparedCall) -> list[tuple[BlockCount, ...]]:
    """The blocks of every message of the request, system messages first."""
    return await asyncio.to_thread(_count, call)


def _count(call: PreparedCall) -> list[tuple[BlockCount, ...]]:
    counter = counter_of(call.profile)
    system = [part.form for part in call.surface.system]
    forms = [Form(content=item.content, facts=item.facts) for item in call.conversation]
    return [form_block_counts(form, counter) for form in (*system, *forms)]
