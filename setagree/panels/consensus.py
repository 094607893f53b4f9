"""The agreed answer: one for each unit, with what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.coefficients.chance import Floats
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    ConvergenceWarning,
    DataError,
    OptionError,
    check_choice,
    counted,
    option,
    warn,
)
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import (
    Codes,
    Flags,
    case_of,
    check_share,
    flags,
    is_number,
    rater_codes,
)
from setagree.large.opening import Data
from setagree.panels import votes as decisions
from setagree.panels.votes import Ballot, Decision, Ties
from setagree.study.annotations import Annotations
from setagree.study.codes import as_objects, have_degrees
from setagree.wording.results import Result

Method: TypeAlias = Literal["label_majority", "medoid", "dawid_skene", "unanimous"]

METHODS = ("label_majority", "medoid", "dawid_skene", "unanimous")

WHY = (
    "tie",
    "no majority",
    "one rating",
    "no answer",
    "an answer that nobody gave",
    "low confidence",
    "no rating",
)
"""Why a unit should be looked at again, in the order of the bits of `Consensus.doubts`."""


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Result):
    """One answer for each unit.

    Attributes
    ----------
    method : str
        How it was found.
    kind : {"labels", "number", "category"}
        What the answers are.
    units : ndarray of object, shape (n_units,)
        The units with a rating, then those that nobody rated.
    values : tuple
        The distinct answers.
    codes : ndarray of int, shape (n_units,)
        Positions in `values`; -1 where there is no answer.
    support : ndarray of shape (n_units,)
        The share of the unit's raters who gave exactly this answer; nan where there is none.
    confidence : ndarray of shape (n_units,)
        What the method says of itself, in [0, 1]; nan where there is no answer.
    n_ratings : ndarray of int, shape (n_units,)
        How many raters the unit has.
    doubts : ndarray of int, shape (n_units,)
        Why the unit should be looked at again, as bits; 0 for no reason. See `to_frame`.
    error_rates : DataFrame or None
        Of ``"dawid_skene"`` on labels, by rater and label: `sensitivity`, how often the rater gives
        the label where it is true, and `specificity`, how often not where it is not.
    """

    method: str
    kind: str
    units: npt.NDArray[np.object_]
    values: tuple[Any, ...]
    codes: Codes
    support: Floats
    confidence: Floats
    n_ratings: Codes
    doubts: Codes
    error_rates: pd.DataFrame | None = None

    @property
    def adjudicate(self) -> Flags:
        """Which units should be looked at again."""
        return np.asarray(self.doubts > 0)

    @property
    def answers(self) -> pd.Series[Any]:
        """The answer of each unit; None where there is none."""
        index = pd.Index(self.units, name="unit", dtype=object, tupleize_cols=False)
        # The last of the list is what -1 points at.
        cells = as_objects([*self.values, None])[self.codes]
        return pd.Series(cells, index=index, name=self._answer, dtype=object)

    @property
    def _answer(self) -> str:
        return "labels" if self.kind == "labels" else "value"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a unit.

        The columns are the unit, its `labels` (a frozenset; or `value`; None where there is no
        answer), support, confidence, n_ratings, whether to adjudicate, and why.
        """
        texts = [
            "; ".join(why for bit, why in enumerate(WHY) if doubt >> bit & 1)
            for doubt in range(2 ** len(WHY))
        ]
        return pd.DataFrame(
            {
                "unit": self.units,
                self._answer: self.answers.to_numpy(),
                "support": self.support,
                "confidence": self.confidence,
                "n_ratings": self.n_ratings,
                "adjudicate": self.adjudicate,
                "why": as_objects(texts)[self.doubts],
            }
        )

    def __len__(self) -> int:
        return len(self.units)

    def __repr__(self) -> str:
        missing = int((self.codes < 0).sum())
        without = f", {missing:,} without an answer" if missing else ""
        return (
            f"<Consensus by {self.method} of {counted(len(self), 'unit')}: "
            f"{counted(len(np.unique(self.codes[self.codes >= 0])), 'distinct answer')}, "
            f"{int(self.adjudicate.sum()):,} to adjudicate{without}>"
        )


