"""Agreement of models with themselves over runs and prompts, and with humans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_cost, check_level
from setagree.coefficients.case import ROUNDING, divided
from setagree.coefficients.tails import t_quantile
from setagree.coefficients.uncertain import jackknife_variance
from setagree.credit.base import Weights, neighbours
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    check_list,
    did_you_mean,
    enumerated,
    listing,
    option,
)
from setagree.inference.panel_members import (
    case_of,
    flags,
    log_interval,
    part_of,
    people_of,
    plain_units,
    rater_codes,
    ratings_by_unit,
    require_raters,
)
from setagree.large.joining import is_data, with_models
from setagree.large.opening import Data, ModelReadingOptions, RaterAnswers, takes_data
from setagree.study.annotations import Annotations
from setagree.study.attributes import text_of_cell
from setagree.study.codes import as_objects
from setagree.study.labels import is_missing
from setagree.study.reading import Reading
from setagree.study.tally import Tally
from setagree.wording.number_format import four, four_interval, level_text
from setagree.wording.result_base import Result
from setagree.wording.sentences import Name, Sentence, cut, in_message, named, visible
from setagree.wording.tables import Column

WITH_PEOPLE, PEOPLE = _PEOPLE = ("models with people", "people with one another")
ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class FacetAgreement(Result):
    """Agreement of models with themselves, with one another and with humans.

    Attributes
    ----------
    facets : tuple of str
        The columns of raters, the outermost first.
    distance : str
        Name of the distance.
    level : float
        The level of the intervals.
    frame : DataFrame
        One row per kind of pairs, stability first: pairs, who ("all", or the models of one model
        and prompt), n_units, n_pairs, mean_distance, estimate, standard_error, low, high;
        upper_bound, the upper limit due to stability; difference, the difference from it, and its
        lower bound difference_low; reason (for a missing interval).
    own : str
        The kind of pairs for the agreement of a model with itself.
    without : ndarray of shape (n_units, n_rows)
        The estimates without each unit.
    study : Annotations
        The compared answers.
    people : tuple
        The humans.
    alone : dict
        The models with pairs of a kind, if not all models have them, such as "gpt" for prompts.
    """

    facets: tuple[str, ...]
    distance: str
    level: float
    frame: pd.DataFrame
    own: str
    without: Floats
    study: Annotations
    people: tuple[Any, ...] = ()
    alone: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    columns = (
        Column("pairs of", "text"),
        Column("n_units", "count", "units"),
        Column(
            "estimate",
            head="agreement",
            meaning="1 - D / De, D the mean distance of such pairs, De that of any two ratings",
        ),
        Column(("low", "high"), "interval"),
        Column(
            "upper_bound",
            meaning="the largest agreement that the stability of both sides permits",
        ),
        Column("difference", meaning="the difference of the sides beyond that"),
    )

    def _to_print(self) -> pd.DataFrame:
        pairs = self.frame["pairs"].where(self.frame["who"] == ALL, self.frame["who"])
        return self.frame.assign(**{"pairs of": [cut(visible(x), 48) for x in pairs]})

    def difference(self, first: str, second: str, *, who: str = ALL) -> tuple[float, float, float]:
        """Return the agreement of one kind of pairs minus that of another, with its interval.

        The ends are NaN if one of the two has no interval.

        Parameters
        ----------
        first, second : str
            Values of the column ``pairs``.
        who : str
            Value of the column ``who`` for the first kind.
        """
        i, j = self._row(first, who), self._row(second)
        gap = float(self.frame["estimate"][i] - self.frame["estimate"][j])
        if self.frame["reason"][[i, j]].notna().any():
            return gap, float("nan"), float("nan")
        df = float(self.frame["n_units"][[i, j]].min() - 1)
        without = self.without[:, i] - self.without[:, j]
        half = -t_quantile(df, (1 + self.level) / 2) * float(np.sqrt(jackknife_variance(without)))
        return gap, gap - half, gap + half

    @property
    def verdict(self) -> str:
        """Sentences on stability, the effect of other prompts and models, and validity."""
        return in_message(self.verdict_words)

    @property
    def verdict_words(self) -> Sentence:
        """The verdict in parts, with the names of raters separate."""
        return self._joined([*self._stability(), *self._validity(), *self._ceilings()])

    @property
    def lead(self) -> str:
        """The first sentence about stability, and the first about humans."""
        return in_message(self._joined([self._stability()[0], self._validity()[0]]))

    def _joined(self, sentences: Sequence[Sentence]) -> Sentence:
        """Return sentences joined by spaces, or the reason for a missing verdict."""
        if self.frame["estimate"].isna().all():
            return ("No verdict: all answers are alike, so that chance alone would agree as much.",)
        return tuple(piece for one in sentences for piece in (" ", *one))[1:]

    def _row(self, pairs: str, who: str = ALL) -> int:
        """Return the position of a row, or raise KeyError."""
        found = np.flatnonzero((self.frame["pairs"] == pairs) & (self.frame["who"] == who))
        if not len(found):
            raise KeyError(f"no row of {pairs!r} and {who!r}.")
        return int(found[0])

    def _estimate_text(self, row: int) -> str:
        """Return the estimate of a row, with its interval if it has one."""
        one = self.frame.loc[row]
        if np.isnan(one["low"]):
            return four(one["estimate"])
        ends = four_interval(one["low"], one["high"])
        return f"{four(one['estimate'])} ({level_text(self.level)} {ends})"

    def _kinds(self) -> list[int]:
        """Return the rows of all pairs of models, the most similar raters first."""
        is_models = ~self.frame["pairs"].isin(_PEOPLE)
        return np.flatnonzero((self.frame["who"] == ALL) & is_models).tolist()

    def _stability(self) -> list[Sentence]:
        """Return sentences on the agreement of models over runs, prompts and models."""
        kinds, names = self._kinds(), self.frame["pairs"]
        sentences: list[Sentence] = []
        if not kinds or names[kinds[0]] != self.own:
            why = f"no two raters have {self._in_sentence(self.own)}"
            remedy = "Let each model answer the same units again."
            sentences.append((f"The stability of models cannot be estimated: {why}. {remedy}",))
        for row in kinds:
            measured = "agreement" if row == kinds[0] else "it"
            what = f"With {self._in_sentence(names[row])}, {measured} is "
            room = "" if row == kinds[0] else self._room(row)
            sentences.append((f"{what}{self._estimate_text(row)}", *self._only(row), f"{room}."))
        return sentences

    def _in_sentence(self, pairs: str) -> str:
        """Return a kind of pairs of models for a sentence."""
        n_same = [_kind_of(self.facets, n) for n in range(len(self.facets) + 1)].index(pairs)
        return _kind_of(self.facets, n_same, in_sentence=True)

    def _only(self, row: int) -> Sentence:
        """Return a clause on the models with such pairs, or empty if all have them."""
        alone = self.alone.get(self.frame["pairs"][row], ())
        return (" (such pairs are only of ", *named(alone, limit=5), ")") if alone else ()

    def _room(self, row: int) -> str:
        """Return a clause on the agreement lost relative to the limit due to stability."""
        one = self.frame.loc[row]
        if np.isnan(one["difference_low"]):
            return ""
        whose = "their stability" if self._only(row) else "stability"
        most = f"what {whose} permits ({four(one['upper_bound'])})"
        if one["difference_low"] > 0:
            least = f"{level_text(self.level)} {four(one['difference_low'])} or more"
            return f", which is {four(one['difference'])} ({least}) less than {most}"
        return f", not distinguishable from {most}"

    def _validity(self) -> list[Sentence]:
        """Return sentences on the agreement of models with humans, and among humans."""
        pairs = self.frame["pairs"].tolist()
        if WITH_PEOPLE not in pairs:
            return [("No pair is of a model with a human: this is stability alone.",)]
        row = self._row(WITH_PEOPLE)
        first = (f"Models agree with people by {self._estimate_text(row)}{self._room(row)}.",)
        if PEOPLE not in pairs:
            return [first]
        gap, low, high = self.difference(WITH_PEOPLE, PEOPLE)
        own = f"People agree with one another by {self._estimate_text(self._row(PEOPLE))}"
        if np.isnan(low):
            of_rows = self.frame["reason"][[row, self._row(PEOPLE)]].dropna().unique()
            return [first, (f"{own}; the difference has no interval ({'; '.join(of_rows)}).",)]
        if not (low > 0 or high < 0):
            return [first, (f"{own}; the two are not distinguishable in these data.",)]
        more, ends = ("more", (low, high)) if gap > 0 else ("less", (-high, -low))
        sure = f"{level_text(self.level)} {four_interval(*ends)}"
        return [first, (f"{own}; models agree with them {more}, by {four(abs(gap))} ({sure}).",)]

    def _ceilings(self) -> list[Sentence]:
        """Return a sentence on the upper limit for the least stable model."""
        frame = self.frame
        limited = []
        has_room = (frame["pairs"] == WITH_PEOPLE) & frame["upper_bound"].notna()
        for row in np.flatnonzero(has_room).tolist():
            who = frame["who"][row]
            if who == ALL and has_room.sum() > 1:
                continue
            gap, _, high = self.difference(self.own, PEOPLE, who=who)
            if high < 0:
                limited.append((gap, who, frame["upper_bound"][row]))
        if not limited:
            return []
        gap, who, most = min(limited)
        own, people = (four(frame["estimate"][self._row(*x)]) for x in ((self.own, who), (PEOPLE,)))
        name = "The model" if who == ALL else Name.of(who)
        rest = f" The same is true of {len(limited) - 1} more." if len(limited) > 1 else ""
        comparison = (
            f" agrees with itself by {own}, less than people do with one another ({people})"
        )
        limit = f"so that it can hardly agree with people by more than {four(most)}"
        return [(name, f"{comparison}, {limit}.{rest}")]


_STEPS_A_PAIR, _BYTES_A_CELL = 60, 48
"""Elementary steps per pair of ratings, and bytes per unit and row of the table."""


class Kinds:
    """Rows of the table in which a pair of raters counts.

    The rows are the k + 1 kinds of pairs of models, the most similar first; models with humans;
    humans with one another; then for each group of models its own pairs, and those with humans.
    """

    def __init__(self, study: Annotations, facets: list[str], is_model: Flags) -> None:
        tuples = [*study.raters_frame[facets].itertuples(index=False, name=None)]
        self.k, self.is_model = len(facets), is_model
        # Codes of shape (n_raters, k), equal for raters who share the first facets.
        starts = [[row[: j + 1] for row in tuples] for j in range(self.k)]
        self.prefix = np.stack([pd.factorize(as_objects(start))[0] for start in starts], axis=1)
        complete = self.prefix[is_model, -1]
        # Models of a group share `depth` facets, or are groups of their own if that is 0.
        self.depth = self.k if len(np.unique(complete)) < len(complete) else self.k - 1
        shared = max(self.depth, 1) - 1
        # The group of humans is -1, the last.
        self.group = np.full(len(tuples), -1, dtype=np.int64)
        self.group[is_model], first = pd.factorize(self.prefix[is_model, shared])
        heads = [starts[shared][(self.prefix[:, shared] == code).argmax()] for code in first]
        self.groups = [" / ".join(map(text_of_cell, head)) for head in heads]
        self.names = [_kind_of(facets, n) for n in range(self.k, -1, -1)] + [WITH_PEOPLE, PEOPLE]
        self.own = self.names[self.k - self.depth] if self.depth else f"same {facets[0]}"
        G, n = len(self.groups), len(self.names)
        # The row of each group's own pairs, and last that of humans with one another.
        self.own_rows, self.n_rows = [*range(n, n + G), n - 1], n + 2 * G
        first_row = {n - 2: n + G} | ({self.k - self.depth: n} if self.depth else {})
        self.rows: list[tuple[int, str, str]] = []
        """The rows as displayed: number, kind of pairs, group."""
        for row, name in enumerate(self.names):
            self.rows.append((row, name, ALL))
            if row in first_row and G > 1:
                self.rows += [(first_row[row] + g, name, one) for g, one in enumerate(self.groups)]

    def of_pairs(self, a: Codes, b: Codes) -> tuple[Codes, Codes]:
        """Return the row of each pair of raters, and that of its group; -1 without a row."""
        k, n = self.k, len(self.names)
        shared = (self.prefix[a] == self.prefix[b]).sum(axis=1)
        n_models = self.is_model[a].astype(np.int64) + self.is_model[b]
        row = np.where(n_models == 2, k - shared, np.where(n_models == 1, k + 1, k + 2))
        of_model = np.maximum(self.group[a], self.group[b])
        own = (n_models == 2) & (row == k - self.depth) & (self.depth > 0)
        with_human = np.where(n_models == 1, n + len(self.groups) + of_model, -1)
        return row, np.where(own, n + of_model, with_human)


def _kind_of(facets: Sequence[str], n_same: int, *, in_sentence: bool = False) -> str:
    """Return the kind of the pairs that share exactly the first facets.

    Such as "same model, other run", and in a sentence "the same model but another run".
    """
    same, other = facets[:n_same], facets[n_same:]
    starts = ("the same", "another") if in_sentence else ("same", "other")
    facets_of = zip(starts, [enumerated(same), *other[:1]], strict=False)
    parts = [f"{start} {x}" for start, x in facets_of if x]
    return (" but " if in_sentence else ", ").join(parts)


class PairTable:
    """Sums over the pairs of ratings of each unit, by row of the table.

    `apart` and `counts` have the shape (n_units, n_rows): summed distances, and numbers of pairs.
    `sides` of shape (n_rows, n_groups + 1) is the number of pairs with a rater of each group, or
    (last) with a human.
    """

    def __init__(self, study: Annotations, weights: Weights, kinds: Kinds) -> None:
        n = study.n_units
        r = np.bincount(study.unit_codes, minlength=n).astype(np.float64)
        check_cost(
            "facet_agreement",
            n_bytes=_BYTES_A_CELL * n * kinds.n_rows,
            n_steps=_STEPS_A_PAIR * float((r * (r - 1) / 2).sum()),
            instead="Take part of the units, or of the raters (exclude_raters).",
        )
        self.apart, self.counts = np.zeros((2, n, kinds.n_rows))
        self.sides, self.r = np.zeros((kinds.n_rows, len(kinds.groups) + 1)), r
        units, raters, values = ratings_by_unit(study)
        self.within = np.zeros(n)
        for left, right in neighbours(units):
            d = weights.distance_at(values[left], values[right])
            np.add.at(self.within, units[left], d)
            for row in kinds.of_pairs(raters[left], raters[right]):
                has = row >= 0
                at = units[left][has], row[has]
                np.add.at(self.apart, at, d[has])
                np.add.at(self.counts, at, 1.0)
                for side in (left, right):
                    np.add.at(self.sides, (row[has], kinds.group[raters[side]][has]), 1.0)
        totals = np.bincount(study.value_codes, minlength=weights.n_values).astype(np.float64)
        to_all = weights.distance_dot(totals)[study.value_codes]
        self.to_all = np.bincount(study.unit_codes, to_all, n)

    def estimates(self, *, without: bool = False) -> Floats:
        """Return 1 - D / De of each row, or without each unit, (n_units, n_rows)."""
        N, to_all = self.r.sum(), self.to_all.sum()
        apart, counts = self.apart.sum(axis=0), self.counts.sum(axis=0)
        if without:
            # Pairs with a rating of the unit leave the sum over all pairs, those within it once.
            N, to_all = N - self.r[:, None], to_all - 2 * (self.to_all - self.within)[:, None]
            apart, counts = apart - self.apart, counts - self.counts
        return 1 - divided(divided(apart, counts), divided(to_all, N * (N - 1)))

    def rooms(self, estimates: Floats, kinds: Kinds) -> Floats:
        """Return the limit due to stability: per pair the mean of the own rows of both sides.

        `estimates` has the rows in its last axis. NaN if an own row is undefined, or for own rows.
        """
        shares = divided(self.sides, self.sides.sum(axis=1)[:, None])
        own = estimates[..., kinds.own_rows]
        means = np.nan_to_num(own, nan=0.0) @ shares.T
        lacking = np.isnan(own).astype(np.float64) @ shares.T > 0
        is_own = np.isin(np.arange(kinds.n_rows), kinds.own_rows)
        is_own[kinds.k - kinds.depth] |= kinds.depth > 0
        return np.where(lacking | is_own, np.nan, means)


@takes_data
def facet_agreement(
    study: Data,
    *more: RaterAnswers,
    facets: Sequence[str],
    model: object = None,
    humans: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Unpack[ModelReadingOptions],
) -> FacetAgreement:
    """Return the agreement of models with themselves over runs and prompts, and with humans.

    Facets are columns of raters, the outermost first: model, prompt, run. Two raters of one unit
    are a pair of the first facet in which they differ: "same model and prompt, other run", "same
    model, other prompt", "other model". The other pairs are of a model with a human, and of two
    humans. For each kind::

        agreement = 1 - D / De

    D is the mean distance of the pairs of that kind, with equal weights for pairs of ratings. De is
    the disagreement expected by chance in alpha of all raters: the mean distance of two ratings of
    the models and the humans, in units with at least two. All rows share De, so that they are
    comparable.

    Stability limits validity: if distances are squared distances of points (see
    `variance_components`) and repeated answers are exchangeable, the agreement of two sides is at
    most the mean of the agreement of each side with itself. ``upper_bound`` is that mean over the
    pairs of a row, and ``difference`` is ``upper_bound`` minus the estimate: the difference between
    the sides beyond their own instability.

    Standard errors are from the jackknife over units. The interval is a t interval for the
    logarithm of D / De, cut at -1. ``difference_low`` is the lower bound of the plain t interval of
    ``difference``; the upper bound is omitted, because it is too low if few answers differ. In
    simulated studies the intervals covered the true value in at least 94% from 100 units on, and in
    at least 92% with 30 units, except for a single model with nearly constant answers: 83%.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Ratings, read with ``rater_columns=`` (see `Annotations.raters_frame`), as are tables and
        paths here.
    facets : list of str
        Columns of raters, the outermost first. Raters with equal facets are repetitions.
    model : rater, DataFrame or path, or list of these, optional
        As in `alt_test`; a table has the facets as columns. Default: all raters with facets.
    humans : sequence of raters, optional
        Default: all raters without facets. If `model` is given and all raters have facets, all
        raters who are not models.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.
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
    >>> found.frame[["pairs", "who", "estimate", "upper_bound", "difference"]].round(3)
                         pairs     who  estimate  upper_bound  difference
    0    same model, other run     all     0.515          NaN         NaN
    1    same model, other run     gpt     0.709          NaN         NaN
    2    same model, other run  claude     0.322          NaN         NaN
    3              other model     all     0.485        0.515       0.030
    4       models with people     all     0.506        0.524       0.019
    5       models with people     gpt     0.602        0.621       0.020
    6       models with people  claude     0.410        0.427       0.018
    7  people with one another     all     0.533          NaN         NaN
    """
    check_level(level)
    check_list("facets", facets, "columns of raters")
    names = [*facets]
    if not names or len({*names}) < len(names) or not all(isinstance(x, str) for x in names):
        raise OptionError(
            f"{option('facets', names)} must name columns of raters, each once: model, prompt, run."
        )
    how = rater_reading(study, names, model)
    study = plain_units(require_raters(study, "facet_agreement", how), "facet_agreement")
    if model is not None:
        study, model = with_models(study, model, rater_columns=names)
    is_model, people = _sides(study, names, model, humans)
    rows = (is_model | people)[study.rater_codes]
    counts = np.bincount(study.unit_codes[rows], minlength=study.n_units)
    rows &= (counts >= 2)[study.unit_codes]
    if not rows.any():
        raise DataError("no unit has answers of two of these raters, and so no pair.")
    part = part_of(study, rows)
    compared = case_of(part, distance)
    kinds = Kinds(part, names, is_model[np.unique(study.rater_codes[rows])])
    pairs = PairTable(part, compared.weights, kinds)
    frame, without = _table(kinds, pairs, level, has_room=compared.is_squared)
    humans = tuple(part.raters[~kinds.is_model].tolist())
    has = pairs.sides[: len(names) + 1, : len(kinds.groups)] > 0
    alone = {
        name: tuple(group for group, one in zip(kinds.groups, row, strict=True) if one)
        for name, row in zip(kinds.names, has, strict=False)
        if row.any() and not row.all()
    }
    return FacetAgreement(
        tuple(names), compared.name, level, frame, kinds.own, without, part, humans, alone
    )


def rater_reading(study: Data, facets: list[str], model: object) -> Reading | None:
    """Return the reader of a table with facets, or None for a study, or models in another table."""
    models = model if isinstance(model, list) else [model]
    is_built = isinstance(study, Annotations | Tally)
    return None if is_built or any(map(is_data, models)) else Reading(rater_columns=facets)


def _sides(
    study: Annotations, names: list[str], model: object, humans: Sequence[object] | None
) -> tuple[Flags, Flags]:
    """Return flags of the models and of the humans, each of shape (n_raters,)."""
    frame = study.raters_frame
    for name in names:
        if name not in frame:
            listed = f"it has {listing([*frame])}" if len(frame.columns) else "it has none"
            raise DataError(
                f"the study has no column {name!r} of its raters, {listed}; name it when the "
                f"table is read: {option('rater_columns', [name])}.{did_you_mean(name, frame)}"
            )
    has_facet = ~frame[names].map(is_missing).to_numpy(dtype=bool)
    is_model = has_facet.any(axis=1)
    if model is not None:
        models = model if isinstance(model, list) else [model]
        is_model = flags(study.n_raters, rater_codes(study, models, "model", "model"))
    people = ~is_model
    if not has_facet[people].any(axis=1).all():
        people &= ~has_facet.any(axis=1)  # other models are not humans
    if humans is not None:
        people = people_of(study, humans, () if model is None else np.flatnonzero(is_model))
        is_model &= ~people
    if not is_model.any():
        raise DataError(f"no rater has a {names[0]}, so that none is a model.")
    lacking = np.argwhere(is_model[:, None] & ~has_facet)
    if len(lacking):
        rater, column = lacking[0]
        raise DataError(
            f"rater {study.raters[rater]!r} has no {names[column]!r}; every model has all facets. "
            f"Fill in the table, or name the people: {option('humans')}."
        )
    return is_model, people


def _table(
    kinds: Kinds, pairs: PairTable, level: float, *, has_room: bool
) -> tuple[pd.DataFrame, Floats]:
    """Return the table of the rows that have pairs, and their leave-one-unit-out estimates.

    `has_room` states whether stability limits the agreement with others.
    """
    from scipy.special import stdtrit

    counts = pairs.counts.sum(axis=0)
    rows, names, who = zip(*(one for one in kinds.rows if counts[one[0]] > 0), strict=True)
    at = list(rows)
    full, each = pairs.estimates(), pairs.estimates(without=True)
    room, rooms = (pairs.rooms(x, kinds) if has_room else x * np.nan for x in (full, each))
    n_units = (pairs.counts[:, at] > 0).sum(axis=0)
    # NaN for one unit
    estimates, without, t = full[at], each[:, at], stdtrit(n_units - 1.0, (1 + level) / 2)
    reason = np.full(len(at), None, dtype=object)
    has, apart = pairs.counts[:, at] > 0, divided(pairs.apart, pairs.counts)[:, at]
    spread = apart.max(axis=0, where=has, initial=0) - apart.min(axis=0, where=has, initial=np.inf)
    reason[spread <= ROUNDING] = "these pairs are as far apart in every unit"
    reason[estimates >= 1 - ROUNDING] = "all of these pairs are alike"
    reason[n_units < 2] = "one unit"
    reason[np.isnan(estimates)] = "all answers are alike"
    errors = np.where(pd.isna(reason), np.sqrt(jackknife_variance(without)), np.nan)
    # 1 - estimate = D / De
    low, high = log_interval(estimates, errors, n_units - 1.0, level)
    difference, differences = room[at] - estimates, rooms[:, at] - without
    columns = {
        "pairs": names,
        "who": who,
        "n_units": n_units,
        "n_pairs": counts[at].astype(np.int64),
        "mean_distance": pairs.apart.sum(axis=0)[at] / counts[at],
        "estimate": estimates,
        "standard_error": errors,
        "low": low,
        "high": high,
        "upper_bound": room[at],
        "difference": difference,
        "difference_low": np.where(
            pd.isna(reason), difference - t * np.sqrt(jackknife_variance(differences)), np.nan
        ),
        "reason": pd.Series(reason, dtype=object),
    }
    return pd.DataFrame(columns), without
