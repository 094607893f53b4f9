"""Print the oldest versions that pyproject.toml promises, as arguments of pip.

Run as ``python tests/support/floors.py``: every package with a lower bound in the dependencies, in
the extras that `all` installs, and Polars, which the development extra has for frames.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_BOUND = re.compile(r"([A-Za-z0-9_-]+)(?:\[[^\]]*\])?>=([0-9.]+)")
_ALSO = {"polars"}


def floors(project: Path) -> dict[str, str]:
    """Return the lowest version of each package that users may have."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table["optional-dependencies"]
    named = re.findall(r"[a-z]+", extras["all"][0].partition("[")[2])
    users = [*table["dependencies"], *(line for name in named for line in extras[name])]
    others = [line for line in extras["dev"] if _BOUND.match(line) and line.split(">")[0] in _ALSO]
    found: dict[str, str] = {}
    for name, version in (_BOUND.match(line).groups() for line in [*users, *others]):
        if found.setdefault(name, version) != version:
            raise ValueError(f"pyproject.toml has two lower bounds of {name}")
    return found


if __name__ == "__main__":
    bounds = floors(Path(__file__).parents[2] / "pyproject.toml")
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in sorted(bounds.items()))
