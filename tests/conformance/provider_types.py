"""What the official SDKs say a body is made of: their own types and service models.

A body that one of them does not know, down to the last field, is an error.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from types import GenericAlias
from typing import Any, TypeAlias, get_args

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from botocore.model import Shape
from botocore.session import get_session
from botocore.validate import ParamValidator
from google.genai import types as gemini
from mistralai.client.models import ChatCompletionRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter

from app.encoders.encoding import Format

Body: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Body], None]


def _typed(kind: type) -> Check:
    """The check of a typed dictionary in which nothing else may stand."""
    # The dictionaries inside have no settings of their own, so they take those of the tuple.
    one: Any = GenericAlias(tuple, (kind,))
    adapter: TypeAdapter[Any] = TypeAdapter(one, config=ConfigDict(extra="forbid"))

    def check(body: Body) -> None:
        _read(adapter.validate_python((body,)))

    return check


def _read(value: Any) -> None:
    """Go through everything: iterables are not looked at before somebody asks for their items."""
    # Answers may stand in requests too, and those let any field pass.
    assert not isinstance(value, BaseModel), value
    if isinstance(value, Mapping):
        for item in value.values():
            _read(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _read(item)


def _mistral(body: Body) -> None:
    read = ChatCompletionRequest.model_validate(body)
    # These models pass over what they do not know, and then it is missing.
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == body


GEMINI_FIELDS: Mapping[str, Any] = {
    "contents": list[gemini.Content],
    "generationConfig": gemini.GenerationConfig,
    "systemInstruction": gemini.Content,
    "toolConfig": gemini.ToolConfig,
    "tools": list[gemini.Tool],
}


def _gemini(body: Body) -> None:
    for name, value in body.items():
        TypeAdapter(GEMINI_FIELDS[name]).validate_python(value)


def converse_shape() -> Shape:
    """The request of Converse in the service model that boto3 brings."""
    service = get_session().get_service_model("bedrock-runtime")
    shape = service.operation_model("Converse").input_shape
    assert shape is not None
    return shape


def converse_arguments(body: Body, model: str) -> dict[str, Any]:
    """A body as boto3 is given it: bytes where the wire has base64, and the model beside it."""
    arguments = _unwired(body, converse_shape())
    assert isinstance(arguments, dict)
    return {"modelId": model, **arguments}


def _unwired(value: Any, shape: Shape) -> Any:
    match shape.type_name:
        case "structure" if isinstance(value, Mapping) and not getattr(shape, "document", False):
            # A name that the shape does not know stays, and the validator says so.
            return {
                name: _unwired(item, shape.members[name]) if name in shape.members else item
                for name, item in value.items()
            }
        case "list" if isinstance(value, list):
            return [_unwired(item, shape.member) for item in value]
        case "blob" if isinstance(value, str):
            return b64decode(value, validate=True)
        case _:
            return value


def _bedrock(body: Body) -> None:
    report = ParamValidator().validate(converse_arguments(body, "model-1"), converse_shape())
    assert not report.has_errors(), report.generate_report()


TYPES: Mapping[Format, Check] = {
    "openai.chat": _typed(CompletionCreateParamsNonStreaming),
    "openai.responses": _typed(ResponseCreateParamsNonStreaming),
    "anthropic.messages": _typed(MessageCreateParamsNonStreaming),
    "gemini.generate_content": _gemini,
    "bedrock.converse": _bedrock,
    "mistral.chat": _mistral,
}
assert set(TYPES) == set(get_args(Format))
