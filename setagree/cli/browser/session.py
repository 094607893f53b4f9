"""The part of the page that runs in the browser: a file and the requests about it.

The script of the page sends a request as JSON and receives JSON, with a sentence for an error.
"""

from __future__ import annotations

import json
import math
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, cast

import pandas as pd

import setagree as sa
from setagree.errors import (
    MissingDependencyError,
    SetagreeError,
    SetagreeWarning,
    counted,
    spelling,
)
from setagree.large.opening import open_study, open_table
from setagree.large.recognition import find_export
from setagree.scoring.coefficients import COEFFICIENTS, distance_name
from setagree.study.columns import detect_wide_layout, usual_roles
from setagree.study.labels import is_missing
from setagree.study.reading import Plan
from setagree.wording.label_sets import LabelSep, display_labels, written_set
from setagree.wording.number_format import four, four_interval, interval, number, p_four
from setagree.wording.tables import csv_text

Answer: TypeAlias = dict[str, Any]

SEED = 1
"""Seed of all random numbers, so that equal files give equal reports."""

_SHOWN_ROWS = 5
_CALLED = {
    "unit": "Unit:",
    "rater": "Rater:",
    "labels": "Answer:",
    "blank": "Blank cells are:",
    "label_sep": "Separator:",
    "wide": "Layout: a column for each rater",
    "raters": "the columns of the raters",
    "kind": "Answers are:",
    "duplicates": "Repeated answers:",
    "case": "Capitals:",
}
"""Names of the options on the page."""

_OF_SETS = ("masi", "jaccard", "dice", "hamming", "overlap", "any_overlap", "nominal")
_OF_NUMBERS = ("interval", "ordinal", "linear", "ratio", "nominal")


class Session:
    """The study of the file on the page."""

    def __init__(self) -> None:
        self.study: sa.Annotations | None = None
        self.name = "study"
        self.label_sep: LabelSep = ","

    def answer(self, text: str) -> str:
        """Return the response to a request, both as JSON."""
        request = json.loads(text)
        notes: list[str] = []
        try:
            with _listening(notes.append), spelling(_CALLED):
                is_new = request["what"] == "read"
                found = self._read(request, notes.append) if is_new else self._table(request)
        except MissingDependencyError:
            found = {
                "error": "Files of this kind require a package that is missing; save it as CSV."
            }
        except SetagreeError as error:
            found = {"error": str(error)}
        if request["what"] == "read":
            found |= self._seen(request)
        return json.dumps(found | {"notes": list(dict.fromkeys(notes))}, allow_nan=False)

    def file(self, text: str) -> bytes:
        """Return a file to save: the report, the queue, the long table or the table of results."""
        request = json.loads(text)
        with _listening(lambda _: None):
            study, options = self._changed(request), _options(request)
            if request["what"] == "report":
                return self._report(study, options)
            if request["what"] == "queue":
                frame = sa.by_unit(study, **options)
            elif request["what"] == "tidy":
                frame = self._tidy(study)
            else:
                frame = sa.agreement(study, **options).to_frame()
        return csv_text(frame).encode("utf-8", "backslashreplace")

    def _read(self, request: Answer, note: Callable[[str], None]) -> Answer:
        """Read the file, and return its contents and the measures that apply to it."""
        self.study = None
        reading = _reading(request)
        opened = open_study(request["path"], reading, Plan(in_memory=True), note=note)
        study = cast("sa.Annotations", opened)
        self.study, self.name = study, Path(request["path"]).stem
        self.label_sep = reading.label_sep or ","
        is_sets = study.kind == "labels"
        labels = study.labels if is_sets else ()
        of_kind = _OF_NUMBERS if study.kind == "number" else _OF_SETS
        return {
            "counts": [
                counted(study.n_units, "unit"),
                counted(study.n_raters, "rater"),
                counted(study.n_ratings, "rating"),
                f"{study.n_missing:,} missing",
                counted(study.n_values, "distinct set" if is_sets else "distinct value"),
            ],
            "raters": [str(rater) for rater in study.raters],
            "labels": [display_labels([label]) for label in labels],
            "distances": ["nominal"] if study.kind == "category" else list(of_kind),
            "coefficients": [[name, COEFFICIENTS[name].title] for name in _coefficients(study)],
        }

    def _seen(self, request: Answer) -> Answer:
        """Return the columns and first rows of a table, even if it cannot be read as a study."""
        with suppress(SetagreeError), _listening(lambda _: None):
            if find_export(request["path"], sa.Reading())[0] is None:
                frame, _ = open_table(request["path"], sa.Reading(tool="table"))
                rows = frame.head(_SHOWN_ROWS).itertuples(index=False)
                return {
                    "columns": [str(name) for name in frame],
                    "rows": [["" if is_missing(x) else str(x) for x in row] for row in rows],
                    "roles": _roles(frame, request["how"]),
                }
        return {"columns": []}

    def _table(self, request: Answer) -> Answer:
        """Return the table, and by how much the changes move its first estimate."""
        study, options = self._changed(request), _options(request)
        table = sa.agreement(study, **options)
        rows = [_row(one) for one in table]
        first = next(iter(table))
        found: Answer = {"rows": rows, "headline": _headline(first), "before": None}
        if study is not self.study:
            which: Answer = {"coefficient": first.coefficient, "distance": first.distance}
            before = next(iter(sa.agreement(self._original(), **which))).estimate
            change = number(first.estimate - before, signed=True)
            found["before"] = (
                f"{number(before)} for the file as it is; the changes move it by {change}."
            )
        return found

    def _original(self) -> sa.Annotations:
        if self.study is None:
            raise SetagreeError("No file has been read; open one first.")
        return self.study

    def _changed(self, request: Answer) -> sa.Annotations:
        """Return the study without excluded raters, and with merged labels."""
        study = self._original()
        if request["without"]:
            study = study.exclude_raters([study.raters[place] for place in request["without"]])
        if request["merged"]:
            names = self._original().labels
            merged = {names[one]: names[other] for one, other in request["merged"]}
            study = study.with_answers(_replacing(merged))
        return study

    def _report(self, study: sa.Annotations, options: Mapping[str, Any]) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            return sa.report(study, path, title=self.name, rng=SEED, **options).read_bytes()

    def _tidy(self, study: sa.Annotations) -> pd.DataFrame:
        frame = study.to_long()
        if study.kind == "labels":
            sets = [written_set(one, self.label_sep) for one in frame["labels"]]
            frame["labels"] = pd.Series(sets, index=frame.index, dtype=object)
        return frame


