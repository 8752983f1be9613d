"""What a run was made on."""

import asyncio
import os
import platform
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path

import asyncpg

_ROOT = Path(__file__).parent.parent
_CPU_INFO = Path("/proc/cpuinfo")


def machine(postgresql_url: str) -> Mapping[str, object]:
    """The hardware, how busy it is, and the versions that decide over the figures."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "postgresql": asyncio.run(_postgresql_version(postgresql_url)),
    }


def commit() -> str | None:
    """The commit that is checked out; None outside a repository."""
    command = ["git", "-C", str(_ROOT), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


async def _postgresql_version(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        version: str = await connection.fetchval("SHOW server_version")
    finally:
        await connection.close()
    return version


def _cpu() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text().split("\n"):
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
