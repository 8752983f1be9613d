"""Media as Anthropic and Bedrock take them."""

from typing import Any

import pytest

from app.core.blocks import Base64Source, Data, FileIdSource, UrlSource
from app.encoders import bedrock
from tests.unit.encoders.builders import OPTIONS, neutral, said, sent

PNG = Base64Source(source_type="base64", data="AAAA", media_type="image/png")


def data(source: Any, name: str | None = None) -> Data:
    return Data(type="data", source=source, name=name)


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            data(PNG),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
            },
        ),
        (
            data(UrlSource(source_type="url", url="https://a.test/b", media_type="image/*")),
            {"type": "image", "source": {"type": "url", "url": "https://a.test/b"}},
        ),
        (
            data(UrlSource(source_type="url", url="https://a.test", media_type="application/pdf")),
            {"type": "document", "source": {"type": "url", "url": "https://a.test"}},
        ),
        (
            data(Base64Source(source_type="base64", data="aGk=", media_type="text/plain"), "n"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "hi"},
                "title": "n",
            },
        ),
        (
            data(FileIdSource(source_type="file_id", id="f1"), "a.PNG"),
            {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        ),
        (
            data(FileIdSource(source_type="file_id", id="f1")),
            {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        ),
        (
            data(Base64Source(source_type="base64", data="AAAA", media_type="audio/wav")),
            {"type": "text", "text": "[media left out: audio/wav]"},
        ),
        (
            data(Base64Source(source_type="base64", data="/w==", media_type="text/plain")),
            {"type": "text", "text": "[media left out: text/plain]"},
        ),
    ],
)
def test_media_are_what_anthropic_takes_of_them(block: Data, part: object) -> None:
    assert sent(said("user", "look", block))[0][1] == part


def test_media_of_an_answer_are_a_line() -> None:
    assert sent(said("user", "q"), said("assistant", data(PNG)))[1] == [
        {"type": "text", "text": "[media left out: image/png]"}
    ]


def test_documents_of_bedrock_have_names_that_differ_and_a_text_beside_them() -> None:
    pdf = Base64Source(source_type="base64", data="AAAA", media_type="application/pdf")
    request = neutral(said("user", data(pdf, "a_b.pdf"), data(pdf, "a b pdf"), data(pdf)))
    parts: Any = bedrock.encode(request, OPTIONS).elements[0]["content"]

    assert [part["document"]["name"] for part in parts[:3]] == ["a b pdf", "a b pdf 2", "document"]
    assert parts[3] == {"text": "(empty message)"}


def test_what_lies_behind_an_address_is_a_line_for_bedrock() -> None:
    link = UrlSource(source_type="url", url="https://a.test/b", media_type="image/png")
    parts = bedrock.encode(neutral(said("user", data(link))), OPTIONS).elements[0]["content"]

    assert parts == [{"text": "[media left out: image/png]"}]
