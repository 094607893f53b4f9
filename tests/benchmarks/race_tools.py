"""The race: who runs, on which studies, and what each tool is given and asked.

Ours is given a frame of strings, the road a user takes, and computes standard errors too. A peer
is given its input ready made (parsed sets, integer codes, a matrix of weights), which is in its
favour, and its own way through it is timed. Tools that take a distance take the same function.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import setagree as sa
from tests.benchmarks import data
from tests.benchmarks.peers import exact_masi

Call: TypeAlias = Callable[[], float]
Prepare: TypeAlias = Callable[[data.Ratings], Call]
LabelSet: TypeAlias = frozenset[str]
Distance: TypeAlias = Callable[[LabelSet, LabelSet], float]
Floats: TypeAlias = npt.NDArray[np.float64]

OURS = "setagree"
LIMIT = "pandas.factorize"


@dataclass(frozen=True)
class Tool:
    """A runner.

    - package: The distribution it comes in; without it the tool does not start.
    - prepare: Takes the ratings, returns the call that is timed and returns the estimate.
    - hint: How to install it where the ordinary way does not do.
    """

    package: str
    prepare: Prepare
    hint: str = ""


@dataclass(frozen=True)
class Contest:
    """One quantity on one kind of study.

    - title: The quantity and the study in words.
    - n_raters: Raters of the study.
    - recipe: How its ratings come about.
    - tools: Who takes part, in the order of turns; `OURS` is among them.
    """

    title: str
    n_raters: int
    recipe: data.Recipe
    tools: Mapping[str, Tool] = field(default_factory=dict)

    def study(self, n_units: int) -> data.Ratings:
        """Return the ratings of one size; the same in every process."""
        return data.simulate(n_units, self.n_raters, recipe=self.recipe)


def _ours(row: tuple[str, str], **options: str) -> Prepare:
    """Return how ``sa.agreement`` is called with the options, and which of its rows counts."""

    def prepare(ratings: data.Ratings) -> Call:
        frame = ratings.frame()
        columns = {"unit": "doc", "rater": "who", "labels": "tags"}
        call: Any = sa.agreement  # the options are all strings, which a checker cannot tell
        return lambda: float(call(frame, **columns, **options)[row].estimate)

    return prepare


def _ours_nominal(coefficient: str) -> Prepare:
    return _ours((coefficient, "nominal"), coefficient=coefficient, distance="nominal")


def _factorize(ratings: data.Ratings) -> Call:
    """Return the limit: pandas coding the three columns, without any statistic."""
    frame = ratings.frame()

    def call() -> float:
        for name in frame:
            pd.factorize(frame[name])
        return math.nan

    return call


def _nltk(distance: Distance) -> Prepare:
    def prepare(ratings: data.Ratings) -> Call:
        task: Any = importlib.import_module("nltk.metrics.agreement").AnnotationTask
        triples = ratings.triples()
        return lambda: float(task(triples, distance=distance).alpha())

    return prepare


def _crowd_kit(distance: Distance) -> Prepare:
    """Return how crowd-kit's alpha is called, which hands its rows to NLTK."""

    def prepare(ratings: data.Ratings) -> Call:
        alpha: Any = importlib.import_module("crowdkit.metrics.data").alpha_krippendorff
        frame = pd.DataFrame(ratings.triples(), columns=["worker", "task", "label"])
        return lambda: float(alpha(frame, distance))

    return prepare


def _simpledorff(distance: Distance) -> Prepare:
    def prepare(ratings: data.Ratings) -> Call:
        alpha: Any = importlib.import_module("simpledorff").calculate_krippendorffs_alpha_for_df
        frame = pd.DataFrame(ratings.triples(), columns=["who", "doc", "tags"])
        return lambda: float(alpha(frame, "doc", "who", "tags", metric_fn=distance))

    return prepare


def _krippendorff_masi(ratings: data.Ratings) -> Call:
    """Return krippendorff's alpha with a matrix of MASI distances to look up."""
    alpha: Any = importlib.import_module("krippendorff").alpha
    table, distances = _table(ratings).T, 1 - _masi_credit(ratings.masks)

    def metric(v1: Any, v2: Any, i1: Any, i2: Any, n_v: Any, dtype: Any = float) -> Any:
        return distances[i1.astype(np.intp), i2.astype(np.intp)]

    domain = np.arange(len(ratings.masks))
    return lambda: float(
        alpha(reliability_data=table, value_domain=domain, level_of_measurement=metric)
    )


def _krippendorff_nominal(ratings: data.Ratings) -> Call:
    """Return krippendorff's nominal alpha on integer codes."""
    alpha: Any = importlib.import_module("krippendorff").alpha
    table = _table(ratings).T
    return lambda: float(alpha(reliability_data=table, level_of_measurement="nominal"))


