"""Long tool output: what goes into the conversation, and the file that holds all of it.

Source: docs/semantics/workspace.md#long-output.
"""

import os
from pathlib import Path

from app.core.prune import safe_name
from app.core.text import prefix_within

MAX_OUTPUT_BYTES = 32_000
"""Of one tool result, its footer included: what projection leaves whole (OpenWork's number)."""
FOOTER_BYTES = 512
"""Kept free for the footer."""


def bounded_output(output: str, saved_at: Path | None = None) -> str:
    """Output as a tool result may carry it: at most `MAX_OUTPUT_BYTES`, cut at its end alone.

    Args:
        output: All that the tool gave.
        saved_at: The file that holds it. A path too long for the footer is left out of it.
    """
    encoded = output.encode()
    if len(encoded) <= MAX_OUTPUT_BYTES:
        return output
    head = encoded[: head_end(encoded, MAX_OUTPUT_BYTES - FOOTER_BYTES)].decode()
    separator = "" if head.endswith("\n") else "\n"
    return f"{head}{separator}{_footer(len(encoded) - len(head.encode()), saved_at)}"


def head_end(encoded: bytes, limit_bytes: int) -> int:
    """Where the head of a text ends: behind a line break of its second half, else a character.

    >>> head_end(b"aaaa\\nbbbb\\ncccc", 12)
    10
    """
    head = prefix_within(encoded, limit_bytes)
    line_break = head.rfind(b"\n", limit_bytes // 2)
    return len(head) if line_break < 0 else line_break + 1


def spill(directory: Path, call_id: str, output: str) -> Path:
    """The file of a call's whole output; one that is there already holds more and is kept.

    Raises:
        OSError: It cannot be written.
    """
    path = directory / f"{safe_name(call_id)}.txt"
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(output, encoding="utf-8", newline="")
        partial.replace(path)
    return path


def _footer(omitted_bytes: int, saved_at: Path | None) -> str:
    omitted = f"... ({omitted_bytes} bytes omitted."
    if saved_at is not None:
        footer = (
            f"{omitted} Full output saved at {saved_at} \N{EM DASH}"
            " use read with offset/limit, or grep, to look at it.)"
        )
        # One byte of the room is the line break in front.
        if len(footer.encode()) < FOOTER_BYTES:
            return footer
    return f"{omitted})"
