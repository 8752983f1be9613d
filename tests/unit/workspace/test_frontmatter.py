import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.workspace.errors import SkillUnreadable
from app.workspace.frontmatter import SkillDocument, is_skill_name, parse_skill

MISSING_DESCRIPTION = "skill frontmatter is missing the required description field"
NO_FRONTMATTER = "SKILL.md must start with YAML frontmatter delimited by --- lines"
INVALID_YAML = "SKILL.md YAML frontmatter is invalid: "

YAML_PIECES = (
    *("name: ", "description: ", "commit", "d", "\n", "\r", "  ", "\t", "- ", "? ", ": ", "[", "]"),
    *(
        "{",
        "}",
        ",",
        '"',
        "'",
        "\\U",
        "\\ud800",
        "ffffffff",
        "|",
        ">",
        "+2\n",
        "#",
        "---\n",
        "...\n",
    ),
    *("&a ", "*a", "<<: ", "!x ", "!!str ", "!!int ", "!<", "%ff", "%YAML ", "1.1\n", "%TAG ! x\n"),
    *("9" * 5_000, "2024-99-99", "~", "\0", "\x85", "\u2028", "\ufeff", "é", "@", "`"),
)


def skill(frontmatter: str, body: str = "") -> str:
    return f"---\n{frontmatter}\n---\n{body}"


def failure(source: str, directory_name: str = "commit") -> str:
    with pytest.raises(SkillUnreadable) as raised:
        parse_skill(source, directory_name)
    return str(raised.value)


def test_a_skill_has_a_name_a_description_and_a_body() -> None:
    source = skill("name: commit\ndescription: Create commits.", "# How\n")

    assert parse_skill(source, "commit") == SkillDocument(
        name="commit", description="Create commits.", body="# How"
    )


def test_the_name_defaults_to_the_directory() -> None:
    assert parse_skill(skill("description: d"), "commit").name == "commit"


def test_lines_may_end_with_a_carriage_return() -> None:
    source = "---\r\nname: commit\r\ndescription: d\r\n---\r\n\r\nBody\r\nmore\r\n"

    assert parse_skill(source, "commit") == SkillDocument(
        name="commit", description="d", body="Body\r\nmore"
    )


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ("\r\n\n  indented\n", "  indented"),
        ("text \t\u3000\n\u2028", "text"),
        ("text\x1c", "text\x1c"),
        ("a\n---\nb", "a\n---\nb"),
        ("\n\n", ""),
    ],
    ids=["leading line breaks", "trailing white space", "no white space", "rule", "blank"],
)
def test_the_body_loses_line_breaks_before_and_white_space_after(body: str, stored: str) -> None:
    assert parse_skill(skill("description: d", body), "commit").body == stored


def test_the_closing_line_may_be_the_last_without_a_line_break() -> None:
    assert parse_skill("---\ndescription: d\n---", "commit") == SkillDocument(
        name="commit", description="d", body=""
    )


@pytest.mark.parametrize(
    "source",
    [
        "",
        "---",
        "---\n",
        "Body",
        "---\ndescription: d\n",
        "\n---\ndescription: d\n---\n",
        " ---\ndescription: d\n---\n",
        "--- \ndescription: d\n---\n",
        "\ufeff---\ndescription: d\n---\n",
        "---\ndescription: d\n----\n",
        "---\ndescription: d\n --- \n",
        "---\u2028description: d\u2028---\n",
        "---\rdescription: d\r---\r",
    ],
)
def test_text_without_two_delimiter_lines_has_no_frontmatter(source: str) -> None:
    assert failure(source) == NO_FRONTMATTER


def test_S41_a_description_is_cut_to_1024_characters() -> None:
    source = skill(f"description: {'界' * 1025} trailing")

    assert parse_skill(source, "commit").description == "界" * 1024


def test_a_description_is_one_line() -> None:
    source = skill('description: "\\t Create \\u3000 commits.\\n\\nUse it. "')

    assert parse_skill(source, "commit").description == "Create commits. Use it."


def test_white_space_is_collapsed_before_the_description_is_cut() -> None:
    source = skill(f'description: "{"a  " * 1024}"')

    assert parse_skill(source, "commit").description == "a " * 512


def test_an_empty_description_is_a_description() -> None:
    assert parse_skill(skill('description: ""'), "commit").description == ""


def test_S42_white_space_around_a_name_is_dropped() -> None:
    source = skill('name: "  commit\\n\\t"\ndescription: d')

    assert parse_skill(source, "commit").name == "commit"


@pytest.mark.parametrize(
    ("frontmatter", "directory_name", "reason"),
    [
        (
            'name: "  Invalid   Name  "\ndescription: d',
            "commit",
            "skill name does not match the required lowercase name format: Invalid Name",
        ),
        (
            "name: commit\ndescription: d",
            "commit-workflow",
            'skill frontmatter name "commit" must match directory name "commit-workflow"',
        ),
        ("name: commit", "commit", MISSING_DESCRIPTION),
    ],
    ids=["invalid name", "another directory", "no description"],
)
def test_S42_a_broken_rule_of_a_field_is_named(
    frontmatter: str, directory_name: str, reason: str
) -> None:
    assert failure(skill(frontmatter), directory_name) == reason


