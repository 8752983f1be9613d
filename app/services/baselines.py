"""The world-state baseline after the view went back: what the shown messages tell."""

from dataclasses import replace

from app.compaction.view import View
from app.core.blocks import Text
from app.core.content import decode_content
from app.store.connections import WriteConnection
from app.store.messages import MessageRepository
from app.store.world_state import StoredEmission, StoredSection, WorldStateWriter


async def rebase_world_state(connection: WriteConnection, incarnation: str, view: View) -> None:
    """Make the baseline what the newest message that the view shows tells of each section.

    A section without such a message keeps its baseline: it is told anew
    without a notice, as after a compaction.
    """
    state = WorldStateWriter(connection, incarnation)
    shown = {
        emission.section_id: emission
        for emission in await state.emissions()
        if view.shows(emission.sequence)
    }
    messages = MessageRepository(connection, incarnation)
    carriers = {
        sequence: (message_id, content)
        for sequence, message_id, content in await messages.world_state_contents()
    }
    sections = [
        _rebased(section, shown[section.section_id], carriers)
        if section.section_id in shown
        else section
        for section in await state.sections()
    ]
    await state.replace_sections(sections)


def _rebased(
    section: StoredSection,
    emission: StoredEmission,
    carriers: dict[int, tuple[str, bytes]],
) -> StoredSection:
    message_id, content = carriers[emission.sequence]
    texts = [block.text for block in decode_content(content) if isinstance(block, Text)]
    known = emission.state == "known"
    return replace(
        section,
        message_id=message_id,
        baseline_state=emission.state,
        baseline_text="".join(texts)[emission.notice_chars :] if known else None,
    )
