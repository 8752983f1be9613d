"""Fail unless the migrations run up, down and up again and end at what the tables declare.

Runs on a temporary SQLite file and on the PostgreSQL of the tests, through
alembic's own command line, which reads `DATABASE_URL`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.databases import postgresql_database, postgresql_server

STEPS = (("upgrade", "head"), ("downgrade", "base"), ("upgrade", "head"), ("check",))


def main() -> None:
    """Check both databases, and stop at the first step that fails."""
    with tempfile.TemporaryDirectory() as directory:
        check("SQLite", f"sqlite:///{Path(directory) / 'foreword.db'}")
    with postgresql_server() as server_url, postgresql_database(server_url) as url:
        check("PostgreSQL", url)


def check(name: str, url: str) -> None:
    """Take one empty database through the steps."""
    for step in STEPS:
        done = subprocess.run(
            [sys.executable, "-m", "alembic", *step],
            env={**os.environ, "DATABASE_URL": url},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(f"{name}: alembic {' '.join(step)} failed\n{done.stdout}{done.stderr}")
    print(f"Migrations run up, down and up again on {name} and match the tables")


if __name__ == "__main__":
    main()
