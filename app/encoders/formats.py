"""The formats by their names.

Source: docs/semantics/encoders.md.
"""

from collections.abc import Mapping

from app.encoders import (
    anthropic,
    anthropic_answers,
    bedrock,
    bedrock_answers,
    gemini,
    gemini_answers,
    mistral,
    mistral_answers,
    openai_chat,
    openai_chat_answers,
    openai_responses,
    openai_responses_answers,
)
from app.encoders.decoding import Decode
from app.encoders.encoding import Encode, Format

ENCODERS: Mapping[Format, Encode] = {
    "openai.chat": openai_chat.encode,
    "openai.responses": openai_responses.encode,
    "anthropic.messages": anthropic.encode,
    "gemini.generate_content": gemini.encode,
    "bedrock.converse": bedrock.encode,
    "mistral.chat": mistral.encode,
}
DECODERS: Mapping[Format, Decode] = {
    "openai.chat": openai_chat_answers.decode,
    "openai.responses": openai_responses_answers.decode,
    "anthropic.messages": anthropic_answers.decode,
    "gemini.generate_content": gemini_answers.decode,
    "bedrock.converse": bedrock_answers.decode,
    "mistral.chat": mistral_answers.decode,
}
