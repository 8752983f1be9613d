"""`foreword migrate` and `foreword capture` as processes of their own."""

import asyncio
import json
from pathlib import Path

from tests.api.client import Api, service
from tests.databases import postgresql_database
from tests.store.processes import run, serving
from tests.store.rows import stored_rows

INSTRUCTIONS = "Run the tests before you answer.\n"
SKILL = "---\nname: commit\ndescription: Commits what is staged.\n---\nCommit.\n"


async def test_migrate_makes_a_database_that_serves_and_may_run_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db"
    first = run("migrate", "--database-url", url)
    async with service(url) as client:
        await Api(client=client).session()
    before = await stored_rows(url)
    again = run("migrate", "--database-url", url)

    assert (first.returncode, again.returncode) == (0, 0)
    assert await stored_rows(url) == before


def test_migrate_takes_an_empty_postgresql_database(postgresql_server_url: str) -> None:
    with postgresql_database(postgresql_server_url) as url:
        migrated = run("migrate", "--database-url", url)
        rows = asyncio.run(stored_rows(url))

    assert migrated.returncode == 0
    assert not any(rows.values())


def test_migrate_refuses_a_database_that_is_not_served() -> None:
    refused = run("migrate", "--database-url", "mysql://localhost/foreword")

    assert refused.returncode == 2
    assert "sqlite:///PATH or postgresql://" in refused.stderr


def test_several_workers_need_postgresql(sqlite_url: str) -> None:
    refused = run("serve", "--database-url", sqlite_url, "--workers", "2")

    assert refused.returncode == 2
    assert "use PostgreSQL" in refused.stderr


def test_an_address_for_everybody_needs_to_be_allowed(sqlite_url: str) -> None:
    refused = run("serve", "--database-url", sqlite_url, "--host", "0.0.0.0")

    assert refused.returncode == 2
    assert "FOREWORD_ALLOW_ANONYMOUS" in refused.stderr


def test_serve_migrates_first_where_it_is_asked_to(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/new.db", "--migrate") as server:
        assert server.url.startswith("http://127.0.0.1:")

    assert (tmp_path / "new.db").exists()


async def test_what_capture_prints_is_a_sample_of_world_state(
    tmp_path: Path, sqlite_url: str
) -> None:
    workspace, skills = tmp_path / "workspace", tmp_path / "home" / ".agents" / "skills"
    workspace.mkdir()
    (workspace / "AGENTS.md").write_text(INSTRUCTIONS)
    (skills / "commit").mkdir(parents=True)
    (skills / "commit" / "SKILL.md").write_text(SKILL)
    (skills / "broken").mkdir()
    (skills / "broken" / "SKILL.md").write_text("no frontmatter")
    printed = run("capture", "--cwd", str(workspace), "--home", str(tmp_path / "home"))
    capture = json.loads(printed.stdout)
    async with service(sqlite_url) as client:
        session = await Api(client=client).session()
        sampled = await session.sample(capture)

    assert printed.returncode == 0
    assert "broken" in printed.stderr
    assert capture["instructions"] == {"content": INSTRUCTIONS}
    assert [skill["name"] for skill in capture["skills"]] == ["commit"]
    assert [section["state"] for section in sampled["sections"]] == ["known"] * 3
