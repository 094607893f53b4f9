"""Non-inferiority tests of a model in place of a human."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_level
from setagree.coefficients.tails import normal_quantile, t_quantile, t_tail
from setagree.coefficients.uncertain import UncertainNumber, uncertain_number
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_choice,
    counted,
    listing,
    option,
    shorten,
    warn,
)
from setagree.inference.comparison import holm
from setagree.inference.panel_members import NO_HUMAN, answers_of, check_share, models_and_humans
from setagree.large.opening import Data, ModelReadingOptions, RaterAnswers, takes_data
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement
from setagree.scoring.scorer import score, score_part
from setagree.study.annotations import Annotations
from setagree.wording.number_format import p_phrase
from setagree.wording.result_base import Result, ResultPerModel
from setagree.wording.sentences import Name, Sentence, cut, enumeration, in_message, named, visible
from setagree.wording.tables import Column

Against: TypeAlias = Literal["mean", "all"]

ALPHA = 0.05
"""One-sided significance level of the tests."""
FEW_UNITS = 30
"""Shared units of a human and the model below which the test exceeded its level in simulations."""
OUTCOMES = {
    "below": (
        "does not lower agreement by {} or more",
        "do not lower agreement by {} or more",
    ),
    "open": (
        "was not shown to keep the loss of agreement below {}",
        "were not shown to keep the loss of agreement below {}",
    ),
    "above": ("lowers agreement by more than {}", "lower agreement by more than {}"),
}
"""Result of a test against a loss of the margin, for one model and for several."""
FEW_LOST: dict[Against, float] = {"mean": 3.0, "all": 4.0}
"""Minimum worth of the margin in units; below it, a model at the margin passes too often."""


class _Changed:
    """A change with its deviations per unit; without units, if it is undefined."""

    delta: UncertainNumber

    @property
    def difference(self) -> float:
        """The change of the agreement with the other humans."""
        return self.delta.value

    @property
    def psi(self) -> Floats:
        """Deviation of each unit that counts; the squares sum to SE²."""
        return self.delta.deviations

    @property
    def standard_error(self) -> float:
        """SE of the change; 0 if the answers of the model and the human are equal."""
        return self.delta.standard_error if len(self.psi) else float("nan")

    @property
    def skewness(self) -> float:
        """Skewness as in Hall's correction: k = sum psi³ / (sum psi²)^1.5."""
        return float((self.psi**3).sum() / (self.psi @ self.psi) ** 1.5)

    def _tail(self, margin: float, k: float) -> float:
        """Return P(t > g(T)) of a loss of the margin, with T = (change + margin) / SE."""
        # g(T) = T + k T² / 3 + k² T³ / 27 + k / 6 (Hall 1992)
        T = (self.difference + margin) / self.standard_error
        return t_tail(len(self.psi) - 1, T + k * T**2 / 3 + k**2 * T**3 / 27 + k / 6)


_UNDEFINED = UncertainNumber(float("nan"), np.zeros(0, dtype=np.intp), np.zeros(0), float("nan"))


