"""Acceptance sampling: number of answers to check, and the decision on a delivery."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.checks import public
from setagree.errors import DataError, OptionError, counted, option
from setagree.inference.panel_members import check_least, is_number
from setagree.limits import MAX_CHECKED
from setagree.wording.number_format import four, number
from setagree.wording.result_base import Result


@dataclass(frozen=True, eq=False, repr=False)
class AcceptancePlan(Result):
    """Number of answers to check and number of errors to allow.

    Attributes
    ----------
    n : int
        Answers to draw at random and check.
    c : int
        Largest number of errors with which the delivery is accepted.
    acceptable_rate, rejectable_rate : float
        Error rates that should be accepted (`acceptable_rate`) and refused (`rejectable_rate`).
    producer_risk, consumer_risk : float
        Largest probabilities of refusing the acceptable rate and of accepting the other.
    """

    n: int
    c: int
    acceptable_rate: float
    rejectable_rate: float
    producer_risk: float
    consumer_risk: float

    def accepts(self, error_rate: float) -> float:
        """Return the probability of accepting a delivery with a true error rate: P(X <= c)."""
        return float(_accepted(self.n, self.c, error_rate))

    def to_frame(self) -> pd.DataFrame:
        """Return the plan as one row."""
        return self._one_row(
            "n c acceptable_rate rejectable_rate accepts_acceptable accepts_rejectable",
            accepts_acceptable=self.accepts(self.acceptable_rate),
            accepts_rejectable=self.accepts(self.rejectable_rate),
        )

    def __repr__(self) -> str:
        return f"<AcceptancePlan: {self}>"

    def __str__(self) -> str:
        return (
            f"Check {self.n:,} answers drawn at random; accept with at most "
            f"{counted(self.c, 'error')}. An error rate of {self.acceptable_rate:g} is then "
            f"accepted with probability {four(self.accepts(self.acceptable_rate))}, one of "
            f"{self.rejectable_rate:g} with {four(self.accepts(self.rejectable_rate))}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class AcceptanceTest(Result):
    """Decision on a delivery.

    Attributes
    ----------
    plan : AcceptancePlan
        The plan.
    n_checked, n_errors : int
        Answers checked, and errors among them.
    """

    plan: AcceptancePlan
    n_checked: int
    n_errors: int

    @property
    def passes(self) -> bool:
        """Whether the number of errors is at most the number that the plan allows."""
        return self.n_errors <= self.plan.c

    @property
    def upper_bound(self) -> float:
        """One-sided 95% upper bound of the error rate (Clopper and Pearson 1934)."""
        from scipy.special import betaincinv

        if self.n_errors == self.n_checked:
            return 1.0
        return float(betaincinv(self.n_errors + 1, self.n_checked - self.n_errors, 0.95))

    @property
    def verdict(self) -> str:
        """Sentence with the decision and its basis."""
        errors = f"{counted(self.n_errors, 'error')} in {self.n_checked:,} answers checked"
        allowed = f"{self.plan.c:,} {'is' if self.plan.c == 1 else 'are'} allowed"
        sure = f"with 95% confidence the error rate is {number(self.upper_bound)} or less"
        return f"{self.outcome}: {errors}, {allowed}; {sure}."

    @property
    def outcome(self) -> str:
        """Outcome: "Accepted" or "Refused"."""
        return "Accepted" if self.passes else "Refused"

    def to_frame(self) -> pd.DataFrame:
        """Return the decision as one row."""
        return self._one_row("n_checked n_errors c passes upper_bound", c=self.plan.c)

    def __repr__(self) -> str:
        return f"<AcceptanceTest: {self.verdict}>"

    def __str__(self) -> str:
        return self.verdict


@public
def acceptance_plan(
    *,
    acceptable_rate: float,
    rejectable_rate: float,
    producer_risk: float = 0.05,
    consumer_risk: float = 0.1,
) -> AcceptancePlan:
    """Return the number of answers of a delivery to check and the number of errors to allow.

    The plan has the smallest n, and for it the smallest c, with P(X <= c | acceptable_rate) >= 1 -
    `producer_risk` and P(X <= c | rejectable_rate) <= `consumer_risk`. X is binomial: the errors
    among n answers drawn at random.

    Parameters
    ----------
    acceptable_rate : float
        An error rate that should be accepted.
    rejectable_rate : float
        An error rate that should be refused.
    producer_risk : float
        Largest probability of refusing a delivery with the acceptable rate.
    consumer_risk : float
        Largest probability of accepting a delivery with the rejectable rate.

    Returns
    -------
    AcceptancePlan

    Raises
    ------
    OptionError
        A rate or a risk is out of its range, or `acceptable_rate` and `rejectable_rate` are so
        close that a million answers cannot distinguish them.

    References
    ----------
    Schilling and Neubauer (2017), "Acceptance sampling in quality control", ch. 2.

    Examples
    --------
    >>> import setagree as sa
    >>> plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    >>> plan.n, plan.c
    (65, 3)
    """
    risks = {"producer_risk": producer_risk, "consumer_risk": consumer_risk}
    for name, one in {
        "acceptable_rate": acceptable_rate,
        "rejectable_rate": rejectable_rate,
        **risks,
    }.items():
        if not is_number(one) or not 0 < one < 1:
            percent = is_number(one) and 1 <= one < 100
            hint = f" {one:g}% is {one / 100:g}." if percent else ""
            raise OptionError(f"{option(name, one)} must lie between 0 and 1.{hint}")
    if not acceptable_rate < rejectable_rate:
        raise OptionError(
            f"{option('acceptable_rate', acceptable_rate)} must be below "
            f"{option('rejectable_rate', rejectable_rate)}: they are rates of errors."
        )
    most = (
        bisect_right(
            range(MAX_CHECKED),
            consumer_risk,
            key=lambda c: _accepted(MAX_CHECKED, c, rejectable_rate),
        )
        - 1
    )
    # If a million answers cannot distinguish the rates, skip the search over smaller numbers.
    if _accepted(MAX_CHECKED, most, acceptable_rate) >= 1 - producer_risk:
        n = 0
        for c in range(most + 1):
            n = _fewest(c, rejectable_rate, consumer_risk, more_than=n)
            if _accepted(n, c, acceptable_rate) >= 1 - producer_risk:
                return AcceptancePlan(
                    n, c, acceptable_rate, rejectable_rate, producer_risk, consumer_risk
                )
    raise OptionError(
        f"{option('acceptable_rate', acceptable_rate)} and "
        f"{option('rejectable_rate', rejectable_rate)} are too near: {MAX_CHECKED:,} answers do "
        "not distinguish them."
    )


@public
def acceptance_test(plan: AcceptancePlan, *, n_errors: int, n_checked: int) -> AcceptanceTest:
    """Return the decision on a delivery whose answers were checked.

    Parameters
    ----------
    plan : AcceptancePlan
        Plan returned by `acceptance_plan`.
    n_errors : int
        Wrong answers among those drawn at random and checked.
    n_checked : int
        Answers checked; must be the planned number.

    Returns
    -------
    AcceptanceTest

    Raises
    ------
    DataError
        The number checked is not the planned one, or there are more errors than answers.

    Examples
    --------
    >>> import setagree as sa
    >>> plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    >>> sa.acceptance_test(plan, n_errors=2, n_checked=65).verdict
    'Accepted: 2 errors in 65 answers checked, 3 are allowed; with 95% confidence the error rate \
is 0.094 or less.'
    """
    check_least("n_errors", n_errors, 0)
    check_least("n_checked", n_checked, 1)
    if n_errors > n_checked:
        raise DataError(f"{n_errors:,} errors in {n_checked:,} answers cannot be.")
    if n_checked != plan.n:
        raise DataError(
            f"the plan asks for {plan.n:,} answers, and {n_checked:,} were checked; its risks hold "
            "for that number alone."
        )
    return AcceptanceTest(plan, int(n_checked), int(n_errors))


def _accepted(n: int | np.integer, c: int, rate: float) -> float:
    """Return P(X <= c) for a binomial X with n trials and this rate."""
    from scipy.special import bdtr

    return float(bdtr(c, n, rate))


def _fewest(c: int, rejectable_rate: float, risk: float, *, more_than: int) -> int:
    """Return the smallest n > more_than with P(X <= c | rejectable_rate) <= risk."""
    low, step = more_than, 1
    while _accepted(low + step, c, rejectable_rate) > risk:
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if _accepted(middle, c, rejectable_rate) > risk:
            low = middle
        else:
            high = middle
    return high
