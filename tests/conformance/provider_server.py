"""A provider on this machine: it keeps what is posted and gives a fixed answer."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

HOST = "127.0.0.1"


@dataclass(slots=True, kw_only=True)
class Provider:
    """What was posted, and what is answered."""

    answer: Mapping[str, Any]
    address: str = ""
    posted: list[tuple[str, Any]] = field(default_factory=list)
    """Path and body of each request."""


@contextmanager
def provider(answer: Mapping[str, Any]) -> Iterator[Provider]:
    """A server on a free port of 127.0.0.1, until the block ends."""
    state = Provider(answer=answer)

    class Handler(BaseHTTPRequestHandler):
        """Keeps one body."""

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            state.posted.append((unquote(urlsplit(self.path).path), body))
            answer = json.dumps(state.answer).encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are kept, not told."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    state.address = f"http://{HOST}:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
