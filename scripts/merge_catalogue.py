"""What two published lists say of models, as one catalogue: a pure transformation.

Source: docs/semantics/models.md#the-catalogue.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

Record: TypeAlias = dict[str, Any]
"""One entry of the catalogue's file: `[value, source]` by field."""

LITELLM, MODELS_DEV, TIKTOKEN = "litellm", "models.dev", "tiktoken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """A provider whose models are taken, under their own names alone."""

    litellm: tuple[str, ...]
    """Its names in litellm; where two of them list a model, the first one counts."""
    models_dev: str
    families: str
    """What the names of its models begin with, as a pattern."""


MAKERS: Final[Mapping[str, Maker]] = {
    "alibaba": Maker(litellm=("dashscope",), models_dev="alibaba", families="qwen|qwq|qvq"),
    "anthropic": Maker(litellm=("anthropic",), models_dev="anthropic", families="claude-"),
    "deepseek": Maker(litellm=("deepseek",), models_dev="deepseek", families="deepseek-"),
    "google": Maker(
        litellm=("gemini", "vertex_ai-language-models"),
        models_dev="google",
        families="gemini-|gemma-",
    ),
    "mistral": Maker(
        litellm=("mistral",),
        models_dev="mistral",
        families="(?:mistral|ministral|magistral|codestral|devstral|pixtral|open-mi[sx]tral)-",
    ),
    "openai": Maker(
        litellm=("openai",), models_dev="openai", families="gpt-|o[134](?:-|$)|chat-latest$"
    ),
    "xai": Maker(litellm=("xai",), models_dev="xai", families="grok-"),
}
_NOT_TAKEN = re.compile(
    r"(?:^|-)(?:audio|beta|computer|embed(?:ding)?|exp|experimental|gemma-2-.*|gv2|image|imagine|"
    r"live|livetranslate|omni|realtime|robotics|search|tts|transcribe)(?:-|$)"
)
"""Parts of the names of models that do something else than chat, or were tried out for a while."""

_FULL_DATE = re.compile(r"-(?:20\d\d-\d\d-\d\d|20\d{6})$")
_MEDIA = frozenset({"image", "audio", "video", "pdf"})
_LITELLM_MEDIA = (
    "supports_vision",
    "supports_pdf_input",
    "supports_audio_input",
    "supports_video_input",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What both lists say of one model."""

    name: str
    provider: str
    input_limit: int | None = None
    output_limit: int | None = None
    takes_media: bool = False
    """By litellm, whose silence says nothing."""
    window: int | None = None
    """By models.dev: shared by input and output."""
    window_output: int | None = None
    modalities: frozenset[str] | None = None
    aliases: tuple[str, ...] = ()


def merged(
    litellm: Mapping[str, Mapping[str, Any]],
    models_dev: Mapping[str, Mapping[str, Any]],
    encoding_of: Callable[[str], str | None],
) -> dict[str, Record]:
    """The catalogue's entries by name, in order.

    Args:
        litellm: Its table of models by name.
        models_dev: Its models by `provider/name`.
        encoding_of: The tokenizer's encoding of an OpenAI model, where it knows one.
    """
    found = _published(litellm, models_dev)
    found = {name: _with_shared_window(model, models_dev) for name, model in found.items()}
    found = {name: _with_family(model, found) for name, model in found.items()}
    records = {name: _record(model, encoding_of) for name, model in sorted(found.items())}
    return {
        name: record
        for name, record in records.items()
        if "context_window" in record and not _repeats_family(name, records)
    }


def _repeats_family(name: str, records: Mapping[str, Record]) -> bool:
    """Whether a dated name says what its undated one says, to which it resolves anyway."""
    family = records.get(_FULL_DATE.sub("", name))
    if family is None or family is records[name]:
        return False
    return {**family, "aliases": None} == {**records[name], "aliases": None}


def _published(
    litellm: Mapping[str, Mapping[str, Any]], models_dev: Mapping[str, Mapping[str, Any]]
) -> dict[str, Published]:
    found: dict[str, Published] = {}
    for provider, maker in MAKERS.items():
        for key in maker.litellm:
            for name, row in _litellm_rows(litellm, key, maker):
                found.setdefault(name, _by_litellm(name, provider, row))
        for name, row in _models_dev_rows(models_dev, maker):
            model = found.get(name) or Published(name=name, provider=provider)
            found[name] = _with_models_dev(model, row)
    return found


