"""The fuzzer: ``python -m tests.fuzz --minutes 5 --seed 1``."""

from __future__ import annotations

import argparse
import sys

from .session import FAMILIES, Session


def main() -> int:
    """Run it, print every failing program, and return 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="which cases (default: 1)")
    parser.add_argument("--family", choices=[*FAMILIES], action="append", help="default: all")
    parser.add_argument("--failures", type=int, default=20, help="after how many it stops")
    asked = parser.parse_args()
    session = Session(asked.seed, asked.family or [*FAMILIES])
    for failure in session.run(60 * asked.minutes, most=asked.failures):
        sys.stdout.write(f"{failure}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{session.told()}\n")
    return int(bool(session.n_failures))


if __name__ == "__main__":
    sys.exit(main())