@dataclass(frozen=True)
class Rule:
    """How answers become one, checked; its fields are options of `consensus`."""

    method: Method | None = None
    threshold: float | None = None
    ties: Ties = "missing"
    distance: DistanceLike | None = None

    def __post_init__(self) -> None:
        if self.method is not None:
            check_choice("method", self.method, METHODS)
        for old, new in (("smaller", "empty"), ("larger", "plurality")):
            if isinstance(self.ties, str) and self.ties == old:
                raise OptionError(f"{option('ties', old)} is called {option('ties', new)}.")
        check_choice("ties", self.ties, ("missing", "plurality", "empty"))
        share = self.threshold
        if share is not None and (not is_number(share) or not 0 < share <= 1):
            raise OptionError(f"{option('threshold', share)} must be above 0 and at most 1.")

    def named(self, study: Annotations) -> Method:
        """Return the method for a study, checked to fit its answers and the other options."""
        degrees = have_degrees(study.values)
        labels = study.kind == "labels" and not degrees
        method: Method = self.method or ("label_majority" if labels else "medoid")
        if degrees and method in {"label_majority", "dawid_skene"}:
            raise DataError(
                f"{option('method', method)} decides which labels apply; these labels have "
                "degrees. Use 'medoid', the answer that is nearest to all."
            )
        if method == "label_majority" and not labels:
            raise DataError(
                f"{option('method', 'label_majority')} counts labels; these values are scalars. "
                "Use 'medoid', which with the nominal distance is the most frequent value."
            )
        by_label = labels and method in {"label_majority", "dawid_skene"}
        if self.threshold is not None and not by_label:
            raise OptionError(
                f"{option('threshold')} means nothing to {option('method', method)} here; drop it."
            )
        if self.distance is not None and method != "medoid":
            raise OptionError(
                f"{option('distance')} is for {option('method', 'medoid')}; {method!r} uses none."
            )
        return method

    def decide(self, study: Annotations) -> Decision:
        """Return one answer for each unit of a study."""
        method, ballot = self.named(study), Ballot(study)
        threshold = 0.5 if self.threshold is None else self.threshold
        match method:
            case "label_majority":
                return decisions.label_majority(ballot, threshold, self.ties)
            case "medoid":
                weights = case_of(study, self.distance).weights
                return decisions.medoid(ballot, weights, self.ties)
            case "unanimous":
                return decisions.unanimous(ballot)
        if study.kind == "labels":
            return decisions.label_dawid_skene(ballot, threshold, self.ties)
        return decisions.value_dawid_skene(ballot, self.ties)


