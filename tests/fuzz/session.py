"""A run: families take turns, each case has a random generator of its own."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from .arguments import argument_programs
from .commands import command_programs
from .programs import Program
from .tables import TableCase, table_programs

FAMILIES: dict[str, Callable[[Random], list[Program] | list[TableCase]]] = {
    "tables": table_programs,
    "arguments": argument_programs,
    "commands": command_programs,
}


class Session:
    """Cases of some families, in turns, from one seed."""

    def __init__(self, seed: int, families: list[str]) -> None:
        self.seed = seed
        self.families = families
        self.ran: Counter[tuple[str, str]] = Counter()
        self.slowest: tuple[float, str] = (0.0, "")
        self.n_failures = 0

    def programs(self) -> Iterator[tuple[str, Program | TableCase]]:
        """Give programs without an end, each with the name of its case."""
        number = 0
        while True:
            for family in self.families:
                case = f"{family}, seed {self.seed}, case {number}"
                for program in FAMILIES[family](Random(f"{family} {self.seed} {number}")):
                    yield case, program
            number += 1

    def run(self, seconds: float, *, most: int, cases: int | None = None) -> Iterator[str]:
        """Run programs until the time or the cases are over, and give what failed in words."""
        end = time.monotonic() + seconds
        for count, (case, program) in enumerate(self.programs()):
            if time.monotonic() > end or self.n_failures >= most or count == cases:
                return
            start = time.monotonic()
            failure = program.run()
            took = time.monotonic() - start
            self.slowest = max(self.slowest, (took, f"{case}, {program.part}"))
            self.ran[program.family, program.part] += 1
            if failure is not None:
                self.n_failures += 1
                rule = "#" * 100
                yield f"{rule}\n# {case}, {program.part}\n# {failure}\n{rule}\n{program.text}"

    def told(self) -> str:
        """Return how much was run, in words."""
        parts = ", ".join(f"{part} {n}" for (_, part), n in sorted(self.ran.items()))
        took, where = self.slowest
        return (
            f"{sum(self.ran.values())} programs, {self.n_failures} failures; {parts}. "
            f"The slowest took {took:.1f} s ({where})."
        )
