"""doccano: a folder with a file for each annotator.

Automatic labels that an annotator kept are exported as the labels of the annotator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from setagree.errors import DataError, FileError, counted, option
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.gathering import check_useless
from setagree.exports.nodes import first_object, read_records, shown
from setagree.exports.unclear import Found, settle
from setagree.files.streams import check_regular
from setagree.files.tables import read_table
from setagree.study.spans import Spans
from setagree.wording.label_sets import Label

_NO_RATERS = "all"


@dataclass(frozen=True)
class _Example:
    """One line of one annotator's file."""

    unit: Hashable
    file: Path
    labels: frozenset[Label]
    line: str

    @property
    def rater(self) -> str:
        """The annotator, whose name the file has."""
        return self.file.stem

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.file.name}, {self.line}"


def read(path: Path, request: Request, ending: str) -> Answers:
    """Return the labels of a folder of JSONL or CSV files, which are called as the annotators."""
    check_useless(request, path, "question")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.glob(f"*{ending}") if not file.name.startswith("."))
    if not files:
        raise FileError(f"{shown(path)} has no file *{ending}.")
    if not path.is_dir() or [each.stem for each in files] == [_NO_RATERS]:
        alone = repr(_NO_RATERS + files[0].suffix)
        raise DataError(
            f"{shown(files[0])} does not tell who annotated: in a folder that doccano exports, "
            f"each file has the name of an annotator. Name that folder; where it holds {alone} "
            "alone, the project shares one answer among all, and the raters are lost."
        )
    examples_of = _jsonl_examples if ending == ".jsonl" else _csv_examples
    by_file = [examples_of(file, request) for file in files]
    if request.roster is None and request.blank not in {"empty", "missing"}:
        _check_untouched(path, by_file)
        request = replace(request, blank="empty")
    every = [example for examples in by_file for example in examples]
    rows = ((each.unit, each.rater, each.labels, each.place) for each in every)
    return settle(Found.of_rows(shown(path), rows), request, why="")


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the labelled spans of JSONL files, which are called as the annotators."""
    if not path.is_dir() and not request.is_one_of_several:
        raise DataError(f"{shown(path)} does not tell who annotated; name the folder of doccano.")
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    files = [file for file in files if not file.name.startswith(".")]
    for file in files:
        for line in [] if _has_no_rows(file) else read_records(file, request.encoding):
            place = f"{file.name}, {line.place}"
            pair = spans.add_done(line.at("id").name(), file.stem, place, line.at("text").text())
            for one in line.at("entities" if "entities" in line.members() else "label").items():
                if isinstance(one.value, dict):
                    ends, label = one.ends("start_offset", "end_offset"), one.at("label")
                elif len(parts := [*one.items()]) == 3:
                    ends, label = (parts[0].number(), parts[1].number()), parts[2]
                else:
                    raise one.fail("no [start, end, label].")
                spans.add(pair, ends, label.label(), place)
            spans.ignored["relation"] += len(line.members().get("relations") or ())
    n_of_rater = Counter(rater for _, rater in spans.done)
    # every file has every example
    is_whole = len({*n_of_rater.values()}) == 1 and len(n_of_rater) >= len(files)
    why = "Without 'Export only approved documents' doccano exports untouched examples, too."
    spans.why = why if is_whole else ""


def _check_untouched(path: Path, by_file: list[list[_Example]]) -> None:
    """Raise an error for examples without labels where nothing tells whether they were answered.

    Without "Export only approved documents" every file has every example, the untouched too.
    """
    alike = len({frozenset(each.unit for each in examples) for examples in by_file}) == 1
    unlabelled = [each for examples in by_file for each in examples if not each.labels]
    if alike and unlabelled:
        raise DataError(
            f"{shown(path)}: every file has every example, and "
            f"{counted(len(unlabelled), 'answer')} without labels (first: {unlabelled[0].place}) "
            "may be an answer or none: doccano exports untouched examples like empty ones. Export "
            f"approved documents only, name who answered what with {option('roster')}, or say "
            f"{option('blank', 'empty')} or {option('blank', 'missing')}."
        )


def _jsonl_examples(path: Path, request: Request) -> list[_Example]:
    if _has_no_rows(path):
        return []
    return [
        _Example(line.at("id").name(), path, line.at("label").label_set(), line.place)
        for line in read_records(path, request.encoding)
    ]


def _csv_examples(path: Path, request: Request) -> list[_Example]:
    r"""Return the rows of a CSV, where ``#`` stands between two labels."""
    if _has_no_rows(path, n_heads=1):
        return []
    table = read_table(path, encoding=request.encoding)
    if missing := [name for name in ("id", "label") if name not in table]:
        raise FileError(f"{shown(path)} has no column {missing[0]!r}.")
    cells = zip(table["id"], table["label"], strict=True)
    label_sep = request.label_sep or "#"
    return [
        _Example(unit, path, frozenset(cell.split(label_sep) if cell else ()), f"row {row}")
        for row, (unit, cell) in enumerate(cells, start=1)
    ]


def _has_no_rows(path: Path, *, n_heads: int = 0) -> bool:
    """Return whether a member of the project, such as its administrator, annotated nothing."""
    check_regular(path)
    with path.open("rb") as file:
        lines = (line for line in file if line.strip(b'\r\n\t "\xef\xbb\xbf'))
        return len(list(islice(lines, n_heads + 1))) <= n_heads


def _beginning(peek: Peek, ending: str) -> str:
    """Return the first characters of the first file that has some, if all are of that kind."""
    names = [name for name in peek.names if not name.startswith(".")]
    if any("/" in name or not name.endswith(ending) for name in names):
        return ""
    for name in names:
        with (peek.path / name).open(encoding="utf-8-sig", errors="replace") as file:
            if (start := file.read(2**16)).strip('\r\n "'):
                return start
    return ""


def holds(peek: Peek, ending: str) -> bool:
    """Return whether the files of a folder are doccano's JSONL or CSV."""
    start = _beginning(peek, ending)
    names = start.partition("\n")[0].strip().split(",")
    if ending == ".jsonl":
        names = [*(first_object(start) or ())]
    return {"id", "label", "Comments"} <= {*names}
