"""Bodies of Gemini's generateContent, in either spelling of their fields.

Source: docs/semantics/importers.md#geminigenerate_content.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.core import canonical
from app.core.blocks import (
    Block,
    Data,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UrlSource,
    text_block,
)
from app.importers.gathering import Gathering
from app.importers.media import in_message, medium, under_id
from app.importers.reading import (
    JsonObject,
    arguments_of,
    object_of,
    objects,
    text_of,
    text_or_none,
    whole,
)
from app.importers.tools import add_tool
from app.importers.transcript import Imported, InvalidTranscript

DRIVER = "gemini"

_OF_BODY = frozenset({"model", "contents", "systemInstruction", "system_instruction", "tools"})
_SIGNATURE = "thoughtSignature"
_KINDS = (
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its contents alone.

    Raises:
        InvalidTranscript: It is no body of generateContent.
    """
    body, path = whole(transcript, "contents")
    reader = _Reader(gathering=Gathering(), model=text_or_none(body.get("model")) or model)
    system = _either(body, "systemInstruction", "system_instruction")
    if system is not None:
        reader.system(system)
    for content, key in objects(body["contents"], path):
        reader.content(content, key)
    reader.gathering.settings(body, _OF_BODY)
    for tool, key in objects(body.get("tools"), "transcript.tools"):
        _tools(tool, key, reader.gathering)
    return reader.gathering.imported()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    gathering: Gathering
    model: str | None

    def system(self, system: object) -> None:
        """The instruction: a content, or the text of one."""
        if isinstance(system, str):
            self.gathering.system((text_block(system),))
            return
        content = object_of(system, "transcript.systemInstruction")
        parts = list(objects(content.get("parts"), "transcript.systemInstruction.parts"))
        self.gathering.system(
            tuple(
                self._opaque(part, key) if self._is_result(part) else self._given(part, key)
                for part, key in parts
            )
        )

    def content(self, content: JsonObject, key: str) -> None:
        """A content: an answer, or what was given to the model."""
        parts = list(objects(content.get("parts"), f"{key}.parts"))
        match content.get("role", "user"):
            case "model":
                self.gathering.assistant(tuple(self._answer(part, path) for part, path in parts))
            case "user" | "function" | "tool":
                given = [self._given(part, path) for part, path in parts]
                self.gathering.given(tuple(_with_media(given)))
            case _:
                raise InvalidTranscript("a content must have a known role", key=f"{key}.role")

    def _is_result(self, part: JsonObject) -> bool:
        return _either(part, "functionResponse", "function_response") is not None

    def _answer(self, part: JsonObject, key: str) -> Block:
        signature = _either(part, _SIGNATURE, "thought_signature")
        call = _either(part, "functionCall", "function_call")
        text = part.get("text")
        if call is not None:
            given = object_of(call, f"{key}.functionCall")
            self.gathering.left_out(given, {"id", "name", "args"})
            return ToolCall(
                type="tool_call",
                id=text_or_none(given.get("id")) or "",
                name=text_of(given.get("name"), f"{key}.functionCall.name"),
                input=arguments_of(given.get("args"), f"{key}.functionCall.args"),
                provider_state=self._state(signature),
            )
        if isinstance(text, str):
            state = self._state(signature)
            if part.get("thought") is True:
                return Thinking(type="thinking", thinking=text, provider_state=state)
            return Text(type="text", text=text, provider_state=state)
        return self._medium(part, key) or self._opaque(part, key)

    def _state(self, signature: object) -> ProviderState | None:
        data = {} if signature is None else {_SIGNATURE: signature}
        return self.gathering.state(DRIVER, self.model, data, _SIGNATURE)

    def _given(self, part: JsonObject, key: str) -> Block:
        response = _either(part, "functionResponse", "function_response")
        text = part.get("text")
        if response is not None:
            return self._result(object_of(response, f"{key}.functionResponse"), key)
        if isinstance(text, str):
            self.gathering.left_out(part, {"text"})
            return text_block(text)
        return self._medium(part, key) or self._opaque(part, key)

    def _result(self, given: JsonObject, key: str) -> ToolResult:
        path = f"{key}.functionResponse"
        output: list[Block] = []
        text = _said(given.get("response"))
        if text is not None:
            output.append(text_block(text))
        for part, at in objects(given.get("parts"), f"{path}.parts"):
            output.append(self._medium(part, at) or self._opaque(part, at))
        self.gathering.left_out(given, {"id", "name", "response", "parts"})
        return ToolResult(
            type="tool_result",
            id=text_or_none(given.get("id")) or "",
            name=text_of(given.get("name"), f"{path}.name"),
            output=tuple(output),
            state="error" if _is_error(given.get("response")) else "success",
        )

    def _medium(self, part: JsonObject, key: str) -> Data | None:
        inline = _either(part, "inlineData", "inline_data")
        if inline is not None:
            given = object_of(inline, f"{key}.inlineData")
            self.gathering.left_out(part, {"inlineData", "inline_data"})
            data = text_of(given.get("data"), f"{key}.inlineData.data")
            return medium(in_message(data, _type(given)), _name(given))
        held = _either(part, "fileData", "file_data")
        if held is not None:
            given = object_of(held, f"{key}.fileData")
            self.gathering.left_out(part, {"fileData", "file_data"})
            uri = text_of(_either(given, "fileUri", "file_uri"), f"{key}.fileData.fileUri")
            if _either(given, "mimeType", "mime_type") is None:
                return medium(under_id(uri), _name(given))
            source = UrlSource(source_type="url", url=uri, media_type=_type(given))
            return medium(source, _name(given))
        return None

    def _opaque(self, part: JsonObject, key: str) -> ProviderOpaque:
        kind = next((name for name in _KINDS if name in part), None)
        if kind is None:
            kind = next(iter(part), None)
        if kind is None:
            raise InvalidTranscript("a part must not be empty", key=key)
        return self.gathering.opaque(DRIVER, kind, part)


def _with_media(given: Iterable[Block]) -> list[Block]:
    """The blocks, with media right behind a result in it: older models are told of them so."""
    blocks: list[Block] = []
    for block in given:
        last = blocks[-1] if blocks else None
        if isinstance(block, Data) and isinstance(last, ToolResult):
            blocks[-1] = replace(last, output=(*last.output, block))
        else:
            blocks.append(block)
    return blocks


def _either(value: JsonObject, name: str, other: str) -> object:
    found = value.get(name)
    return value.get(other) if found is None else found


def _type(given: JsonObject) -> str:
    return text_or_none(_either(given, "mimeType", "mime_type")) or "application/octet-stream"


def _name(given: JsonObject) -> str | None:
    return text_or_none(_either(given, "displayName", "display_name"))


def _is_error(response: object) -> bool:
    return isinstance(response, dict) and list(response) == ["error"]


def _said(response: object) -> str | None:
    """What a response says: the text under its one known key, else the whole as compact JSON."""
    match response:
        case None:
            return None
        case {"output": str(text)} | {"error": str(text)} | {"result": str(text)} if (
            isinstance(response, dict) and len(response) == 1
        ):
            return text
        case _:
            return canonical.encode(response).decode()


def _tools(tool: JsonObject, key: str, gathering: Gathering) -> None:
    names = ("functionDeclarations", "function_declarations")
    for name, value in tool.items():
        if name not in names and value is not None:
            gathering.about_all("tool_left_out", name)
    path = f"{key}.{names[0]}"
    for declared, at in objects(_either(tool, *names), path):
        schemas = ("parametersJsonSchema", "parameters_json_schema")
        schema = next((each for each in schemas if each in declared), "parameters")
        add_tool(declared, at, gathering, schema)
