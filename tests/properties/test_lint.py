"""Lint finds nothing in what was encoded, and stops at nothing that anybody sends."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import canonical
from app.core.model_profile import unknown_profile
from app.encoders.encoding import EncodingOptions, Format
from app.encoders.formats import ENCODERS
from app.encoders.lint.formats import lint
from tests.properties.test_chat_encoders import CONVERSATIONS, SYSTEM, request_of

FORMATS = pytest.mark.parametrize("body_format", ENCODERS)
WORDS = st.sampled_from(
    [
        *("messages", "input", "contents", "parts", "role", "user", "assistant", "model", "tool"),
        *("content", "type", "text", "tool_use", "tool_result", "tool_calls", "function", "id"),
        *("name", "tools", "input_schema", "system", "toolConfig", "toolUse", "functionCall"),
        *("source", "data", "image", "thinking", "max_tokens", "cache_control", "reasoning", ""),
        *("function_call", "function_call_output", "output", "image_url", "toolSpec", "json"),
    ]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=20,
)


@FORMATS
@given(items=CONVERSATIONS, system=SYSTEM)
def test_nothing_is_found_in_a_body_that_was_encoded(
    body_format: Format, items: Any, system: Any
) -> None:
    for model in ("model-1", "gemini-3-pro"):
        request = replace(request_of(items, system), model=model)
        body = canonical.decode(
            canonical.encode(ENCODERS[body_format](request, EncodingOptions()).body())
        )
        assert isinstance(body, dict)
        assert lint(body_format, body, unknown_profile(model)) == ()


@FORMATS
@given(body=st.dictionaries(WORDS, ANYTHING, max_size=5))
def test_whatever_is_sent_is_looked_through(body_format: Format, body: dict[str, Any]) -> None:
    for found in lint(body_format, body, unknown_profile("m")):
        assert found.detail
