"""The agreement on each of several questions of one study, and their mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, Unpack, cast

import numpy as np

from setagree.checks import check_level
from setagree.coefficients.tails import t_tail
from setagree.coefficients.uncertain import UncertainNumber, uncertain_number
from setagree.diagnosis.common import reasons, score_whole, uncertainty
from setagree.diagnosis.grouping import named_rows
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    SeveralQuestionsError,
    check_list,
    listing,
    option,
    shorten,
)
from setagree.large.opening import (
    Data,
    ReadingOptions,
    open_study,
    open_table,
    takes_data,
    with_reading,
)
from setagree.large.recognition import find_export
from setagree.lazy import pd
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.intervals import t_interval
from setagree.scoring.results import Agreement
from setagree.study.annotations import Annotations
from setagree.study.assembly import code_ids, pick_column, warn_names
from setagree.study.attributes import models_sentences
from setagree.study.columns import QUESTIONS, plain_name, with_columns
from setagree.study.labels import is_blank
from setagree.study.numbers import as_number
from setagree.study.reading import Plan, Reading, is_files
from setagree.wording.result_base import Result
from setagree.wording.tables import Column


@dataclass(frozen=True, eq=False, repr=False)
class QuestionTable(Result):
    """Agreement per question, and the mean over the questions.

    Attributes
    ----------
    agreements : mapping
        The `Agreement` of each question.
    mean : UncertainNumber or None
        The mean with its deviations; None if no question has an estimate, or if the units were
        sampled and differ between questions.
    frame : DataFrame
        The rows; `to_frame` returns a copy.
    level : float
        The level of the intervals.
    """

    agreements: Mapping[str, Agreement]
    mean: UncertainNumber | None
    frame: pd.DataFrame
    level: float = 0.95

    columns = (
        Column("question", "text"),
        Column("kind", "text"),
        Column("distance", "text"),
        Column("n_units", "count", "units"),
        Column("n_raters", "count", "raters"),
        Column("n_ratings", "count", "ratings", is_extra=True),
        Column("estimate"),
        Column("standard_error", head="se"),
        Column(("low", "high"), "interval"),
    )

    def __getitem__(self, question: str) -> Agreement:
        """Return the agreement on a question."""
        return self.agreements[question]

    def _notes(self) -> Iterator[str]:
        studies = [one.case.study for one in self.agreements.values() if one.case.study is not None]
        yield from dict.fromkeys(chain.from_iterable(map(models_sentences, studies)))
        frame = self.frame.set_index("question")
        yield from (f"{name}: {text}." for name, text in frame["reason"].dropna().items())
        yield from (f"{name}: {text}" for name, text in frame["remark"].dropna().items())


@takes_data
def by_question(
    data: Data,
    questions: str | Sequence[str],
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | Mapping[str, DistanceLike] | None = None,
    weights: Mapping[str, float] | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> QuestionTable:
    """Return the agreement on each question, and the mean over the questions.

    Each question is a study of its own kind, with the default distance of that kind. The mean is
    sum_q w_q alpha_q / sum_q w_q. Its standard error is from the linearised values summed per unit,
    so that questions about the same units are paired; its interval is a t interval over units, its
    upper end cut at 1. There is none if a question has no interval, or if that standard error is 0.
    The mean of one question has the interval of the question.
    Questions without an estimate are left out of the mean, and named in its `reason`.

    Parameters
    ----------
    data : path, or table
        An export with several questions; a long table with a column of answers per question, or
        with a column of questions.
    questions : list of str, or str
        The questions of an export, or the columns of answers of a table. ``"all"`` is all questions
        of an export, or of a table with a column called ``question``. The name of such a column, or
        any name if `labels` or `value` names the answers, is that of the column of questions.
    coefficient : name or Coefficient
        The coefficient.
    distance : name, callable, Distance, labelled matrix, or mapping, optional
        The distance, or that of each question. Default: MASI for label sets, interval for numbers
        (ordinal for the ratings of an export), nominal for categories.
    weights : mapping, optional
        The weight of each question in the mean. Default: equal weights.
    level : float
        The level of the intervals.
    **options
        Options of `Reading`. Default `kind`: numbers if all cells of a question are numbers,
        otherwise label sets.

    Returns
    -------
    QuestionTable
        One row per question: question, kind, coefficient, distance, n_units, n_raters, n_ratings,
        estimate, standard_error, low, high, interval_method, p_value, reason (for no
        interval), remark (on a rough one); and the row "mean".

    Raises
    ------
    OptionError
        A question is unknown, or none is named; or a mapping names one that is not read.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "unit": [1, 1, 2, 2, 3, 3], "rater": ["ann", "bob"] * 3,
    ...     "emotion": ["joy", "joy, fear", "fear", "fear", "joy", "joy"],
    ...     "stance": [1, 2, 5, 5, 3, 3],
    ... })
    >>> found = by_question(table, ["emotion", "stance"])
    >>> found.to_frame()[["question", "kind", "distance", "estimate"]].round(4)
      question    kind  distance  estimate
    0  emotion  labels      masi    0.6429
    1   stance  number  interval    0.9351
    2     mean     NaN       NaN    0.7890
    """
    check_level(level)
    studies = question_studies(*with_reading(data), questions, distance)
    if weights is not None:
        _check_weights(weights, studies)
    agreements = {
        name: score_whole(study, coefficient, each, level)
        for name, (study, each) in studies.items()
    }
    return question_table(agreements, level, weights)


def question_table(
    agreements: Mapping[str, Agreement], level: float, weights: Mapping[str, float] | None = None
) -> QuestionTable:
    """Return the agreements on several questions as rows, and their mean."""
    shared = "coefficient distance n_units n_raters n_ratings"
    rows = [
        {"question": name, "kind": one.tally.kind}
        | {column: getattr(one, column) for column in shared.split()}
        | {**uncertainty(one, level), "p_value": one.p_value, **reasons(one)}
        for name, one in agreements.items()
    ]
    mean, last = _mean(agreements, rows, weights or dict.fromkeys(agreements, 1.0), level)
    return QuestionTable(agreements, mean, pd.DataFrame([*rows, last]), level)


def _check_weights(weights: Mapping[str, float], questions: Iterable[str]) -> None:
    """Raise an error unless every question has a weight of 0 or more, and one of more than 0."""
    numbers = weights.values()
    fits = all(isinstance(w, int | float) and 0 <= w < np.inf for w in numbers) and any(numbers)
    if not fits or {*weights} != {*questions}:
        raise OptionError(
            f"weights= must have one number of 0 or more for each of {listing([*questions])}, one "
            f"of them more than 0, not {shorten({**weights})}."
        )


def question_studies(
    source: Any,
    how: Reading,
    questions: str | Sequence[str],
    distance: DistanceLike | Mapping[str, DistanceLike] | None,
) -> dict[str, tuple[Annotations, DistanceLike | None]]:
    """Return the study of each question of a table or of files, and its distance."""
    if not isinstance(questions, str):
        check_list("questions", questions, "questions")
    if not questions:
        raise OptionError(f"{option('questions', questions)} names no question.")
    if isinstance(source, Annotations) or how.question is not None:
        raise OptionError(
            f"{option('questions')} is for a table or a file of several questions; "
            f"{option('question')} names one."
        )
    of_export = _of_export(source, how, questions)
    usual = {name: "ordinal" for name, study in of_export.items() if study.kind == "number"}
    studies = of_export or _of_table(source, how, questions)
    by_name = distance if isinstance(distance, Mapping) else dict.fromkeys(studies, distance)
    if odd := by_name.keys() - studies.keys():
        raise OptionError(
            f"{option('distance')} has a distance for {listing(sorted(map(str, odd)))}; the "
            f"questions are {listing([*studies])}."
        )
    chosen = usual | {name: one for name, one in by_name.items() if one is not None}
    return {name: (study, chosen.get(name)) for name, study in studies.items()}


def _of_export(source: Any, how: Reading, questions: str | Sequence[str]) -> dict[str, Annotations]:
    """Return the study of each question of an export; none of a table."""
    if not is_files(source) or how.is_table or find_export(source, how)[0] is None:
        return {}
    try:
        open_study(source, how)
    except SeveralQuestionsError as error:
        chosen = error.names if questions == "all" else questions
    else:
        raise OptionError(f"the input has one question; omit {option('questions')}.")
    listed = [chosen] if isinstance(chosen, str) else chosen
    return {name: _opened(source, replace(how, question=name)) for name in listed}


def _of_table(source: Any, how: Reading, questions: str | Sequence[str]) -> dict[str, Annotations]:
    """Return the study of each column of answers of a table, or of each name in a column."""
    table, how = open_table(source, replace(how, tool="table") if is_files(source) else how)
    names = [str(name) for name in table]
    usual = [name for name in names if plain_name(name) in QUESTIONS]
    if questions == "all" and not usual:
        raise OptionError(
            f"{option('questions', questions)}: the table has no column of questions; "
            f"list the columns of answers, of {listing(names, limit=12)}."
        )
    listed = [questions] if isinstance(questions, str) else questions
    listed = usual[:1] if questions == "all" else listed
    for name in listed:
        pick_column(table, name)
    has_answers = how.labels is not None or how.value is not None
    if isinstance(questions, str) and (has_answers or listed[0] in usual):
        return _by_cell(table, listed[0], how)
    others = [name for name in names if name not in listed]
    return {name: _typed(table[[*others, name]], how, name) for name in listed}


def _by_cell(table: pd.DataFrame, column: str, how: Reading) -> dict[str, Annotations]:
    """Return the study of each question that a column names."""
    rows, cells = named_rows(table, column)
    codes, names = code_ids(cells, "question")
    if len({*map(str, names)}) < len(names):
        raise DataError(
            f"column {column!r} has questions as numbers and as text: {listing([*names])}."
        )
    warn_names("Questions", names)
    rows = rows.drop(columns=column)
    return {str(name): _typed(rows[codes == k], how) for k, name in enumerate(names)}


def _opened(source: Any, how: Reading) -> Annotations:
    return cast("Annotations", open_study(source, how, Plan(in_memory=True)))


def _typed(table: pd.DataFrame, how: Reading, name: str | None = None) -> Annotations:
    """Return the study of a question: of numbers if all of its answers are, otherwise of labels."""
    if name is None:
        name = str(with_columns(how, [str(x) for x in table]).answer)
    cells = {cell for cell in table[name] if isinstance(cell, Hashable) and not is_blank(cell)}
    are_numbers = bool(cells) and all(as_number(cell) is not None for cell in cells)
    if how.kind is None and are_numbers:
        return _opened(table, replace(how, labels=None, value=name))
    return _opened(table, replace(how, labels=name, value=None))


def _mean(
    agreements: Mapping[str, Agreement],
    rows: Sequence[Mapping[str, Any]],
    weights: Mapping[str, float],
    level: float,
) -> tuple[UncertainNumber | None, dict[str, Any]]:
    """Return the weighted mean of the estimates that are defined, and its row."""
    defined = {name: one for name, one in agreements.items() if np.isfinite(one.estimate)}
    # Units are listed in the order of the first defined question, whose sample is used.
    scored = sorted(agreements.values(), key=lambda one: not np.isfinite(one.estimate))
    studies = [cast("Annotations", one.study) for one in scored]
    units = pd.Index([u for study in studies for u in study.units], tupleize_cols=False).unique()
    distances = {one.distance for one in agreements.values()}
    row: dict[str, Any] = {
        "question": "mean",
        "kind": None,
        "distance": distances.pop() if len(distances) == 1 else None,
        "coefficient": next(iter(agreements.values())).coefficient,
        "n_units": len(units),
        "n_raters": len({rater for study in studies for rater in study.raters.tolist()}),
        "n_ratings": sum(study.n_ratings for study in studies),
    }
    total_weight = sum(weights.get(name, 0.0) for name in defined)
    if not total_weight:
        return None, row | {"reason": "no question has an estimate"}
    shares = {name: weights.get(name, 0.0) / total_weight for name in defined}
    row["estimate"] = sum(share * defined[name].estimate for name, share in shares.items())
    sample = next(iter(defined.values())).case.sample
    if sample is not None and any(len(study.units) < len(units) for study in studies):
        return None, row | {"reason": "the units were sampled, and differ between questions"}
    parts = []
    for (name, one), study in zip(defined.items(), studies, strict=False):
        places = units.get_indexer(pd.Index(study.units, tupleize_cols=False))
        parts.append(uncertain_number(one.sums, places, sample) * shares[name])
    total = reduce(add, parts)
    return total, row | _spread_of_mean(total, rows, shares, level)


def _spread_of_mean(
    total: UncertainNumber,
    rows: Sequence[Mapping[str, Any]],
    shares: Mapping[str, float],
    level: float,
) -> dict[str, Any]:
    """Return the interval and the p-value of the mean, or the reason for none, and the remark.

    The mean of one question has those of the question.
    """
    error, df = total.standard_error, total.degrees_of_freedom
    left = [row["question"] for row in rows if not np.isfinite(row["estimate"])]
    open_ended = [row["question"] for row in rows if np.isnan(row["low"])]
    notes = [f"without {listing(left)}"] * bool(left)
    if without := [name for name in open_ended if name not in left]:
        notes.append(f"there is no interval for {listing(without)}")
        return {"reason": "; ".join(notes)}
    out: dict[str, Any]
    if len(only := [row for row in rows if shares.get(row["question"])]) == 1:
        shared = "standard_error low high interval_method p_value"
        out = {column: only[0][column] for column in shared.split()}
    else:
        notes += ["the standard error is 0"] * (not error > 0)
        low, high = t_interval(total.value, error, df, level)
        out = {"standard_error": error, "low": low, "high": high}
        out["p_value"] = 2 * t_tail(df, abs(total.value) / error) if error > 0 else np.nan
    rough = [row["question"] for row in rows if row["remark"] or row["standard_error"] == 0]
    if error > 0 and rough:
        basis = "there are rough ones, or standard errors of 0,"
        out["remark"] = f"The interval is rough, as {basis} for {listing(rough)}."
    return out | {"reason": "; ".join(notes) or None}
