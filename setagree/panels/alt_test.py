"""Alternative annotator test for replacing a human by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_least
from setagree.coefficients.case import ROUNDING, Case, divided
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.sums import UnitSums
from setagree.credit.base import Weights
from setagree.credit.within_groups import spread_within_groups
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DataError,
    OptionError,
    counted,
    listing,
    option,
    python_or_command,
    warn_nan,
)
from setagree.inference.panel_members import (
    NO_HUMAN,
    answers_of,
    case_of,
    check_share,
    models_and_humans,
    rater_index,
)
from setagree.large.opening import Data, ModelReadingOptions, RaterAnswers, takes_data
from setagree.limits import MAX_PLANNED_UNITS
from setagree.study.annotations import Annotations
from setagree.study.tally import Tally
from setagree.wording.number_format import four, number
from setagree.wording.result_base import Result, ResultPerModel
from setagree.wording.sentences import Name, Sentence, Words, cut, enumeration, in_message, visible
from setagree.wording.tables import Column

MOST_HUMANS = 1_000
"""Maximum number of humans whose outcomes are compared pair by pair."""

_DRAWS, _CELLS = 10_000, 1_000_000
"""Draws of the humans' means for a power; fewer for more than 100 humans: 8 MB per array."""

_SEED = 20250125

_POOR, _LIKE_CHANCE, _NAMED = 0.2, 0.1, 5
_two = partial(number, digits=2, plain=True)


