"""How far models agree with themselves, over runs and prompts, and then with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import check_cost, check_level, public
from setagree.coefficients.chance import ROUNDING, Floats
from setagree.credit.base import Weights
from setagree.credit.pairs import neighbours
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, OptionError, check_list, did_you_mean, listing, option
from setagree.inference.known_raters import known_raters, plain_units
from setagree.inference.raters import Codes, Flags, case_of, flags, part_of, rater_codes
from setagree.inference.variance_components import NOT_SQUARED
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.panels.facet_results import ALL, PEOPLE, WITH_PEOPLE, FacetAgreement
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects
from setagree.study.labels import is_missing
from setagree.study.reading import Reading
from setagree.study.tally import Tally

_STEPS_A_PAIR, _BYTES_A_CELL = 60, 48
"""Elementary steps of a pair of ratings, and memory of a row of the table for each unit."""


@public
def facet_agreement(
    study: Data,
    *,
    facets: Sequence[str],
    model: object = None,
    humans: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    level: float = 0.95,
) -> FacetAgreement:
    """Return how far models agree with themselves over runs and prompts, and with people.

    Facets are columns of raters, the outer one first: model, prompt, run. Two raters of one unit
    are a pair of the first facet in which they differ: "same model and prompt, other run", "same
    model, other prompt", "other model". The other pairs are of a model with a human, and of two
    humans. Of each kind::

        agreement = 1 - D / De

    D is the mean distance of the pairs of that kind, each pair of ratings alike. De is what alpha
    expects by chance of all of them together: the mean distance of two ratings of the models and
    the humans, in units with two or more. It is the same in all rows, so that they compare.

    Stability comes before validity. Where distances are squared ones of points (see
    `variance_components`), runs are drawn alike, and humans too, the agreement of a model with
    people is at most the mean of its own agreement and that of people: ``at_most``.

    The standard error is the jackknife over units; the interval is that of t for the logarithm of
    D / De.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what, read with ``rater_columns=`` (see `Annotations.raters_frame`), as a table
        or path is here.
    facets : list of str
        Columns of raters, the outer one first. Raters with the same ones repeat each other.
    model : rater, DataFrame or path, or list of these, optional
        As in `alt_test`; a table has the facets as columns. Default: all raters with facets.
    humans : sequence of raters, optional
        Default: everybody without facets; where `model` is named, everybody who is no model.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, nominal for scalars.
    level : float
        The level of the intervals.

    Returns
    -------
    FacetAgreement

    Raises
    ------
    DataError
        A facet is unknown, a model lacks one, or no two raters share a unit.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 6, skill=[0.9, 0.9, 0.7, 0.7, 0.8, 0.8], rng=1)
    >>> model = dict(r1="gpt", r2="gpt", r3="claude", r4="claude")
    >>> study = study.with_raters({"model": model, "run": dict(r1=1, r2=2, r3=1, r4=2)})
    >>> found = facet_agreement(study, facets=["model", "run"])
    >>> found.frame[["pairs", "who", "n_pairs", "estimate", "at_most"]].round(3)
                         pairs     who  n_pairs  estimate  at_most
    0    same model, other run     all      400     0.515      NaN
    1    same model, other run     gpt      200     0.709      NaN
    2    same model, other run  claude      200     0.322      NaN
    3              other model     all      800     0.485      NaN
    4       models with people     all     1600     0.506      NaN
    5       models with people     gpt      800     0.602    0.621
    6       models with people  claude      800     0.410    0.427
    7  people with one another     all      200     0.533      NaN
    """
    check_level(level)
    names = _facet_names(facets)
    is_built = isinstance(study, Annotations | Tally) or model is not None
    reading = None if is_built else Reading(rater_columns=names)
    study = plain_units(known_raters(study, "facet_agreement", reading), "facet_agreement")
    if model is not None:
        study, model = with_models(study, model, rater_columns=names)
    is_model, people = _sides(study, names, model, humans)
    rows = (is_model | people)[study.rater_codes]
    counts = np.bincount(study.unit_codes[rows], minlength=study.n_units)
    rows &= (counts >= 2)[study.unit_codes]
    if not rows.any():
        raise DataError("no unit has answers of two of these raters, so that there is no pair.")
    part = part_of(study, rows)
    compared = case_of(part, distance)
    kinds = Kinds.of(part, names, is_model[np.unique(study.rater_codes[rows])])
    frame, without = _table(kinds, PairTable(part, compared.weights, kinds), level)
    if compared.name not in NOT_SQUARED:
        frame["at_most"] = _at_most(frame, kinds.own)
    return FacetAgreement(tuple(names), compared.name, level, frame, kinds.own, without, part)


def _facet_names(facets: Sequence[str]) -> list[str]:
    """Return the facets, each named once."""
    check_list("facets", facets, "columns of raters")
    names = [*facets]
    if not names or len({*names}) < len(names) or not all(isinstance(x, str) for x in names):
        raise OptionError(
            f"{option('facets', names)} must name columns of raters, each once: model, prompt, run."
        )
    return names


def _sides(
    study: Annotations, names: list[str], model: object, humans: Sequence[object] | None
) -> tuple[Flags, Flags]:
    """Return who is a model and who is a human, as flags of shape (n_raters,)."""
    known = study.raters_frame
    for name in names:
        if name not in known:
            listed = f"it knows {listing([*known])}" if len(known.columns) else "it knows none"
            raise DataError(
                f"the study knows no column {name!r} of its raters, {listed}; name it when the "
                f"table is read: rater_columns=[{name!r}].{did_you_mean(name, known)}"
            )
    said = ~known[names].map(is_missing).to_numpy(dtype=bool)
    is_model = said.any(axis=1)
    if model is not None:
        models = model if isinstance(model, list) else [model]
        is_model = flags(study.n_raters, rater_codes(study, models, "model", "model"))
    people = ~is_model
    if humans is not None:
        people = flags(study.n_raters, rater_codes(study, humans, "human"))
        if model is None:
            is_model &= ~people
        elif (people & is_model).any():
            both = listing(study.raters[people & is_model].tolist())
            raise OptionError(f"{both} cannot be a model and a human at once.")
    if not is_model.any():
        raise DataError(f"no rater has a {names[0]}, so that none is a model.")
    lacking = np.argwhere(is_model[:, None] & ~said)
    if len(lacking):
        rater, column = lacking[0]
        raise DataError(
            f"rater {study.raters[rater]!r} has no {names[column]!r}; every model has all facets. "
            f"Say so in the table, or name the people: {option('humans')}."
        )
    return is_model, people


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which rows of the table a pair of raters counts in.

    The rows are the k + 1 kinds of pairs of models, the most alike first; models with people,
    people with one another; then for each group of models its own pairs, and those with people.

    Attributes
    ----------
    facets : list of str
        The k facets.
    is_model : ndarray of bool, shape (n_raters,)
        Who is a model.
    prefix : ndarray of int, shape (n_raters, k)
        Raters who share the first facets have the same number there.
    depth : int
        How many facets a group of models shares; 0 where each model is its own group.
    group : ndarray of int, shape (n_raters,)
        The group of each model; -1 for humans.
    groups : list of str
        Their names.
    """

    facets: list[str]
    is_model: Flags
    prefix: Codes
    depth: int
    group: Codes
    groups: list[str]

    @classmethod
    def of(cls, study: Annotations, facets: list[str], is_model: Flags) -> Kinds:
        """Return the kinds of the raters of a study."""
        known = study.raters_frame[facets]
        k, tuples = len(facets), [*known.itertuples(index=False, name=None)]
        prefix = np.stack(
            [pd.factorize(as_objects(row[: j + 1] for row in tuples))[0] for j in range(k)], axis=1
        )
        whole = prefix[is_model, -1]
        depth = k if len(np.unique(whole)) < len(whole) else k - 1
        shared = max(depth, 1)
        group = np.full(len(tuples), -1, dtype=np.int64)
        group[is_model], first = pd.factorize(prefix[is_model, shared - 1])
        heads = [tuples[np.flatnonzero(prefix[:, shared - 1] == one)[0]][:shared] for one in first]
        names = [" / ".join(map(str, head)) for head in heads]
        return cls(facets, is_model, prefix, depth, group, names)

    @property
    def own(self) -> str:
        """The pairs that tell how far a model agrees with itself."""
        return self.names[len(self.facets) - self.depth] if self.depth else f"same {self.facets[0]}"

    @property
    def names(self) -> list[str]:
        """The kinds of pairs, in the order of the first rows."""
        k = len(self.facets)
        models = [_kind(self.facets, depth) for depth in range(k, -1, -1)]
        return [*models, WITH_PEOPLE, PEOPLE]

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """The rows as people read them: its number, the kind of pairs, whose."""
        k, G, names = len(self.facets), len(self.groups), self.names
        each = {k - self.depth: len(names), k + 1: len(names) + G}
        if not self.depth:
            del each[k]
        found = []
        for row, name in enumerate(names):
            found.append((row, name, ALL))
            if row in each and G > 1:
                found += [(each[row] + g, name, group) for g, group in enumerate(self.groups)]
        return found

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.facets) + 3 + 2 * len(self.groups)

    def of_pairs(self, a: Codes, b: Codes) -> tuple[Codes, Codes]:
        """Return the row of each pair of raters, and that of its group; -1 where it has none."""
        k, G = len(self.facets), len(self.groups)
        shared = (self.prefix[a] == self.prefix[b]).sum(axis=1)
        n_models = self.is_model[a].astype(np.int64) + self.is_model[b]
        row = np.where(n_models == 2, k - shared, np.where(n_models == 1, k + 1, k + 2))
        of_model = np.maximum(self.group[a], self.group[b])
        own = (n_models == 2) & (row == k - self.depth) & (self.depth > 0)
        more = np.where(own, k + 3 + of_model, np.where(n_models == 1, k + 3 + G + of_model, -1))
        return row, more


