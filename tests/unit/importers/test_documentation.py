"""The page of the importers names every format and every code, and nothing else."""

from typing import get_args

import pytest

from app.importers.formats import IMPORTERS
from app.importers.transcript import ImportFormat, ImportRepairCode, SkipCode
from tests.markdown import quoted, read_page, section, table_rows

PAGE = read_page("semantics/importers.md")


@pytest.mark.parametrize(
    ("heading", "codes"),
    [("Formats", ImportFormat), ("Repairs", ImportRepairCode), ("Skipped lines", SkipCode)],
)
def test_the_page_lists_every_name_once(heading: str, codes: object) -> None:
    listed = [name for first, *_ in table_rows(section(PAGE, heading)) for name in quoted(first)]

    assert sorted(listed) == sorted(get_args(codes))


def test_every_format_has_an_importer() -> None:
    assert set(IMPORTERS) == set(get_args(ImportFormat))
