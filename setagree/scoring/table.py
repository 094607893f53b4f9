"""The door for tables: several coefficients and distances in one call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from setagree.checks import check_level, renamed
from setagree.credit import Weights
from setagree.distances import Distance, get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import OptionError, check_list, listing
from setagree.files.columns import guess_columns
from setagree.large.task import Plan, Task
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.definition import Coefficient
from setagree.scoring.results import AgreementTable
from setagree.scoring.scorer import DEFAULT_DISTANCES, Scorer, Study, warn_undefined
from setagree.study.annotations import Annotations
from setagree.study.assembly import Duplicates
from setagree.study.frames import Frame, column_names, open_frame
from setagree.study.labels import Blank, Case, LabelSyntax, Missing
from setagree.study.tally import Tally
from setagree.wording.label_sets import Label

Data: TypeAlias = "Study | Frame | str | PathLike[str]"

_READING = {"sep": ",", "case": "keep", "duplicates": "error"}
"""How a table is read unless the call says otherwise."""


@renamed(coefficients="coefficient", distances="distance")
def agreement(
    data: Data,
    *,
    unit: str | None = None,
    rater: str | None = None,
    labels: str | list[str] | None = None,
    value: str | None = None,
    coefficient: CoefficientLike | Sequence[CoefficientLike] = (
        "krippendorff_alpha",
        "fleiss_kappa",
    ),
    distance: DistanceLike | Sequence[DistanceLike] | None = None,
    level: float = 0.95,
    sep: str = ",",
    blank: Blank | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    missing: Missing | None = None,
    duplicates: Duplicates = "error",
    categories: Iterable[Any] | None = None,
    encoding: str = "utf-8",
    assume_unique: bool = False,
    partitioned_by_unit: bool = False,
    memory_limit: str | None = None,
    spill: str | PathLike[str] | None = None,
) -> AgreementTable:
    """Return a table of agreement coefficients, a row for each coefficient and distance.

    Parameters
    ----------
    data : DataFrame, Annotations, Tally, or path
        A long table (one row for each unit and rater) of pandas, Polars, Arrow, DuckDB or any
        library that narwhals knows, a study that is already built, or the path or glob of files
        with such tables. A path where a tool's export is recognised is read as by `read`. What need
        not fit in memory is reduced where it is, see Notes.
    unit, rater, labels, value : str, optional
        Columns of a long table, as in `Annotations.from_long`; `labels` may be the list of columns
        of flags. Those not named are looked for under their usual names (``unit``, ``rater``,
        ``labels`` and what goes for them).
    coefficient : name, Coefficient, or several of them
        Names of the functions `krippendorff_alpha`, `fleiss_kappa`, `conger_kappa`, `cohen_kappa`,
        `scott_pi`, `gwet_ac`, `brennan_prediger`, `percent_agreement`, `mv_alpha`.
    distance : name, callable, Distance or labelled matrix, or several of them, optional
        Names, functions of two answers, `Distance` objects or labelled matrices. Default: MASI for
        label sets; nominal, ordinal and interval for numbers; nominal for categories.
    level : float
        The confidence level of the intervals that are shown.
    sep, blank, case, codebook, missing, duplicates
        How a table is read; see `Annotations.from_long`. Nulls among label text may be blanks, of
        which pandas makes them: they are what `blank` says, unless there is blank text, too.
    categories : iterable of values, optional
        The values that could have been given, for `gwet_ac` and `brennan_prediger`. Default: the
        distinct observed ones.
    encoding : str
        How the bytes of a file spell text.
    assume_unique, partitioned_by_unit, memory_limit, spill
        How a table that need not fit in memory is reduced; see `tally`.

    Returns
    -------
    AgreementTable
        Prints as a table; ``table["krippendorff_alpha", "masi"]`` is one row.

    Raises
    ------
    SetagreeError
        What is wrong, where, and what to do about it.

    Warns
    -----
    UndefinedAgreementWarning
        An estimate is nan; its `reason` says why.

    Notes
    -----
    Lazy tables (a relation of DuckDB, a lazy frame of Polars, a frame of Dask or Spark), files of
    more than 1 GiB together (Parquet, CSV, TSV, JSON lines), and smaller ones where `memory_limit`
    or another option of `tally` is given, are not read into memory: their engine, for files
    DuckDB, finds the patterns of the units, and the table is computed from these. It is the same
    table. Where a coefficient asks who gave which answer (`conger_kappa`, `cohen_kappa`), patterns
    keep their raters and are more (`setagree.large` says how many). Repeats other than
    ``duplicates="error"`` need the study in memory: ``Annotations.from_long``.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({
    ...     "doc": ["d1", "d1", "d2", "d2", "d3", "d3"],
    ...     "who": ["ann", "bob", "ann", "bob", "ann", "bob"],
    ...     "tags": ["joy, fear", "joy", "anger", "anger", "fear", "fear, joy"],
    ... })
    >>> table = agreement(df, unit="doc", rater="who", labels="tags")
    >>> round(table["krippendorff_alpha", "masi"].estimate, 4)
    0.4286
    """
    columns: dict[str, Any] = {"unit": unit, "rater": rater, "labels": labels, "value": value}
    reading: dict[str, Any] = {
        "sep": sep,
        "blank": blank,
        "case": case,
        "codebook": codebook,
        "missing": missing,
        "duplicates": duplicates,
    }
    check_level(level)
    several = [coefficient] if isinstance(coefficient, str | Coefficient) else coefficient
    check_list("coefficient", several, "names")
    found = list(dict.fromkeys(get_coefficient(one) for one in several))
    asked = _distances(distance)
    plan = Plan(assume_unique, partitioned_by_unit, memory_limit, spill)
    study, n_missing = _study(Task(data, columns, reading, plan, encoding), found)
    syntax = LabelSyntax(sep=sep, blank="empty", case=case)
    scorer = Scorer(study, categories=categories, syntax=syntax)
    rows = tuple(scorer.score(one, d) for one in found for d in scorer.distances(one, asked))
    if not rows:
        raise OptionError("name one coefficient and one distance at least.")
    warn_undefined(rows)
    return AgreementTable(rows, level, n_missing)


def weights(study: Study, distance: DistanceLike | None = None) -> Weights:
    """Return the credit between the observed values, as an operator.

    Parameters
    ----------
    study : Annotations or Tally
        Whose distinct values are compared.
    distance : name, callable, Distance or labelled matrix, optional
        What w = 1 - d / d_max is made of. Default: MASI for label sets, nominal for scalars.

    Returns
    -------
    Weights
        ``at(k, l)``, ``dot(x)``, and ``to_frame()`` for people to read.

    Examples
    --------
    >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b"), ("ann", 2, set())])
    >>> weights(study, "jaccard").to_frame()
           {}    a  a, b
    {}    1.0  0.0   0.0
    a     0.0  1.0   0.5
    a, b  0.0  0.5   1.0
    """
    scorer = Scorer(study)
    default = DEFAULT_DISTANCES[scorer.tally.kind][0]
    return scorer.case(get_distance(default if distance is None else distance)).weights


def _distances(asked: DistanceLike | Sequence[DistanceLike] | None) -> list[Distance] | None:
    if asked is None:
        return None
    several: list[Any] = [*asked] if isinstance(asked, list | tuple) else [asked]
    found = [get_distance(distance) for distance in several]
    names = [distance.name for distance in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(
            f"two distances are called {listing(twice)}; give one another name, for example with "
            "CallableDistance(function, name=...)."
        )
    return found


def _study(task: Task, found: Sequence[Coefficient[...]]) -> tuple[Study, int]:
    """Return the study to score with some coefficients, and its missing answers."""
    data, plan = task.data, task.plan
    if isinstance(data, Annotations | Tally):
        _check_built(task)
        return data, data.n_missing if isinstance(data, Annotations) else 0
    if isinstance(data, str | PathLike) and not plan.asked:
        named = any(column is not None for column in task.named.values())
        export = None if named else _export(data, task.reading, task.encoding)
        if export is not None:
            return export, export.n_missing
    if plan.asked or not isinstance(data, pd.DataFrame):
        # loads what speaks to engines
        from setagree.large.reduce import is_large, opened, reduce_table

        keep_raters = any(one.asks_who for one in found)
        data = opened(data, also=", Annotations, Tally or path")
        task = replace(task, data=data, keep_raters=keep_raters)
        if plan.asked or is_large(task):
            _check_reducible(task)
            reduction = reduce_table(task)
            return reduction.tally, reduction.n_missing
    study = _in_memory(task)
    return study, study.n_missing


def _check_built(task: Task) -> None:
    """Refuse options that only tables have."""
    given = [name for name, option in {**task.named, **task.reading}.items() if option is not None]
    useless = [f"{n}=" for n in given if n not in _READING or task.reading[n] != _READING[n]]
    useless += task.plan.asked
    if useless:
        raise OptionError(f"the study is already built; drop {', '.join(useless)}.")


def _check_reducible(task: Task) -> None:
    """Refuse what a table that is not read into memory cannot tell."""
    if task.reading["duplicates"] != "error":
        raise OptionError(
            f"duplicates={task.reading['duplicates']!r} is not settled in an engine; if the table "
            "fits in memory, build the study with Annotations.from_long and score that."
        )


def _in_memory(task: Task) -> Annotations:
    """Return the study of a table that is read, or a frame, with the columns that are named."""
    data = task.data
    if isinstance(data, str | PathLike):
        named = any(column is not None for column in task.named.values())
        data = (_table if named else _plain_table)(data, encoding=task.encoding)
    frame = open_frame(data)
    found = _found_columns(column_names(frame), task.named)
    return Annotations.from_long(frame, **found, **task.reading)


def _export(
    path: str | PathLike[str], reading: Mapping[str, Any], encoding: str
) -> Annotations | None:
    """Return the study in the export of an annotation tool, or None where the file is a table."""
    from setagree.large.opening import read, seen_format  # loads the readers of all formats

    found = seen_format(Path(path), encoding=encoding)
    if found is None:
        return None
    sep = None if reading["sep"] == _READING["sep"] else reading["sep"]
    return read(path, format=found.name, encoding=encoding, **{**reading, "sep": sep})


def _table(path: str | PathLike[str], *, encoding: str) -> Frame:
    """Return the table in files."""
    from setagree.files.tables import read_table  # loads the readers of files

    return read_table(path, encoding=encoding)


def _plain_table(path: str | PathLike[str], *, encoding: str) -> Frame:
    """Return the table in files, refused where what was not looked into is a tool's export."""
    from setagree.large.opening import plain_table  # loads the readers of all formats

    return plain_table(path, encoding=encoding)


def _found_columns(names: list[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by role, those that are not named by their usual names."""
    flags = columns["labels"]
    if not isinstance(flags, list):
        found = guess_columns(names, **columns)
        return {role: getattr(found, role) for role in columns}
    rest = [name for name in names if name not in flags]
    found = guess_columns([*rest, *flags[:1]], **{**columns, "labels": next(iter(flags), None)})
    return {**{role: getattr(found, role) for role in columns}, "labels": flags}
