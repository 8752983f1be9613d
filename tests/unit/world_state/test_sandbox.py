import pytest

from app.world_state.capture import NOT_SAMPLED, Captured, CaptureFailure, Sandbox, SandboxMode
from app.world_state.rendering import SectionWarning
from app.world_state.sandbox import (
    BASH_UNAVAILABLE,
    BASH_WRITES_TEMPORARY,
    BASH_WRITES_WORKSPACE,
    Availability,
    availability_warning,
    render_sandbox,
)
from tests.requirements import requirement
from tests.unit.world_state.captures import SANDBOX


def bash_line(sandbox: Sandbox) -> str:
    return str(render_sandbox(sandbox).text).split("\n")[4]


@requirement("OW-3-sandbox-four-lines")
def test_S45_the_sandbox_may_write_a_workspace_inside_the_home_directory() -> None:
    sandbox = Sandbox(available=True, mode="auto", workspace="/Users/me/project", home="/Users/me")

    text = render_sandbox(sandbox).text

    assert text == (
        "<sandbox_policy>\n"
        "mode: auto\n"
        "workspace: /Users/me/project\n"
        "write / edit: can change files in the workspace.\n"
        "bash: runs in the sandbox and can write the workspace and temporary directories.\n"
        "</sandbox_policy>"
    )
    assert len(text) == 204


@requirement("OW-3-sandbox-four-lines")
@pytest.mark.parametrize(
    ("mode", "workspace"),
    [("accept-edits", "/Users/me/project"), ("auto", "/Users/me")],
    ids=["accept-edits", "workspace = home"],
)
def test_S46_writes_to_the_workspace_need_permissions(mode: SandboxMode, workspace: str) -> None:
    sandbox = Sandbox(available=True, mode=mode, workspace=workspace, home="/Users/me")

    assert render_sandbox(sandbox).text == (
        "<sandbox_policy>\n"
        f"mode: {mode}\n"
        f"workspace: {workspace}\n"
        "write / edit: can change files in the workspace.\n"
        "bash: runs in the sandbox and can write temporary directories; "
        "writes to the workspace need sandboxPermissions.\n"
        "</sandbox_policy>"
    )


@requirement("OW-3-sandbox-four-lines")
@pytest.mark.parametrize("mode", ["auto", "accept-edits"])
@pytest.mark.parametrize("workspace", ["/Users/me/project", "/Users/me"])
def test_S47_an_unavailable_sandbox_comes_before_everything_else(
    mode: SandboxMode, workspace: str
) -> None:
    sandbox = Sandbox(available=False, mode=mode, workspace=workspace, home="/Users/me")

    assert render_sandbox(sandbox).text == (
        "<sandbox_policy>\n"
        f"mode: {mode}\n"
        f"workspace: {workspace}\n"
        "write / edit: can change files in the workspace.\n"
        "bash: unavailable, because the macOS sandbox failed its self-check. Use read / grep / "
        "glob / edit for file work, and tell the user which command you need them to run.\n"
        "</sandbox_policy>"
    )
    assert bash_line(sandbox) == BASH_UNAVAILABLE


@pytest.mark.parametrize(
    ("workspace", "home", "contains_home"),
    [
        ("/", "/home/u", True),
        ("/home", "/home/u", True),
        ("/home/u/", "/home/u", True),
        ("//home///u", "/home/u", True),
        ("/home/./x/../u", "/home/u/.", True),
        ("/home/u/project", "/home/u", False),
        ("/home/us", "/home/u", False),
        ("/home/u", "/home/us", False),
        ("/Home/u", "/home/u", False),
        ("/w", "/home/u", False),
        ("/home/u/..", "/home/u", True),
        (".", "/home/u", False),
        ("home", "/home/u", False),
        (".", "home/u", True),
        ("home", "home/u", True),
    ],
)
def test_containment_of_the_home_directory_goes_by_path_components(
    workspace: str, home: str, contains_home: bool
) -> None:
    sandbox = Sandbox(available=True, mode="auto", workspace=workspace, home=home)

    assert bash_line(sandbox) == (BASH_WRITES_TEMPORARY if contains_home else BASH_WRITES_WORKSPACE)


def test_the_workspace_is_printed_as_it_was_given() -> None:
    sandbox = Sandbox(available=True, mode="auto", workspace="/w//<x>/.", home="/h")

    assert str(render_sandbox(sandbox).text).split("\n")[2] == "workspace: /w//<x>/."


@pytest.mark.parametrize(
    ("captured", "session", "detail"),
    [
        (
            True,
            "unavailable",
            "the sandbox is unavailable in the session and available in the capture",
        ),
        (
            False,
            "available",
            "the sandbox is available in the session and unavailable in the capture",
        ),
    ],
)
def test_a_session_that_disagrees_with_the_capture_is_a_warning(
    captured: bool, session: Availability, detail: str
) -> None:
    sandbox = Sandbox(available=captured, mode="auto", workspace="/w", home="/h")

    assert availability_warning(sandbox, session=session) == SectionWarning(
        code="sandbox_availability_differs", detail=detail, section="runtime/sandbox-policy"
    )


@pytest.mark.parametrize(
    "sandbox",
    [SANDBOX, None, NOT_SAMPLED, CaptureFailure(code="io", detail="gone")],
    ids=["agrees", "absent", "not sampled", "failed"],
)
def test_a_session_that_agrees_or_has_nothing_to_compare_gives_no_warning(
    sandbox: Captured[Sandbox],
) -> None:
    assert availability_warning(sandbox, session="available") is None
