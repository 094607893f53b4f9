"""What the agreement of models over runs, prompts and models comes back as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.coefficients.chance import Floats
from setagree.errors import counted, listing, shorten
from setagree.study.annotations import Annotations
from setagree.wording.numbers import four, four_interval, level_text
from setagree.wording.results import Result

WITH_PEOPLE, PEOPLE = "models with people", "people with one another"
ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class FacetAgreement(Result):
    """How far models agree with themselves, with one another and with people.

    Attributes
    ----------
    facets : tuple of str
        The columns of raters, the outer one first.
    distance : str
        How answers are compared.
    level : float
        The level of the intervals.
    frame : DataFrame
        A row for each kind of pairs, stability first: pairs, who ("all", or the models of one model
        and prompt), n_units, n_pairs, mean_distance, estimate, standard_error, low, high; at_most,
        what stability leaves room for, how much of that is lost, and lost_low, the low end of that;
        reason (why there is no interval).
    own : str
        The pairs that tell how far a model agrees with itself.
    without : ndarray of shape (n_units, n_rows)
        The estimates without each unit.
    study : Annotations
        The answers that were compared.
    people : tuple
        Who was taken for people.
    alone : dict
        The models that have pairs of a kind, where not all models have: "gpt" has several prompts.
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

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each kind of pairs, and for each model and prompt."""
        return self.frame.copy()

    def difference(self, first: str, second: str, *, who: str = ALL) -> tuple[float, float, float]:
        """Return the agreement of a kind of pairs less that of another, with its interval.

        Parameters
        ----------
        first, second : str
            What the column ``pairs`` says.
        who : str
            Whose pairs the first ones are: what the column ``who`` says.
        """
        rows = [self._row(first, who), self._row(second, ALL)]
        return self._less(*rows)

    @property
    def verdict(self) -> str:
        """What the table says: stability, what other prompts and models cost, then validity."""
        if self._all_alike:
            return self.lead
        return " ".join([*self._stability(), *self._validity(), *self._ceilings()])

    @property
    def lead(self) -> str:
        """The first sentence about stability, and the first about people."""
        if self._all_alike:
            return "No verdict: all answers are alike, so that chance alone would agree as much."
        return " ".join([self._stability()[0], self._validity()[0]])

    @property
    def _all_alike(self) -> bool:
        return bool(self.frame["estimate"].isna().all())

    def _row(self, pairs: str, who: str = ALL) -> int:
        """Return the position of a row.

        Raises
        ------
        KeyError
            There is none.
        """
        found = np.flatnonzero((self.frame["pairs"] == pairs) & (self.frame["who"] == who))
        if not len(found):
            raise KeyError(f"no row of {pairs!r} and {who!r}.")
        return int(found[0])

    def _less(self, i: int, j: int) -> tuple[float, float, float]:
        """Return the difference of two rows with its jackknife interval, by t."""
        estimates, n_units = (self.frame[name].to_numpy() for name in ("estimate", "n_units"))
        gap = float(estimates[i] - estimates[j])
        error = jackknife_error(self.without[:, [i]] - self.without[:, [j]])
        half = float((t_quantile(np.minimum(n_units[[i]], n_units[[j]]), self.level) * error)[0])
        return gap, gap - half, gap + half

    def _said(self, row: int) -> str:
        """Return the estimate of a row with its interval, as far as it has one."""
        one = self.frame.loc[row]
        if np.isnan(one["low"]):
            return four(one["estimate"])
        ends = four_interval(one["low"], one["high"])
        return f"{four(one['estimate'])} ({level_text(self.level)} {ends})"

    def _kinds(self) -> list[int]:
        """Return the rows of all pairs of models, the most alike first."""
        is_all = self.frame["who"] == ALL
        is_models = ~self.frame["pairs"].isin([WITH_PEOPLE, PEOPLE])
        return np.flatnonzero(is_all & is_models).tolist()

    def _stability(self) -> list[str]:
        """Say how far models agree with themselves, and what another prompt or model costs."""
        kinds, names = self._kinds(), self.frame["pairs"]
        said = []
        if not kinds or names[kinds[0]] != self.own:
            said.append(
                f"How stable models are is not known: no two raters have {_with(self.own)}. Let "
                "each model answer the same units again."
            )
        if kinds:
            first = f"{self._said(kinds[0])}{self._only(kinds[0])}"
            said.append(f"With {_with(names[kinds[0]])}, agreement is {first}.")
        return said + [
            f"With {_with(names[row])}, it is {self._said(row)}{self._only(row)}{self._room(row)}."
            for row in kinds[1:]
        ]

    def _only(self, row: int) -> str:
        """Say which models have such pairs, where not all have."""
        alone = self.alone.get(self.frame["pairs"][row], ())
        return f" (only {listing(alone)} can tell)" if alone else ""

    def _room(self, row: int) -> str:
        """Say how much of what stability leaves room for is lost."""
        one = self.frame.loc[row]
        if np.isnan(one["lost_low"]):
            return ""
        whose = "their stability" if self._only(row) else "stability"
        most = f"what {whose} leaves room for ({four(one['at_most'])})"
        if one["lost_low"] > 0:
            least = f"{level_text(self.level)} {four(one['lost_low'])} or more"
            return f", which is {four(one['lost'])} ({least}) less than {most}"
        return f", not told apart from {most}"

    def _validity(self) -> list[str]:
        """Say how far models agree with people, beside people with one another."""
        pairs = self.frame["pairs"].tolist()
        if WITH_PEOPLE not in pairs:
            return ["No pair is of a model with a human: this is stability alone."]
        row = self._row(WITH_PEOPLE)
        said = [f"Models agree with people by {self._said(row)}{self._room(row)}."]
        if PEOPLE not in pairs:
            return said
        gap, low, high = self._less(row, self._row(PEOPLE))
        own = f"People agree with one another by {self._said(self._row(PEOPLE))}"
        if not (low > 0 or high < 0):
            return [*said, f"{own}; these data do not tell the two apart."]
        more, ends = ("more", (low, high)) if gap > 0 else ("less", (-high, -low))
        sure = f"{level_text(self.level)} {four_interval(*ends)}"
        return [*said, f"{own}; models agree with them {more}, by {four(abs(gap))} ({sure})."]

    def _ceilings(self) -> list[str]:
        """Say of the least stable model how far it can agree with people at most."""
        frame = self.frame
        limited = []
        has_room = (frame["pairs"] == WITH_PEOPLE) & frame["at_most"].notna()
        for row in np.flatnonzero(has_room).tolist():
            who = frame["who"][row]
            if who == ALL and has_room.sum() > 1:
                continue
            gap, _, high = self.difference(self.own, PEOPLE, who=who)
            if high < 0:
                limited.append((gap, who, frame["at_most"][row]))
        if not limited:
            return []
        gap, who, most = min(limited)
        own, people = (four(frame["estimate"][self._row(*x)]) for x in ((self.own, who), (PEOPLE,)))
        name = "The model" if who == ALL else shorten(who)
        rest = f" The same holds for {len(limited) - 1} more." if len(limited) > 1 else ""
        said = f"{name} agrees with itself by {own}, less than people do with one another"
        limit = f"so that it can hardly agree with people by more than {four(most)}"
        return [f"{said} ({people}), {limit}.{rest}"]

    def __repr__(self) -> str:
        kinds = self._kinds()
        shown = [*kinds, *(k for k in range(len(self.frame)) if self._is_with_people(k))]
        said = ", ".join(
            f"{self.frame['pairs'][row]} {four(self.frame['estimate'][row])}" for row in shown
        )
        return (
            f"<FacetAgreement [{self.distance}]: {said}; {counted(self.study.n_units, 'unit')}, "
            f"{counted(self.study.n_raters, 'rater')}>"
        )

    def _is_with_people(self, row: int) -> bool:
        one = self.frame.loc[row]
        return bool(one["pairs"] in (WITH_PEOPLE, PEOPLE) and one["who"] == ALL)

    def __str__(self) -> str:
        table = self.frame.drop(columns="reason").round(4).to_string(index=False)
        return f"{table}\n\n{self.verdict}"


def _with(pairs: str) -> str:
    """Return what the raters of such pairs have: "the same model but another run"."""
    same, _, other = pairs.rpartition("other ")
    if not same:
        return f"another {other}" if pairs.startswith("other ") else f"the {pairs}"
    return f"the {same.removesuffix(', ')} but another {other}"


def jackknife_error(without: Floats) -> Floats:
    """Return the standard error of each column of estimates without each unit."""
    n = len(without)
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((n - 1) / n * squares))


def t_quantile(n_units: npt.NDArray[np.integer], level: float) -> Floats:
    """Return the quantile of t for n - 1 degrees of freedom; nan for one unit."""
    from scipy.special import stdtrit

    df = np.where(n_units > 1, n_units - 1.0, np.nan)
    return np.asarray(stdtrit(df, (1 + level) / 2))
