"""Write the OpenAPI document, or check that the written one is current.

Usage: python -m scripts.openapi [--check] openapi/openapi.json
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from app.api.application import build_application


@asynccontextmanager
async def _no_resources(_app: FastAPI) -> AsyncIterator[None]:
    yield


def document() -> str:
    """The OpenAPI document as text."""
    schema = build_application(_no_resources).openapi()
    return json.dumps(schema, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check; 1 where the written document is not current."""
    path = Path(arguments[-1])
    if "--check" not in arguments:
        path.write_text(document(), encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == document():
        return 0
    sys.stderr.write(f"{path} is not current: run make openapi\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
