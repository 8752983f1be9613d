"""The bad-input tables of docs/errors.md, row by row: what is refused stores nothing.

Since nothing is stored, all rows share one session on each database.
"""

import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio

from tests.api.bad_input import ADDRESSES, BODIES, TYPES, Case
from tests.api.bad_values import CAPTURES, CONVERSATIONS, IDS, SETTINGS, STATELESS
from tests.api.client import PROFILE, Api, Json, SessionApi, calls, service, succeeded, user
from tests.databases import postgresql_database
from tests.markdown import quoted, read_page, section, table_rows
from tests.requirements import requirement

TABLES = {
    "Bodies": BODIES,
    "Types and fields": TYPES,
    "Ids": IDS,
    "Conversations": CONVERSATIONS,
    "Session settings": SETTINGS,
    "Captures": CAPTURES,
    "Addresses and queries": ADDRESSES,
    "Stateless requests": STATELESS,
}
STANDARD_MEMBERS = {"type", "title", "status", "detail", "instance", "code", "retryable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the documentation says of one case."""

    case: Case
    status: int
    code: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The session of all rows, and everything that was stored before any of them."""

    session: SessionApi
    before: list[Json]


def documented(heading: str) -> list[list[str]]:
    bad_input = section(read_page("errors.md"), "Bad input")
    return list(table_rows(section(bad_input, heading)))


def row_of(cells: list[str], case: Case) -> Row:
    _, _, answer, names = cells
    (code,) = quoted(answer)
    return Row(case=case, status=int(answer[:3]), code=code, names=frozenset(quoted(names)))


ROWS = [
    pytest.param(row_of(cells, cases[cells[0]]), id=cells[0])
    for heading, cases in TABLES.items()
    for cells in documented(heading)
    if cells[0] in cases
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "sqlite":
        template = request.getfixturevalue("sqlite_template")
        path = shutil.copy(template, tmp_path_factory.mktemp("bad-input") / "foreword.db")
        yield f"sqlite:///{path}"
        return
    server_url = request.getfixturevalue("postgresql_server_url")
    template_url = request.getfixturevalue("postgresql_template_url")
    with postgresql_database(server_url, template_url=template_url) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(shared_database_url: str) -> AsyncIterator[Shared]:
    """A session of a model without media, with a user message and a call without a result."""
    async with service(shared_database_url) as client:
        session = await Api(client=client).session(
            model_profile={**PROFILE, "accepts_data_blocks": False}
        )
        await session.append(user("hi", "m1"), calls("c1", message_id="m2"))
        yield Shared(session=session, before=await stored(session))


async def stored(session: SessionApi) -> list[Json]:
    """Everything of all sessions that can be seen."""
    sessions = succeeded(await session.client.get("/v1/sessions"))
    return [sessions, *await session.messages(), await session.read("world-state")]


@requirement("OW-3-failed-write-changes-nothing", "OW-3-failed-section-fails-the-sample")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", ROWS)
async def test_bad_input_is_refused_and_stores_nothing(shared: Shared, row: Row) -> None:
    response = await row.case.send(shared.session.client)

    assert (response.status_code, response.json()["code"]) == (row.status, row.code)
    assert offender(response) == row.case.named
    assert row.names == set(row.case.named)
    assert row.case.detail in (None, response.json()["detail"])
    assert await stored(shared.session) == shared.before


def offender(response: httpx.Response) -> Json:
    """The members that name the offender; of faults, their paths."""
    named = {name: value for name, value in response.json().items() if name not in STANDARD_MEMBERS}
    if "errors" in named:
        named["errors"] = [fault["path"] for fault in named["errors"]]
    return named


@pytest.mark.parametrize("heading", TABLES)
def test_the_documentation_lists_exactly_the_cases_that_are_tested(heading: str) -> None:
    assert [cells[0] for cells in documented(heading)] == list(TABLES[heading])
