"""Posting a body through a provider's official SDK, as a worker would that uses one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import boto3
from anthropic import Anthropic
from botocore.config import Config
from google import genai
from google.genai import types as gemini
from mistralai.client import Mistral
from openai import OpenAI

from app.encoders.encoding import Format
from tests.conformance.provider_types import Body, converse_arguments

Post: TypeAlias = Callable[[str, str, Body], None]
"""Posts a body for a model to the server at an address."""

SECONDS = 20.0
"""What an SDK waits for the local server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sdk:
    """How a body goes through an SDK, and what the server then gives back."""

    post: Post
    path: str
    """Where the wire body is posted; `{model}` stands for the model."""
    answer: Mapping[str, Any]
    arrives: Callable[[Body], Body] = dict
    """The body as the SDK sends it: some spell defaults out."""


def _openai_chat(address: str, model: str, body: Body) -> None:
    del model
    _openai(address).chat.completions.create(**body)


def _openai_responses(address: str, model: str, body: Body) -> None:
    del model
    _openai(address).responses.create(**body)


def _openai(address: str) -> OpenAI:
    return OpenAI(api_key="key", base_url=f"{address}/v1", max_retries=0, timeout=SECONDS)


def _anthropic(address: str, model: str, body: Body) -> None:
    del model
    client = Anthropic(api_key="key", base_url=address, max_retries=0, timeout=SECONDS)
    client.messages.create(**body)


def _mistral(address: str, model: str, body: Body) -> None:
    del model
    with Mistral(api_key="key", server_url=address, timeout_ms=int(SECONDS * 1000)) as client:
        client.chat.complete(**body)


def _gemini(address: str, model: str, body: Body) -> None:
    fields = {
        "system_instruction": body.get("systemInstruction"),
        "tools": body.get("tools"),
        "tool_config": body.get("toolConfig"),
        **gemini.GenerationConfig.model_validate(body.get("generationConfig", {})).model_dump(
            exclude_unset=True
        ),
    }
    given = {name: value for name, value in fields.items() if value is not None}
    options = gemini.HttpOptions(
        base_url=address, api_version="v1beta", timeout=int(SECONDS * 1000)
    )
    with genai.Client(api_key="key", vertexai=False, http_options=options) as client:
        client.models.generate_content(
            model=model,
            contents=[gemini.Content.model_validate(content) for content in body["contents"]],
            config=gemini.GenerateContentConfig.model_validate(
                {
                    **given,
                    # Tools are for the worker to run.
                    "automatic_function_calling": {"disable": True},
                }
            ),
        )


def _bedrock(address: str, model: str, body: Body) -> None:
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=SECONDS),
    )
    client.converse(**converse_arguments(body, model))


def _with_mistral_defaults(body: Body) -> Body:
    messages = [
        {"prefix": False, **message} if message["role"] == "assistant" else message
        for message in body["messages"]
    ]
    for message in messages:
        if "tool_calls" in message:
            message["tool_calls"] = [{"index": 0, **call} for call in message["tool_calls"]]
    return {"stream": False, **body, "messages": messages}


def _as_google_writes(body: Body) -> Body:
    """The body as the SDK spells it: Google reads both spellings of a field."""
    tools = [
        {"functionDeclarations": [_snake_schema(tool) for tool in each["functionDeclarations"]]}
        for each in body.get("tools", [])
    ]
    contents = [_media_as_written(content) for content in body["contents"]]
    written = {"generationConfig": {}, **body, "contents": contents}
    return {**written, "tools": tools} if tools else written


def _media_as_written(value: Any) -> Any:
    """The same with media in the other spelling, their payloads in the other alphabet of base64."""
    if isinstance(value, list):
        return [_media_as_written(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "mimeType" not in value:
        return {name: _media_as_written(item) for name, item in value.items()}
    spelled = {"mimeType": "mime_type", "fileUri": "file_uri"}
    written = {spelled.get(name, name): item for name, item in value.items()}
    if "data" in written:
        written["data"] = written["data"].replace("+", "-").replace("/", "_")
    return written


def _snake_schema(declaration: Body) -> Body:
    return {
        "parameters_json_schema" if name == "parametersJsonSchema" else name: value
        for name, value in declaration.items()
    }


SDKS: Mapping[Format, Sdk] = {
    "openai.chat": Sdk(
        post=_openai_chat,
        path="/v1/chat/completions",
        answer={
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "model-1",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "Done."},
                }
            ],
        },
    ),
    "openai.responses": Sdk(
        post=_openai_responses,
        path="/v1/responses",
        answer={
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "model-1",
            "status": "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
                }
            ],
        },
    ),
    "anthropic.messages": Sdk(
        post=_anthropic,
        path="/v1/messages",
        answer={
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "model-1",
            "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    ),
    "gemini.generate_content": Sdk(
        post=_gemini,
        path="/v1beta/models/{model}:generateContent",
        answer={
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}
            ]
        },
        arrives=_as_google_writes,
    ),
    "bedrock.converse": Sdk(
        post=_bedrock,
        path="/model/{model}/converse",
        answer={
            "output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        },
    ),
    "mistral.chat": Sdk(
        post=_mistral,
        path="/v1/chat/completions",
        answer={
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "model-1",
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "Done."},
                }
            ],
        },
        arrives=_with_mistral_defaults,
    ),
}
