"""Raters and models against the consensus of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.coefficients.chance import Floats
from setagree.credit.geometry import SetGeometry
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, UndefinedAgreementWarning, counted, listing, warn
from setagree.inference.known_raters import known_plain
from setagree.inference.raters import Codes, Flags, flags, part_of, rater_codes
from setagree.large.opening import Data
from setagree.panels.consensus import Method, Rule, warn_unconverged
from setagree.panels.votes import Decision, Ties
from setagree.study.annotations import Annotations
from setagree.study.degrees import doubt_degrees
from setagree.wording.results import Result

Score: TypeAlias = Literal["exact", "jaccard", "micro_f1", "macro_f1"]


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusScores(Result):
    """How each rater does against the consensus of the others.

    Attributes
    ----------
    method : str
        How the consensus was found.
    table : DataFrame
        A row for each rater: `n_units` with a consensus of others, `n_left_out` without one (no
        other rater, or no agreed answer), `exact` (share of equal answers), `jaccard` (mean over
        units, 1 where both are empty), `micro_f1` and `macro_f1`; nan where nothing is compared.
    by_label : DataFrame
        A row for each rater and label: true positives, false positives, false negatives,
        precision, recall and F1; 0 where the denominator is 0.
    """

    method: str
    table: pd.DataFrame
    by_label: pd.DataFrame

    def ranked(self, by: Score = "micro_f1") -> pd.DataFrame:
        """Return the rows, the best first."""
        return self.table.sort_values(by, ascending=False, kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rater."""
        return self.table.copy()

    def __repr__(self) -> str:
        return f"<ConsensusScores of {counted(len(self.table), 'rater')} against {self.method}>"


@public
def score_against_consensus(
    study: Data,
    *,
    raters: Sequence[object] | None = None,
    panel: Sequence[object] | None = None,
    method: Method | None = None,
    threshold: float | None = None,
    ties: Ties = "missing",
    distance: DistanceLike | None = None,
) -> ConsensusScores:
    """Return how near raters or models come to the agreed answer of the panel.

    A rater never counts in the consensus that it is compared with: that is found anew, for each
    rater, from the others of the panel on the units of the rater. With tp, fp and fn the labels
    that are in both, in the rater's answer only, and in the consensus only, F1 = 2 tp / (2 tp + fp
    + fn): `micro_f1` from the sums over all labels, `macro_f1` the mean over the labels that occur
    on either side. For scalars the value is the one label. It assumes that the consensus is the
    truth; it says nothing of chance.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        Who gave what.
    raters : sequence of raters, optional
        Who is scored. Default: everybody.
    panel : sequence of raters, optional
        Whose consensus counts. Default: everybody; where models are among the raters, name the
        humans.
    method, threshold, ties, distance
        How the consensus is found; see `consensus`.

    Returns
    -------
    ConsensusScores

    Raises
    ------
    DataError
        A rater is unknown, or the panel is one rater who would be compared with nobody.
    OptionError
        An option is unknown or does not fit the method.

    Warns
    -----
    DegreesWarning
        Labels have degrees, which count in the column exact alone.
    UndefinedAgreementWarning
        A rater has no unit with a consensus of others.
    ConvergenceWarning
        As in `consensus`.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 4, skill=[0.8, 0.8, 0.8, 0.5], rng=1)
    >>> scores = score_against_consensus(study, raters=["r1", "r4"], panel=["r1", "r2", "r3"])
    >>> scores.to_frame()["micro_f1"].round(3).to_dict()
    {'r1': 0.789, 'r4': 0.659}
    """
    study = known_plain(study, "score_against_consensus")
    study = study.with_queued or study
    doubt_degrees(study.values, "score_against_consensus, but for the column exact,")
    rule = Rule(method, threshold, ties, distance)
    named = rule.named(study)
    everybody = list(range(study.n_raters))
    scored = everybody if raters is None else rater_codes(study, raters)
    members = (
        everybody if panel is None else rater_codes(study, panel, "rater of the panel", "panel")
    )
    if any(set(members) == {g} for g in scored):
        raise DataError(
            f"the panel is {listing(study.raters[members].tolist())} alone, who is compared with "
            "the consensus of others; name more raters."
        )
    judge = _Judge(study, rule, flags(study.n_raters, members))
    results = [judge.score(g) for g in scored]
    index = pd.Index(study.raters[scored], name="rater", dtype=object, tupleize_cols=False)
    table = pd.DataFrame([row for row, _ in results], index=index)
    warn_unconverged(int(table.pop("n_unconverged").max()))
    empty = table.index[table["n_units"] == 0].tolist()
    if empty:
        warn(
            f"no unit has a consensus of others to compare with for {listing(empty)}: nan.",
            UndefinedAgreementWarning,
        )
    by_label = pd.concat([part for _, part in results], ignore_index=True)
    return ConsensusScores(named, table, by_label)


