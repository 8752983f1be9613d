"""What messages hold: texts, thinking and media.

Source: docs/semantics/lint.md#findings.
"""

from app.core.media_header import Image, medium_of
from app.encoders.lint.rules import ProviderRules
from app.encoders.lint.seen import SeenBody, SeenMedium, SeenMessage, SeenText, SeenThinking


def check_contents(seen: SeenBody, rules: ProviderRules) -> None:
    """Look at every part of every message."""
    for at, message in enumerate(seen.messages):
        if not message.parts:
            seen.log.add("empty_content", message.path, "a message must hold something")
        for part in message.parts:
            match part:
                case SeenText():
                    _text(seen, rules, part)
                case SeenThinking():
                    _thinking(seen, rules, part, at)
                case _:
                    pass
    for text in seen.system:
        _text(seen, rules, text)
    _media(seen, rules)


def _text(seen: SeenBody, rules: ProviderRules, part: SeenText) -> None:
    is_faulty = (rules.texts == "not_empty" and not part.text) or (
        rules.texts == "not_blank" and not part.text.strip()
    )
    if is_faulty:
        seen.log.add("empty_text", part.path, "a text must not be blank")


def _thinking(seen: SeenBody, rules: ProviderRules, part: SeenThinking, at: int) -> None:
    if rules.thinking == "signed" and not part.is_signed:
        seen.log.add("unsigned_thinking", part.path, "thinking must have its signature")
    if rules.thinking == "followed":
        if not part.is_signed:
            seen.log.add("unsigned_thinking", part.path, "reasoning must have its id")
        if not _leads_on(seen.messages, at):
            detail = "reasoning must be followed by what it led to"
            seen.log.add("reasoning_alone", part.path, detail)


def _leads_on(messages: list[SeenMessage], at: int) -> bool:
    """Whether the assistant says something behind its reasoning."""
    for message in messages[at + 1 :]:
        if not all(isinstance(part, SeenThinking) for part in message.parts):
            return message.speaker == "assistant"
    return False


def _media(seen: SeenBody, rules: ProviderRules) -> None:
    media = seen.media()
    if rules.most_media is not None and len(media) > rules.most_media:
        detail = f"{len(media)} media, at most {rules.most_media} are taken"
        seen.log.add("media_count", media[rules.most_media].path, detail)
    is_crowded = rules.many_images is not None and len(media) > rules.many_images
    most_pixels = rules.most_pixels_of_many if is_crowded else rules.most_pixels
    for medium in media:
        _medium(seen, rules, medium)
        if most_pixels is not None and medium.data is not None:
            _pixels(seen, medium.path, medium.data, most_pixels)


def _pixels(seen: SeenBody, path: str, data: str, most: int) -> None:
    found = medium_of(data)
    if isinstance(found, Image) and max(found.width, found.height) > most:
        detail = f"{found.width} x {found.height}, at most {most} along a side"
        seen.log.add("image_dimensions", path, detail)


def _medium(seen: SeenBody, rules: ProviderRules, medium: SeenMedium) -> None:
    sort = medium.sort
    if sort is not None and sort.startswith(("image/", "audio/")):
        known = rules.images if sort.startswith("image/") or not rules.sounds else rules.sounds
        if sort not in known and not (sort.startswith("audio/") and rules.ids == "loose"):
            seen.log.add("media_type", medium.path, f"{sort} is not taken")
    if medium.data is None:
        return
    if rules.most_media_bytes is not None and len(medium.data) > rules.most_media_bytes:
        detail = f"{len(medium.data)} bytes, at most {rules.most_media_bytes} are taken"
        seen.log.add("media_size", medium.path, detail)
