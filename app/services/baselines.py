"""The world-state baseline once messages were hidden or shown again: what those shown tell."""

from dataclasses import replace

from app.compaction.view import View
from app.core.blocks import Text
from app.core.content import decode_content
from app.core.stored import Session
from app.store.connections import WriteConnection
from app.store.messages import MessageRepository
from app.store.world_state import StoredEmission, StoredSection, WorldStateWriter


async def rebase_world_state(connection: WriteConnection, session: Session, view: View) -> None:
    """Make the baseline what the newest message that the view shows tells of each section.

    A section without such a message keeps its baseline: it is told anew
    without a notice, as after a compaction.
    """
    state = WorldStateWriter(connection, session.incarnation)
    messages = MessageRepository(connection, session.incarnation)
    contents = await messages.world_state_contents(session.visibility_ordinal)
    carriers = {
        sequence: (message_id, content)
        for sequence, message_id, content in contents
        if view.shows(sequence)
    }
    shown = {
        emission.section_id: emission
        for emission in await state.emissions()
        if emission.sequence in carriers
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
