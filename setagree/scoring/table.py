"""Tables of several coefficients and distances."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack

from setagree.checks import check_level
from setagree.credit import Weights
from setagree.distances import Distance, get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import OptionError, check_choice, check_list, listing, option
from setagree.large.opening import (
    Data,
    RaterAnswers,
    ReadingOptions,
    open_sampled,
    takes_data,
    with_reading,
)
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.definition import Coefficient
from setagree.scoring.intervals import Method
from setagree.scoring.results import AgreementTable
from setagree.scoring.scorer import Scorer, main_distance, warn_undefined
from setagree.study.attributes import OfUnits
from setagree.study.labels import Case, NaValues
from setagree.study.reading import Duplicates, Plan, Predictions, Reading
from setagree.study.sampling import Sizes, warn_ignored
from setagree.wording.label_sets import Label


@takes_data
def agreement(
    data: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike | Sequence[CoefficientLike] = (
        "krippendorff_alpha",
        "fleiss_kappa",
    ),
    distance: DistanceLike | Sequence[DistanceLike] | None = None,
    level: float = 0.95,
    interval: Method | None = None,
    case: Case = "keep",
    codebook: Collection[Label] | None = None,
    empty: NaValues | None = None,
    na_values: NaValues | None = None,
    duplicates: Duplicates = "error",
    categories: Iterable[Any] | None = None,
    encoding: str = "utf-8",
    predictions: Predictions = False,
    cluster: OfUnits | None = None,
    sampling_weight: OfUnits | None = None,
    strata: OfUnits | None = None,
    population_size: Sizes = None,
    assume_unique: bool = False,
    partitioned_by_unit: bool = False,
    memory_limit: str | None = None,
    temp_directory: str | PathLike[str] | None = None,
    **options: Unpack[ReadingOptions],
) -> AgreementTable:
    """Return a table of agreement coefficients, a row for each coefficient and distance.

    Parameters
    ----------
    data : DataFrame, Annotations, Tally, path, or answers
        A long table (one row for each unit and rater) of pandas, Polars, Arrow, DuckDB or any
        library that narwhals supports, a study, or the path or glob of files with such tables. A
        path to a recognised export of a tool is read as by `read`. Large tables are reduced
        without loading them, see Notes. A table whose columns are all raters is recognised.
    unit, rater, labels, value : str, optional
        The columns of a table; `labels` may be a list of columns of flags. Default: those with a
        usual name, such as ``doc``, ``annotator`` and ``tags``. See `Reading`.
    kind, wide, raters_in_rows, model, where
        The type of the answers, the layout of the table, raters that are models, and the rows that
        count; see `Reading`.
    coefficient : name, Coefficient, or several of them
        Names of the functions `krippendorff_alpha`, `fleiss_kappa`, `conger_kappa`, `cohen_kappa`,
        `scott_pi`, `gwet_ac`, `brennan_prediger`, `percent_agreement`, `mv_alpha`.
    distance : name, callable, Distance or labelled matrix, or several of them, optional
        Names, functions of two answers, `Distance` objects or labelled matrices. Default: MASI for
        label sets; nominal, ordinal and interval for numbers; nominal for categories, ordinal if
        they are ordered.
    level : float
        The confidence level of the intervals that are shown.
    interval : {"score", "t"}, optional
        The method of the intervals and p-values: that of the score, or estimate ± t SE with the
        p-value of the t test, as in irrCAC. Default: score, and t for strata, populations of
        known size and most clusters; see `Agreement.interval`.
    label_sep, blank, case, codebook, empty, na_values, duplicates, encoding, predictions
        How cells, repeated ratings, files and exports are read; see `Reading`.
    categories : iterable of values, optional
        The values that could have been given, for `gwet_ac` and `brennan_prediger`. Default: the
        distinct observed ones.
    cluster, sampling_weight, strata : str, mapping or Series, optional
        The sampling design: a column of the table with one value per unit (or one that the study
        keeps), or a mapping from unit. Units of one cluster (document, patient) are similar; a
        sampling weight is the number of population units that a unit represents; strata were
        sampled separately. Every interval respects it; see `Annotations.sampled`.
    population_size : mapping or number, optional
        Number of units in each stratum, or in the population if there are no strata.
    assume_unique, partitioned_by_unit, memory_limit, temp_directory
        How a table that need not fit in memory is reduced; see `tally`.

    Returns
    -------
    AgreementTable
        Prints as a table; ``table["krippendorff_alpha", "masi"]`` is one row.

    Raises
    ------
    SetagreeError
        The data or an option are invalid; the message states where, and the remedy.

    Warns
    -----
    UndefinedAgreementWarning
        An estimate is NaN; see its `reason`.

    Notes
    -----
    A `Reading` passed as ``reading=`` has the other options of reading.

    Lazy tables (a relation of DuckDB, a lazy frame of Polars, a frame of Dask or Spark, a table of
    Ibis), files that would need more than 4 GiB of memory together (about 1 GiB of CSV, TSV, JSON
    lines or Parquet; text counts after decompression), and smaller ones if `memory_limit` or
    another option of `tally` is given, are not read into memory: their engine, for files DuckDB,
    finds the patterns of the units, and the table is computed from these. The table does not
    change. If a coefficient needs the rater of each answer (`conger_kappa`, `cohen_kappa`),
    patterns keep their raters and are more numerous (see `setagree.large`). Repeats other than
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
    >>> table = agreement([["joy", "fear"], ["joy"], []], [["joy"], ["joy"], []])
    >>> round(table["krippendorff_alpha", "masi"].estimate, 4)
    0.6667
    """
    cells: dict[str, Any] = {"case": case, "codebook": codebook, "empty": empty}
    cells |= {"na_values": na_values, "duplicates": duplicates, "encoding": encoding}
    data, reading = with_reading(data, Reading(**cells, predictions=predictions))
    of_units = {"cluster": cluster, "sampling_weight": sampling_weight, "strata": strata}
    drawn = {**of_units, "population_size": population_size}
    check_level(level)
    if interval is not None:
        check_choice("interval", interval, ("score", "t"))
    several = [coefficient] if isinstance(coefficient, str | Coefficient) else coefficient
    if not isinstance(several, list | tuple):
        check_list("coefficient", several, "names")
    found = list(dict.fromkeys(get_coefficient(one) for one in several))
    chosen = _distances(distance)
    keep_raters = any(one.needs_raters for one in found)
    plan = Plan(assume_unique, partitioned_by_unit, memory_limit, temp_directory, keep_raters)
    study = open_sampled(data, reading, plan, drawn=drawn)
    scorer = Scorer(study, categories=categories, syntax=reading.syntax)
    rows = tuple(scorer.score(one, d) for one in found for d in scorer.distances(one, chosen))
    if not rows:
        raise OptionError("name at least one coefficient and one distance.")
    warn_undefined(rows)
    if interval is not None:
        rows = tuple(replace(row, requested_method=interval) for row in rows)
        reasons = [row.inference.no_score_reason for row in rows if interval == "score"]
        if reason := next(filter(None, reasons), None):
            raise OptionError(f"{option('interval', interval)} {reason}.")
    return AgreementTable(rows, level, study.n_missing)


@takes_data
def weights(
    study: Data,
    distance: DistanceLike | None = None,
    **options: Unpack[ReadingOptions],
) -> Weights:
    """Return the credit between the observed values, as an operator.

    Parameters
    ----------
    study : Annotations, Tally, or a table or path as `agreement` takes it
        The study whose distinct values are compared.
    distance : name, callable, Distance or labelled matrix, optional
        The distance d in w = 1 - d / d_max. Default: MASI for label sets, interval for numbers,
        else nominal.

    Returns
    -------
    Weights
        ``at(k, l)``, ``dot(x)``, and ``to_frame()`` for people to read.

    Warns
    -----
    SetagreeWarning
        The study has clusters, strata or a population size, which do not count here.

    Examples
    --------
    >>> import setagree as sa
    >>> rows = [("ann", 1, "a"), ("bob", 1, "a, b"), ("ann", 2, set())]
    >>> study = sa.Annotations.from_triples(rows)
    >>> weights(study, "jaccard").to_frame()
           {}    a  a, b
    {}    1.0  0.0   0.0
    a     0.0  1.0   0.5
    a, b  0.0  0.5   1.0
    """
    scorer = Scorer(study)
    if scorer.annotations is not None and (drawn := scorer.annotations.sampling) is not None:
        warn_ignored(None if drawn.is_weighted or drawn.size else drawn, "weights")
    return scorer.case(main_distance(scorer.tally, distance)).weights


def _distances(chosen: DistanceLike | Sequence[DistanceLike] | None) -> list[Distance] | None:
    if chosen is None:
        return None
    several: list[Any] = [*chosen] if isinstance(chosen, list | tuple) else [chosen]
    found = [get_distance(distance) for distance in several]
    names = [distance.name for distance in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(
            f"two distances are called {listing(twice)}; give one another name, for example with "
            "CallableDistance(function, name=...)."
        )
    return found
