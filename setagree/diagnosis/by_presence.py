"""Agreement in two parts if answers can be empty: whether a label applies, and which."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
import pandas as pd

from setagree.checks import check_level
from setagree.diagnosis.by_label import specific_agreements
from setagree.diagnosis.common import REASONS, Row, named, score_whole, uncertainty
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError
from setagree.inference.panel_members import require_raters
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import CoefficientLike
from setagree.scoring.results import Agreement
from setagree.wording.result_base import ResultFrame
from setagree.wording.tables import Column

COLUMNS = (
    Column("part", "text"),
    Column("estimate"),
    Column(("low", "high"), "interval"),
    Column("positive_agreement", "share", "agree on some"),
    Column("negative_agreement", "share", "agree on none"),
    Column("n_pairable_units", "count", "pairable units"),
    Column("n_ratings", "count", "ratings"),
    *REASONS,
)
"""The main columns, which notebooks and the report show."""


@takes_data
def by_presence(
    study: Data,
    *more: RaterAnswers,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the agreement on whether any label applies, and on which, given that some do.

    With many empty answers, a coefficient of all answers mixes the two questions: a pair of an
    empty and another answer is at the largest distance, and two empty answers agree fully.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Label sets.
    coefficient, distance
        As in `agreement`. The first part always has the distance nominal.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        Two rows. ``"none against some"`` is about all answers as empty or not, with
        positive_agreement and negative_agreement (the probability that another rater of the unit
        also gives some label, or none). ``"which, given some"`` is about the answers that are not
        empty. Columns: part, estimate, standard_error, low, high, positive_agreement,
        negative_agreement, n_pairable_units, n_ratings, reason (for no interval), remark (on a
        rough one), coefficient, distance.

    Raises
    ------
    DataError
        The answers are not label sets, or none of them is empty, or all are.

    Examples
    --------
    Six units; the last has one rating. Of the ten answers in pairs three are empty, and one pair
    of five has an empty and another answer: 1 - 9 x 1 / (3 x 7) = 4 / 7.

    >>> import setagree as sa
    >>> answers = {"u1": "a|a", "u2": "a,b|a", "u3": "b|b", "u4": "|", "u5": "|a", "u6": "b"}
    >>> study = sa.Annotations.from_triples([
    ...     (rater, unit, labels) for unit, cells in answers.items()
    ...     for rater, labels in enumerate(cells.split("|"))
    ... ], blank="empty")
    >>> by_presence(study, distance="nominal")[["part", "estimate", "n_ratings"]].round(4)
                    part  estimate  n_ratings
    0  none against some    0.5714         11
    1  which, given some    0.5455          8
    """
    check_level(level)
    known = require_raters(study, "by_presence")
    if known.kind != "labels":
        raise DataError("by_presence is about label sets; single values are never empty.")
    has_labels = np.array([len(value) > 0 for value in known.values])
    given = has_labels[known.value_codes]
    if given.all() or not given.any():
        answers = "no answer" if given.all() else "every answer"
        raise DataError(f"{answers} is the empty set, so that agreement has no two parts.")
    codes = (~given).astype(np.int32)
    binary = replace(known, kind="category", values=(True, False), value_codes=codes, order=())
    some = known.take(given).with_used_values()
    whether = score_whole(binary, coefficient, "nominal", level)
    which = score_whole(some, coefficient, distance, level)
    specific = specific_agreements(whether)
    parts: list[tuple[str, Agreement, Row]] = [
        ("none against some", whether, specific),
        ("which, given some", which, dict.fromkeys(specific, np.nan)),
    ]
    rows = [
        {
            "part": part,
            **uncertainty(found, level),
            **agreements,
            "n_pairable_units": found.n_pairable_units,
            "n_ratings": found.n_ratings,
            **named(found),
        }
        for part, found, agreements in parts
    ]
    return ResultFrame.of(pd.DataFrame(rows), COLUMNS)