@dataclass(frozen=True, eq=False)
class _Judge:
    """A study whose panel agrees on answers without the rater who is scored."""

    study: Annotations
    rule: Rule
    members: Flags

    def score(self, rater: int) -> tuple[dict[str, float], pd.DataFrame]:
        """Return the scores of a rater, and the same by label."""
        study = self.study
        own = np.flatnonzero(study.rater_codes == rater)
        answer = np.full(study.n_units, -1)
        answer[study.unit_codes[own]] = study.value_codes[own]
        others = self.members.copy()
        others[rater] = False
        rows = others[study.rater_codes] & (answer[study.unit_codes] >= 0)
        left, right, values, unconverged = self._pairs(answer, rows)
        compared = _Compared.of(left, right, values)
        row = compared.scores()
        counts = {"n_units": len(left), "n_left_out": len(own) - len(left)}
        counts["n_unconverged"] = unconverged
        return {**counts, **row}, compared.by_label(study.raters[rater])

    def _pairs(self, answer: Codes, rows: Flags) -> tuple[Codes, Codes, tuple[Any, ...], int]:
        """Return the rater's value and the consensus of the units that have both.

        With the values, and how many labels the consensus did not settle.
        """
        study, none = self.study, np.zeros(0, dtype=np.int64)
        if not rows.any():
            return none, none, study.values, 0
        units = np.unique(study.unit_codes[rows])
        decision: Decision = self.rule.decide(part_of(study, rows))
        codes = {value: code for code, value in enumerate(study.values)}
        agreed = np.array([codes.setdefault(v, len(codes)) for v in decision.values] + [-1])
        right = agreed[decision.codes]
        kept = right >= 0
        return answer[units][kept], right[kept], tuple(codes), decision.n_unconverged


@dataclass(frozen=True, eq=False)
class _Compared:
    """Answers beside each other, label by label.

    Attributes
    ----------
    given, agreed : sparse array of shape (n_units, n_labels)
        The labels of the rater and of the consensus.
    names : list
        The labels.
    same : ndarray of bool, shape (n_units,)
        Whether the answers are the same, their degrees too.
    """

    given: Any
    agreed: Any
    names: list[Any]
    same: Flags

    @classmethod
    def of(cls, left: Codes, right: Codes, values: tuple[Any, ...]) -> _Compared:
        """Return the two sides from the codes of their values; a scalar is its own label."""
        from scipy import sparse

        if all(isinstance(value, frozenset) for value in values):
            sets = SetGeometry(values)
            return cls(sets.flags[left], sets.flags[right], sets.labels, left == right)
        table = sparse.eye_array(len(values), format="csr")
        return cls(table[left], table[right], list(values), left == right)

    def scores(self) -> dict[str, float]:
        """Return exact, jaccard, micro and macro F1."""
        both = _by_row(self.given.multiply(self.agreed))
        either = _by_row(self.given) + _by_row(self.agreed) - both
        tp, fp, fn = self.counts()
        seen = tp + fp + fn > 0
        # No label at all leaves nothing to count: nan, not 0.
        total = [np.atleast_1d(x.sum())[: int(seen.any())] for x in (tp, fp, fn)]
        return {
            "exact": _mean(self.same),
            "jaccard": _mean(np.divide(both, either, out=np.ones(len(both)), where=either > 0)),
            "micro_f1": _mean(_f1(*total)),
            "macro_f1": _mean(_f1(tp, fp, fn)[seen]),
        }

    def counts(self) -> tuple[Floats, Floats, Floats]:
        """Return tp, fp and fn, each of shape (n_labels,)."""
        tp = _by_column(self.given.multiply(self.agreed))
        return tp, _by_column(self.given) - tp, _by_column(self.agreed) - tp

    def by_label(self, rater: object) -> pd.DataFrame:
        """Return a row for each label that occurs on either side."""
        tp, fp, fn = self.counts()
        seen = np.flatnonzero(tp + fp + fn > 0)
        tp, fp, fn = tp[seen], fp[seen], fn[seen]
        columns = {
            "rater": [rater] * len(seen),
            "label": [self.names[k] for k in seen],
            "true_positives": tp.astype(np.int64),
            "false_positives": fp.astype(np.int64),
            "false_negatives": fn.astype(np.int64),
            "precision": _ratio(tp, tp + fp),
            "recall": _ratio(tp, tp + fn),
            "f1": _f1(tp, fp, fn),
        }
        return pd.DataFrame(columns)


def _f1(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    return _ratio(2 * tp, 2 * tp + fp + fn)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, 0 where the whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))


def _mean(each: npt.NDArray[Any]) -> float:
    return float(each.mean()) if len(each) else float("nan")


def _by_row(table: Any) -> Floats:
    return np.asarray(table.sum(axis=1), dtype=np.float64).ravel()


def _by_column(table: Any) -> Floats:
    return np.asarray(table.sum(axis=0), dtype=np.float64).ravel()