@dataclass(frozen=True, eq=False, repr=False)
class AltTest(Result):
    """Test of whether a model may replace a human.

    Attributes
    ----------
    model : object
        The tested model.
    distance : str
        Name of the distance.
    epsilon : float
        Advantage of a human up to which the cheaper model is preferred.
    q : float
        False discovery rate over the humans (Benjamini and Yekutieli).
    humans : DataFrame
        One row per human with enough shared units: their number; the shares of units that the model
        and the human win (a tie is a win for both); the difference, human minus model, with its
        standard error; the Wilson 95% interval of the model's wins; p, corrected p, and whether it
        is rejected that the human is better by at least epsilon; and the human's `agreement` with
        the other humans: 1 - d_o / d_e, with d_o the mean distance to them within units, d_e that
        to all of their answers.
    skipped : Series
        Number of shared units of the humans who share too few.
    n_units : int
        Number of units with the model and enough humans.
    reference_alpha : float
        Krippendorff's alpha of the humans, on the units with enough of them; NaN if undefined.
    products : ndarray of shape (n_humans, n_humans), or None
        For each pair of humans, the sum over units of the products of (the human wins) - (the model
        wins), for the power. None if there are more than 1,000 humans.
    """

    model: Any
    distance: str
    epsilon: float
    q: float
    humans: pd.DataFrame
    skipped: pd.Series[int]
    n_units: int
    reference_alpha: float = float("nan")
    products: Floats | None = None

    frame_name = "humans"
    columns = (
        Column("human", "name"),
        Column("n_units", "count", "units"),
        Column(
            "advantage",
            head="model wins",
            meaning="the share of units on which the model is at least as near to the other humans "
            "as the human is; its interval is about this human and this model, for units (and "
            "their other raters) like these",
        ),
        Column(("low", "high"), "interval"),
        Column("human_advantage", head="human wins"),
        Column("p_adjusted", "p", "p (BY)"),
        Column(
            "rejected",
            "yes",
            "beaten",
            "the human is better by less than epsilon, p corrected for the number of humans "
            "(Benjamini-Yekutieli)",
        ),
    )

    @property
    def winning_rate(self) -> float:
        """Share of the humans over whom the model wins, or NaN if no human could be tested."""
        return float(self.humans["rejected"].mean())

    @property
    def average_advantage_probability(self) -> float:
        """Mean over humans of the share of units that the model wins or ties."""
        return float(self.humans["advantage"].mean())

    @property
    def passes(self) -> bool:
        """Whether the model wins over at least half of the humans."""
        return bool(self.winning_rate >= 0.5)

    @property
    def reason(self) -> str | None:
        """Reason for a winning rate of NaN, or None."""
        return None if len(self.humans) else NO_HUMAN

    @property
    def verdict(self) -> str:
        """Sentence with the decision and its basis."""
        return in_message(self.verdict_words)

    @property
    def verdict_words(self) -> Sentence:
        """The verdict in parts, with the names of the model and of humans separate."""
        who = Name.of(self.model)
        if self.reason is not None:
            return ("No verdict on ", who, f": {self.reason}.")
        may = "may" if self.passes else "may not"
        return (who, f" {may} replace a human: it {self.wins}.", *self.reservations)

    @property
    def wins(self) -> str:
        """Clause on the humans over whom the model wins."""
        won, tested = int(self.humans["rejected"].sum()), counted(len(self.humans), "human")
        rate = f"winning rate {self.winning_rate:.2f}"
        return f"wins over {won:,} of {tested} ({rate}, epsilon {self.epsilon:g})"

    @property
    def reservations(self) -> Sentence:
        """Sentences on few humans, poor agreement of the humans, and humans close to chance.

        Alpha below 0.2 is poor (Altman 1991). Agreement of a human with the others below 0.1 is
        close to chance.
        """
        by_chance = self.humans[self.humans["agreement"] < _LIKE_CHANCE]["agreement"]
        words: list[Words] = []
        if len(self.humans) < 3:
            words.append(" Fewer than three humans could be tested: do not rely on it.")
        if self.reference_alpha < _POOR:
            words.append(
                f" The humans agree poorly with each other (alpha {_two(self.reference_alpha)}): "
                "it takes little to be as near to them as one of them is."
            )
        if len(by_chance):
            parts = [(Name.of(who), f" ({_two(value)})") for who, value in by_chance.items()]
            more = len(parts) - _NAMED
            shown: list[Sentence] = [*parts[:_NAMED], *([(f"{more:,} more",)] if more > 0 else [])]
            words.append(" Agrees with the other humans hardly more than chance: ")
            words += [*enumeration(shown), "; a win there is weak evidence."]
        return tuple(words)

    def power(self, n_units: int | None = None, *, difference: float = 0.0) -> float:
        """Return the power of a test for a model of a given quality.

        The default model is as good as the humans; for the observed difference, p has all the
        information. With d = (the human wins) - (the model wins) on a unit, the mean of d over n
        units is normal with the variance mean(d²) / n, so that the share of ties is constant. The
        means of two humans are correlated as their d on the shared units. s² / sigma² is a
        chi-square divided by its degrees of freedom (Wilson and Hilferty 1931), with squared
        correlations. The t-tests of 10,000 draws (a fixed seed; fewer for more than 100 humans) are
        decided as in the test. A model much worse than the humans ties less often with them than a
        good one would, so that the power from its test is too small.

        Parameters
        ----------
        n_units : int, optional
            Units of the planned test. Default: those of this test.
        difference : float
            Difference of the true win rates of a human and the model; 0 if it is as good.

        Returns
        -------
        float
            NaN if no human could be tested, or more than 1,000 were.
        """
        from scipy.special import stdtr

        if n_units is not None:
            check_least("n_units", n_units, 2)
        if self.products is None:
            return float("nan")
        tested, H = self.humans["n_units"].to_numpy(), len(self.humans)
        share, lead = tested / max(self.n_units, 1), self.epsilon - difference
        n = np.maximum(share * (self.n_units if n_units is None else n_units), 2.0)
        means, spread = self._drawn
        # s / sigma = (1 - 2 / (9 df) + z sqrt(2 / (9 df)))^1.5 (Wilson and Hilferty 1931).
        step = 2 / (9 * (n - 1))
        s = np.maximum(1 - step + spread * np.sqrt(step), 1e-3) ** 1.5
        deviation = np.sqrt(np.diag(self.products) / tested)
        # Without variance the sign of the lead decides, as in the test.
        ahead = np.full(H, np.inf if lead > 0 else -np.inf)
        np.divide(lead * np.sqrt(n), deviation, out=ahead, where=deviation > 0)
        p = np.sort(stdtr(n - 1, (means - ahead) / s), axis=1)
        # By Benjamini and Yekutieli over half of the humans are beaten if, for some k >= H / 2, k
        # of the p-values are at most q k / (H (1 + 1/2 + ... + 1/H)).
        rank = np.arange(1, H + 1)
        won = p <= self.q * rank / (H * (1 / rank).sum())
        return float(won[:, (H + 1) // 2 - 1 :].any(axis=1).mean())

    def units_for(self, power: float = 0.8, *, difference: float = 0.0) -> int | None:
        """Return the number of units for a power, to 1%, or None if no number is sufficient."""
        if not 0 < power < 1:
            raise OptionError(f"{option('power', power)} must lie between 0 and 1.")
        if self.products is None or difference >= self.epsilon:
            return None
        low, high = 2, max(self.n_units, 2)
        while self.power(high, difference=difference) < power:
            low, high = high, high * 2
            if high > MAX_PLANNED_UNITS:
                return None
        while high - low > max(1, 0.01 * low):
            middle = (low + high) // 2
            is_enough = self.power(middle, difference=difference) >= power
            low, high = (low, middle) if is_enough else (middle, high)
        return high

    @cached_property
    def needed(self) -> int | None:
        """Number of units for a power of 0.8 of a model as good as the humans; see `units_for`."""
        return self.units_for()

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats]:
        """Standard normal means, correlated as the humans, and the components of their s²."""
        assert self.products is not None  # noqa: S101 - the caller has checked it
        squares, H = np.diag(self.products), len(self.humans)
        generator = np.random.default_rng(_SEED)
        shape = (max(_CELLS // H, 1_000) if H * _DRAWS > _CELLS else _DRAWS, H)
        alike = self.products / np.sqrt(np.maximum(np.outer(squares, squares), 1))
        drawn = []
        # The correlation of squared normal variables is the square of their correlation.
        for correlations in (alike, alike**2):
            values, vectors = np.linalg.eigh(correlations)
            root = np.asarray((vectors * np.sqrt(np.maximum(values, 0))).T)
            drawn.append(generator.standard_normal(shape) @ root)
        return drawn[0], drawn[1]

    @cached_property
    def power_note(self) -> str:
        """Sentence on the power of this test; empty if no human could be tested."""
        if self.products is None:
            return ""
        needed = self.needed
        takes = (
            f"a power of 0.80 takes about {needed:,} units"
            if needed is not None
            else f"at epsilon {self.epsilon:g} no number of units gives a power of 0.80"
        )
        return (
            f"Power: with {counted(self.n_units, 'unit')} and ties as frequent as here, a model as "
            f"good as the humans passes with probability {self.power():.2f}; {takes}."
        )

    def by_epsilon(
        self, epsilons: Sequence[float] = (0, 0.05, 0.1, 0.15, 0.2, 0.25)
    ) -> pd.DataFrame:
        """Return the winning rate and the decision under other values of epsilon.

        The authors advise 0.2 for experts, 0.15 for skilled annotators, 0.1 for a crowd, and less
        if the humans agree little. Choose before you look.
        """
        for epsilon in epsilons:
            check_share("epsilon", epsilon)
        rejected = [decide(self.humans, epsilon, self.q)[2] for epsilon in epsilons]
        rates = [float(each.mean()) if len(each) else float("nan") for each in rejected]
        index = pd.Index(list(epsilons), dtype=float, name="epsilon")
        return pd.DataFrame({"winning_rate": rates}, index).assign(
            passes=lambda x: x["winning_rate"] >= 0.5
        )

    def _heading(self) -> str:
        return f"{cut(visible(str(self.model)))} [{self.distance}]"

    def _notes(self) -> list[str]:
        few = listing(self.skipped.index.tolist())
        skipped = f"Too few shared units: {few}." if len(self.skipped) else ""
        means = ""
        if len(self.humans):
            at = self.by_epsilon((0.1, 0.15, 0.2))["winning_rate"].items()
            rates = ", ".join(f"{rate:.2f} at {epsilon:g}" for epsilon, rate in at)
            means = (
                f"Average advantage {four(self.average_advantage_probability)}. Winning rate "
                f"{rates} (epsilon for a crowd, skilled annotators, experts)."
            )
        return [" ".join(filter(None, [self.verdict, means, skipped, self.power_note]))]


@dataclass(frozen=True, eq=False, repr=False)
class AltTestTable(ResultPerModel[AltTest]):
    """Tests of several models against the same humans, by decreasing advantage."""

    rows: tuple[AltTest, ...]

    columns = (
        Column("model", "name"),
        Column("average_advantage_probability", head="advantage"),
        Column("winning_rate"),
        Column("n_humans", "count", "humans"),
        Column("n_units", "count", "units"),
        Column("power"),
        Column("passes", "yes", "may replace"),
    )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model, ranked by the average advantage probability.

        ``power`` is that of `AltTest.power`; ``units_for_80`` is the number of units for a power of
        0.8.
        """
        names = "model distance epsilon winning_rate average_advantage_probability passes"
        frame = pd.DataFrame(
            {name: [getattr(row, name) for row in self.rows] for name in names.split()}
        )
        return frame.assign(
            n_humans=[len(row.humans) for row in self.rows],
            n_units=[row.n_units for row in self.rows],
            power=[row.power() for row in self.rows],
            units_for_80=pd.array([row.needed for row in self.rows], dtype="Int64"),
        )


def decide(frame: pd.DataFrame, epsilon: float, q: float) -> tuple[Floats, Floats, Flags]:
    """Return p of the t-test of the difference against epsilon, corrected p, and the decision.

    Without variance, p is 0 for differences below epsilon and 1 otherwise.
    """
    from scipy import stats

    if frame.empty:
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
    mean, se = (frame[name].to_numpy(dtype=float) for name in ("difference", "standard_error"))
    t = np.divide(mean - epsilon, se, out=np.where(mean < epsilon, -np.inf, np.inf), where=se > 0)
    p = np.asarray(stats.t.cdf(t, frame["n_units"].to_numpy() - 1))
    adjusted = np.asarray(stats.false_discovery_control(p, method="by"))
    return p, adjusted, adjusted <= q


_PARTS = 720_720
"""A multiple of all numbers up to 16: similarities of small sets are multiples of its inverse."""


class Contest:
    """Humans and distances shared by the tests of all models of a study.

    `people` are flags of the humans; units have at least `min_humans` of them. If 1 is not the
    largest possible distance, mean distances are compared, and tie if they differ by rounding only.
    """

    def __init__(
        self,
        study: Annotations,
        weights: Weights,
        people: Flags,
        min_humans: int,
        *,
        bounded: bool = True,
    ) -> None:
        self.study, self.weights, self.people, self.bounded = study, weights, people, bounded
        # The humans' answers to units with enough of them, by unit and human.
        n_humans = np.bincount(study.unit_codes[people[study.rater_codes]], minlength=study.n_units)
        rows = people[study.rater_codes] & (n_humans >= min_humans)[study.unit_codes]
        self.alpha = float("nan")
        if rows.any():
            case = Case(Tally.of(study.take(rows)), weights)
            self.alpha = UnitSums(case, Urn("ratings")).estimate
        order = np.lexsort((study.rater_codes, study.unit_codes, ~rows))[: rows.sum()]
        self.units, self.humans, self.values = (
            codes[order] for codes in (study.unit_codes, study.rater_codes, study.value_codes)
        )
        # The first answer to the unit of each answer, and their number.
        sizes = np.bincount(self.units, minlength=study.n_units)
        self.first, self.size = (np.cumsum(sizes) - sizes)[self.units], sizes[self.units]
        self.to_humans = self._mean_nearness(self.values)

    def _mean_nearness(self, answers: Codes) -> Floats:
        """Return the mean similarity of an answer per rating to the other answers to its unit.

        Summed human by human, in their order, as in the authors' program.
        """
        n = len(self.values)
        at, out, place = np.arange(n), np.zeros(n), 0
        while at.size:
            others = at[self.first[at] + place != at]
            other_values = self.values[self.first[others] + place]
            out[others] += self._nearness(answers[others], other_values)
            place += 1
            at = at[place < self.size[at]]
        return np.asarray(out / (self.size - 1))

    def _nearness(self, k: Codes, l: Codes) -> Floats:
        """Return 1 - d if distances are bounded by 1, else -d.

        A distance is stored as 1 - s, so that 1 - d need not be the double nearest to 1/3:
        similarities are rounded to the nearest double of fractions with small denominators.
        """
        if not self.bounded:
            return -self.weights.distance_at(k, l)
        similarity = self.weights.at(k, l)
        nearest = np.rint(similarity * _PARTS) / _PARTS
        return np.where(np.abs(nearest - similarity) <= ROUNDING, nearest, similarity)

    @cached_property
    def agreements(self) -> Floats:
        """1 - d_o / d_e of each rater with the humans; NaN for others, or if d_e is 0.

        d_o is the mean distance of the rater's answers to those of the other humans within units,
        d_e that to the answers of the other humans to all units.
        """
        raters, values = self.humans, self.values
        n_raters, K = self.study.n_raters, self.weights.n_values
        n = np.bincount(raters, minlength=n_raters).astype(np.float64)
        observed = np.bincount(raters, self.bounded - self.to_humans, n_raters)
        totals = np.bincount(values, minlength=K).astype(np.float64)
        to_all = self.weights.distance_dot(totals)[values]
        own = spread_within_groups(raters, values, n_groups=n_raters, weights=self.weights)
        spread = np.bincount(raters, to_all - own * n[raters], n_raters)
        expected = np.asarray(spread / np.maximum(len(values) - n, 1))
        reached = expected > ROUNDING * self.weights.max_distance * n
        return 1 - divided(observed, expected * reached)

    def wins(self, model: int) -> tuple[Codes, Codes, Flags, Flags]:
        """Return unit and human of each comparison, and whether the model and the human win."""
        answers = answers_of(self.study, model)[self.units]
        kept = answers >= 0
        # Comparisons without an answer of the model are dropped, so any value will do.
        of_model, of_human = self._mean_nearness(np.maximum(answers, 0)), self.to_humans
        # The authors' program compares mean similarities as doubles.
        slack = 0.0 if self.bounded else ROUNDING * np.maximum(np.abs(of_model), np.abs(of_human))
        lead = of_model - of_human
        return self.units[kept], self.humans[kept], (lead >= -slack)[kept], (lead <= slack)[kept]


@takes_data
def alt_test(
    study: Data,
    *more: RaterAnswers,
    model: object = None,
    humans: Sequence[object] | None = None,
    distance: DistanceLike | None = None,
    epsilon: float = 0.1,
    q: float = 0.05,
    min_units: int = 30,
    min_humans: int = 2,
    **options: Unpack[ModelReadingOptions],
) -> AltTestTable:
    """Test whether a model may replace a human, by leaving out one human at a time.

    For human j and unit i, S(x) is the mean similarity of answer x to those of the other humans.
    The model wins if S(model) >= S(j), the human if S(j) >= S(model); a tie is a win for both. With
    W the share of wins, the hypothesis W_j - W_model >= epsilon is tested by a one-sided one-sample
    t-test, and the p-values of all humans are corrected by Benjamini and Yekutieli. The model
    passes if at least half of the tests are rejected. Mean similarities are compared as doubles, as
    in the authors' program: rounding breaks some ties, depending on the order of the raters.
    Unbounded mean distances tie if they differ by rounding only. The test assumes that units are
    drawn independently, and that the common opinion of the humans is the goal.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of the humans, and of the models that are raters in it.
    model : rater, DataFrame or path, or list of these, optional
        Default: the raters that an export or a column of roles marks as models.
        A rater of the study, or a table with the units and labels of its answers, which is read
        with the options of the study, including ``where=`` and ``duplicates=``. Its name is that in
        its column of raters, else that of the file. None of the models is then a human.
    humans : sequence of raters, optional
        Default: all raters who are not models.
    distance : name, callable, Distance or labelled matrix, optional
        Similarity is 1 - d. Default: MASI for label sets, interval for numbers, else nominal.
    epsilon : float
        The advantage that justifies the cost of a human. The authors advise 0.2 for experts, 0.15
        for skilled annotators, 0.1 for a crowd, and less if the humans agree little.
    q : float
        The false discovery rate.
    min_units : int
        Minimum number of units that a human shares with the model and other humans; below 30 the
        t-test is doubtful.
    min_humans : int
        Minimum number of humans per unit, at least 2.

    Returns
    -------
    AltTestTable
        The test of each model, ranked by their average advantage probability: ``table["gpt"]``.

    Raises
    ------
    DataError
        There are fewer than three humans, or a rater is unknown.
    OptionError
        An option is out of its range.

    Warns
    -----
    UndefinedAgreementWarning
        No human shares enough units: the winning rate is NaN.

    References
    ----------
    Calderon, Reichart and Dror (2025), "The alternative annotator test for LLM-as-a-judge".

    Examples
    --------
    >>> import setagree as sa
    >>> study = sa.simulate(200, 5, skill=[0.7, 0.7, 0.7, 0.7, 0.9], rng=1)
    >>> result = alt_test(study, model="r5", epsilon=0.1)["r5"]
    >>> result.winning_rate
    1.0
    >>> result.verdict
    "'r5' may replace a human: it wins over 4 of 4 humans (winning rate 1.00, epsilon 0.1)."
    >>> alt_test(study, model=["r4", "r5"]).to_frame()["winning_rate"].tolist()
    [1.0, 0.3333333333333333]

    The answers of a model in a separate table:

    >>> gpt = study.to_long().query("rater == 'r5'")[["unit", "labels"]]
    >>> alt_test(study.exclude_raters(["r5"]), model=gpt)["model"].winning_rate
    1.0
    """
    check_share("epsilon", epsilon)
    check_share("q", q)
    check_least("min_units", min_units, 2)
    check_least("min_humans", min_humans, 2)
    study, models, people = models_and_humans(study, "alt_test", model, humans)
    if people.sum() < 3:
        other = python_or_command("noninferiority_test", "--margin")
        also = f" {other} requires only two." if people.sum() == 2 else ""
        raise DataError(
            f"the alt-test needs three humans or more; here {counted(int(people.sum()), 'human')} "
            f"in addition to the model: {listing(study.raters[people].tolist()) or 'nobody'}. "
            f"With two, nothing is left to call the humans' common view.{also}"
        )
    compared = case_of(study, distance)
    contest = Contest(study, compared.weights, people, min_humans, bounded=compared.bounded)
    tests = [
        _tested(contest, code, compared.name, float(epsilon), float(q), min_units)
        for code in models
    ]
    undefined = [test.model for test in tests if test.reason is not None]
    if undefined:
        reason = f"{NO_HUMAN}; {option('min_units')} lowers what is enough"
        warn_nan(f"alt-test of {listing(undefined)}", reason)
    tests.sort(key=lambda one: -np.nan_to_num(one.average_advantage_probability, nan=-1.0))
    return AltTestTable(tuple(tests))


def _tested(
    contest: Contest, model: int, distance: str, epsilon: float, q: float, min_units: int
) -> AltTest:
    """Return the test of one model."""
    from scipy import sparse, stats

    study = contest.study
    units, humans, model_wins, human_wins = contest.wins(model)
    shared = np.bincount(humans, minlength=study.n_raters)
    tested = np.flatnonzero(contest.people & (shared >= min_units))
    few = np.flatnonzero(contest.people & (shared < min_units))
    n = shared[tested]
    lost = human_wins.astype(np.float64) - model_wins
    sums = [
        np.bincount(humans, x, study.n_raters)[tested] for x in (model_wins, human_wins, lost**2)
    ]
    difference = (sums[1] - sums[0]) / n
    frame = pd.DataFrame(
        {
            "n_units": n,
            "advantage": sums[0] / n,
            "human_advantage": sums[1] / n,
            "difference": difference,
            # Sums of integers: equal differences give a variance of exactly 0.
            "standard_error": np.sqrt((n * sums[2] - (sums[1] - sums[0]) ** 2) / (n - 1)) / n,
        },
        index=rater_index(study, tested, "human"),
    )
    wins = [stats.binomtest(int(k), int(m)) for k, m in zip(sums[0], n, strict=True)]
    ends = [each.proportion_ci(0.95, method="wilson") for each in wins]
    frame["low"], frame["high"] = [end.low for end in ends], [end.high for end in ends]
    frame["p_value"], frame["p_adjusted"], frame["rejected"] = decide(frame, epsilon, q)
    skipped = pd.Series(shared[few], index=rater_index(study, few, "human"), name="n_units")
    frame["agreement"] = contest.agreements[tested]
    n_units, name, products = len(np.unique(units)), study.raters[model], None
    if 0 < len(tested) <= MOST_HUMANS:
        d = sparse.coo_array((lost, (units, humans))).tocsc()[:, tested]
        products = np.asarray((d.T @ d).toarray())
    return AltTest(name, distance, epsilon, q, frame, skipped, n_units, contest.alpha, products)
