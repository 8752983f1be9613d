"""Lint of a body by its format.

Source: docs/semantics/lint.md.
"""

import re
from collections.abc import Callable, Mapping

from app.core.model_profile import ModelProfile
from app.encoders.encoding import Format
from app.encoders.lint import chat_reader, responses_reader, rules, turn_readers
from app.encoders.lint.contents import check_contents
from app.encoders.lint.findings import Finding, FindingLog
from app.encoders.lint.pairing import check_pairs
from app.encoders.lint.rules import ProviderRules
from app.encoders.lint.seen import Body, SeenBody
from app.encoders.lint.settings import check_limits, check_settings
from app.encoders.lint.speakers import check_speakers

_FORMATS: Mapping[Format, tuple[Callable[[SeenBody], None], ProviderRules]] = {
    "openai.chat": (chat_reader.read, rules.OPENAI_CHAT),
    "openai.responses": (responses_reader.read, rules.OPENAI_RESPONSES),
    "anthropic.messages": (turn_readers.read_anthropic, rules.ANTHROPIC),
    "gemini.generate_content": (turn_readers.read_gemini, rules.GEMINI),
    "bedrock.converse": (turn_readers.read_bedrock, rules.BEDROCK),
    "mistral.chat": (chat_reader.read, rules.MISTRAL),
}
_SIGNING = re.compile(r"(?:.*/)?gemini-(?:[3-9]|[1-9][0-9]).*", re.DOTALL)


def lint(body_format: Format, body: Body, profile: ModelProfile) -> tuple[Finding, ...]:
    """What the provider would refuse in a body, in the order of the rules; nothing is raised.

    Args:
        body_format: Whose words the body is said in.
        body: As it would be posted.
        profile: What is known of the model.
    """
    read, provider = _FORMATS[body_format]
    seen = SeenBody(body=body, log=FindingLog())
    read(seen)
    check_settings(seen, provider)
    check_speakers(seen, provider)
    check_contents(seen, provider)
    check_pairs(seen, provider)
    if body_format == "gemini.generate_content" and _SIGNING.fullmatch(profile.name):
        _check_signatures(seen)
    check_limits(seen, profile)
    return seen.log.all()


def _check_signatures(seen: SeenBody) -> None:
    """The first call of a content has a signature, where the model signs."""
    for message in seen.messages:
        calls = message.calls()
        if calls and not calls[0].is_signed:
            seen.log.add("unsigned_call", calls[0].path, "the first call must have its signature")