@contextmanager
def _listening(note: Callable[[str], None]) -> Iterator[None]:
    """Pass warnings on as sentences; ignore those of other packages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SetagreeWarning)
        warnings.showwarning = lambda message, *_, **__: note(str(message))
        yield


def _reading(request: Answer) -> sa.Reading:
    """Return the reading options that were chosen on the page."""
    how = {name: value for name, value in request["how"].items() if value not in ("", None, [])}
    if how.pop("scalars", False):
        how |= {"value": how.pop("labels")} if "labels" in how else {"kind": "value"}
    if {"unit", "rater", "labels", "value", "wide"} & {*how}:
        how["tool"] = "table"
    return sa.Reading(**how)


def _roles(frame: pd.DataFrame, how: Mapping[str, Any]) -> Answer:
    """Return the chosen or detected role of each column."""
    names, wide = [str(name) for name in frame], None
    with suppress(SetagreeError):
        wide = detect_wide_layout(frame, sa.Reading())
    guessed: Answer = {str(role): name for role, name in usual_roles(names).items()}
    if how.get("wide") or (wide is not None and not how):
        unit = how.get("unit") or (wide[0] if wide else guessed.get("unit"))
        raters = wide[1] if wide and wide[0] == unit else [one for one in names if one != unit]
        guessed = {"unit": unit, "wide": True, "raters": raters}
    elif "value" in guessed:
        guessed |= {"labels": guessed.pop("value"), "scalars": True}
    return guessed | {name: value for name, value in how.items() if value not in ("", None, [])}


def _options(request: Answer) -> Answer:
    """Return the coefficient and the distance, if they are chosen."""
    return {name: request[name] for name in ("coefficient", "distance") if request.get(name)}


def _coefficients(study: sa.Annotations) -> list[str]:
    """Return the coefficients that apply to the study, including those for two raters."""
    names = ["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac", "brennan_prediger"]
    for_two = ["cohen_kappa", "scott_pi"] if study.n_raters == 2 else []
    of_sets = ["mv_alpha"] if study.kind == "labels" else []
    return [*names, *for_two, *of_sets, "percent_agreement"]


def _replacing(merged: Mapping[Any, Any]) -> Callable[[Any], Any]:
    return lambda value: frozenset(merged.get(label, label) for label in value)


def _row(one: sa.Agreement) -> Answer:
    """Return a row of the table: names, and numbers with all digits and as text."""
    (low, high), p = one.interval(), one.p_value
    cells = {
        "observed_agreement": (one.observed_agreement, four),
        "expected_agreement": (one.expected_agreement, four),
        "estimate": (one.estimate, four),
        "standard_error": (one.standard_error, four),
    }
    return {
        "coefficient": one.definition.title,
        "distance": one.distance,
        "cells": [
            *({"name": n, "value": _finite([x]), "text": say(x)} for n, (x, say) in cells.items()),
            {"name": "interval", "value": _finite([low, high]), "text": four_interval(low, high)},
            {"name": "p_value", "value": _finite([p]), "text": p_four(p)},
        ],
        "reason": one.reason,
    }


def _headline(one: sa.Agreement) -> Answer:
    """Return the estimate with the interval of the report, and its target."""
    low, high = one.interval()
    return {
        "symbol": one.definition.symbol,
        "estimate": number(one.estimate),
        "what": f"{one.definition.title} with the {distance_name(one.distance)} distance",
        "interval": "" if math.isnan(low) else interval(low, high),
        "interval_name": f"95% {'score ' if one.interval_method == 'score' else ''}interval",
        "about": one.about,
        "reason": one.reason,
    }


def _finite(numbers: Iterable[float]) -> str:
    """Return numbers with all digits, for copying; an empty string if one is not finite."""
    listed = [float(x) for x in numbers]
    return " ".join(map(repr, listed)) if all(map(math.isfinite, listed)) else ""
