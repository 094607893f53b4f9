"""Check that the fast tests of a room notice changes of its code.

``python -m tests.mutants ROOM [--number 30] [--seed 0]`` changes one operator, or an integer
beside one, at a time, in a copy of the repository, and runs those fast tests of the same room that
reach the changed statement until one fails. It prints a line for each change, and exits with 1 if
the tests notice fewer than nine in ten.
"""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coverage import CoverageData

ROOT = Path(__file__).parents[1]
TESTS = {"cli": "command"}  # rooms whose tests have another name
ENOUGH = 0.9
_FAILED = {1, 2, 4}  # exit codes of pytest: a test fails, a file or a named test is not collected
LIMIT = 300.0  # seconds: a change that makes a loop endless is noticed, too

PAIRS = "+ -, - +, * /, / *, // /, % *, ** *, < <=, <= <, > >=, >= >, == !=, != ==, and or, or and"
SWAPS = dict(pair.split() for pair in PAIRS.split(", "))


@dataclass(frozen=True)
class Mutant:
    """One change of a source file.

    Attributes
    ----------
    path : Path
        The file, relative to the root.
    start, end : int
        Where the replaced text begins and ends, in characters.
    line, column : int
    old, new : str
    """

    path: Path
    start: int
    end: int
    line: int
    column: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every change of a file: operators swapped, and integers beside them grown by one."""
    source = (ROOT / path).read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    gaps, operands = _operations(ast.parse(source), source, starts)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = start + len(token.string)
        place = (path, start, end, token.start[0], token.start[1] + 1)
        if token.string in SWAPS and any(a <= start and end <= b for a, b in gaps):
            yield Mutant(*place, token.string, SWAPS[token.string])
        elif token.type == tokenize.NUMBER and token.string.isdigit() and (start, end) in operands:
            yield Mutant(*place, token.string, str(int(token.string) + 1))


Places: TypeAlias = set[tuple[int, int]]


def _operations(tree: ast.Module, source: str, starts: list[int]) -> tuple[Places, Places]:
    """Return the places of operators, with the space around them, and of their operands."""
    lines = source.splitlines(keepends=True)

    def place(node: ast.expr) -> tuple[int, int]:
        ends = [(node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)]
        first, last = (
            starts[row - 1] + len(lines[row - 1].encode()[:offset].decode()) for row, offset in ends
        )
        return first, last

    gaps: Places = set()
    places: Places = set()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.BitOr):
                operands = [left, right]
            case ast.Compare(left=left, comparators=others):
                operands = [left, *others]
            case ast.BoolOp(values=operands):
                pass
            case _:
                continue
        found = [*map(place, operands)]
        places.update(found)
        gaps.update((a[1], b[0]) for a, b in itertools.pairwise(found))
    return gaps, places


def files_of(room: str, module: Path, root: Path) -> list[Path]:
    """Return the test files of a room, those with most of the module's names first."""
    files = sorted((root / "tests" / TESTS.get(room, room)).rglob("test_*.py"))
    defined = re.findall(
        r"^ *(?:def|class) (\w+)", (root / module).read_text("utf-8"), re.MULTILINE
    )
    names = {module.stem, *defined}

    def order(path: Path) -> tuple[bool, int]:
        words = {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}
        return path.stem != f"test_{module.stem}", -len(names & words)

    return sorted(files, key=order)


def lines_of(source: str, line: int) -> range:
    """Return the lines of the statement at a line; of one with a body, those before the body."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            if node.lineno <= line < end:
                found = range(node.lineno, end)
    return found


def reached_lines(room: str, root: Path) -> CoverageData:
    """Return which fast tests of a room reach each of its lines, by running them once."""
    data = CoverageData(str(root / ".coverage"))
    cover = [f"--cov=setagree/{room}", "--cov-context=test", "--cov-report=", "--cov-config="]
    tests = str(root / "tests" / TESTS.get(room, room))
    run = _run(root, [*cover, tests], keep=True)
    if run.returncode:
        raise RuntimeError(run.stdout.decode() + run.stderr.decode())
    data.read()
    return data


def uses(path: Path, line: int, root: Path) -> Iterator[tuple[Path, int]]:
    """Yield the file and line of a change, or of each use in its room of a constant changed."""
    yield path, line
    for node in ast.parse((root / path).read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign) or line not in range(
            node.lineno, (node.end_lineno or node.lineno) + 1
        ):
            continue
        name = re.compile(rf"\b{ast.unparse(node.targets[0])}\b")
        for file in sorted((root / "setagree" / path.parts[1]).rglob("*.py")):
            lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
            yield from ((file.relative_to(root), k) for k, text in lines if name.search(text))


def tests_of(mutant: Mutant, room: str, root: Path, reached: CoverageData) -> list[str]:
    """Return the tests that reach a change, or the files of the room if imports alone do."""
    files = [str(path.relative_to(root)) for path in files_of(room, mutant.path, root)]
    tests: set[str] = set()
    for path, line in uses(mutant.path, mutant.line, root):
        by_line = reached.contexts_by_lineno(str(root / path))
        for number in lines_of((root / path).read_text(encoding="utf-8"), line):
            contexts = by_line.get(number, ())
            tests.update(context.partition("|")[0].partition("[")[0] for context in contexts)
    if tests == {""}:
        return files
    tests.discard("")
    return sorted(tests, key=lambda test: (files.index(test.partition("::")[0]), test))


def is_noticed(mutant: Mutant, tests: list[str], root: Path) -> bool:
    """Return whether one of the tests fails with the change."""
    if not tests:
        return False
    target = root / mutant.path
    source = target.read_text(encoding="utf-8")
    times = target.stat()
    target.write_text(mutant.applied(source), encoding="utf-8")
    try:
        run = _run(root, ["-x", *tests], timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(source, encoding="utf-8")
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    if run.returncode not in {0, *_FAILED}:
        raise RuntimeError(run.stdout.decode() + run.stderr.decode())
    return run.returncode != 0


def _run(
    root: Path, arguments: Iterable[str], *, keep: bool = False, timeout: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run fast tests in a copy of the repository, which is imported, not the installed package.

    The first run may `keep` the byte code of all files: a file that changes is younger than its
    byte code.
    """
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "" if keep else "1"},
        capture_output=True,
        timeout=timeout,
    )


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each change, then the number that the tests noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "room", choices=[p.parent.name for p in ROOT.glob("setagree/*/__init__.py")]
    )
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    paths = [p.relative_to(ROOT) for p in sorted((ROOT / "setagree" / options.room).rglob("*.py"))]
    candidates = [mutant for path in paths for mutant in mutants(path)]
    drawn = random.Random(options.seed).sample(candidates, min(options.number, len(candidates)))
    n_noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        reached = reached_lines(options.room, copy)
        for mutant in drawn:
            began = time.perf_counter()
            noticed = is_noticed(mutant, tests_of(mutant, options.room, copy, reached), copy)
            n_noticed += noticed
            verdict = "noticed" if noticed else "NOT NOTICED"
            place = f"{mutant.path}:{mutant.line}:{mutant.column}"
            seconds = time.perf_counter() - began
            print(
                f"{verdict:12}{seconds:6.1f} s  {place}  {mutant.old} -> {mutant.new}", flush=True
            )
    print(f"{n_noticed} of {len(drawn)} changes were noticed")
    return 0 if n_noticed >= ENOUGH * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
