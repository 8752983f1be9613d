import pytest

from app.world_state.capture import Entry, EntryType, Project
from app.world_state.errors import UserProjectContextError
from app.world_state.project import render_project
from tests.requirements import requirement


def project_of(
    *entries: tuple[str, EntryType], directory: str = "/w", root: str | None = "/w"
) -> Project:
    return Project(
        working_directory=directory,
        repository_root=root,
        entries=tuple(Entry(name=name, type=type_) for name, type_ in entries),
    )


def layout(project: Project) -> list[str]:
    text = render_project(project).text

    assert isinstance(text, str)
    lines = text.split("\n")
    assert lines[3] == "Project layout:"
    assert lines[-1] == "</user_project_context>"
    return lines[4:-1]


@requirement("OW-3-project-lists-the-top-level")
def test_S30_the_layout_is_the_repository_roots_without_its_git_directory() -> None:
    project = project_of(
        (".git", "directory"),
        ("z-dir", "directory"),
        ("nested", "directory"),
        ("a-file", "file"),
        directory="/p/nested",
        root="/p",
    )

    assert render_project(project).text == (
        '<user_project_context format_version="1">\n'
        "Working directory: /p/nested\n"
        "Repository root: /p\n"
        "Project layout:\n"
        "- a-file\n"
        "- nested/\n"
        "- z-dir/\n"
        "</user_project_context>"
    )


def test_S31_names_are_sorted_by_code_point_with_their_suffixes() -> None:
    project = project_of(
        ("a", "directory"),
        ("a-file", "file"),
        ("a.txt", "file"),
        ("A", "directory"),
        ("B", "other"),
        (".env", "file"),
        ("link", "symlink"),
        ("src", "directory"),
    )

    assert layout(project) == [
        "- .env",
        "- A/",
        "- B",
        "- a-file",
        "- a.txt",
        "- a/",
        "- link@",
        "- src/",
    ]


@requirement("OW-3-project-64-entries")
@pytest.mark.parametrize(
    ("count", "omission"),
    [
        (64, []),
        (65, ["- ... 1 additional entries omitted"]),
        (70, ["- ... 6 additional entries omitted"]),
    ],
    ids=["exactly 64", "one over", "six over"],
)
def test_S32_the_first_64_entries_are_listed_and_the_others_counted(
    count: int, omission: list[str]
) -> None:
    names = [f"f{index:02}" for index in range(count)]
    project = project_of((".git", "directory"), *((name, "file") for name in reversed(names)))

    assert layout(project) == [f"- {name}" for name in names[:64]] + omission


@requirement("OW-3-project-lists-the-top-level")
@pytest.mark.parametrize(
    "entries", [(), ((".git", "file"),)], ids=["no entries", "only the marker"]
)
def test_S33_an_empty_directory_outside_a_repository(
    entries: tuple[tuple[str, EntryType], ...],
) -> None:
    assert render_project(project_of(*entries, root=None)).text == (
        '<user_project_context format_version="1">\n'
        "Working directory: /w\n"
        "Repository root: None detected\n"
        "Project layout:\n"
        "- None\n"
        "</user_project_context>"
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a<b>&\nc\td", "- a&lt;b&gt;&amp;\\nc\ufffdd"),
        ("a\r\nb", "- a\\r\\nb"),
        ("a\x00b\x7fc\x85d", "- a\ufffdb\ufffdc\ufffdd"),
        ("a\u2028b\u00a0c", "- a\u2028b\u00a0c"),
        ("\"quoted\" 'name'", "- \"quoted\" 'name'"),
        ("界🙂", "- 界🙂"),
    ],
    ids=["S34", "CRLF", "NUL, DEL and U+0085", "U+2028 and U+00A0", "quotes", "wide characters"],
)
def test_a_name_can_neither_open_a_tag_nor_start_a_line(name: str, line: str) -> None:
    assert layout(project_of((name, "file"))) == [line]


def test_paths_are_escaped_like_names() -> None:
    project = project_of(directory="/w/<x>\n", root="/w/&")

    assert render_project(project).text == (
        '<user_project_context format_version="1">\n'
        "Working directory: /w/&lt;x&gt;\\n\n"
        "Repository root: /w/&amp;\n"
        "Project layout:\n"
        "- None\n"
        "</user_project_context>"
    )


def test_names_are_sorted_before_they_are_escaped() -> None:
    project = project_of(("<", "file"), ("1", "file"))

    assert layout(project) == ["- 1", "- &lt;"]


@requirement("OW-3-project-16384-characters")
@pytest.mark.parametrize("filler", ["x", "界"], ids=["ASCII", "three bytes each"])
def test_exactly_16384_characters_pass_and_one_more_is_refused(filler: str) -> None:
    tags = len(str(render_project(project_of(directory="")).text))
    longest = project_of(directory=filler * (16_384 - tags))
    too_long = project_of(directory=filler * (16_385 - tags))

    assert len(str(render_project(longest).text)) == 16_384
    with pytest.raises(UserProjectContextError) as refusal:
        render_project(too_long)
    assert refusal.value.detail == "user/project context exceeded 16384 characters"
    assert refusal.value.details == {"key": "runtime/user-project-context"}


def test_the_limit_counts_escaped_characters() -> None:
    with pytest.raises(UserProjectContextError):
        render_project(project_of(directory="&" * 4_000))