def _litellm_rows(
    table: Mapping[str, Mapping[str, Any]], provider: str, maker: Maker
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, row in table.items():
        name = key.rpartition("/")[2]
        is_chat = row.get("mode") in ("chat", "responses")
        if row.get("litellm_provider") == provider and is_chat and _is_taken(name, maker):
            yield name, row


def _models_dev_rows(
    table: Mapping[str, Mapping[str, Any]], maker: Maker
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, row in table.items():
        provider, _, name = key.partition("/")
        writes_text = row["modalities"]["output"] == ["text"]
        if provider == maker.models_dev and writes_text and _is_taken(name, maker):
            yield name, row


def _is_taken(name: str, maker: Maker) -> bool:
    return (
        re.match(maker.families, name) is not None
        and not name.startswith("ft:")
        and _NOT_TAKEN.search(name) is None
    )


def _by_litellm(name: str, provider: str, row: Mapping[str, Any]) -> Published:
    limit, output = row.get("max_input_tokens"), row.get("max_output_tokens")
    # An output as large as the input says only that it has no limit of its own.
    is_limited = output and (limit is None or output < limit)
    return Published(
        name=name,
        provider=provider,
        input_limit=limit or None,
        output_limit=output if is_limited else None,
        takes_media=any(row.get(flag) for flag in _LITELLM_MEDIA),
    )


def _with_models_dev(model: Published, row: Mapping[str, Any]) -> Published:
    window, output = row.get("context_window"), row.get("max_output")
    return replace(
        model,
        window=window or None,
        window_output=output if output and window and output < window else None,
        modalities=frozenset(row["modalities"]["input"]),
        aliases=tuple(sorted(alias for alias in row.get("aliases", ()) if "@" not in alias)),
    )


def _with_shared_window(model: Published, models_dev: Mapping[str, Mapping[str, Any]]) -> Published:
    """The model with the window that a host states, where the maker's own limits add up to it.

    A window is then known to be shared; any other number of a host is its own business.
    """
    if model.window is not None or model.input_limit is None or model.output_limit is None:
        return model
    shared = model.input_limit + model.output_limit
    stated = {
        row.get("context_window")
        for key, row in models_dev.items()
        if key.rpartition("/")[2] == model.name
    }
    return replace(model, window=shared) if shared in stated else model


def _with_family(model: Published, found: Mapping[str, Published]) -> Published:
    """A dated model with what models.dev says of its undated one, if litellm sees no difference."""
    family = found.get(_FULL_DATE.sub("", model.name))
    if model.window is not None or family is None or family.name == model.name:
        return model
    if (model.input_limit, model.output_limit) != (family.input_limit, family.output_limit):
        return model
    return replace(
        model,
        window=family.window,
        window_output=family.window_output,
        modalities=family.modalities,
    )


def _record(model: Published, encoding_of: Callable[[str], str | None]) -> Record:
    fields, others = _limits(model)
    media = _media(model)
    if media is not None:
        fields["accepts_data_blocks"] = media
    encoding = encoding_of(model.name) if model.provider == "openai" else None
    if encoding is not None:
        fields["encoding"] = [encoding, TIKTOKEN]
    aliases = [alias for alias in model.aliases if not _is_spelled_by_rule(alias, model.name)]
    return {
        "provider": model.provider,
        **fields,
        **({"aliases": aliases} if aliases else {}),
        **({"others": others} if others else {}),
    }


def _limits(model: Published) -> tuple[Record, Record]:
    """The limits that count, and those that another list states against them."""
    fields, others = Record(), Record()
    window, limit = model.window, model.input_limit
    output = model.output_limit or model.window_output or 0
    if window is not None and limit is not None and window > limit + output:
        # Input and output together could never fill such a window: the lists contradict each
        # other. One that is stated too small costs an early compaction, one too large a call.
        others["context_window"] = [window, MODELS_DEV]
        window = None
    if window is not None:
        fields["context_window"] = [window, MODELS_DEV]
    elif limit is not None:
        window = limit
        fields["context_window"] = [limit, LITELLM]
    if window is not None and limit is not None:
        kept = fields if limit <= window else others
        kept["max_input_tokens"] = [limit, LITELLM]
    _add_output(model, window, fields, others)
    return fields, others


def _add_output(model: Published, window: int | None, fields: Record, others: Record) -> None:
    stated = [
        [tokens, source]
        for tokens, source in (
            (model.window_output, MODELS_DEV),
            (model.output_limit, LITELLM),
        )
        if tokens is not None and window is not None and tokens < window
    ]
    if stated:
        fields["max_output_tokens"] = stated[0]
    if len(stated) > 1 and stated[0][0] != stated[1][0]:
        others["max_output_tokens"] = stated[1]


def _media(model: Published) -> list[Any] | None:
    if model.modalities is not None and model.modalities & _MEDIA:
        return [True, MODELS_DEV]
    if model.takes_media:
        return [True, LITELLM]
    return None if model.modalities is None else [False, MODELS_DEV]


def _is_spelled_by_rule(alias: str, name: str) -> bool:
    return name.startswith("claude-") and alias.replace(".", "-") == name
