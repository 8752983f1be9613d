"""Fail unless the newest release in CHANGELOG.md is the version in pyproject.toml."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Compare the two and say the version that both name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(\d[^\]]*)\]", changelog, flags=re.MULTILINE)
    if releases[:1] != [project["version"]]:
        sys.exit(
            f"CHANGELOG.md starts with {releases[:1]}, pyproject.toml says {project['version']}"
        )
    print(f"Version {project['version']} stands in pyproject.toml and CHANGELOG.md")


if __name__ == "__main__":
    main()
