"""The manifest and the tests name each other, read from the source without running anything.

A test is linked to a rule, a vector or a report where it declares itself: in its name,
in its decorators, or in a table of rows that stands at the top of its file.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.requirements import REQUIREMENTS, requirement
from tests.requirements.printed import REPORTS, VECTORS

TESTS = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the tests say that they show."""

    rule_ids: frozenset[str]
    words: frozenset[str]
    """Every word of a test's name, and the first word of every string in its rows."""


@pytest.fixture(scope="module")
def declared() -> Declared:
    nodes = [
        node
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in declarations(ast.parse(path.read_text(encoding="utf-8")))
    ]
    return Declared(
        rule_ids=frozenset(id_ for node in nodes for id_ in linked_ids(node)),
        words=frozenset(word for node in nodes for word in spoken_words(node)),
    )


def declarations(module: ast.Module) -> Iterator[ast.AST]:
    """The test functions, the nodes of their decorators, and those of the file's tables."""
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test_"):
                    yield statement
                    for decorator in statement.decorator_list:
                        yield from ast.walk(decorator)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield from ast.walk(value)


def linked_ids(node: ast.AST) -> list[str]:
    """The ids in a call of `requirement`; one that is no literal stands as its source text."""
    match node:
        case ast.Call(func=ast.Name(id="requirement"), args=arguments):
            return [
                str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)
                for argument in arguments
            ]
        case _:
            return []


def spoken_words(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name.split("_")
        case ast.Constant(value=str(text)):
            return re.findall(r"^[A-Za-z0-9]+", text)
        case _:
            return []


def test_no_two_rules_share_an_id() -> None:
    counted = Counter(rule.id for rule in REQUIREMENTS)
    shared = [id_ for id_, times in counted.items() if times > 1]

    assert not shared, " ".join(shared)


def test_every_rule_in_force_has_a_test(declared: Declared) -> None:
    in_force = [rule.id for rule in REQUIREMENTS if rule.deferred is None]
    untested = [id_ for id_ in in_force if id_ not in declared.rule_ids]

    assert not untested, " ".join(untested)


def test_a_deferred_rule_has_no_test_yet(declared: Declared) -> None:
    deferred = [rule.id for rule in REQUIREMENTS if rule.deferred is not None]
    tested = [id_ for id_ in deferred if id_ in declared.rule_ids]

    assert not tested, " ".join(tested)


def test_every_linked_rule_exists(declared: Declared) -> None:
    unknown = sorted(declared.rule_ids - {rule.id for rule in REQUIREMENTS})

    assert not unknown, " ".join(unknown)


def test_a_test_cannot_name_an_unknown_rule() -> None:
    with pytest.raises(LookupError, match="no such requirement"):
        requirement(*["OW-0-no-such-rule"])


def test_a_test_cannot_name_no_rule() -> None:
    with pytest.raises(LookupError, match="no such requirement"):
        requirement()


def test_every_vector_has_a_test_of_its_name(declared: Declared) -> None:
    untested = [vector for vector in VECTORS if vector not in declared.words]

    assert not untested, " ".join(untested)


def test_every_report_has_a_test_of_its_name(declared: Declared) -> None:
    untested = [report for report in REPORTS if report not in declared.words]

    assert not untested, " ".join(untested)
