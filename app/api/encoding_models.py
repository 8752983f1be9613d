"""Encodings on the wire: neutral requests, bodies of providers, and their answers."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.answers import Answer, repair_answer
from app.api.blocks import ContentIn, blocks_of
from app.api.message_models import RepairOut
from app.api.validation import WireModel
from app.api.wire import Count, ModelName
from app.core.content import block_json
from app.core.items import message_id
from app.core.messages import Role
from app.core.usage_report import UsageNumbers
from app.encoders.decoding import Asked, Decoded
from app.encoders.encoding import Encoded, EncodingRepair, EncodingRepairCode, Format
from app.encoders.request import NeutralTool
from app.services.encoding import EncodedGiven, GivenRequest
from app.services.wordings import Wording

REPAIR_CODES = get_args(EncodingRepairCode)


class RequestMessageIn(WireModel):
    """A message of a neutral request."""

    role: Role
    content: ContentIn


class RequestToolIn(WireModel):
    """A tool of a neutral request."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class NeutralRequestIn(BaseModel):
    """A neutral request, as `prepare` answers it; other settings of generation may stand in it."""

    model_config = ConfigDict(extra="allow", strict=True)

    model: ModelName
    messages: list[RequestMessageIn]
    temperature: float | int | None = None
    top_p: float | int | None = None
    max_output_tokens: Count | None = None
    thinking: dict[str, Any] | None = None
    tools: list[RequestToolIn] = Field(default_factory=list)

    def request(self) -> GivenRequest:
        """The request as the services take it."""
        known = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "thinking": self.thinking,
            **(self.model_extra or {}),
        }
        return GivenRequest(
            model=self.model,
            messages=[(entry.role, blocks_of(entry.content)) for entry in self.messages],
            tools=[
                NeutralTool(
                    name=tool.name, description=tool.description, parameters=tool.parameters
                )
                for tool in self.tools
            ],
            generation={key: value for key, value in known.items() if value is not None},
            max_output_tokens=self.max_output_tokens,
        )


class EncodeIn(WireModel):
    """A neutral request, and the format to say it in."""

    request: NeutralRequestIn
    format: Format


class DecodeIn(WireModel):
    """A provider's answer, and the call ids of the request that it answers."""

    format: Format
    body: dict[str, JsonValue]
    call_ids: Annotated[dict[str, str], Field(description="As `encode` gave it.")] = Field(
        default_factory=dict
    )
    model: Annotated[
        ModelName | None,
        Field(description="As the request named it; provider state is kept for this model."),
    ] = None

    def asked(self) -> Asked:
        """What is known of the request."""
        return Asked(call_ids=self.call_ids, model=self.model)


class TargetOut(BaseModel):
    """Where a body is posted, where the model is in the path."""

    method: Literal["POST"]
    path: str


class EncodedOut(BaseModel):
    """A body to post as it is."""

    body: dict[str, Any]
    call_ids: dict[str, str]
    target: TargetOut | None = None
    repairs: list[dict[str, Any]]


class DecodedMessageOut(BaseModel):
    """The answer as a message to append."""

    role: Literal["assistant"]
    content: list[dict[str, Any]]


class DecodedOut(BaseModel):
    """A provider's answer. What it did not say is null."""

    messages: list[DecodedMessageOut]
    model: str | None
    finish_reason: str | None
    usage: dict[str, int | None] | None
    repairs: list[RepairOut | dict[str, Any]]


def encoded_answer(given: EncodedGiven) -> Answer:
    """A body with what was changed for it."""
    encoded = given.encoded
    repairs = [
        *map(repair_answer, given.repairs),
        *map(encoding_repair_answer, encoded.repairs),
    ]
    return {"body": encoded.body(), **encoded_fields(encoded), "repairs": repairs}


def encoded_fields(encoded: Encoded) -> Answer:
    """What stands beside a body: the ids that were replaced, and where it is posted."""
    answer: Answer = {"call_ids": dict(encoded.call_ids)}
    target = encoded.target
    if target is not None:
        answer["target"] = {"method": target.method, "path": target.path}
    return answer


def encoding_repairs(wording: Wording) -> list[Answer]:
    """What a format asked for; a message that is stored is told by its id too."""
    if wording.encoded is None:
        return []
    return [_with_message(wording, repair) for repair in wording.encoded.repairs]


def _with_message(wording: Wording, repair: EncodingRepair) -> Answer:
    answer, index = encoding_repair_answer(repair), repair.message_index
    stored = None if index is None else message_id(wording.call.conversation[index])
    return answer if stored is None else {**answer, "message_id": stored}


def decoded_answer(decoded: Decoded, numbers: UsageNumbers | None) -> Answer:
    """An answer with the usage in numbers that mean the same for every provider."""
    usage = None
    if numbers is not None:
        usage = {name: getattr(numbers, name) for name in UsageNumbers.__dataclass_fields__}
    content = [block_json(block) for block in decoded.blocks]
    return {
        "messages": [{"role": "assistant", "content": content}],
        "model": decoded.model,
        "finish_reason": decoded.finish_reason,
        "usage": usage,
        "repairs": list(map(encoding_repair_answer, decoded.repairs)),
    }


def encoding_repair_answer(repair: EncodingRepair) -> Answer:
    """One change that a format asked for."""
    answer: Answer = {"code": repair.code}
    for name in ("message_index", "call_id", "detail"):
        value = getattr(repair, name)
        if value is not None:
            answer[name] = value
    return answer
