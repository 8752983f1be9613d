"""Transcripts of other programs as what a session is made of."""

import asyncio

from app.importers.formats import IMPORTERS
from app.importers.transcript import Imported, ImportFormat


async def import_given(
    transcript: object, transcript_format: ImportFormat, model: str | None
) -> Imported:
    """A transcript as system parts, tools and messages. Nothing is stored.

    Raises:
        InvalidTranscript: It cannot be read at all in that format.
    """
    return await asyncio.to_thread(IMPORTERS[transcript_format], transcript, model)
