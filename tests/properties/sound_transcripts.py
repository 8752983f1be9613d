"""Transcripts of every format that hold a bit of everything that the format knows."""

from typing import Any

from app.importers.transcript import ImportFormat

_PNG = "data:image/png;base64,AAAA"
_CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
_CHAT = [
    {"role": "system", "content": [{"type": "text", "text": "s"}]},
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": _PNG}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_data": "AAAA", "filename": "b.pdf"}},
            {"type": "hologram"},
        ],
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}],
        "tool_calls": [_CALL],
        "reasoning": "hm",
    },
    {"role": "tool", "tool_call_id": "c", "content": "r"},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "r"},
    {"role": "developer", "content": "d"},
]
_MISTRAL = [
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": _PNG},
            {"type": "document_url", "document_url": "https://a.test/b", "document_name": "b"},
            {"type": "input_audio", "input_audio": "UklGR"},
            {"type": "file", "file_id": "f"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True},
            {"type": "reference", "reference_ids": [1]},
        ],
        "tool_calls": [{**_CALL, "id": "null"}],
    },
    {"role": "tool", "name": "read", "content": [{"type": "text", "text": "r"}]},
]
_IMAGE = {"type": "image", "source": {"type": "base64", "data": "AAAA", "media_type": "image/png"}}
_ANSWER = [
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "text", "text": "a"},
    {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}},
    {"type": "tool_use", "id": "c", "name": "read", "input": {"a": 1}},
]
_GIVEN = [
    {"type": "tool_result", "tool_use_id": "c", "content": [_IMAGE], "is_error": True},
    {"type": "document", "source": {"type": "url", "url": "https://a.test/b"}, "title": "b"},
    {"type": "tool_result", "tool_use_id": "ghost", "content": "r"},
]
_ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": "q", "cache_control": {"type": "e"}}]},
    {"role": "assistant", "content": _ANSWER},
    {"role": "user", "content": _GIVEN},
    {"role": "system", "content": "s"},
]
_ITEMS: list[dict[str, Any]] = [
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "q"},
            {"type": "input_image", "image_url": _PNG},
            {"type": "input_file", "file_data": "AAAA", "filename": "b.pdf"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "x",
    },
    {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "*"},
    {"type": "local_shell_call", "call_id": "e", "action": {"command": ["ls"]}},
    {"type": "web_search_call", "id": "ws"},
    {"type": "function_call_output", "call_id": "c", "output": {"content": "r", "success": False}},
    {"type": "custom_tool_call_output", "call_id": "d", "output": "r"},
    {"type": "local_shell_call_output", "call_id": "e", "output": "r"},
]
_PARTS = [
    {"text": "hm", "thought": True, "thoughtSignature": "x"},
    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    {"fileData": {"mimeType": "image/png", "fileUri": "https://a.test/b"}},
    {"functionCall": {"name": "read", "args": {"a": 1}}, "thoughtSignature": "y"},
    {"executableCode": {"code": "1"}},
]
_RESPONSE = {
    "name": "read",
    "response": {"output": "r"},
    "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}],
}
_BEDROCK = [
    {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": "AAAA"}}}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"reasoningContent": {"redactedContent": "x"}},
            {"toolUse": {"toolUseId": "c", "name": "read", "input": {}}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "c", "content": [{"json": {}}], "status": "error"}},
            {"cachePoint": {"type": "default"}},
        ],
    },
]
_LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "data": {"content": ["q", {"type": "image_url", "image_url": _PNG}]}},
    {
        "type": "constructor",
        "id": ["langchain_core", "messages", "AIMessage"],
        "kwargs": {
            "content": [*_ANSWER, _IMAGE],
            "tool_calls": [{"id": "c", "name": "read", "args": {}}],
            "invalid_tool_calls": [{"id": "d", "name": "read", "args": "{"}],
            "additional_kwargs": {"tool_calls": [_CALL]},
            "response_metadata": {"model_name": "m"},
        },
    },
    {"type": "tool", "tool_call_id": "c", "content": "r", "status": "error"},
]
_INSPECT = [
    {"role": "user", "content": [{"type": "image", "image": _PNG}]},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "hm"}],
        "tool_calls": [{"id": "c", "function": "read", "arguments": {}}],
    },
    {"role": "tool", "tool_call_id": "c", "function": "read", "content": "r", "error": {}},
]

SOUND: dict[ImportFormat, list[Any]] = {
    "openai.chat": [
        {
            "model": "m",
            "messages": _CHAT,
            "tools": [{"type": "function", "function": {"name": "read", "parameters": {}}}],
            "functions": [{"name": "f"}],
        }
    ],
    "mistral.chat": [_MISTRAL],
    "anthropic.messages": [
        {
            "model": "m",
            "system": [{"type": "text", "text": "s"}],
            "messages": _ANTHROPIC,
            "tools": [{"name": "read", "input_schema": {"type": "object"}}],
        }
    ],
    "openai.responses": [
        {
            "model": "m",
            "instructions": "s",
            "input": _ITEMS,
            "tools": [{"type": "function", "name": "read", "parameters": {}}],
        }
    ],
    "gemini.generate_content": [
        {
            "systemInstruction": {"parts": [{"text": "s"}]},
            "contents": [
                {"role": "model", "parts": _PARTS},
                {"role": "user", "parts": [{"functionResponse": _RESPONSE}, {"text": "q"}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "read", "parameters": {}}]}],
        }
    ],
    "bedrock.converse": [
        {
            "system": [{"text": "s"}],
            "messages": _BEDROCK,
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {}}}}],
            },
        }
    ],
    "claude_code.jsonl": [
        [
            {"type": "summary", "summary": "s"},
            {"type": "user", "uuid": "1", "message": {"content": "q"}},
            {
                "type": "assistant",
                "uuid": "2",
                "message": {"id": "msg", "model": "m", "content": _ANSWER},
            },
            {"type": "user", "uuid": "3", "message": {"content": _GIVEN}},
            {"type": "user", "isCompactSummary": True, "message": {"content": "summary"}},
        ]
    ],
    "codex.rollout": [
        [
            {"type": "session_meta", "payload": {"base_instructions": {"text": "s"}}},
            {"type": "turn_context", "payload": {"model": "m"}},
            *({"type": "response_item", "payload": item} for item in _ITEMS),
            {
                "type": "compacted",
                "payload": {"message": "summary", "replacement_history": _ITEMS[:1]},
            },
            {"type": "compacted", "payload": {"message": "summary"}},
        ]
    ],
    "langchain.messages": [_LANGCHAIN],
    "inspect.messages": [_INSPECT],
}
