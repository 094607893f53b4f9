"""Share of the disagreement inside the branches of a label hierarchy."""

from __future__ import annotations

from typing import Unpack

import pandas as pd

from setagree.diagnosis.common import NO_DEGREE, Row, counts, named, score_whole, uncertainty
from setagree.distances.hierarchy import Hierarchy, Parents, read_hierarchy
from setagree.distances.registry import DistanceLike
from setagree.distances.sets import nominal
from setagree.errors import DataError
from setagree.inference.comparison import distance_of
from setagree.inference.panel_members import require_raters
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import CoefficientLike, krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import Scorer
from setagree.study.annotations import Annotations
from setagree.study.codes import have_degrees


@takes_data
def by_depth(
    study: Data,
    *more: RaterAnswers,
    parents: Parents,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Return the agreement at each depth of a hierarchy, and the disagreement below it.

    At depth k every deeper label is replaced by its ancestors at that depth; a root has depth 1.
    Answers that agree at a depth and differ in the study differ inside a branch: they have the
    same parent and different children.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Label sets.
    parents : mapping, DataFrame, path or taxonomy
        The hierarchy, as `setagree.distances.taxonomy` takes it, or what that returned. If labels
        are paths, such as emotion/joy, the text between their steps: "/".
    coefficient, distance
        As in `setagree.agreement`.
    level : float
        The level of the intervals.

    Returns
    -------
    DataFrame
        One row per depth, that of the deepest label last, which is the unchanged study: depth,
        n_labels (how many there are then), inside (the share of the pairs of ratings of one unit
        that differ, in which both are the same at this depth: with D(k) the observed disagreement
        of alpha with the nominal distance at depth k, 1 - D(k) / D), estimate, standard_error,
        low, high, observed_disagreement, expected_disagreement, n_units, n_pairable_units,
        n_raters, n_ratings, n_values, reason (for no interval), remark (on a rough one),
        coefficient, distance.

    Raises
    ------
    DataError
        The values are numbers or categories.

    Notes
    -----
    A higher coefficient at a smaller depth does not mean a better codebook: its labels distinguish
    less. If ``inside`` is large, raters agree on the branch but not on the child: merge the
    children, or define in the guidelines how they differ. `what_if` tests such a change, and
    `confusions` lists the pairs of labels.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.Annotations.from_triples([
    ...     ("ann", 1, "joy"), ("ben", 1, "pride"), ("ann", 2, "fear"), ("ben", 2, "fear"),
    ...     ("ann", 3, "joy"), ("ben", 3, "fear"), ("ann", 4, "pride"), ("ben", 4, "joy"),
    ... ])
    >>> tree = {"good": ["joy", "pride"], "bad": {"fear": None}}
    >>> by_depth(study, parents=tree)[["depth", "n_labels", "inside", "estimate"]].round(3)
       depth  n_labels  inside  estimate
    0      1         2   0.667     0.533
    1      2         3   0.000     0.000
    """
    study = require_raters(study, "by_depth")
    if study.kind != "labels":
        raise DataError("a hierarchy needs labels; these values are scalars.")
    if have_degrees(study.values):
        raise DataError(NO_DEGREE)
    tree = read_hierarchy(parents)
    whole = score_whole(study, coefficient, distance, level)
    differ = _nominal(study)
    deepest = max((tree.depth(label) for label in study.labels), default=1)
    return pd.DataFrame(
        [_row(study, tree, depth, whole, differ, level) for depth in range(1, deepest + 1)]
    )


def _row(
    study: Annotations,
    tree: Hierarchy,
    depth: int,
    whole: Agreement,
    differ: float,
    level: float,
) -> Row:
    """Return the row of one depth; `differ` is the nominal disagreement of the whole study."""
    merged = study.with_answers(tree.lifting(depth))
    found = Scorer(merged).score(whole.definition, distance_of(whole))
    return {
        "depth": depth,
        "n_labels": len(merged.labels),
        "inside": 1 - _nominal(merged) / differ if differ else float("nan"),
        **uncertainty(found, level),
        "observed_disagreement": found.observed_disagreement,
        "expected_disagreement": found.expected_disagreement,
        **counts(found),
        **named(found),
    }


def _nominal(study: Annotations) -> float:
    """Return the share of the pairs of ratings of one unit that differ."""
    return Scorer(study).score(krippendorff_alpha, nominal).observed_disagreement
