import pytest

from app.world_state.retained import retained_sections
from app.world_state.sections import BUILT_IN, custom_section
from tests.requirements import requirement
from tests.unit.world_state.captures import (
    ALL_IDS,
    INSTRUCTIONS_ID,
    INSTRUCTIONS_TEXT,
    PROJECT_ID,
    PROJECT_TEXT,
    SANDBOX_ID,
    SANDBOX_TEXT,
    SKILLS_ID,
    SKILLS_TEXT,
    goals,
)


@requirement("OW-3-retained-by-kind-and-marker")
def test_S14_the_four_texts_keep_all_four_sections() -> None:
    texts = [PROJECT_TEXT, INSTRUCTIONS_TEXT, SKILLS_TEXT, SANDBOX_TEXT]

    assert retained_sections(texts, BUILT_IN) == ALL_IDS


@requirement("OW-3-retained-by-kind-and-marker")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("先前提供的 AGENTS.md 指令不再适用。", {INSTRUCTIONS_ID}),
        ("先前提供的项目上下文不再适用。", {PROJECT_ID}),
        ("先前提供的 skill 清单不再适用，当前没有可用 skill。", {SKILLS_ID}),
        ("The previous sandbox policy no longer applies.", {SANDBOX_ID}),
    ],
    ids=["S15", "project", "skills", "sandbox"],
)
def test_a_removal_notice_keeps_its_section(text: str, kept: set[str]) -> None:
    assert retained_sections([text], BUILT_IN) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"以下项目上下文取代先前提供的项目上下文。\n\n{PROJECT_TEXT}", {PROJECT_ID}),
        (
            f"以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。\n\n{INSTRUCTIONS_TEXT}",
            {INSTRUCTIONS_ID},
        ),
        (f"以下 skill 清单取代先前提供的清单。\n\n{SKILLS_TEXT}", {SKILLS_ID}),
        (f"The sandbox policy below replaces the previous one.\n\n{SANDBOX_TEXT}", {SANDBOX_ID}),
    ],
    ids=["project", "instructions", "skills", "sandbox"],
)
def test_S16_a_text_behind_its_replacement_notice_keeps_its_section(
    text: str, kept: set[str]
) -> None:
    assert retained_sections([text], BUILT_IN) == kept


def test_S17_an_empty_conversation_keeps_nothing() -> None:
    assert retained_sections([], BUILT_IN) == frozenset()


@requirement("OW-3-retained-by-kind-and-marker")
@pytest.mark.parametrize(
    "text",
    [
        " <sandbox_policy>",
        "The sandbox policy below replaces the previous one.\n<sandbox_policy>",
        "The sandbox policy below replaces the previous one.\r\n\r\n<sandbox_policy>",
        "The sandbox policy below replaces the previous one.\n\n\n<sandbox_policy>",
        "The sandbox policy below replaces the previous one.\n\n",
        "The previous sandbox policy no longer applies.\n",
        " The previous sandbox policy no longer applies.",
        "<sandbox_policy",
        "<sandbox_policy version='2'>",
        "<Sandbox_policy>",
        "\ufeff<sandbox_policy>",
        "",
    ],
    ids=[
        "S21",
        "S22",
        "CRLF",
        "two blank lines",
        "no tag",
        "more than the removal notice",
        "space before the removal notice",
        "open tag not closed",
        "tag with an attribute",
        "other case",
        "byte order mark",
        "empty",
    ],
)
def test_a_text_that_only_resembles_a_section_keeps_nothing(text: str) -> None:
    assert retained_sections([text], BUILT_IN) == frozenset()


@pytest.mark.parametrize(
    "text",
    ['<user_project_context format_version="2">', "<user_project_context>"],
    ids=["another version", "no version"],
)
def test_the_project_tag_is_recognised_whatever_its_version(text: str) -> None:
    assert retained_sections([text], BUILT_IN) == {PROJECT_ID}


@pytest.mark.parametrize(
    "text",
    [
        "<goals>\nship it\n</goals>",
        "The goals section below replaces the previous one.\n\n<goals>\nship it\n</goals>",
        "The previous goals section no longer applies.",
    ],
    ids=["body", "replacement", "removal"],
)
def test_a_custom_section_is_recognised_like_ours(text: str) -> None:
    sections = (*BUILT_IN, custom_section(goals("other body")))

    assert retained_sections([text], sections) == {"team~goals"}
