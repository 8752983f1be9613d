"""The pages that name things of the code name all of them, and nothing else."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import app
from app.api.problems import STATUS, TRANSPORT_CODES
from app.core.errors import ContextError
from app.policies.presets import PRESETS, policy_json
from app.settings import Settings, variable_of
from tests.markdown import DOCS, ROOT, anchors, quoted, read_page, section, table_rows

CITATION = re.compile(r"docs/([\w/-]+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)")

ERRORS = read_page("errors.md")
CODES = list(table_rows(section(ERRORS, "Codes")))


def refusals(kind: type[ContextError] = ContextError) -> Iterator[type[ContextError]]:
    """Every refusal that the code defines."""
    for child in kind.__subclasses__():
        if child.__module__.startswith("app."):
            yield child
        yield from refusals(child)


def test_every_refusal_has_a_status_and_a_code_of_its_own() -> None:
    for module in pkgutil.walk_packages(app.__path__, "app."):
        import_module(module.name)
    defined = list(refusals())

    assert set(defined) == set(STATUS)
    assert len({kind.code for kind in defined}) == len(defined)


def test_the_errors_page_lists_every_code_with_its_status_and_nothing_else() -> None:
    listed = [(*quoted(code), int(status)) for code, status, *_ in CODES]
    raised = {kind.code: status.value for kind, status in STATUS.items()}
    transport = {code: status.value for code, status in TRANSPORT_CODES.items()}

    assert sorted(listed) == sorted({**raised, **transport}.items())


def test_the_errors_page_names_for_each_code_all_that_its_bad_input_names() -> None:
    promised = {quoted(code)[0]: set(quoted(names)) for code, _, _, names, _ in CODES}
    named = {
        (quoted(answer)[0], name)
        for _, _, answer, names in table_rows(section(ERRORS, "Bad input"))
        for name in quoted(names)
        if quoted(answer)
    }

    assert not [(code, name) for code, name in sorted(named) if name not in promised[code]]


def test_the_settings_page_lists_every_variable_with_its_default_and_nothing_else() -> None:
    rows = table_rows(section(read_page("settings.md"), "Settings"))
    listed = [
        (quoted(row[0])[0], next(iter(quoted(row[2])), "None")) for row in rows if len(row) == 4
    ]
    fields = Settings.model_fields.items()

    assert listed == [(variable_of(name), shown(field.default)) for name, field in fields]


def shown(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_policies_page_lists_every_value_of_a_preset_with_its_default(preset: str) -> None:
    rows = table_rows(section(read_page("policies.md"), preset))
    listed = [(quoted(value)[0], plain(default)) for value, default, *_ in rows]
    values = policy_json(PRESETS[preset])

    assert listed == [(name, plain(str(value))) for name, value in values.items()]


def plain(cell: str) -> str:
    """A number without its thousands' spaces, a text without its backticks."""
    return cell.replace(" ", "").strip("`")


def cited(pattern: re.Pattern[str], paths: Iterator[Path]) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in paths:
        for found in pattern.finditer(path.read_text(encoding="utf-8")):
            yield path.relative_to(ROOT), found


def is_there(page: Path, anchor: str | None) -> bool:
    if not page.is_file():
        return False
    return anchor is None or anchor in anchors(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", ["app", "tests", "alembic", "scripts", "demo", "bench"])
def test_every_page_and_heading_that_the_code_cites_exists(folder: str) -> None:
    missing = [
        f"{path}: {found[0]}"
        for path, found in cited(CITATION, (ROOT / folder).rglob("*.py"))
        if not is_there(DOCS / found[1], found[2])
    ]

    assert not missing, "\n".join(missing)


def test_every_link_between_pages_leads_somewhere() -> None:
    missing = [
        f"{path}: {found[0]}"
        for path, found in cited(LINK, DOCS.rglob("*.md"))
        if not is_there(target(ROOT / path, found[1]), found[2])
    ]

    assert not missing, "\n".join(missing)


def target(page: Path, link: str | None) -> Path:
    return page if link is None else page.parent / link


def test_the_semantics_index_lists_every_page() -> None:
    pages = {path.name for path in (DOCS / "semantics").glob("*.md")} - {"README.md"}
    linked = {found[1] for found in LINK.finditer(read_page("semantics/README.md"))}

    assert pages <= linked
