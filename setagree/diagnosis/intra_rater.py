"""Agreement of raters with themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import check_level
from setagree.diagnosis.common import reasons, uncertainty
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, counted, option
from setagree.inference.panel_members import plain_units
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, open_study, takes_data
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score, score_part
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.reading import Reading
from setagree.study.sampling import Sampling
from setagree.study.tally import Tally
from setagree.wording.number_format import four, four_interval, level_text
from setagree.wording.result_base import Result
from setagree.wording.tables import Column


@dataclass(frozen=True, eq=False, repr=False)
class IntraRater(Result):
    """Agreement of raters with themselves, with the agreement between raters.

    Attributes
    ----------
    pooled : Agreement
        Alpha of all repeats: each unit of each rater is a unit, each occasion a rater.
    between : Agreement
        Alpha of the raters with one another, by their first answers.
    by_rater : tuple of (rater, Agreement)
        Alpha of the repeats of each rater who has some.
    level : float
        The level of the intervals.
    """

    pooled: Agreement
    between: Agreement
    by_rater: tuple[tuple[object, Agreement], ...]
    level: float

    columns = (
        Column("rater", "name"),
        Column("n_units", "count", "units"),
        Column("estimate", head="alpha"),
        Column(("low", "high"), "interval"),
    )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rater.

        Its columns are n_units (rated again), estimate, standard_error, low, high,
        interval_method, reason (for no interval) and remark (on a rough one).
        """
        rows = [
            {"rater": rater, "n_units": one.n_units} | uncertainty(one, self.level) | reasons(one)
            for rater, one in self.by_rater
        ]
        return pd.DataFrame(rows).sort_values("estimate", kind="stable", ignore_index=True)

    @property
    def verdict(self) -> str:
        """Conclusion from the two coefficients."""
        own, others = self.pooled, self.between
        if np.isnan(own.estimate) or np.isnan(others.estimate):
            undefined = own if np.isnan(own.estimate) else others
            return f"No comparison: {undefined.reason}."
        ends, between = (one.interval(self.level) for one in (own, others))
        level = level_text(self.level)
        shown = [
            "no interval" if np.isnan(pair[0]) else f"{level} {four_interval(*pair)}"
            for pair in (ends, between)
        ]
        numbers = (
            f"The agreement of raters with themselves is {four(own.estimate)} ({shown[0]}, "
            f"{counted(own.n_units, 'answer')} repeated), and with one another "
            f"{four(others.estimate)} ({shown[1]})."
        )
        if "no interval" in shown:
            reason = str((own if shown[0] == "no interval" else others).interval_reason)
            return f"{numbers} They are not compared: {reason[0].lower()}{reason[1:]}."
        if ends[1] < between[0]:
            return f"{numbers} The intervals show less agreement with themselves than with others."
        if ends[0] > between[1]:
            return f"{numbers} The intervals show more agreement with themselves than with others."
        return f"{numbers} The two are not distinguishable, because their intervals overlap."

    def _notes(self) -> list[str]:
        return [self.verdict, self.pooled.remark or ""]


@takes_data
def intra_rater_agreement(
    study: Data,
    *more: RaterAnswers,
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> IntraRater:
    """Return the agreement of raters with themselves on units that they rated repeatedly.

    This is Krippendorff's alpha between the occasions on which a rater rated a unit: each unit of
    each rater is a unit, each occasion a rater. The result also has the alpha between raters, from
    the first answers. Agreement between raters can hardly exceed that within them.

    If several raters rated a unit again, their repeats are a cluster, because their answers to one
    unit are similar: the pooled interval is over units, for these raters. The clusters of a study
    replace these. Sampling weights and strata are ignored, with a warning.

    Answers are taken in the order of their rows; if a column has their times, read the table
    with ``order_by=``.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Read with ``duplicates="repeats"``, as a table or a path is here.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
    level : float
        The level of the intervals: score intervals, if these are known to keep their coverage.

    Returns
    -------
    IntraRater

    Raises
    ------
    DataError
        No rater rated a unit again, or the study was read without ``duplicates="repeats"``.

    Examples
    --------
    >>> import setagree as sa
    >>> rows = [("ann", 1, "a"), ("ann", 1, "a"), ("ann", 2, "b"), ("ann", 2, "a, b"),
    ...         ("ben", 1, "a"), ("ben", 2, "c"), ("ann", 3, "c"), ("ben", 3, "c"), ("ben", 3, "c")]
    >>> study = sa.Annotations.from_triples(rows, duplicates="repeats")
    >>> found = sa.intra_rater_agreement(study)
    >>> round(found.pooled.estimate, 4), round(found.between.estimate, 4)
    (0.7222, 0.5455)
    """
    check_level(level)
    if not isinstance(study, Annotations | Tally):
        study = open_study(study, Reading(duplicates="repeats"))
    repeats = study.repeats if isinstance(study, Annotations) else None
    if repeats is None or not isinstance(study, Annotations):
        raise DataError(
            "no rater of the study rated a unit again; if some did, read it with "
            f"{option('duplicates', 'repeats')}."
        )
    if study.sampling is not None and study.sampling.cluster is None:
        study = plain_units(study, "intra_rater_agreement")
    pooled = score(_in_clusters(study, repeats), krippendorff_alpha, distance=distance)
    people: dict[object, int] = {}
    place = np.array([people.setdefault(rater, len(people)) for _, rater in repeats.units])
    own = tuple(
        (rater, score_part(pooled, repeats.take((place == k)[repeats.unit_codes])))
        for rater, k in people.items()
    )
    return IntraRater(pooled, score(study, krippendorff_alpha, distance=distance), own, level)


def _in_clusters(study: Annotations, repeats: Annotations) -> Annotations:
    """Return the repeats in the clusters of the study, or with those of one unit as a cluster."""
    by, groups = "unit", [unit for unit, _ in repeats.units]
    if study.sampling is not None and study.sampling.cluster is not None:
        by = study.sampling.cluster
        cluster = study.units_frame[by].to_dict()
        groups = [cluster[unit] for unit in groups]
    elif len({*groups}) == repeats.n_units:
        return repeats
    index = pd.Index(repeats.units, name="unit", dtype=object, tupleize_cols=False)
    table = pd.DataFrame({by: pd.factorize(as_objects(groups))[0]}, index=index)
    return replace(repeats, unit_table=table, sampling=Sampling(by))