def _kind(facets: list[str], depth: int) -> str:
    """Return what pairs are called that share the first facets alone."""
    *most, last = facets[:depth] or [""]
    same = f"same {', '.join(most)}{' and ' if most else ''}{last}" if depth else ""
    other = f"other {facets[depth]}" if depth < len(facets) else ""
    return ", ".join(filter(None, [same, other]))


class PairTable:
    """Sums over the pairs of ratings of each unit, by row of the table.

    `apart` and `counts` have the shape (n_units, n_rows): summed distances, and numbers of pairs.
    """

    def __init__(self, study: Annotations, weights: Weights, kinds: Kinds) -> None:
        r = np.bincount(study.unit_codes, minlength=study.n_units).astype(np.float64)
        check_cost(
            "facet_agreement",
            n_bytes=_BYTES_A_CELL * study.n_units * kinds.n_rows,
            n_steps=_STEPS_A_PAIR * float((r * (r - 1) / 2).sum()),
            instead="Take part of the units, or of the raters (without_raters).",
        )
        shape = (study.n_units, kinds.n_rows)
        self.apart, self.counts, self.r = np.zeros(shape), np.zeros(shape), r
        order = np.argsort(study.unit_codes, kind="stable")
        units, raters, values = (
            codes[order] for codes in (study.unit_codes, study.rater_codes, study.value_codes)
        )
        within = np.zeros(study.n_units)
        for left, right in neighbours(units):
            d = weights.distance_at(values[left], values[right])
            np.add.at(within, units[left], d)
            for row in kinds.of_pairs(raters[left], raters[right]):
                has = row >= 0
                at = units[left][has], row[has]
                np.add.at(self.apart, at, d[has])
                np.add.at(self.counts, at, 1.0)
        totals = np.bincount(study.value_codes, minlength=weights.n_values).astype(np.float64)
        to_all = weights.distance_dot(totals)[study.value_codes]
        self.to_all, self.within = np.bincount(study.unit_codes, to_all, study.n_units), within

    def ratios(self) -> Floats:
        """Return D / De of each row."""
        N = self.r.sum()
        expected = self.to_all.sum() / (N * (N - 1))
        return _over(_over(self.apart.sum(axis=0), self.counts.sum(axis=0)), expected)

    def without_units(self) -> Floats:
        """Return D / De of each row without each unit, of shape (n_units, n_rows)."""
        N = self.r.sum() - self.r
        expected = _over(self.to_all.sum() - 2 * self.to_all + 2 * self.within, N * (N - 1))
        apart, counts = (x.sum(axis=0) - x for x in (self.apart, self.counts))
        return _over(_over(apart, counts), expected[:, None])