@dataclass(frozen=True, eq=False)
class Change(_Changed):
    """Change of alpha if a model replaces one human.

    Attributes
    ----------
    human : object
        The replaced human.
    n_ratings : int
        Number of ratings of the human that are replaced, in units with another rating.
    before, after : float
        Alpha of the humans, and with the answers of the model in place of the human's.
    delta : UncertainNumber
        Delta_h = scale (after - before), with its deviations per unit of the study.
    scale : float
        N / (2 N_h).
    one_unit : float
        Change due to one unit in which the model is at the largest distance from all others.
    why : str or None
        Reason for an undefined change, or None.
    """

    human: Any
    n_ratings: int
    before: float
    after: float
    delta: UncertainNumber
    scale: float = float("nan")
    one_unit: float = float("nan")
    why: str | None = None

    def worth(self, margin: float) -> float:
        """Return the number of units in which the model alone is wrong that make the margin."""
        return margin / self.one_unit

    def p_value(self, margin: float) -> float:
        """One-sided p of a loss of the margin: by t, or with Hall's correction if that is larger.

        If errors of the model are rare but large, few of them are observed, and t alone rejects too
        often.
        """
        if not self.standard_error > 0:
            return float("nan")
        return max(self._tail(margin, 0.0), self._tail(margin, self.skewness))


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(_Changed, Result):
    """Changes of agreement if a model replaces each human in turn.

    Attributes
    ----------
    model : object
        The tested model.
    distance : str
        Name of the distance.
    margin : float
        The acceptable loss, on the scale of `difference`.
    against : {"mean", "all"}
        Whether the verdict is about the mean over the humans, or about each of them.
    changes : tuple of Change
        The change for each replaced human.
    reference_alpha : float
        Krippendorff's alpha of the humans.
    equivalence : bool
        Whether both sides are tested.
    p_holm : float
        p-value of the verdict, with Holm's correction over the models that were tested together.
    """

    model: Any
    distance: str
    margin: float
    against: Against
    changes: tuple[Change, ...]
    reference_alpha: float
    equivalence: bool = False
    p_holm: float = float("nan")

    frame_name = "humans"
    columns = (
        Column("human", "name"),
        Column("n_shared_units", "count", "shared"),
        Column("alpha"),
        Column("alpha_with_model", head="with model"),
        Column("scale", meaning="1 over twice the human's share of the ratings"),
        Column(
            "difference",
            meaning="the agreement of the model with the other humans less that of the human, "
            "which is scale times the difference of the two alphas",
        ),
        Column(("low", "high"), "interval", "90% interval"),
        Column("p_value", "p", "p", "of a loss of the margin or more"),
    )

    @cached_property
    def defined(self) -> tuple[Change, ...]:
        """The changes that are defined."""
        return tuple(one for one in self.changes if one.why is None)

    @property
    def reason(self) -> str | None:
        """Reason for a missing test, or None."""
        if not self.defined:
            return NO_HUMAN
        untested = [one for one in self.changes if not one.standard_error > 0]
        if self.against == "all" and untested:
            return in_message(("a test is missing in the place of ", *_whose(untested)))
        if not self.standard_error > 0:
            return f"nothing varies where {shorten(self.model)} answers for a human"
        return None

    @cached_property
    def delta(self) -> UncertainNumber:  # type: ignore[override]
        """Mean of Delta_h over the humans for whom it is defined, with its deviations."""
        n = len(self.defined)
        return reduce(add, (one.delta for one in self.defined)) * (1 / n) if n else _UNDEFINED

    @property
    def worst(self) -> Any:
        """The human whose replacement has the largest loss."""
        return min(self.defined, key=lambda one: one.difference).human if self.defined else None

    @property
    def p_value(self) -> float:
        """One-sided p of the verdict: of the mean, or the largest over the humans.

        For equivalence, the larger p of the two sides. NaN without variance.
        """
        if self.reason is not None:
            return float("nan")
        if self.against == "all":
            return float(self.humans["p_value"].max(skipna=False))
        loss = self._tail(self.margin, self.skewness)
        return max(loss, 1 - self._tail(-self.margin, self.skewness)) if self.equivalence else loss

    @property
    def _p(self) -> float:
        """The p-value of the verdict, corrected if several models were tested."""
        return self.p_value if np.isnan(self.p_holm) else self.p_holm

    @property
    def caution(self) -> str | None:
        """Reason why the test may exceed its level, or None: few units, or a margin worth few."""
        fewest = min((one.n_ratings for one in self.defined), default=FEW_UNITS)
        if fewest < FEW_UNITS:
            return f"{counted(fewest, 'shared unit')}, fewer than {FEW_UNITS}"
        worth, least = min(one.worth(self.margin) for one in self.defined), FEW_LOST[self.against]
        few = f"the margin is worth {worth:.1f} units in which the model alone is wrong, fewer than"
        return f"{few} {least:g}" if worth < least else None

    @property
    def passes(self) -> bool:
        """Whether a loss (or a change) of the margin is rejected at the 5% level."""
        return bool(self._p <= ALPHA)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the two-sided interval of the mean change, by Hall's transformed t.

        Delta - SE g⁻¹(±t), g(T) = T + k T² / 3 + k² T³ / 27 + k / 6. The test at 0.05 corresponds
        to the level 0.90.
        """
        check_level(level)
        if self.reason is not None:
            return float("nan"), float("nan")
        t, k = -t_quantile(len(self.psi) - 1, (1 + level) / 2), self.skewness
        y = np.array([t, -t])
        # g⁻¹(y) = (3 / k) [(1 + k (y - k / 6))^(1/3) - 1]
        inverse = y if abs(k) < 1e-8 else (3 / k) * (np.cbrt(1 + k * (y - k / 6)) - 1)
        low, high = (self.difference - self.standard_error * inverse).tolist()
        return low, high

    @cached_property
    def humans(self) -> pd.DataFrame:
        """One row per human: both alphas, the change with SE, 90% t interval and p.

        `difference` is `scale` times the difference of the two alphas. p is that of t, or with
        Hall's correction if that is larger (`Change.p_value`). `n_shared_units` is the number of
        units answered by the human and the model, `n_units` that of units in the panels.
        """
        from scipy.special import stdtrit

        names = "n_shared_units n_units alpha alpha_with_model scale difference standard_error"
        cells = (
            (x.n_ratings, len(x.psi), x.before, x.after, x.scale, x.difference, x.standard_error)
            for x in self.changes
        )
        humans = [one.human for one in self.changes]
        index = pd.Index(humans, name="human", dtype=object, tupleize_cols=False)
        frame = pd.DataFrame(cells, index, names.split())
        error = frame["standard_error"]
        half = stdtrit(frame["n_units"] - 1, 1 - ALPHA) * error.where(error > 0)
        low, high = frame["difference"] - half, frame["difference"] + half
        p = [one.p_value(self.margin) for one in self.changes]
        return frame.assign(low=low, high=high, p_value=p)

    def units_needed(self, power: float = 0.8, *, difference: float = 0.0) -> int:
        """Return the number of units for a test of the mean with a given power and true difference.

        n = (z_.95 + z_power)² sd² / (margin + difference)², with sd = SE sqrt(n) of this study.

        Raises
        ------
        OptionError
            A model with that change loses the margin, so that no number of units is sufficient.
        """
        check_share("power", power)
        if not self.margin + difference > 0:
            raise OptionError(
                f"difference={difference:g} is a loss of the margin ({self.margin:g}) or more: no "
                "number of units makes such a model pass."
            )
        sd = self.standard_error * np.sqrt(len(self.psi))
        z = -normal_quantile(1 - ALPHA) - normal_quantile(power)
        return int(np.ceil((z * sd / (self.margin + difference)) ** 2))

    @property
    def verdict(self) -> str:
        """Sentence with the decision and its basis."""
        return in_message(self.verdict_words)

    @property
    def verdict_words(self) -> Sentence:
        """The verdict in parts, with the names of raters separate."""
        if self.reason is not None:
            return (f"No verdict: {self.reason}.",)
        low, high = self.interval()
        part = f"{100 * self.margin / self.reference_alpha:.0f}% of the humans' alpha"
        margin, model = f"{self.margin:g} ({part})", Name.of(self.model)
        absent = [one for one in self.changes if one.why is not None]
        rest: Sentence = ("; left out: ", *_whose(absent), ".") if absent else (".",)
        mean = f"mean change {self.difference:+.3f}, 90% {low:+.3f} to {high:+.3f}"
        if self.outcome != "above":  # p is of the test that the loss is smaller
            largest = "largest " if self.against == "all" else ""
            mean += f", {largest}{p_phrase(self._p)}{' (Holm)' if self._p != self.p_value else ''}"
        if self.passes and self.caution is not None:
            rest = (f"; not reliable: {self.caution}", *rest)
        if self.equivalence:
            shown = f"{'changes' if self.passes else 'was not shown to change'} agreement by less"
            place, shown = "a human of", f"{shown} than {margin}, up or down"
        else:
            place = "a human drawn at random from" if self.against == "mean" else "any human of"
            shown = OUTCOMES[self.outcome][0].format(margin)
            least = f" ({min(one.difference for one in self.defined):+.3f})"
            rest = ("; lowest in the place of ", Name.of(self.worst), least, *rest)
        return (model, f" in the place of {place} this panel {shown}: {mean}", *rest)

    @property
    def outcome(self) -> str:
        """Result of the test against a loss of the margin, a key of `OUTCOMES`."""
        if self.passes:
            return "below"
        return "above" if self.against == "mean" and self.interval()[1] < -self.margin else "open"

    def _heading(self) -> str:
        return f"{cut(visible(str(self.model)))} in the place of a human [{self.distance}]"


def _whose(changes: Sequence[Change]) -> Sentence:
    """Return a sentence on humans without a test, with the reason."""
    whys: dict[str, list[Any]] = {}
    for one in changes:
        whys.setdefault(one.why or "nothing varies", []).append(one.human)
    return enumeration([(*named(humans, limit=5), f" ({why})") for why, humans in whys.items()])


@dataclass(frozen=True, eq=False, repr=False)
class ReplacementTable(ResultPerModel[Replacement]):
    """Tests of several models against the same humans, best first."""

    rows: tuple[Replacement, ...]

    columns = (
        Column("model", "name"),
        Column("difference"),
        Column(("low", "high"), "interval", "90% interval"),
        Column("margin", "amount"),
        Column("p_holm", "p", "p"),
        Column("passes", "yes", "within margin"),
    )

    @classmethod
    def ranked(cls, tests: Sequence[Replacement]) -> ReplacementTable:
        """Return the tests, the largest change first, with p corrected by Holm over the models."""
        p = np.array([one.p_value for one in tests])
        tested = np.isfinite(p)
        p[tested] = holm(p[tested])
        rows = [replace(one, p_holm=each) for one, each in zip(tests, p.tolist(), strict=True)]
        return cls(tuple(sorted(rows, key=lambda one: -np.nan_to_num(one.difference, nan=-9.0))))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model: the mean change, its 90% interval, p, and the decision."""
        names = "model distance margin against reference_alpha difference standard_error low high"
        names += " p_value p_holm passes worst"
        frame = pd.DataFrame(
            {x: [getattr(test, x, np.nan) for test in self.rows] for x in names.split()}
        )
        frame[["low", "high"]] = [test.interval() for test in self.rows]
        return frame


