"""`python -m bench.presets [FILE] [--json]`: one session under every preset.

A worker plays the transcript to its end, on a model with a small window, and
compacts when it is told to, with canned summaries. The run fails where a
request is not well paired.
"""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from uuid import uuid4

import click
import httpx
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.main import create_app
from app.policies.folding import StyleName
from app.policies.presets import PRESETS, policy_from
from app.settings import Settings
from app.store.migrations import migrate
from bench.calibration import CODING_SESSION
from bench.preset_player import MODEL, Json, Played, Player
from tests.api.large_agent import large_agent

PROFILE: Json = {"name": MODEL, "context_window": 100_000, "max_output_tokens": 8_192}
_AWAKEN_BY_TOKENS: Json = {"preset": "awaken", "compact": {"max_tokens": 100_000}}

POLICIES: Mapping[str, Json] = {
    **{name: {"preset": name} for name in PRESETS},
    "awaken, by tokens": _AWAKEN_BY_TOKENS,
}
"""The rows of the table. Awaken counts messages unless it is told its window."""

HEADERS = (
    *("preset", "model calls", "compactions", "in the background", "before", "after"),
    *("largest request", "prefix bytes broken", "invalid", "without the request"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A policy, and the session that was played under it."""

    name: str
    played: Played


async def play(
    client: httpx.AsyncClient, policy: Json, profile: Json, messages: Sequence[Json]
) -> Played:
    """A new session, played to the end of the messages.

    Raises:
        Refused: A call could be neither prepared nor made shorter.
    """
    session: Json = {
        "id": f"bench-{uuid4().hex}",
        "model": MODEL,
        "model_profile": profile,
        "policy": policy,
        "agent": large_agent(),
    }
    (await client.post("/v1/sessions", json=session)).raise_for_status()
    style: StyleName = policy_from(policy).folding.style
    player = Player(client, session["id"], style, profile["context_window"])
    return await player.play(messages)


def read_messages(path: Path) -> list[Json]:
    """The lines of a transcript."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table."""
    played = row.played
    before = [fold.before_tokens for fold in played.folds]
    after = [fold.after_tokens for fold in played.folds]
    return (
        row.name,
        _number(played.model_calls),
        _number(len(played.folds)),
        _number(played.background),
        _spread(before),
        _spread(after),
        _number(played.largest_sent_tokens),
        _number(played.broken_bytes),
        _number(len(played.invalid)),
        _number(played.without_request),
    )


@click.command("presets")
@click.argument("path", type=click.Path(exists=True, dir_okay=False), default=CODING_SESSION)
@click.option("--json", "output", flag_value="json", help="Print JSON and nothing else.")
@click.option("--database-url", help="An empty database in place of a temporary SQLite file.")
def main(path: str, output: str | None, database_url: str | None) -> None:
    """Play FILE to its end under every preset, and fail where a request is invalid."""
    messages = read_messages(Path(path))
    with _database(database_url) as url:
        migrate(url)
        rows = asyncio.run(_rows(url, messages))
    if output == "json":
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print_table(rows, Path(path).name)
    faults = [f"{row.name}: {fault}" for row in rows for fault in row.played.invalid]
    print(*faults, sep="\n", end="\n" * bool(faults), file=sys.stderr)
    sys.exit(bool(faults))


async def _rows(database_url: str, messages: Sequence[Json]) -> list[Row]:
    app = create_app(Settings(database_url=database_url))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://foreword.bench") as client,
    ):
        rows: list[Row] = []
        for name, policy in POLICIES.items():
            print(f"playing {name}", file=sys.stderr, flush=True)
            rows.append(Row(name=name, played=await play(client, policy, PROFILE, messages)))
        return rows


@contextmanager
def _database(given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    with TemporaryDirectory(prefix="foreword-bench-") as directory:
        yield f"sqlite:///{Path(directory) / 'foreword.db'}"


def _print_table(rows: Sequence[Row], name: str) -> None:
    table = Table(box=SIMPLE_HEAD, padding=0, title=f"{name}, tokens of the provider")
    table.add_column(HEADERS[0])
    for header in HEADERS[1:]:
        table.add_column(header, justify="right")
    for row in rows:
        table.add_row(*cells(row))
    Console(highlight=False).print(table)


def _number(value: float) -> str:
    return f"{round(value):,}".replace(",", " ")


def _spread(values: Sequence[int]) -> str:
    """The first, the median and the last."""
    if not values:
        return "none"
    return " · ".join(map(_number, (values[0], median(values), values[-1])))


if __name__ == "__main__":
    main()
