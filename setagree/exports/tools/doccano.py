"""doccano: a folder with one file per annotator.

Automatic labels that an annotator kept are exported as labels of the annotator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from setagree.errors import DataError, FileError, counted, option
from setagree.exports.blank_answers import Found, settle
from setagree.exports.format import Answers, Peek, Request
from setagree.exports.json_nodes import first_object, read_records, shown
from setagree.exports.reader_helpers import check_useless
from setagree.exports.table_exports import cell_splitter
from setagree.files.streams import check_regular
from setagree.files.tables import read_table
from setagree.study.spans import Span, Spans
from setagree.wording.label_sets import Label

_NO_RATERS = "all"


_Example: TypeAlias = tuple[Hashable, str, frozenset[Label], str]
"""Unit, rater, labels and place of a line in the file of an annotator."""


def read(path: Path, request: Request, ending: str) -> Answers:
    """Return the labels in a folder of JSONL or CSV files, which are named by annotator."""
    check_useless(request, path, "question")
    files = _files(path, ending)
    if not files:
        raise FileError(f"{shown(path)} has no file *{ending}.")
    if not path.is_dir() or [file.stem for file in files] == [_NO_RATERS]:
        shared = repr(_NO_RATERS + files[0].suffix)
        raise DataError(
            f"{shown(files[0])} does not identify the rater: in a folder that doccano exports, "
            f"each file is named by its annotator. Pass that folder. If its only file is {shared}, "
            "the annotators of the project share one answer, and their names are not exported."
        )
    examples_of = _jsonl_examples if ending == ".jsonl" else _csv_examples
    by_file = [examples_of(file, request) for file in files]
    if request.roster is None and request.blank not in {"empty", "missing"}:
        _check_untouched(path, by_file)
        request = replace(request, blank="empty")
    return settle(Found.from_rows(shown(path), chain(*by_file)), request, why="")


def _files(path: Path, ending: str) -> list[Path]:
    files = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
    return [file for file in files if path == file or not file.name.startswith(".")]


def read_spans(path: Path, request: Request, spans: Spans) -> None:
    """Add the labelled spans of JSONL files, which are named by annotator."""
    files = _files(path, ".jsonl")
    for file in files:
        for line in [] if _has_no_rows(file) else read_records(file, request.encoding):
            place = str(line)
            pair = spans.add_done(line.at("id").name(), file.stem, place, line.at("text").text())
            for span in line.at("entities" if "entities" in line.members() else "label").items():
                if isinstance(span.value, dict):
                    ends, label = span.ends("start_offset", "end_offset"), span.at("label")
                elif len(parts := [*span.items()]) == 3:
                    ends, label = (parts[0].number(), parts[1].number()), parts[2]
                else:
                    raise span.fail("expected [start, end, label].")
                spans.rows.append(Span(*pair, *ends, label.label(), place))
            spans.ignored["relation"] += len(line.members().get("relations") or ())
    n_of_rater = Counter(rater for _, rater in spans.done)
    # Equal numbers: every file may have every example, including untouched ones.
    if len({*n_of_rater.values()}) == 1 and len(n_of_rater) >= len(files):
        spans.why = (
            "Without 'Export only approved documents' doccano exports untouched examples, too."
        )


def _check_untouched(path: Path, by_file: list[list[_Example]]) -> None:
    """Raise an error for examples without labels if they may not have been annotated.

    Without "Export only approved documents" every file has every example, including untouched ones.
    """
    alike = len({frozenset(unit for unit, *_ in examples) for examples in by_file}) == 1
    unlabelled = [place for _, _, labels, place in chain(*by_file) if not labels]
    if alike and unlabelled:
        raise DataError(
            f"{shown(path)}: every file has every example, and "
            f"{counted(len(unlabelled), 'example')} without labels (first: {unlabelled[0]}) may be "
            "unannotated, because doccano exports untouched examples like empty ones. Export only "
            f"approved documents, list who answered what with {option('roster')}, or use "
            f"{option('blank', 'empty')} or {option('blank', 'missing')}."
        )


def _jsonl_examples(path: Path, request: Request) -> list[_Example]:
    if _has_no_rows(path):
        return []
    rater, name = path.stem, path.name
    return [
        (line.at("id").name(), rater, line.at("label").label_set(), f"{name}, {line.place}")
        for line in read_records(path, request.encoding)
    ]


def _csv_examples(path: Path, request: Request) -> list[_Example]:
    r"""Return the rows of a CSV file, where ``#`` separates labels."""
    if _has_no_rows(path, n_heads=1):
        return []
    table = read_table(path, encoding=request.encoding)
    if missing := [name for name in ("id", "label") if name not in table]:
        raise FileError(f"{shown(path)} has no column {missing[0]!r}.")
    cells = zip(table["id"], table["label"], strict=True)
    split = cell_splitter(request.sep_or("#"))
    return [
        (unit, path.stem, split(cell), f"{path.name}, row {k}")
        for k, (unit, cell) in enumerate(cells, start=1)
    ]


def _has_no_rows(path: Path, *, n_heads: int = 0) -> bool:
    """Return whether a file has no rows below its heads, as of a member who did not annotate."""
    check_regular(path)
    with path.open("rb") as file:
        lines = (line for line in file if line.strip(b'\r\n\t "\xef\xbb\xbf'))
        return len(list(islice(lines, n_heads + 1))) <= n_heads


def holds(peek: Peek, ending: str) -> bool:
    """Return whether the files of a folder are JSONL or CSV of doccano, by the first with rows."""
    names = [name for name in peek.names if not name.startswith(".")]
    if any("/" in name or not name.endswith(ending) for name in names):
        return False
    starts = (peek.beginning(name) for name in names)
    start = next((text for text in starts if text.strip('\r\n "')), "")
    keys = start.partition("\n")[0].strip().split(",")
    if ending == ".jsonl":
        keys = [*(first_object(start) or ())]
    return {"id", "label", "Comments"} <= {*keys}
