"""`python -m demo`: exit status 0, or 1 and a sentence that says why."""

import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from rich.console import Console

from demo.failure import DemoFailed
from demo.play import play
from demo.tables import WIDTH

INTERRUPTED = 130


def main() -> int:
    """The exit status of one run."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows few characters gets question marks, not a failure.
        sys.stdout.reconfigure(errors="replace")
    # Whoever stops the demo stops the service with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(width=WIDTH, highlight=False)
    started = perf_counter()
    try:
        with TemporaryDirectory(prefix="foreword-demo-") as directory:
            play(console, Path(directory))
    except (DemoFailed, OSError) as error:
        print(f"The demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    console.print(f"Done in {perf_counter() - started:.1f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
