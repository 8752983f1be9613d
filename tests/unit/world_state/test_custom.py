import pytest

from app.world_state.capture import CustomSection
from app.world_state.custom import check_custom_sections, render_custom
from app.world_state.errors import InvalidCustomSection, SectionOverLimit
from app.world_state.rendering import Rendering
from app.world_state.sections import BUILT_IN, Section, custom_section, sections_with
from tests.unit.world_state.captures import goals


def custom(section_id: str = "team~goals", tag: str = "goals") -> CustomSection:
    return CustomSection(id=section_id, tag=tag, body="b")


@pytest.mark.parametrize(
    "body", ["ship it", "", "a\r\n</goals>\x00\x85\u2028 "], ids=["text", "empty", "anything"]
)
def test_a_body_stands_between_its_tags_as_it_was_given(body: str) -> None:
    assert render_custom(body, section=goals(body)) == Rendering(text=f"<goals>\n{body}\n</goals>")


def test_the_notices_of_a_section_name_its_tag() -> None:
    assert custom_section(goals("b")) == Section(
        id="team~goals",
        name="team~goals",
        open_tag="<goals>",
        replacement_notice="The goals section below replaces the previous one.",
        removal_notice="The previous goals section no longer applies.",
    )


def test_a_section_brings_notices_of_its_own() -> None:
    section = CustomSection(
        id="g", tag="goals", body="b", replacement_notice="New goals:", removal_notice=""
    )

    assert custom_section(section) == Section(
        id="g",
        name="g",
        open_tag="<goals>",
        replacement_notice="New goals:",
        removal_notice="",
    )


def test_custom_sections_follow_ours_in_the_order_given() -> None:
    zebra, ape = custom("z", "zebra"), custom("a", "ape")

    assert sections_with((zebra, ape)) == (
        *BUILT_IN,
        custom_section(zebra),
        custom_section(ape),
    )


TAGS_CHARS = len("<goals>\n\n</goals>")
BLOCK_BYTES = 27
"""JSON around the text of one block; the two newlines cost a byte more each when escaped."""


def body_of(tokens: int) -> str:
    return "x" * (tokens * 4 - BLOCK_BYTES - TAGS_CHARS - 2)


@pytest.mark.parametrize("max_tokens", [None, 2_000], ids=["default cap", "own cap"])
def test_a_section_that_reaches_its_cap_is_refused(max_tokens: int | None) -> None:
    limit = max_tokens or 10_000
    largest = goals(body_of(limit - 1), max_tokens=max_tokens)
    too_large = goals(body_of(limit), max_tokens=max_tokens)

    assert render_custom(str(largest.body), section=largest).text is not None
    with pytest.raises(SectionOverLimit) as refusal:
        render_custom(str(too_large.body), section=too_large)
    assert refusal.value.detail == (
        f"section team~goals needs {limit} tokens, over the {limit}-token cap"
    )
    assert refusal.value.details == {
        "key": "team~goals",
        "tokens": limit,
        "limit_tokens": limit,
    }


def test_a_fourth_of_a_token_counts_as_a_token() -> None:
    section = goals(body_of(1_999) + "x", max_tokens=2_000)

    with pytest.raises(SectionOverLimit):
        render_custom(str(section.body), section=section)


def test_the_cap_counts_escaped_json_bytes() -> None:
    section = goals("\x00" * 1_400, max_tokens=2_000)

    with pytest.raises(SectionOverLimit) as refusal:
        render_custom(str(section.body), section=section)
    assert refusal.value.details["tokens"] == (1_400 * 6 + BLOCK_BYTES + TAGS_CHARS + 2 + 3) // 4


def test_B131_a_section_of_100_000_characters_is_refused() -> None:
    section = goals("x" * 100_000)

    with pytest.raises(SectionOverLimit):
        render_custom(str(section.body), section=section)


@pytest.mark.parametrize(
    ("sections", "detail"),
    [
        ((custom(""),), "custom section '': the id must match [A-Za-z0-9._~:/-]{1,128}"),
        ((custom(" "),), "custom section ' ': the id must match [A-Za-z0-9._~:/-]{1,128}"),
        ((custom("a\n"),), "custom section 'a\\n': the id must match [A-Za-z0-9._~:/-]{1,128}"),
        ((custom("é"),), "custom section 'é': the id must match [A-Za-z0-9._~:/-]{1,128}"),
        (
            (custom("skills/catalog"),),
            "custom section 'skills/catalog': the id belongs to a built-in section",
        ),
        ((custom("project"),), "custom section 'project': the id belongs to a built-in section"),
        ((custom("a", "x"), custom("a", "y")), "custom section 'a': the id is used twice"),
        (
            (custom("a", ""),),
            "custom section 'a': the tag '' must match [A-Za-z][A-Za-z0-9_-]*",
        ),
        (
            (custom("a", "1x"),),
            "custom section 'a': the tag '1x' must match [A-Za-z][A-Za-z0-9_-]*",
        ),
        (
            (custom("a", "x y"),),
            "custom section 'a': the tag 'x y' must match [A-Za-z][A-Za-z0-9_-]*",
        ),
        (
            (custom("a", "sandbox_policy"),),
            "custom section 'a': the tag 'sandbox_policy' belongs to a built-in section",
        ),
        (
            (custom("a", "user_project_context_2"),),
            "custom section 'a': the tag 'user_project_context_2' belongs to a built-in section",
        ),
        (
            (custom("a", "x"), custom("b", "x")),
            "custom section 'b': the tag 'x' is used twice",
        ),
    ],
)
def test_a_section_that_could_be_taken_for_another_is_refused(
    sections: tuple[CustomSection, ...], detail: str
) -> None:
    with pytest.raises(InvalidCustomSection) as refusal:
        check_custom_sections(sections)

    assert refusal.value.detail == detail
    assert refusal.value.details == {"key": sections[-1].id}


@pytest.mark.parametrize(
    "sections",
    [
        (),
        (custom("a" * 128, "t"),),
        (custom("A.b_c~d:e/f-1", "T-2_x"),),
        (custom("a", "x"), custom("A", "X")),
        (custom("a", "sandbox_policy_2"), custom("b", "available_skills-x")),
    ],
    ids=["none", "longest id", "every character", "case matters", "closed tags of ours extended"],
)
def test_sections_with_their_own_ids_and_tags_pass(sections: tuple[CustomSection, ...]) -> None:
    check_custom_sections(sections)