@pytest.mark.parametrize("field", ["name", "description"])
@pytest.mark.parametrize(
    "value",
    ["2024-01-01", "12", "1.5", "yes", "null", "", "[a]", "{a: b}", "!custom a", "!!int a"],
)
def test_a_field_that_is_not_a_string_is_refused(field: str, value: str) -> None:
    fields = {"name": "commit", "description": "d", field: value}
    frontmatter = "\n".join(f"{key}: {text}" for key, text in fields.items())

    assert failure(skill(frontmatter)) == f"skill frontmatter field {field} must be a string"


@pytest.mark.parametrize("value", ['"2024-01-01"', "'2024-01-01'", "!!str 2024-01-01"])
def test_a_quoted_date_is_a_string(value: str) -> None:
    assert parse_skill(skill(f"name: {value}\ndescription: d"), "2024-01-01").name == "2024-01-01"


@pytest.mark.parametrize(
    ("frontmatter", "reason"),
    [
        ("name: Bad Name", MISSING_DESCRIPTION),
        (
            "name: 1\ndescription: 2",
            "skill frontmatter field name must be a string",
        ),
        (
            "name: other\ndescription: 2",
            'skill frontmatter name "other" must match directory name "commit"',
        ),
    ],
    ids=["description before name", "name before description", "name whole"],
)
def test_of_several_broken_rules_the_first_is_named(frontmatter: str, reason: str) -> None:
    assert failure(skill(frontmatter)) == reason


@pytest.mark.parametrize("frontmatter", ["", "# nothing", "null", "~", "{}", "1: 2"])
def test_frontmatter_without_keys_misses_its_description(frontmatter: str) -> None:
    assert failure(skill(frontmatter)) == MISSING_DESCRIPTION


def test_other_keys_are_ignored_and_not_evaluated() -> None:
    source = skill(
        "description: d\nlicense: 2024-99-99\nmetadata: !!python/object:os.system {a: 1}\n"
        "? [a]\n: b\n<<: {name: Other}\n1: a\n1: b"
    )

    assert parse_skill(source, "commit") == SkillDocument(name="commit", description="d", body="")


@pytest.mark.parametrize("frontmatter", ["text", "- a\n- b", "[description]"])
def test_a_document_that_is_not_a_mapping_is_invalid(frontmatter: str) -> None:
    assert failure(skill(frontmatter)) == INVALID_YAML + "expected a mapping"


def test_a_key_given_twice_is_invalid_at_its_line_of_the_file() -> None:
    source = skill("name: commit\ndescription: d\nname: commit")

    assert failure(source) == INVALID_YAML + "duplicate key in line 4"


def test_invalid_yaml_is_told_in_one_line_with_its_line_of_the_file() -> None:
    source = skill("name: commit\ndescription: Use when: asked")

    assert failure(source) == (
        INVALID_YAML + "mapping values are not allowed here "
        'in "<unicode string>", line 3, column 22: description: Use when: asked ^'
    )


@pytest.mark.parametrize(
    ("frontmatter", "reason"),
    [
        ('description: "\\U00110000"', "chr() arg not in range(0x110000)"),
        ('description: "\\UFFFFFFFF"', "Python int too large to convert to C int"),
        ('description: "\\ud800"', "field description holds a lone surrogate"),
        ('name: "\\udfff"\ndescription: d', "field name holds a lone surrogate"),
    ],
)
def test_an_escape_outside_unicode_is_invalid(frontmatter: str, reason: str) -> None:
    assert failure(skill(frontmatter)) == INVALID_YAML + reason


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_nesting_without_end_is_invalid_and_not_a_crash(opening: str) -> None:
    assert failure(skill(opening * 1_000)) == INVALID_YAML + "nested too deeply"


@settings(derandomize=True)
@given(st.lists(st.sampled_from(YAML_PIECES), max_size=16).map("".join))
def test_whatever_a_file_holds_it_is_a_skill_or_a_reason_that_can_be_told(text: str) -> None:
    try:
        told = parse_skill(skill(text), "commit").description
    except SkillUnreadable as unreadable:
        told = str(unreadable)

    assert told.encode().decode() == told


def test_aliases_that_would_expand_without_end_cost_nothing() -> None:
    levels = "\n".join(
        f"k{level}: &a{level} {{<<: [*a{level - 1}, *a{level - 1}]}}" for level in range(1, 60)
    )
    source = skill(f"k0: &a0 {{x: y}}\n{levels}\ndescription: d")

    assert parse_skill(source, "commit").description == "d"


def test_an_alias_stands_for_its_string() -> None:
    assert parse_skill(skill("x: &x text\ndescription: *x"), "commit").description == "text"


@pytest.mark.parametrize("name", ["a", "7", "a-b", "a--b", "2024-01-01", "a" * 64])
def test_a_skill_name_is_lowercase_letters_digits_and_inner_hyphens(name: str) -> None:
    assert is_skill_name(name)


@pytest.mark.parametrize(
    "name", ["", "-", "-a", "a-", "A", "a_b", "a b", "a.b", "é", "٣", "a\n", "a" * 65]
)
def test_other_names_are_no_skill_names(name: str) -> None:
    assert not is_skill_name(name)