def _over(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Return x / y; nan where y is 0."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    return np.asarray(np.divide(x, y, out=np.full(x.shape, np.nan), where=y > 0))


def _table(kinds: Kinds, table: PairTable, level: float) -> tuple[pd.DataFrame, Floats]:
    """Return the table of the rows that have pairs, and their estimates without each unit."""
    counts = table.counts.sum(axis=0)
    kept = [one for one in kinds.rows if counts[one[0]] > 0]
    rows = [row for row, _, _ in kept]
    ratios, without = table.ratios()[rows], table.without_units()[:, rows]
    n = len(without)
    errors = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    n_units = (table.counts[:, rows] > 0).sum(axis=0)
    why = [*map(_why_no_interval, ratios, n_units)]
    frame = pd.DataFrame(
        {
            "pairs": [name for _, name, _ in kept],
            "who": [who for _, _, who in kept],
            "n_units": n_units,
            "n_pairs": counts[rows].astype(np.int64),
            "mean_distance": table.apart.sum(axis=0)[rows] / counts[rows],
            "estimate": 1 - ratios,
            "standard_error": np.where([one is None for one in why], errors, np.nan),
        }
    )
    frame["low"], frame["high"] = _ends(ratios, frame["standard_error"], n_units, level)
    frame["at_most"] = np.nan
    return frame.assign(reason=pd.Series(why, dtype=object)), 1 - without


def _why_no_interval(ratio: float, n_units: int) -> str | None:
    if np.isnan(ratio):
        return "all answers are alike"
    if n_units < 2:
        return "one unit"
    return "all of these pairs are alike" if ratio <= ROUNDING else None


def _ends(
    ratios: Floats, errors: pd.Series[float], n_units: Codes, level: float
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of 1 - D / De: t for the logarithm of D / De."""
    from scipy.special import stdtrit

    t = stdtrit(np.maximum(n_units - 1, 1), (1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.exp(t * errors.to_numpy(dtype=float) / ratios)
        return 1 - ratios * factor, 1 - ratios / factor


def _at_most(frame: pd.DataFrame, own: str) -> Floats:
    """Return how far each model can agree with people: the mean of its own and their agreement."""
    estimates = frame.set_index(["pairs", "who"])["estimate"]
    people = estimates.get((PEOPLE, ALL), np.nan)
    several = (frame["pairs"] == WITH_PEOPLE).sum() > 1
    most = [
        (estimates.get((own, who), np.nan) + people) / 2
        if pairs == WITH_PEOPLE and not (several and who == ALL)
        else np.nan
        for pairs, who in zip(frame["pairs"], frame["who"], strict=True)
    ]
    return np.array(most)
