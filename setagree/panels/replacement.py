"""What the tests of a model in the place of a human come back as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import check_level
from setagree.coefficients.chance import Floats
from setagree.errors import OptionError, counted, listing, shorten
from setagree.inference.comparison import holm
from setagree.inference.raters import Codes, check_share
from setagree.wording.numbers import four, p_four, p_phrase
from setagree.wording.results import Result, ResultRows

Against: TypeAlias = Literal["mean", "all"]

ALPHA = 0.05
FEW_UNITS = 30
"""Units of a human and the model below which the size of the test was not seen to hold."""
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
"""What a test against a loss of the margin shows, of one model and of several."""
FEW_LOST: dict[Against, float] = {"mean": 3.0, "all": 4.0}
"""Units that the margin must be worth; below that a model at the margin passes too often."""


@dataclass(frozen=True, eq=False)
class Change:
    """What a model in the place of one human changes.

    Attributes
    ----------
    human : object
        In whose place.
    n_ratings : int
        Ratings of the human that are replaced, in units with another rating.
    before, after : float
        Alpha of the humans, and with the answers of the model in that place.
    units : ndarray of int
        Which units of the study count.
    scale : float
        N / (2 N_h).
    psi : ndarray, one entry a unit
        The centred change of the linearised values; their squares add up to SE².
    one_unit : float
        What a unit costs in which the model is as far from all others as answers can be.
    why : str or None
        Why the change is undefined.
    """

    human: Any
    n_ratings: int
    before: float
    after: float
    units: Codes
    scale: float = float("nan")
    psi: Floats = field(default_factory=lambda: np.zeros(0))
    one_unit: float = float("nan")
    why: str | None = None

    @property
    def change(self) -> float:
        """Delta_h = scale (after - before)."""
        return self.scale * (self.after - self.before)

    @property
    def standard_error(self) -> float:
        """SE_h; 0 where the model copies the human."""
        return float(np.sqrt(self.psi @ self.psi)) if self.why is None else float("nan")

    @property
    def n_units(self) -> int:
        """How many units count."""
        return len(self.units)

    def p_value(self, margin: float) -> float:
        """One-sided p of a loss of the margin: by t, or with Hall's correction if that is larger.

        Where the model seldom errs, but far, few of its errors were seen, and t alone passes it
        too often.
        """
        if not self.standard_error > 0:
            return float("nan")
        T = (self.change + margin) / self.standard_error
        return max(_tail(T, self.psi, 0.0), _tail(T, self.psi, skewness_of(self.psi)))


def skewness_of(psi: Floats) -> float:
    """Return k = sum psi³ / (sum psi²)^1.5, the skewness of Hall's correction."""
    return float((psi**3).sum() / (psi @ psi) ** 1.5)


