"""Would a provider take a body: the rules of its format, and what is known of its model."""

import asyncio
from collections.abc import Mapping, Sequence

from app.core import canonical
from app.core.model_profile import unknown_profile
from app.encoders.encoding import Format
from app.encoders.lint.findings import Finding
from app.encoders.lint.formats import lint
from app.services.inspect import preview_call
from app.services.models import profile_of_model
from app.services.resources import Resources
from app.services.wordings import wording_of


async def lint_given(
    resources: Resources, body_format: Format, model: str | None, body: Mapping[str, object]
) -> Sequence[Finding]:
    """What the provider would refuse, and where.

    Args:
        resources: Of the process.
        body_format: Whose words the body is said in.
        model: Its name, where the body does not tell it or tells another.
        body: As it would be posted.
    """
    given = body.get("model")
    name = model or (given if isinstance(given, str) else None)
    profile = None
    if name:
        async with resources.database.reading() as connection:
            profile = await profile_of_model(resources, connection, name)
    return await asyncio.to_thread(lint, body_format, body, profile or unknown_profile(name or ""))


async def lint_session(
    resources: Resources, session_id: str, body_format: Format
) -> Sequence[Finding]:
    """What a provider would refuse in the next call of a session; nothing is stored.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The request cannot be assembled.
    """
    preview = await preview_call(resources, session_id)
    wording = await wording_of(preview.call, body_format)
    assert wording.encoded is not None
    body = canonical.decode(b"".join(wording.fragments()))
    assert isinstance(body, dict)
    return await asyncio.to_thread(lint, body_format, body, preview.call.profile)
