"""`python -m bench [--json]`: one bounded run on SQLite and PostgreSQL."""

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from time import monotonic

import click

from bench.cases import cases, fill
from bench.client import Client
from bench.databases import databases
from bench.machine import commit, machine
from bench.processes import floor, service
from bench.report import Report, print_json, print_table
from bench.rounds import measure
from tests.databases import postgresql_server


@click.command("bench")
@click.option("--json", "output", flag_value="json", help="Print JSON and nothing else.")
def main(output: str | None) -> None:
    """Measure append and prepare against the bare floor."""
    report = _run()
    if output == "json":
        print_json(report)
    else:
        print_table(report)


def _run() -> Report:
    start = monotonic()
    with ExitStack() as stack:
        server_url = stack.enter_context(postgresql_server())
        urls = stack.enter_context(databases(server_url))
        services = {name: stack.enter_context(service(url)) for name, url in urls.items()}
        _tell("filling the sessions")
        _fill(services.values())
        # A floor copies what is stored, so it starts when everything is.
        floors = {name: stack.enter_context(floor(url)) for name, url in urls.items()}
        _tell("measuring")
        compared = [case for name in urls for case in cases(name, services[name], floors[name])]
        figures = measure(compared, start)
        about = machine(server_url)
    return Report(figures=figures, seconds=monotonic() - start, machine=about, commit=commit())


def _fill(addresses: Iterable[str]) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(_fill_one, addresses))


def _fill_one(address: str) -> None:
    with closing(Client(address)) as client:
        fill(client)


def _tell(doing: str) -> None:
    print(doing, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
