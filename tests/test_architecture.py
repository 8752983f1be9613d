"""The rules of tests/architecture.py hold for app/, and each of them can fail."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.architecture import (
    APP_LINES,
    FUNCTION_LINES,
    TEST_LINES,
    boolean_parameters,
    imports_inside_functions,
    impurities,
    is_pure,
    long_functions,
    misplaced_imports,
    more_than_a_docstring,
    untidy_errors,
    vague_names,
)

ROOT = Path(__file__).parents[1]
APP = ROOT / "app"

TREES: Final = {
    path.relative_to(APP).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(APP.rglob("*.py"))
}
"""The parsed modules of app/, by their paths below it."""


def offences_by(rule: Callable[[str, ast.Module], list[str]]) -> dict[str, list[str]]:
    """The modules that break a rule, with how they do."""
    found = {path: rule(path, tree) for path, tree in TREES.items()}
    return {path: offences for path, offences in found.items() if offences}


def long_files(folder: str, limit: int) -> dict[str, int]:
    """The Python files below a folder with more lines than the limit."""
    lengths = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n")
        for path in (ROOT / folder).rglob("*.py")
    }
    return {path: lines for path, lines in lengths.items() if lines > limit}


def test_the_rules_see_the_core() -> None:
    assert is_pure("core/errors.py")
    assert "core/errors.py" in TREES


def test_pure_modules_import_only_pure_things_and_touch_no_clock_or_io() -> None:
    assert offences_by(lambda path, tree: impurities(path, tree) if is_pure(path) else []) == {}


def test_restricted_modules_are_imported_only_where_they_belong() -> None:
    assert offences_by(misplaced_imports) == {}


def test_no_function_imports() -> None:
    assert offences_by(lambda _, tree: imports_inside_functions(tree)) == {}


def test_no_module_is_longer_than_its_limit() -> None:
    assert long_files("app", APP_LINES) == {}


def test_no_test_file_is_longer_than_its_limit() -> None:
    assert long_files("tests", TEST_LINES) == {}


def test_no_function_is_longer_than_its_limit() -> None:
    assert offences_by(lambda _, tree: long_functions(tree)) == {}


def test_no_function_takes_a_boolean() -> None:
    assert offences_by(lambda _, tree: boolean_parameters(tree)) == {}


def test_every_module_name_says_what_is_inside() -> None:
    assert offences_by(lambda path, _: vague_names(path)) == {}


def test_an_init_file_holds_only_a_docstring() -> None:
    assert (
        offences_by(
            lambda path, tree: more_than_a_docstring(tree) if path.endswith("__init__.py") else []
        )
        == {}
    )


def test_every_error_derives_directly_from_context_error_and_has_a_code_of_its_own() -> None:
    assert untidy_errors(TREES.values()) == []


@pytest.mark.parametrize(
    ("source", "offences"),
    [
        ("import hashlib, uuid", []),
        ("from collections.abc import Sequence", []),
        ("from datetime import datetime, timedelta", []),
        ("from uuid import UUID, uuid5", []),
        ("from app.core.text import trim", []),
        ("from app.policies.limits import derive", []),
        ("def age(clock): return clock.time", []),
        ("def f(now, open_calls): return now", []),
        ("import sqlalchemy", ["line 1: imports sqlalchemy"]),
        ("import os.path", ["line 1: imports os.path"]),
        ("import logging, random", ["line 1: imports logging", "line 1: imports random"]),
        ("from time import time", ["line 1: imports time.time"]),
        ("from uuid import uuid4", ["line 1: imports uuid.uuid4"]),
        ("from app.store.messages import rows", ["line 1: imports app.store.messages.rows"]),
        ("from app.world_state.diff import diff", ["line 1: imports app.world_state.diff.diff"]),
        ("from . import limits", ["line 1: imports ..limits"]),
        ("import uuid\nuuid.uuid4()", ["line 2: calls uuid4()", "line 2: uses uuid4"]),
        ("def f(datetime): return datetime.now", ["line 1: uses now"]),
        ("def f(moment): return moment.utcnow()", ["line 1: calls utcnow()"]),
        ("import posixpath\nposixpath.normpath('a/..')", []),
        ("import posixpath\nposixpath.realpath('a')", ["line 2: calls realpath()"]),
        ("open('x')", ["line 1: calls open()"]),
        ("print('x')", ["line 1: calls print()"]),
        ("hash('x')", ["line 1: calls hash()"]),
        ("async def f(): pass", ["line 1: async"]),
        ("async def f(x):\n    await x", ["line 1: async", "line 2: async"]),
    ],
)
def test_impurities_are_seen(source: str, offences: list[str]) -> None:
    assert impurities("policies/sample.py", ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("path", "source", "offences"),
    [
        ("core/canonical.py", "import json", []),
        ("api/body.py", "import json", []),
        ("core/budget.py", "import json", ["line 1: imports json"]),
        ("core/budget.py", "from json import dumps", ["line 1: imports json.dumps"]),
        ("services/prepare.py", "import jsonpath", []),
        ("store/messages.py", "from app.store.tables import messages", []),
        (
            "services/append.py",
            "from app.store.tables import messages",
            ["line 1: imports app.store.tables.messages"],
        ),
        ("api/context.py", "from app.store import tables", ["line 1: imports app.store.tables"]),
        ("main.py", "from app.store.database import connect", []),
        ("services/resources.py", "from app.store.database import Database", []),
        (
            "services/append.py",
            "from app.store.database import connect",
            ["line 1: imports app.store.database.connect"],
        ),
        ("services/append.py", "import sqlalchemy.sql", ["line 1: imports sqlalchemy.sql"]),
        ("api/context.py", "import sqlalchemy", ["line 1: imports sqlalchemy"]),
        ("settings.py", "from pydantic import BaseModel", []),
        ("services/append.py", "import pydantic", ["line 1: imports pydantic"]),
        ("store/messages.py", "import fastapi", ["line 1: imports fastapi"]),
        ("summarizer/client.py", "import httpx", []),
        ("services/summaries.py", "import httpx", ["line 1: imports httpx"]),
    ],
)
def test_misplaced_imports_are_seen(path: str, source: str, offences: list[str]) -> None:
    assert misplaced_imports(path, ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("source", "offences"),
    [
        ("import re\ndef f(): return re", []),
        ("def f():\n    import re", ["line 2: f imports re"]),
        (
            "class C:\n    async def f(self):\n        from re import sub",
            ["line 3: f imports re.sub"],
        ),
    ],
)
def test_imports_inside_functions_are_seen(source: str, offences: list[str]) -> None:
    assert imports_inside_functions(ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("lines", "offences"),
    [(FUNCTION_LINES, []), (FUNCTION_LINES + 1, ["line 1: f has 41 lines"])],
    ids=["at the limit", "one line more"],
)
def test_long_functions_are_seen(lines: int, offences: list[str]) -> None:
    source = "def f():\n" + "    pass\n" * (lines - 1)

    assert long_functions(ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("source", "offences"),
    [
        ("def f(x: int = 1, *, y: str = 'True') -> bool: ...", []),
        ("def f(accepts: Callable[[str], bool]): ...", []),
        ("class C:\n    accepts_data_blocks: bool = False", []),
        ("def f(x: bool): ...", ["line 1: f(x)"]),
        ("def f(x: bool | None): ...", ["line 1: f(x)"]),
        ("def f(x: 'bool'): ...", ["line 1: f(x)"]),
        ("def f(x: Optional[bool]): ...", ["line 1: f(x)"]),
        ("def f(x: Annotated[bool, Query()]): ...", ["line 1: f(x)"]),
        ("def f(x: Literal[True]): ...", ["line 1: f(x)"]),
        ("def f(x, y=False): ...", ["line 1: f(y)"]),
        ("async def f(x, *, y=True, z): ...", ["line 1: f(y)"]),
        ("class C:\n    def f(self, x: bool): ...", ["line 2: f(x)"]),
    ],
)
def test_boolean_parameters_are_seen(source: str, offences: list[str]) -> None:
    assert boolean_parameters(ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("path", "offences"),
    [
        ("core/budget.py", []),
        ("policies/base.py", []),
        ("store/database.py", []),
        ("core/base.py", ["core/base.py: base"]),
        ("core/text_utils.py", ["core/text_utils.py: utils"]),
        ("services/session_manager.py", ["services/session_manager.py: manager"]),
        ("helpers/text.py", ["helpers/text.py: helpers"]),
    ],
)
def test_vague_names_are_seen(path: str, offences: list[str]) -> None:
    assert vague_names(path) == offences


@pytest.mark.parametrize(
    ("source", "offences"),
    [
        ('"""The pure core."""', []),
        ("", ["line 1: no docstring"]),
        ("from app.core import text", ["line 1: no docstring"]),
        (
            '"""The pure core."""\nfrom app.core.text import trim',
            ["line 2: from app.core.text import trim"],
        ),
    ],
)
def test_more_than_a_docstring_is_seen(source: str, offences: list[str]) -> None:
    assert more_than_a_docstring(ast.parse(source)) == offences


@pytest.mark.parametrize(
    ("sources", "offences"),
    [
        (
            [
                "class A(ContextError):\n    code = 'a_1'",
                "class B(errors.ContextError):\n    code = 'b'",
            ],
            [],
        ),
        (["class A(ContextError): ..."], ["A has the code None"]),
        (["class A(ContextError):\n    code = 'NotFound'"], ["A has the code 'NotFound'"]),
        (
            ["class A(ContextError):\n    code = 'a'", "class B(ContextError):\n    code = 'a'"],
            ["A has the code 'a'", "B has the code 'a'"],
        ),
        (
            ["class A(ContextError):\n    code = 'a'", "class B(A):\n    code = 'b'"],
            ["B derives from A"],
        ),
    ],
)
def test_untidy_errors_are_seen(sources: list[str], offences: list[str]) -> None:
    assert untidy_errors(ast.parse(source) for source in sources) == offences