def _tail(T: float, psi: Floats, k: float) -> float:
    """P(t > g(T)), g(T) = T + k T² / 3 + k² T³ / 27 + k / 6."""
    from scipy.special import stdtr

    return float(stdtr(len(psi) - 1, -(T + k * T**2 / 3 + k**2 * T**3 / 27 + k / 6)))


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Result):
    """By how much agreement changes where a model answers in the place of a human.

    Attributes
    ----------
    model : object
        Who was tested.
    distance : str
        How answers are compared.
    margin : float
        The loss that is accepted, on the scale of `change`.
    against : {"mean", "all"}
        Whether the verdict is on the mean over the humans, or on each of them.
    changes : tuple of Change
        The change in the place of each human.
    human_alpha : float
        Krippendorff's alpha of the humans.
    equivalence : bool
        Whether both sides are tested.
    p_adjusted : float
        The p-value of the verdict, corrected by Holm over the models that were tested together.
    """

    model: Any
    distance: str
    margin: float
    against: Against
    changes: tuple[Change, ...]
    human_alpha: float
    equivalence: bool = False
    p_adjusted: float = float("nan")

    @cached_property
    def defined(self) -> tuple[Change, ...]:
        """The changes that are defined."""
        return tuple(one for one in self.changes if one.why is None)

    @property
    def reason(self) -> str | None:
        """Why there is no test, or None."""
        if not self.defined:
            return "no human shares enough units with the model"
        untested = [one for one in self.changes if not one.standard_error > 0]
        if self.against == "all" and untested:
            return f"there is no test in the place of {_whose(untested)}"
        if not self.standard_error > 0:
            return f"nothing varies where {shorten(self.model)} answers for a human"
        return None

    @property
    def change(self) -> float:
        """The mean of Delta_h over the humans."""
        deltas = [one.change for one in self.defined]
        return float(np.mean(deltas)) if deltas else float("nan")

    @cached_property
    def psi(self) -> Floats:
        """The mean over the humans of the units' parts, of the units that count for some human."""
        if not self.defined:
            return np.zeros(0)
        units = np.concatenate([one.units for one in self.defined])
        total = np.bincount(units, np.concatenate([one.psi for one in self.defined]))
        return np.asarray(total[np.bincount(units) > 0] / len(self.defined))

    @property
    def standard_error(self) -> float:
        """SE of the mean change: the root of the sum of psi_i²."""
        return float(np.sqrt(self.psi @ self.psi)) if self.defined else float("nan")

    @property
    def skewness(self) -> float:
        """Skewness as in Hall's correction: k = sum psi³ / (sum psi²)^1.5."""
        return skewness_of(self.psi)

    @property
    def worst(self) -> Any:
        """The human in whose place the model loses most."""
        return min(self.defined, key=lambda one: one.change).human if self.defined else None

    @property
    def p_value(self) -> float:
        """One-sided p of the verdict: of the mean, or the largest over the humans.

        For equivalence the larger of the two sides. nan where nothing varies.
        """
        if self.reason is not None:
            return float("nan")
        if self.against == "all":
            return float(self.humans["p_value"].max(skipna=False))
        sides = [
            _tail((self.change + margin) / self.standard_error, self.psi, self.skewness)
            for margin in (self.margin, -self.margin)
        ]
        return max(sides[0], 1 - sides[1]) if self.equivalence else sides[0]

    @property
    def passes(self) -> bool:
        """Whether the hypothesis of a loss (or a change) of the margin is rejected at .05."""
        p = self.p_value if np.isnan(self.p_adjusted) else self.p_adjusted
        return bool(p <= ALPHA)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the two-sided interval of the mean change, by Hall's transformed t.

        Delta - SE g⁻¹(±t), g(T) = T + k T² / 3 + k² T³ / 27 + k / 6. The test at .05 belongs to
        the level of .90.
        """
        from scipy.special import stdtrit

        check_level(level)
        if self.reason is not None:
            return float("nan"), float("nan")
        t = float(stdtrit(len(self.psi) - 1, (1 + level) / 2))
        low, high = (self.change - self.standard_error * self._inverse(y) for y in (t, -t))
        return low, high

    def _inverse(self, y: float) -> float:
        k = self.skewness
        if abs(k) < 1e-8:
            return y
        return float((3 / k) * (np.cbrt(1 + k * (y - k / 6)) - 1))

    @cached_property
    def humans(self) -> pd.DataFrame:
        """A row for each human: both alphas, the change with SE, 90 % t interval and p.

        `change` is `scale` times the difference of the two alphas.
        p is that of t, or of Hall's correction where it is larger (`Change.p_value`). `n_shared`
        units were answered by the human and the model, `n_units` count in the panels.
        """
        from scipy.special import stdtrit

        rows = []
        for one in self.changes:
            error, df = one.standard_error, one.n_units - 1
            sure = error > 0
            half = float(stdtrit(df, 1 - ALPHA)) * error if sure else float("nan")
            rows.append(
                {
                    "n_shared": one.n_ratings,
                    "n_units": one.n_units,
                    "alpha": one.before,
                    "alpha_with_model": one.after,
                    "scale": one.scale,
                    "change": one.change,
                    "standard_error": error,
                    "low": one.change - half,
                    "high": one.change + half,
                    "p_value": one.p_value(self.margin),
                }
            )
        names = [one.human for one in self.changes]
        index = pd.Index(names, name="human", dtype=object, tupleize_cols=False)
        return pd.DataFrame(rows, index=index)

    def units_needed(self, power: float = 0.8, *, change: float = 0.0) -> int:
        """Return how many units a test of the mean needs to pass a model with a true change.

        n = (z_.95 + z_power)² sd² / (margin + change)², sd = SE sqrt(n) of this study.

        Raises
        ------
        OptionError
            A model with that change loses the margin, so that no number of units is enough.
        """
        from scipy.special import ndtri

        check_share("power", power)
        if not self.margin + change > 0:
            raise OptionError(
                f"change={change:g} is a loss of the margin ({self.margin:g}) or more: no "
                "number of units makes such a model pass."
            )
        sd = self.standard_error * np.sqrt(len(self.psi))
        z = float(ndtri(1 - ALPHA) + ndtri(power))
        return int(np.ceil((z * sd / (self.margin + change)) ** 2))

    @property
    def verdict(self) -> str:
        """The decision in words, with what it stands on."""
        if self.reason is not None:
            return f"No verdict: {self.reason}."
        low, high = self.interval()
        part = f"{100 * self.margin / self.human_alpha:.0f} % of the humans' alpha"
        margin, model = f"{self.margin:g} ({part})", shorten(self.model)
        absent = [one for one in self.changes if one.why is not None]
        rest = f"; left out: {_whose(absent)}." if absent else "."
        mean = f"mean change {self.change:+.3f}, 90 % {low:+.3f} to {high:+.3f}, {self._p_said}"
        if self.equivalence:
            shown = "changes" if self.passes else "was not shown to change"
            return (
                f"{model} in the place of a human of this panel {shown} agreement by less than "
                f"{margin}, up or down: {mean}{rest}"
            )
        place = "a human drawn at random from" if self.against == "mean" else "any human of"
        least = f"{shorten(self.worst)} ({min(one.change for one in self.defined):+.3f})"
        return (
            f"{model} in the place of {place} this panel {OUTCOMES[self.outcome][0].format(margin)}"
            f": {mean}; lowest in the place of {least}{rest}"
        )

    @property
    def outcome(self) -> str:
        """The result of the test against a loss of the margin, a key of `OUTCOMES`."""
        if self.passes:
            return "below"
        return "above" if self.against == "mean" and self.interval()[1] < -self.margin else "open"

    @property
    def _p_said(self) -> str:
        """The p-value that decides, and what it is."""
        p = self.p_value if np.isnan(self.p_adjusted) else self.p_adjusted
        largest = "largest " if self.against == "all" else ""
        return f"{largest}{p_phrase(p)}{' (Holm)' if p != self.p_value else ''}"

    def to_frame(self) -> pd.DataFrame:
        """Return the row of each human."""
        return self.humans.copy()

    def __repr__(self) -> str:
        return (
            f"<Replacement of a human by {shorten(self.model)} [{self.distance}], margin "
            f"{self.margin:g}: change {four(self.change)} (se {four(self.standard_error)}), "
            f"p {p_four(self.p_value)}, {counted(len(self.defined), 'human')}>"
        )


def _whose(changes: Sequence[Change]) -> str:
    """Return in whose place there is no test, with the reason."""
    whys: dict[str, list[Any]] = {}
    for one in changes:
        whys.setdefault(one.why or "nothing varies", []).append(one.human)
    return " and ".join(f"{listing(humans)} ({why})" for why, humans in whys.items())


@dataclass(frozen=True, eq=False, repr=False)
class ReplacementTable(ResultRows[Replacement]):
    """Several models in the place of the same humans, the best first."""

    rows: tuple[Replacement, ...]

    @classmethod
    def ranked(cls, tests: Sequence[Replacement]) -> ReplacementTable:
        """Return the tests, the largest change first, with p corrected by Holm over the models."""
        p = np.array([one.p_value for one in tests])
        tested = np.isfinite(p)
        adjusted = np.full(len(p), np.nan)
        adjusted[tested] = holm(p[tested])
        both = zip(tests, adjusted.tolist(), strict=True)
        corrected = [replace(one, p_adjusted=each) for one, each in both]
        return cls(tuple(sorted(corrected, key=lambda one: -np.nan_to_num(one.change, nan=-9.0))))

    def __getitem__(self, model: object) -> Replacement:
        """Return the test of a model."""
        for row in self.rows:
            if row.model == model:
                return row
        raise KeyError(f"no model {model!r}; the models are {[row.model for row in self.rows]}.")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model: the mean change, its 90 % interval, p, and the decision."""
        ends = [row.interval() for row in self.rows]
        names = ("model", "distance", "margin", "against", "human_alpha", "change")
        more = ("standard_error", "p_value", "p_adjusted", "passes", "worst")
        rows = [{name: getattr(row, name) for name in (*names, *more)} for row in self.rows]
        frame = pd.DataFrame(rows)
        frame.insert(len(names) + 1, "low", [low for low, _ in ends])
        frame.insert(len(names) + 2, "high", [high for _, high in ends])
        return frame

    def __str__(self) -> str:
        return "\n".join([repr(self), *(row.verdict for row in self.rows)])

    def __repr__(self) -> str:
        best = self.rows[0]
        return (
            f"<ReplacementTable of {counted(len(self.rows), 'model')}, the best "
            f"{shorten(best.model)} (change {four(best.change)})>"
        )
