"""The `foreword` command: serve, migrate, capture."""

import os
import sys
from pathlib import Path

import click

from app.core import canonical
from app.core.text import escape_markup
from app.server import CannotServe, serve
from app.settings import InvalidSettings, Settings
from app.store.errors import DatabaseUnavailable, UnsupportedDatabaseUrl
from app.store.migrations import migrate
from app.version import VERSION
from app.workspace.capture import capture_document, capture_workspace


@click.group()
@click.version_option(VERSION, prog_name="foreword")
def main() -> None:
    """Foreword prepares the next model call of an agent session."""


@main.command("serve")
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on; 0 picks a free one.")
@click.option("--database-url", help="sqlite:///PATH or postgresql://…")
@click.option("--workers", type=int, help="Processes; more than one needs PostgreSQL.")
@click.option("--migrate", "first", flag_value="migrate", help="Migrate the database first.")
def serve_command(
    host: str | None,
    port: int | None,
    database_url: str | None,
    workers: int | None,
    first: str | None,
) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are finished."""
    given = {"host": host, "port": port, "database_url": database_url, "workers": workers}
    settings = _settings({name: value for name, value in given.items() if value is not None})
    try:
        if first == "migrate":
            migrate(settings.database_url)
        serve(settings)
    except (CannotServe, UnsupportedDatabaseUrl) as error:
        raise click.UsageError(str(error)) from error
    except DatabaseUnavailable as error:
        raise click.ClickException(error.detail) from error


@main.command("migrate")
@click.option("--database-url", help="sqlite:///PATH or postgresql://…")
def migrate_command(database_url: str | None) -> None:
    """Bring the database to the newest schema."""
    settings = _settings({} if database_url is None else {"database_url": database_url})
    try:
        migrate(settings.database_url)
    except UnsupportedDatabaseUrl as error:
        raise click.UsageError(str(error)) from error
    except DatabaseUnavailable as error:
        raise click.ClickException(error.detail) from error


@main.command("capture")
@click.option(
    "--cwd",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The agent's working directory.",
)
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    default=None,
    help="The directory whose .agents/skills is read.",
)
def capture_command(cwd: Path, home: Path | None) -> None:
    """Print a capture of a workspace; what could not be read is told in it."""
    capture = capture_workspace(cwd, home)
    sys.stdout.buffer.write(canonical.encode(capture_document(capture)) + b"\n")
    for warning in capture.warnings:
        # A path may hold characters that would act on the terminal.
        click.echo(escape_markup(f"{warning.path}: {warning.reason}"), err=True)


def _settings(given: dict[str, object]) -> Settings:
    """The settings of the environment, with what the command line gives over them."""
    try:
        return Settings.from_mapping(os.environ, given)
    except InvalidSettings as error:
        raise click.UsageError(str(error)) from error
