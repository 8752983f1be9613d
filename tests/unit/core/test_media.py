"""What media costs, by its size and by the rule of who bills it."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.blocks import Base64Source, Data, FileIdSource, UrlSource, text_block
from app.core.budget import estimate_regions, tokenizer_regions
from app.core.counting import count_blocks
from app.core.facts import form_of
from app.core.media import MediaRule, media_basis, media_tokens
from app.core.media_header import Audio, Document, Image, Medium, base64_of_url, medium_of
from tests.markdown import read_page, section, table_rows
from tests.unit.core.builders import COUNTER, result, stored, user
from tests.unit.core.media_files import (
    base64_of,
    gif,
    jpeg,
    pdf,
    png,
    wave,
    webp,
    webp_extended,
    webp_lossless,
    webp_lossy,
)

RULES: tuple[MediaRule, ...] = get_args(MediaRule)
HD = Image(width=1_920, height=1_080)


def data_of(payload: str, media_type: str = "image/png") -> Data:
    source = Base64Source(source_type="base64", data=payload, media_type=media_type)
    return Data(type="data", source=source)


def at_address(url: str) -> Data:
    source = UrlSource(source_type="url", url=url, media_type="image/png")
    return Data(type="data", source=source)


@pytest.mark.parametrize(
    ("payload", "medium"),
    [
        (png(1_920, 1_080), HD),
        (gif(1_920, 1_080), HD),
        (jpeg(1_920, 1_080), HD),
        (jpeg(1_920, 1_080, metadata=60_000), HD),
        (webp_extended(1_920, 1_080), HD),
        (webp_lossless(1_920, 1_080), HD),
        (webp_lossy(1_920, 1_080), HD),
        (png(1, 1), Image(width=1, height=1)),
        (png(1_920, 1_080).replace("+", "-").replace("/", "_"), HD),
        ("\r\n".join([png(1_920, 1_080)[:20], png(1_920, 1_080)[20:]]), HD),
        (png(1_920, 1_080).rstrip("="), HD),
        (pdf(b"<</Type/Pages/Count 12>>"), Document(pages=12)),
        (pdf(b"<</Type/Pages/Count 12>>", before=500_000), Document(pages=12)),
        (pdf(b"<</Linearized 1/L 9/N 7>> /Count 900"), Document(pages=7)),
        (pdf(b"", behind=100_000), Document(pages=4)),
        (pdf(b"/Count 9999999"), Document(pages=1_000)),
        (pdf(b"/Count 0"), Document(pages=1)),
        (wave(90), Audio(milliseconds=90_000)),
    ],
)
def test_a_few_bytes_tell_the_size(payload: str, medium: Medium) -> None:
    assert medium_of(payload) == medium


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "Z" * 40,
        "====",
        "iVBOR\N{SNOWMAN}",
        "\ud800" * 40,
        png(0, 10),
        png(10, 2**31),
        png(10, 10)[:24],
        base64_of(b"GIF89a"),
        base64_of(b"\xff\xd8\xff"),
        base64_of(b"\xff\xd8" + b"\xff\xe1\0\0" * 10),
        base64_of(b"\xff\xd8" + b"\xff" * 100_000),
        base64_of(b"\xff\xd8\xff\xe1\0\x02no marker follows"),
        base64_of(b"RIFF\0\0\0\0AVI LIST"),
        base64_of(b"RIFF\0\0\0\0WAVELIST" + bytes(40)),
        base64_of(b"RIFF\0\0\0\0WAVEfmt " + bytes(40)),
        webp(b"VP9 ", bytes(40)),
        webp(b"VP8 ", b""),
    ],
)
def test_a_payload_that_is_not_understood_has_no_size(payload: str) -> None:
    assert medium_of(payload) is None


@given(st.binary(max_size=300).map(base64_of) | st.text(max_size=300), st.sampled_from(RULES))
def test_no_payload_is_an_error_or_free(payload: str, rule: MediaRule) -> None:
    heads = (base64_of(b"\xff\xd8\xff"), base64_of(b"%PDF-1"), base64_of(b"GIF89a"))

    assert all(media_tokens(data_of(head + payload), rule) > 0 for head in ("", *heads))


@given(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1), st.sampled_from(RULES[:-1]))
def test_an_image_of_any_shape_has_a_bounded_price(
    width: int, height: int, rule: MediaRule
) -> None:
    assert 0 < media_tokens(data_of(png(width, height)), rule) <= 6_192


@given(st.integers(1, 3_000), st.integers(0, 3_000))
def test_a_larger_image_of_the_same_shape_never_costs_less_by_area(side: int, more: int) -> None:
    small = media_tokens(data_of(png(side, side)), "anthropic")

    assert small <= media_tokens(data_of(png(side + more, side + more)), "anthropic")


@pytest.mark.parametrize(
    ("rule", "width", "height", "tokens"),
    [
        ("anthropic", 200, 200, 54),
        ("anthropic", 1_000, 1_000, 1_334),
        ("anthropic", 1_092, 1_092, 1_590),
        ("anthropic", 8_000, 6_000, 1_600),
        ("anthropic", 8_000, 100, 40),
        ("openai", 512, 512, 255),
        ("openai", 1_024, 1_024, 765),
        ("openai", 2_048, 4_096, 1_105),
        ("openai_patches", 1_024, 1_024, 1_024),
        ("openai_patches", 4_000, 4_000, 1_536),
        ("gemini", 384, 384, 258),
        ("gemini", 960, 540, 1_548),
        ("gemini", 10_000, 10_000, 4_128),
    ],
)
def test_a_provider_charges_by_the_sides_of_an_image(
    rule: MediaRule, width: int, height: int, tokens: int
) -> None:
    assert media_tokens(data_of(png(width, height)), rule) == tokens


@pytest.mark.parametrize(
    ("rule", "pages", "minute"),
    [
        ("anthropic", 9_000, 600),
        ("openai", 4_500, 600),
        ("openai_patches", 4_500, 600),
        ("gemini", 774, 1_920),
    ],
)
def test_documents_cost_by_the_page_and_sounds_by_the_second(
    rule: MediaRule, pages: int, minute: int
) -> None:
    assert media_tokens(data_of(pdf(b"/Count 3")), rule) == pages
    assert media_tokens(data_of(wave(60)), rule) == minute


@pytest.mark.parametrize("rule", RULES)
def test_what_lies_behind_an_address_or_an_id_costs_a_fixed_number(rule: MediaRule) -> None:
    by_id = Data(type="data", source=FileIdSource(source_type="file_id", id="f" * 10_000))

    assert media_tokens(by_id, rule) == 1_600
    assert media_tokens(at_address("https://example.test/" + "a" * 10_000), rule) == 1_600


def test_an_address_that_holds_the_payload_counts_as_the_payload() -> None:
    payload = png(200, 200)

    assert base64_of_url(f"DATA:image/png;BASE64,{payload}") == payload
    assert base64_of_url("data:text/plain,hello") is None
    assert base64_of_url("https://example.test/data:;base64,aa") is None
    assert media_tokens(at_address(f"data:image/png;base64,{payload}"), "anthropic") == 54


def test_a_text_in_base64_counts_as_text() -> None:
    assert media_tokens(data_of(base64_of(b"x" * 399), "text/plain"), "anthropic") == 100
    assert media_tokens(data_of(base64_of(b"x" * 399), "image/png"), "anthropic") == 1_600


def test_B094_a_proxy_that_bills_raw_base64_is_counted_by_its_length() -> None:
    screenshot = data_of(png(1_920, 1_080, behind=300_000))
    billed = sum(media_tokens(screenshot, "bytes") for _ in range(45))
    by_size = sum(media_tokens(screenshot, "anthropic") for _ in range(45))

    assert billed == 45 * 100_009
    assert by_size == 45 * 1_600


def test_B091_a_pasted_image_weighs_by_its_size_in_the_first_message() -> None:
    (item,) = stored(user(text_block("What is this?"), data_of(png(800, 600, behind=900_000))))
    (without,) = stored(user("What is this?"))
    image_tokens = item.facts.tokenizer_tokens - without.facts.tokenizer_tokens

    assert image_tokens == 640
    assert tokenizer_regions([], [item], []).total < 700
    # The policy's own formula is the one of OpenWork and stays: bytes of JSON by four.
    assert estimate_regions([], [item], []).total > 300_000


def test_B092_an_image_inside_a_tool_result_counts_by_its_size_too() -> None:
    picture = data_of(png(200, 200, behind=100_000))
    address = f"data:image/png;base64,{png(200, 200, behind=100_000)}"

    assert count_blocks((result("c1", "four", picture),), COUNTER) == 4 + 54
    assert count_blocks((result("c1", "four", at_address(address)),), COUNTER) == 4 + 54


def test_the_basis_names_the_rule() -> None:
    assert media_basis("gemini") == "media/2 gemini, 1600 tokens where the size is unknown"
    assert form_of("user", (text_block("a"),), COUNTER).facts.token_basis == COUNTER.basis


def test_the_documentation_has_the_prices() -> None:
    rows = list(table_rows(section(read_page("semantics/budget.md"), "Media")))[-3:]
    priced = {
        (rule, cells[0]): cells[1 + index].replace(" ", "")
        for cells in rows
        for index, rule in enumerate(RULES[:-1])
    }

    for (rule, sides), tokens in priced.items():
        width, height = (int(side.replace(" ", "")) for side in sides.split("×"))
        assert media_tokens(data_of(png(width, height)), rule) == int(tokens), (rule, sides)