@takes_data
def noninferiority_test(
    study: Data,
    *more: RaterAnswers,
    model: object = None,
    humans: Sequence[object] | None = None,
    margin: float = 0.1,
    against: Against = "mean",
    equivalence: bool = False,
    distance: DistanceLike | None = None,
    **options: Unpack[ModelReadingOptions],
) -> ReplacementTable:
    """Test whether humans agree with a model almost as well as with one another.

    For human h, the data are the answers of h and the model to the units that both answered, and
    the answers of the other humans to all units. They form two panels: the humans, and the humans
    with the answers of h replaced by those of the model. With N ratings in pairable units of a
    panel, and N_h of h among them::

        Delta_h = N / (2 N_h) [alpha(h replaced by the model) - alpha(humans)]

    is the model's chance-corrected agreement with the other humans, minus that of h. A model with
    random answers has -alpha, for any number of humans. The standard error is from the differences
    of the linearised values of both panels per unit. The null hypothesis is Delta <= -margin,
    one-sided at the 5% level:

    - ``against="mean"``: for the mean over the humans, that is, for a random human of this panel,
      by t with Hall's (1992) correction for skewness;
    - ``against="all"``: for every human, by t, or with Hall's correction if that has the larger p;
      all must be rejected (intersection-union), without a correction for their number.

    In simulated studies a model that loses exactly the margin passed in at most 6% if the margin is
    worth at least three units, in terms of units in which the model is at the largest distance from
    everybody: margin x shared units x expected disagreement / largest distance. With a smaller
    margin it passed in up to 14%, with fewer than 30 shared units in up to 27%, and one of three
    such models in up to 37%. ``against="all"`` requires a margin worth four units.

    This test is about the loss of agreement; the alternative annotator test (`alt_test`) is about
    how often the model is closer than a human. Their results can differ.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the humans, and of the models that are raters in it.
    model : rater, DataFrame or path, or list of these, optional
        As in `alt_test`. The p-values of several models are corrected by Holm.
    humans : sequence of raters, optional
        At least two. Default: all raters who are not models.
    margin : float
        The acceptable loss of agreement; decide before you look. It must be below the alpha of the
        humans, and half of that is already large.
    against : {"mean", "all"}
        The tested hypothesis; both are reported.
    equivalence : bool
        Test the mean from both sides at 0.05; if both are rejected, the 90% interval of the mean
        lies within the margins (Schuirmann 1987). A model that is better than the humans by the
        margin fails.
    distance : name, callable, Distance or labelled matrix, optional
        Default: MASI for label sets, interval for numbers, else nominal.

    Returns
    -------
    ReplacementTable
        The test of each model, the largest mean change first: ``table["gpt"]``.

    Raises
    ------
    DataError
        There are fewer than two humans, a rater is unknown, or the humans do not agree beyond
        chance.
    OptionError
        The margin is not below the alpha of the humans, or ``equivalence=True`` is combined with
        ``against="all"``.

    Warns
    -----
    SetagreeWarning
        The margin is at least half the alpha of the humans; a human shares fewer than 30 units with
        the model; or the margin is worth fewer than three units (``against="all"``: four), so that
        the test may exceed its level.

    References
    ----------
    Hall (1992), "On the removal of skewness by transformation", JRSS B 54.
    Berger (1982), "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24.
    Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach",
    Journal of Pharmacokinetics and Biopharmaceutics 15.

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> test = noninferiority_test(study, model="r5", margin=0.1)["r5"]
    >>> round(test.difference, 3), test.passes
    (0.182, True)
    >>> noninferiority_test(study, model="r5", margin=0.1, equivalence=True)["r5"].passes
    False
    """
    check_choice("against", against, ("mean", "all"))
    if equivalence and against == "all":
        raise OptionError(
            f"{option('against', 'all')} does not apply to a test of equivalence, which is of the "
            "mean over the humans. Omit it."
        )
    check_share("margin", margin)
    study, models, people = models_and_humans(study, "noninferiority_test", model, humans)
    if people.sum() < 2:
        raise DataError(
            "agreement with the other humans needs two humans or more; the study has "
            f"{counted(int(people.sum()), 'human')} in addition to the model."
        )
    whole = score(study, krippendorff_alpha, distance=distance)
    alpha = score_part(whole, study.take(people[study.rater_codes])).estimate
    _check_margin(margin, alpha, study.raters[people].tolist())
    tests = []
    for code in models:
        model, answers = study.raters[code], answers_of(study, code)
        codes = np.flatnonzero(people).tolist()
        changes = tuple(_change(whole, study, people, human, answers) for human in codes)
        tests.append(
            Replacement(model, whole.distance, margin, against, changes, alpha, equivalence)
        )
    _warn_few(tests)
    return ReplacementTable.ranked(tests)