@public
def consensus(
    study: Data,
    *,
    method: Method | None = None,
    threshold: float | None = None,
    ties: Ties = "missing",
    distance: DistanceLike | None = None,
    raters: Sequence[object] | None = None,
    adjudicate_below: float = 0.0,
) -> Consensus:
    """Return one answer for each unit, with its support, and which units to look at again.

    No method ever gives a label to a unit that none of its raters gave to it, and where the votes
    leave it open there is no answer, unless `ties` says otherwise. The methods:

    ``"label_majority"`` (default for label sets): each label that at least the threshold of the
    unit's raters gave; the empty set where more than half of them gave that. Assumes that labels
    can be decided one by one; a set that nobody gave as a whole is marked for adjudication.
    Confidence: the smallest share of raters behind any of the decisions.

    ``"medoid"`` (default for scalars, and for labels with degrees): of the unit's answers the one
    with the smallest mean distance to all of them. Confidence: 1 - that distance / d_max.

    ``"dawid_skene"``: each label apart (scalars: all values at once) by the EM algorithm, which
    learns how often each rater misses and invents it. Assumes that raters err independently of each
    other, each at the same rate on all units; it needs raters with many units. Confidence: the
    probability of the answer, labels taken as independent. Costs labels x ratings x iterations at
    most; units that did not get a label cost one unit for each panel of raters.

    ``"unanimous"``: the answer where all raters gave the same, else none.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    method : {"label_majority", "medoid", "dawid_skene", "unanimous"}, optional
        How answers become one.
    threshold : float, optional
        The share of raters (or the probability) from which a label is in; default one half, where a
        label that exactly half of the raters gave is a tie.
    ties : {"missing", "plurality", "empty"}
        What becomes of a unit that the votes leave open; it is flagged in any case. Label by label
        (``"label_majority"``, ``"dawid_skene"`` of label sets) that is a unit where no label has a
        majority, and no more than half of the raters gave the empty set (with ``"dawid_skene"``:
        nobody did). By default, ``"missing"``, it has no answer; ``"plurality"`` takes the labels
        with the most votes, all of them where several have as many (``"dawid_skene"``: those at
        exactly the threshold), and ``"empty"`` the empty set, which nobody need have given. Beside
        labels with a majority a tied label, which exactly half of the raters gave, is left out;
        ``"plurality"`` takes it in. Of whole answers that are equally good (``"medoid"``;
        ``"dawid_skene"`` of scalars) ``"missing"`` takes none, ``"empty"`` the one that says least
        and ``"plurality"`` the one that says most: by the number of labels, by size for numbers,
        else the first or last in reading order. ``"unanimous"`` knows no ties.
    distance : name, callable, Distance or labelled matrix, optional
        Of the medoid. Default: MASI for label sets, nominal for scalars.
    raters : sequence of raters, optional
        Whose answers count; a unit that only others rated has none. Default: everybody's.
    adjudicate_below : float
        Units with less confidence are flagged too.

    Returns
    -------
    Consensus

    Raises
    ------
    OptionError
        An option is unknown or does not fit the method.
    DataError
        The method does not fit the values, or a rater is unknown.
    CostError
        Labels times ratings are too many for ``"dawid_skene"``.

    Warns
    -----
    ConvergenceWarning
        The algorithm of Dawid and Skene was stopped before its numbers stood still.
    SetagreeWarning
        The study has clusters, weights, strata or a population size, which do not count here.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28, 20-28.

    Examples
    --------
    >>> study = Annotations.from_triples([
    ...     ("ann", "u1", "joy, fear"), ("bob", "u1", "joy"), ("cem", "u1", "joy"),
    ...     ("ann", "u2", "joy"), ("bob", "u2", "fear"), ("cem", "u2", "anger"),
    ...     ("ann", "u3", set()), ("bob", "u3", set()),
    ... ])
    >>> agreed = consensus(study)
    >>> agreed.to_frame()[["unit", "support", "confidence", "adjudicate"]].round(2)
      unit  support  confidence  adjudicate
    0   u1     0.67        0.67       False
    1   u2      NaN         NaN        True
    2   u3     1.00        1.00       False
    >>> agreed.answers["u1"], agreed.to_frame()["why"][1]
    (frozenset({'joy'}), 'no majority; no answer')
    """
    study = known_plain(study, "consensus")
    study = study.with_queued or study
    rule = Rule(method, threshold, ties, distance)
    rule.named(study)
    check_share("adjudicate_below", adjudicate_below)
    if raters is not None:
        members = flags(study.n_raters, rater_codes(study, raters))
        others = study.raters[~members].tolist()
        study = study.without_raters(others) if others else study
    decision = rule.decide(study)
    warn_unconverged(decision.n_unconverged)
    ratings = np.bincount(study.unit_codes, minlength=study.n_units)
    support = _support(study, decision, ratings)
    doubts = _doubts(decision, support, ratings, adjudicate_below)
    unrated = (0, len(study.unanswered))
    return Consensus(
        rule.named(study),
        study.kind,
        np.concatenate([study.units, study.unanswered]),
        decision.values,
        np.pad(decision.codes, unrated, constant_values=-1),
        np.pad(support, unrated, constant_values=np.nan),
        np.pad(decision.confidence, unrated, constant_values=np.nan),
        np.pad(ratings, unrated),
        np.pad(doubts, unrated, constant_values=1 << WHY.index("no rating")),
        _rates(study, decision),
    )


def warn_unconverged(n: int) -> None:
    """Say that error rates of so many labels (one stands for all scalars) are not final."""
    if n:
        warn(
            f"{option('method', 'dawid_skene')}: error rates of {counted(n, 'label')} still moved "
            "after 1,000 iterations; the probabilities are not final.",
            ConvergenceWarning,
        )


def _support(study: Annotations, decision: Decision, ratings: Codes) -> Floats:
    """Return the share of the raters of each unit who gave exactly its answer."""
    known = {value: code for code, value in enumerate(study.values)}
    as_given = np.array([known.get(value, -2) for value in decision.values] + [-1])
    same = study.value_codes == as_given[decision.codes][study.unit_codes]
    share = np.bincount(study.unit_codes, same, study.n_units) / ratings
    return np.where(decision.codes < 0, np.nan, share)


def _doubts(decision: Decision, support: Floats, ratings: Codes, adjudicate_below: float) -> Codes:
    bits = (
        decision.tied,
        decision.undecided,
        ratings == 1,
        decision.codes < 0,
        support == 0,
        decision.confidence < adjudicate_below,
    )
    return np.asarray(sum(flag.astype(np.int64) << bit for bit, flag in enumerate(bits)))


def _rates(study: Annotations, decision: Decision) -> pd.DataFrame | None:
    """Return the error rates with names."""
    if decision.rates is None:
        return None
    labels = Ballot(study).geometry.labels
    raters, places = decision.rates[:, :2].astype(np.int64).T
    return pd.DataFrame(
        {
            "rater": study.raters[raters],
            "label": as_objects(labels)[places] if labels else as_objects([]),
            "sensitivity": decision.rates[:, 2],
            "specificity": decision.rates[:, 3],
        }
    )
