import pytest

from app.world_state.capture import Skill
from app.world_state.rendering import Rendering, SectionWarning
from app.world_state.skills import FOOTER, HEADER, normal_description, render_skills
from tests.requirements import requirement
from tests.unit.world_state.captures import COMMIT, SKILLS_TEXT


def skill(name: str, description: str = "d", *, enabled: bool = True) -> Skill:
    return Skill(name=name, description=description, path=f"/tmp/{name}/SKILL.md", enabled=enabled)


def omission(path: str) -> SectionWarning:
    return SectionWarning(
        code="skill_omitted",
        detail="skill omitted from catalog because the 8000 character limit was exceeded",
        section="skills/catalog",
        path=path,
    )


def test_the_catalogue_is_a_header_a_line_per_skill_and_a_footer() -> None:
    assert render_skills((COMMIT,)) == Rendering(text=SKILLS_TEXT)
    assert (len(HEADER), len(FOOTER)) == (67, 153)


@requirement("OW-3-catalogue-warnings-stay-outside")
def test_S38_the_last_line_goes_while_the_catalogue_is_too_long() -> None:
    skills = tuple(skill(f"skill-{index}", "界" * 1_024) for index in range(8))
    whole = (
        HEADER
        + FOOTER
        + "".join(f"- {each.name}: {each.description} (file: {each.path})\n" for each in skills)
    )

    rendering = render_skills(skills)

    assert len(whole) == 8_748
    assert len(str(rendering.text)) == 7_682
    assert rendering.text == render_skills(skills[:7]).text
    assert rendering.warnings == (omission("/tmp/skill-7/SKILL.md"),)


@requirement("OW-3-catalogue-without-disabled-skills")
def test_S39_a_disabled_skill_is_not_listed() -> None:
    skills = (skill("commit", enabled=False), skill("review"))

    assert render_skills(skills) == render_skills((skill("review"),))


@pytest.mark.parametrize(
    "skills",
    [(), (skill("commit", enabled=False), skill("review", enabled=False))],
    ids=["none", "S40 all disabled"],
)
def test_a_catalogue_without_enabled_skills_is_absent(skills: tuple[Skill, ...]) -> None:
    assert render_skills(skills) == Rendering(text=None)


def test_exactly_8000_characters_pass_and_one_more_does_not() -> None:
    filler = 8_000 - len(HEADER) - len(FOOTER) - len("- : d (file: /tmp//SKILL.md)\n")
    longest = skill("n" * (filler // 2))
    pad = " " * (filler % 2)
    exact = Skill(name=longest.name + pad, description="d", path=longest.path, enabled=True)
    too_long = Skill(name=exact.name + "n", description="d", path=longest.path, enabled=True)

    assert len(str(render_skills((exact,)).text)) == 8_000
    assert render_skills((too_long,)) == Rendering(text=None, warnings=(omission(longest.path),))


def test_lines_go_from_the_end_even_where_a_later_one_would_fit() -> None:
    long = Skill(name="long", description="d", path="/" + "p" * 8_000, enabled=True)

    rendering = render_skills((skill("first"), long, skill("last")))

    assert rendering.text == render_skills((skill("first"),)).text
    assert rendering.warnings == (omission("/tmp/last/SKILL.md"), omission(long.path))


def test_a_disabled_skill_takes_no_room_and_gives_no_warning() -> None:
    long = Skill(name="long", description="d", path="/" + "p" * 8_000, enabled=False)

    assert render_skills((long, COMMIT)) == Rendering(text=SKILLS_TEXT)


def test_lines_are_not_escaped_and_keep_the_order_given() -> None:
    text = str(render_skills((skill("b", "<b> & \x00"), skill("a", "x"))).text)

    assert text.split("\n")[3:5] == [
        "- b: <b> & \x00 (file: /tmp/b/SKILL.md)",
        "- a: x (file: /tmp/a/SKILL.md)",
    ]


@pytest.mark.parametrize(
    ("description", "normal"),
    [
        ("界" * 1_025 + " trailing", "界" * 1_024),
        ("界" * 1_024, "界" * 1_024),
        ("  a \n\t b\r\n\x85\u2028c\u3000 ", "a b c"),
        ("a\x1cb", "a\x1cb"),
        ("x" * 1_023 + "  y", "x" * 1_023 + " "),
        (" \n", ""),
    ],
    ids=[
        "S41",
        "exactly 1 024",
        "every kind of white space",
        "a separator that is no white space",
        "the cut comes last",
        "blank",
    ],
)
def test_a_description_is_one_line_of_at_most_1024_characters(
    description: str, normal: str
) -> None:
    assert normal_description(description) == normal