def _check_margin(margin: float, alpha: float, people: list[object]) -> None:
    """Raise an error for a margin of at least the humans' alpha; warn from half of it."""
    if not alpha > 0:
        raise DataError(
            f"the humans ({listing(people)}) do not agree beyond chance (alpha {alpha:.4f}), and "
            "so have no agreement that a model could keep."
        )
    if margin >= alpha:
        raise OptionError(
            f"{option('margin', margin)} is not below the alpha of the humans ({listing(people)}), "
            f"{alpha:.4f}: a model that answers at random would pass. Take a fraction of that "
            "alpha."
        )
    if margin >= alpha / 2:
        warn(
            f"The margin of {margin:g} is {100 * margin / alpha:.0f}% of the alpha of the humans "
            f"({alpha:.4f}): a model may lose that share of their agreement and still pass.",
            SetagreeWarning,
        )


def _change(
    whole: Agreement, study: Annotations, people: Flags, human: int, answers: Codes
) -> Change:
    """Return Delta_h for the answers of a model, undefined if a panel has no alpha."""
    name, of_human = study.raters[human], study.rater_codes == human
    of_model = answers[study.unit_codes]
    both = of_human & (of_model >= 0)
    kept = (people[study.rater_codes] & ~of_human) | both
    panel, replaced = study.take(kept), np.where(both, of_model, study.value_codes)[kept]
    with_model = replace(panel, value_codes=replaced.astype(panel.value_codes.dtype))
    before, after = (score_part(whole, one) for one in (panel, with_model))
    alphas = before.estimate, after.estimate
    # N ratings in pairable units, N_h of them by the human; scale = N / (2 N_h).
    counts = np.bincount(panel.unit_codes, minlength=panel.n_units)[panel.unit_codes] >= 2
    N, N_h = int(counts.sum()), int((counts & both[kept]).sum())
    scale = N / (2 * N_h) if N_h else float("nan")
    places = np.flatnonzero(np.bincount(study.unit_codes[kept], minlength=study.n_units))
    first, second = (uncertain_number(one.sums, places) for one in (before, after))
    delta = (second - first) * scale
    if len(delta.units) < 2 or not np.isfinite(delta.value):
        why = "alpha is undefined there" if both.any() else "shares no unit with the model"
        return Change(name, N_h, *alphas, _UNDEFINED, why=why)
    one_unit = before.weights.max_distance / (before.expected_disagreement * N_h)
    return Change(name, N_h, *alphas, delta, scale, one_unit)


def _warn_few(tests: Sequence[Replacement]) -> None:
    """Warn if the test may exceed its level: few shared units, or a margin worth few units."""
    margin, least = tests[0].margin, FEW_LOST[tests[0].against]
    every = [(f"{one.human} with {test.model}", one) for test in tests for one in test.defined]
    few = [f"{pair}: {one.n_ratings}" for pair, one in every if one.n_ratings < FEW_UNITS]
    worth = [(pair, one.worth(margin)) for pair, one in every]
    little = [f"{pair}: {units:.1f}" for pair, units in worth if units < least]
    if few:
        warn(
            f"Some humans answered fewer than {FEW_UNITS} units together with the model "
            f"({listing(few)}); the test did not keep its level in simulations there.",
            SetagreeWarning,
        )
    elif little:
        warn(
            f"The margin of {margin:g} is worth fewer than {least:g} units in which "
            f"the model alone is wrong ({listing(little)}): a model that loses the margin passes "
            "too often. More units help, or a larger margin.",
            SetagreeWarning,
        )