def _irrcac(weights: Callable[[data.Masks], Floats | str], method: str) -> Prepare:
    """Return how a coefficient of irrCAC is called, twelve digits of it."""

    def prepare(ratings: data.Ratings) -> Call:
        cac: Any = importlib.import_module("irrCAC.raw").CAC
        frame, categories = pd.DataFrame(_table(ratings)), list(range(len(ratings.masks)))
        credit = weights(ratings.masks)

        def call() -> float:
            study = cac(frame, weights=credit, categories=categories, digits=12)
            return float(getattr(study, method)()["est"]["coefficient_value"])

        return call

    return prepare


def _statsmodels(ratings: data.Ratings) -> Call:
    """Return statsmodels' Fleiss' kappa, its table of counts included."""
    rater: Any = importlib.import_module("statsmodels.stats.inter_rater")
    codes = _table(ratings).astype(np.intp)
    return lambda: float(rater.fleiss_kappa(rater.aggregate_raters(codes)[0], method="fleiss"))


def _scikit_learn(ratings: data.Ratings) -> Call:
    """Return scikit-learn's Cohen's kappa on integer codes."""
    kappa: Any = importlib.import_module("sklearn.metrics").cohen_kappa_score
    first, second = _table(ratings).astype(np.intp).T
    return lambda: float(kappa(first, second))


def _table(ratings: data.Ratings) -> Floats:
    """Return codes of shape (n_units, n_raters), nan where missing, no unit without ratings."""
    shape = (int(ratings.units.max()) + 1, int(ratings.raters.max()) + 1)
    table = np.full(shape, np.nan)
    table[ratings.units, ratings.raters] = ratings.values
    given: Floats = table[~np.isnan(table).all(axis=1)]
    return given


def _masi_credit(masks: data.Masks) -> Floats:
    """Return 1 - MASI for each pair of sets, row by row so that only the result is large."""
    sizes = np.bitwise_count(masks).astype(np.float64)
    credit: Floats = np.empty((len(masks), len(masks)))
    for row, (mask, size) in enumerate(zip(masks, sizes, strict=True)):
        shared = np.bitwise_count(masks & mask).astype(np.float64)
        monotone = np.where(shared == np.minimum(sizes, size), 2 / 3, 1 / 3)
        monotone[row] = 1.0
        credit[row] = monotone * shared / (sizes + size - shared)
    return credit


def _unequal(first: LabelSet, second: LabelSet) -> float:
    return float(first != second)


_BY_HAND = "pip install --no-deps irrCAC (its pins are older than numpy 2 and pandas 3)"
_SETS = data.Recipe()
_COMPLETE = data.Recipe(missing=0.0)
_SINGLE = data.Recipe(max_size=1)

CONTESTS: dict[str, Contest] = {
    "masi": Contest(
        "Krippendorff's alpha with MASI: sets of up to 5 of 30 labels, 3 raters, 10% missing",
        n_raters=3,
        recipe=_SETS,
        tools={
            LIMIT: Tool("pandas", _factorize),
            OURS: Tool("setagree", _ours(("krippendorff_alpha", "masi"))),
            "NLTK": Tool("nltk", _nltk(exact_masi)),
            "crowd-kit": Tool("crowd-kit", _crowd_kit(exact_masi)),
            "simpledorff": Tool("simpledorff", _simpledorff(exact_masi)),
            "irrCAC": Tool("irrCAC", _irrcac(_masi_credit, "krippendorff"), _BY_HAND),
            "krippendorff": Tool("krippendorff", _krippendorff_masi),
        },
    ),
    "single": Contest(
        "Krippendorff's alpha, nominal: one of 30 labels, 3 raters, 10% missing",
        n_raters=3,
        recipe=_SINGLE,
        tools={
            LIMIT: Tool("pandas", _factorize),
            OURS: Tool("setagree", _ours_nominal("krippendorff_alpha")),
            "NLTK": Tool("nltk", _nltk(_unequal)),
            "crowd-kit": Tool("crowd-kit", _crowd_kit(_unequal)),
            "simpledorff": Tool("simpledorff", _simpledorff(_unequal)),
            "irrCAC": Tool("irrCAC", _irrcac(lambda _: "identity", "krippendorff"), _BY_HAND),
            "krippendorff": Tool("krippendorff", _krippendorff_nominal),
        },
    ),
    "fleiss": Contest(
        "Fleiss' kappa, nominal: the sets, 3 raters, nothing missing",
        n_raters=3,
        recipe=_COMPLETE,
        tools={
            OURS: Tool("setagree", _ours_nominal("fleiss_kappa")),
            "statsmodels": Tool("statsmodels", _statsmodels),
        },
    ),
    "cohen": Contest(
        "Cohen's kappa, nominal: the sets, 2 raters, nothing missing",
        n_raters=2,
        recipe=_COMPLETE,
        tools={
            OURS: Tool("setagree", _ours_nominal("cohen_kappa")),
            "scikit-learn": Tool("scikit-learn", _scikit_learn),
        },
    ),
}
