"""Runs the application in one process or several.

Source: docs/settings.md#serving.
"""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from threading import Thread
from time import sleep

import httpx
from uvicorn import Config, Server
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.supervisors import Multiprocess

from app.main import LISTENERS, create_app, spare_collector
from app.settings import Settings, variable_of

BACKLOG = 2_048
START_SECONDS = 60
"""How long a worker may take to start before it counts as hung and is replaced."""

GRACE_SECONDS = 30
"""How long requests in flight may take to end after SIGTERM."""


class CannotServe(Exception):
    """The settings do not go together, or the address is taken."""


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight.

    Prints `listening on http://HOST:PORT` once it answers.

    Raises:
        CannotServe: The settings do not go together, or the address is taken.
    """
    _refuse_open_door(settings)
    if settings.workers > 1 and settings.database_url.startswith("sqlite"):
        raise CannotServe("SQLite serves one process; use PostgreSQL for --workers above 1")
    with _listening_socket(settings) as listener:
        if settings.workers == 1:
            _serve_alone(settings, listener)
        else:
            _serve_together(settings, listener)


class _HttpConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that ends the streams of events when the server stops.

    The server waits for what is in flight before it tells the application that it stops, and a
    stream of events would never end by itself.
    """

    def shutdown(self) -> None:
        self.app_state[LISTENERS].end()
        super().shutdown()


class _SingleServer(Server):
    """Ends with exit status 0 on a signal, and says when it is ready."""

    def __init__(self, config: Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            spare_collector()
            _announce(self._address)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Uvicorn raises the signal again when it is done, which would end the
        # process by that signal instead of with status 0.
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _serve_alone(settings: Settings, listener: socket.socket) -> None:
    config = _config(create_app(settings))
    _SingleServer(config, _address(listener)).run(sockets=[listener])


def _serve_together(settings: Settings, listener: socket.socket) -> None:
    # Workers are new processes, which get their settings from the environment.
    for name, value in settings.model_dump().items():
        os.environ[variable_of(name)] = "" if value is None else str(value)
    config = _config("app.main:create_app_from_environment", workers=settings.workers)
    Thread(target=_announce_when_ready, args=(_address(listener),), daemon=True).start()
    Multiprocess(config, sockets=[listener]).run()


def _config(app: object, workers: int = 1) -> Config:
    return Config(
        app,  # type: ignore[arg-type]
        factory=isinstance(app, str),
        http=_HttpConnection,
        workers=workers,
        log_level="warning",
        timeout_worker_healthcheck=START_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


@contextmanager
def _listening_socket(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {settings.host}:{settings.port}: {error}"
            ) from error
        listener.listen(BACKLOG)
        listener.set_inheritable(True)
        yield listener


def _refuse_open_door(settings: Settings) -> None:
    if not settings.allow_anonymous and not _is_loopback(settings.host):
        raise CannotServe(
            f"{settings.host} is not a loopback address, so anybody could use the service; "
            f"set {variable_of('allow_anonymous')}=true if that is meant"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(address: str) -> None:
    print(f"listening on {address}", flush=True)  # noqa: T201 - the contract's one line


def _announce_when_ready(address: str) -> None:
    while True:
        try:
            # A proxy of the environment must not answer for the service.
            httpx.get(f"{address}/healthz", timeout=1, trust_env=False)
        except httpx.TransportError:
            sleep(0.05)
        else:
            break
    _announce(address)
