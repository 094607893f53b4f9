"""What the alternative annotator test comes back as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from setagree.coefficients.chance import Floats
from setagree.errors import OptionError, counted, option, shorten
from setagree.inference.raters import Flags, check_least, check_share
from setagree.panels.alt_power import Outcomes
from setagree.wording.results import Result, ResultRows

_POOR, _LIKE_CHANCE, _NAMED = 0.2, 0.1, 5
_POORLY = (
    "The humans agree poorly with each other (alpha {:.2f}): it takes little to be as near to them "
    "as one of them is."
)
_BY_CHANCE = "Agrees with the other humans hardly more than chance: {}; to win there says little."


@dataclass(frozen=True, eq=False, repr=False)
class AltTest(Result):
    """Whether a model stands for the humans at least as well as one of them does.

    Attributes
    ----------
    model : object
        Who was tested.
    distance : str
        How answers are compared.
    epsilon : float
        By how much a human may be better and the model still be preferred, because it is cheaper.
    q : float
        The false discovery rate over the humans (Benjamini and Yekutieli).
    humans : DataFrame
        A row for each human who shares enough units: how many; how often the model and the human
        win (ties: both); the difference, human less model, with its standard error; the Wilson 95%
        interval of the model's wins; p, p corrected, and whether it is rejected that the human is
        better by epsilon or more; and the human's `agreement` with the other humans: 1 - d_o / d_e,
        d_o the mean distance to them unit by unit, d_e that to all of their answers.
    skipped : Series
        The humans who share too few units, and how many they share.
    n_units : int
        Units with the model and enough humans.
    human_alpha : float
        Krippendorff's alpha of the humans, on the units with enough of them; nan if undefined.
    products : ndarray of shape (n_humans, n_humans), or None
        Of each pair of humans, the sum over units of the products of (the human wins) - (the model
        wins), which the power is reckoned from; None for more than 1,000 humans.
    """

    model: Any
    distance: str
    epsilon: float
    q: float
    humans: pd.DataFrame
    skipped: pd.Series[int]
    n_units: int
    human_alpha: float = float("nan")
    products: Floats | None = None

    @property
    def winning_rate(self) -> float:
        """The share of the humans over whom the model wins; nan where none could be tested."""
        return float(self.humans["rejected"].mean()) if len(self.humans) else float("nan")

    @property
    def average_advantage_probability(self) -> float:
        """The mean over humans of how often the model is at least as near to the others."""
        return float(self.humans["advantage"].mean()) if len(self.humans) else float("nan")

    @property
    def passes(self) -> bool:
        """Whether the model wins over half of the humans or more."""
        return bool(self.winning_rate >= 0.5)

    @property
    def reason(self) -> str | None:
        """Why the winning rate is nan, or None."""
        return None if len(self.humans) else "no human shares enough units with the model"

    @property
    def verdict(self) -> str:
        """The decision in words, with what it stands on."""
        if self.reason is not None:
            return f"No verdict: {self.reason}."
        may = "may" if self.passes else "may not"
        return (
            f"{self.model} {may} replace a human: it {self.wins}."
            f"{''.join(f' {note}' for note in self.notes)}"
        )

    @property
    def wins(self) -> str:
        """The clause on the humans over whom the model wins."""
        won, tested = int(self.humans["rejected"].sum()), counted(len(self.humans), "human")
        rate = f"winning rate {self.winning_rate:.2f}"
        return f"wins over {won:,} of {tested} ({rate}, epsilon {self.epsilon:g})"

    @property
    def notes(self) -> tuple[str, ...]:
        """Reservations: few humans, poor agreement of the humans, or one who answers by chance.

        Alpha below 0.2 is called poor (Altman 1991); a human whose agreement with the others is
        below 0.1 answers much like chance.
        """
        by_chance = self.humans[self.humans["agreement"] < _LIKE_CHANCE]["agreement"]
        named = [f"{shorten(name)} ({value:.2f})" for name, value in by_chance.items()]
        rest = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
        shown = f"{', '.join(named[:_NAMED])}{rest}"
        poor, some = self.human_alpha < _POOR, bool(named)
        return (
            *["Fewer than three humans could be tested: do not rely on it."]
            * (len(self.humans) < 3),
            *[_POORLY.format(self.human_alpha)] * poor,
            *[_BY_CHANCE.format(shown)] * some,
        )

    def power(self, n_units: int | None = None, *, difference: float = 0.0) -> float:
        """Return how often a test of so many units passes a model that deserves it.

        The model is one that is as good as the humans; for the difference that was found, p has
        said all. Means over units are taken as normal, ties as frequent and humans as alike as on
        the units of this test. A model much worse than the humans ties less often with them than a
        good one would, so that the power told from it is too small.

        Parameters
        ----------
        n_units : int, optional
            Units of the test. Default: those of this one.
        difference : float
            By how much more often a human truly wins than the model; 0 where it is as good.

        Returns
        -------
        float
            nan where no human could be tested, or more than 1,000 were.
        """
        if n_units is not None:
            check_least("n_units", n_units, 2)
        if self._outcomes is None:
            return float("nan")
        wanted = self.n_units if n_units is None else n_units
        return self._outcomes.power(wanted, self.epsilon - difference, q=self.q)

    def units_for(self, power: float = 0.8, *, difference: float = 0.0) -> int | None:
        """Return how many units such a test takes, to 1 %; None where none are enough."""
        if not 0 < power < 1:
            raise OptionError(f"{option('power', power)} must lie between 0 and 1.")
        if self._outcomes is None:
            return None
        return self._outcomes.units_for(power, self.epsilon - difference, q=self.q)

    @cached_property
    def _outcomes(self) -> Outcomes | None:
        if self.products is None:
            return None
        return Outcomes(self.humans["n_units"].to_numpy(), self.n_units, self.products)

    @cached_property
    def power_note(self) -> str:
        """What such a test can show, in a sentence; blank where no human could be tested."""
        if self._outcomes is None:
            return ""
        needed = self.units_for()
        takes = (
            f"a power of .80 takes about {needed:,} units"
            if needed is not None
            else f"at epsilon {self.epsilon:g} no number of units gives a power of .80"
        )
        return (
            f"Power: with {counted(self.n_units, 'unit')} and ties as frequent as here, a model as "
            f"good as the humans passes with probability {self.power():.2f}; {takes}."
        )

    def by_epsilon(
        self, epsilons: Sequence[float] = (0, 0.05, 0.1, 0.15, 0.2, 0.25)
    ) -> pd.DataFrame:
        """Return the winning rate and the decision under other values of epsilon.

        The authors advise 0.2 where the humans are experts, 0.15 where they are skilled, 0.1 where
        they are a crowd, and less where the humans agree little. Choose before you look.
        """
        rates = []
        for epsilon in epsilons:
            check_share("epsilon", epsilon)
            _, _, rejected = decide(self.humans, epsilon, self.q)
            rates.append(float(rejected.mean()) if len(rejected) else float("nan"))
        passes = [rate >= 0.5 for rate in rates]
        index = pd.Index(list(epsilons), dtype=float, name="epsilon")
        return pd.DataFrame({"winning_rate": rates, "passes": passes}, index=index)

    def to_frame(self) -> pd.DataFrame:
        """Return the row of each human."""
        return self.humans.copy()

    def __repr__(self) -> str:
        return (
            f"<AltTest of {shorten(self.model)} [{self.distance}], epsilon {self.epsilon:g}: "
            f"winning rate {self.winning_rate:.4f}, average advantage "
            f"{self.average_advantage_probability:.4f}, {counted(len(self.humans), 'human')}, "
            f"{counted(self.n_units, 'unit')}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class AltTestTable(ResultRows[AltTest]):
    """Several models against the same humans, the one with the largest advantage first."""

    rows: tuple[AltTest, ...]

    def __getitem__(self, model: object) -> AltTest:
        """Return the test of a model."""
        for row in self.rows:
            if row.model == model:
                return row
        raise KeyError(f"no model {model!r}; the models are {[row.model for row in self.rows]}.")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model, ranked by the average advantage probability.

        ``power`` is that of `AltTest.power`, and ``units_for_80`` says how many units give .8.
        """
        names = ("model", "distance", "epsilon", "winning_rate", "average_advantage_probability")
        rows = [{name: getattr(row, name) for name in (*names, "passes")} for row in self.rows]
        n_humans = [len(row.humans) for row in self.rows]
        return pd.DataFrame(rows).assign(
            n_humans=n_humans,
            n_units=[row.n_units for row in self.rows],
            power=[row.power() for row in self.rows],
            units_for_80=pd.array([row.units_for() for row in self.rows], dtype="Int64"),
        )

    def __str__(self) -> str:
        said = (" ".join(filter(None, [row.verdict, row.power_note])) for row in self.rows)
        return "\n".join([repr(self), *said])

    def __repr__(self) -> str:
        best = self.rows[0]
        return (
            f"<AltTestTable of {counted(len(self.rows), 'model')}, the best {shorten(best.model)} "
            f"({best.average_advantage_probability:.4f})>"
        )


def decide(frame: pd.DataFrame, epsilon: float, q: float) -> tuple[Floats, Floats, Flags]:
    """Return p of the t-test of the difference against epsilon, p corrected, and the decision.

    Without any spread, p is 0 below epsilon and 1 from there on.
    """
    from scipy import stats

    if frame.empty:
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool)
    mean, se = (frame[name].to_numpy(dtype=float) for name in ("difference", "standard_error"))
    t = np.divide(mean - epsilon, se, out=np.where(mean < epsilon, -np.inf, np.inf), where=se > 0)
    p = np.asarray(stats.t.cdf(t, frame["n_units"].to_numpy() - 1))
    adjusted = np.asarray(stats.false_discovery_control(p, method="by"))
    return p, adjusted, adjusted <= q
