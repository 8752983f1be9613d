"""A client that does as little as a client can, so that it hides no difference."""

import socket
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 60
"""Of one answer: a server that hangs ends the run."""


class Refused(Exception):
    """A server answered something else than was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, ready to be sent."""

    method: Literal["GET", "POST"]
    path: str
    body: bytes = b""


class Client:
    """One connection to a server on loopback, kept alive."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._socket = socket.create_connection((parts.hostname, parts.port), TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._incoming = self._socket.makefile("rb")

    def ask(self, request: Request) -> bytes:
        """The body of the answer.

        Raises:
            Refused: The answer is no success.
        """
        self._socket.sendall(_encoded(request))
        status = self._incoming.readline()
        size = 0
        while (line := self._incoming.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        body = self._incoming.read(size)
        if not status.startswith(b"HTTP/1.1 2"):
            answered = (status + body).decode() or "nothing"
            raise Refused(f"{request.method} {request.path} was answered with {answered}")
        return body

    def close(self) -> None:
        """Close the connection."""
        self._incoming.close()
        self._socket.close()


def _encoded(request: Request) -> bytes:
    head = (
        f"{request.method} {request.path} HTTP/1.1\r\n"
        "host: 127.0.0.1\r\n"
        "content-type: application/json\r\n"
        f"content-length: {len(request.body)}\r\n\r\n"
    )
    return head.encode() + request.body
