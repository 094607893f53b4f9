"""Acceptance sampling: number of answers to check, and the decision on a delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
import pandas as pd

from setagree.checks import check_least, is_number, public
from setagree.errors import DataError, OptionError, counted, option
from setagree.inference.plan_goals import first_number
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
    lot : int or None
        Answers in the delivery; None if it is large compared with the answers to check.
    """

    n: int
    c: int
    acceptable_rate: float
    rejectable_rate: float
    producer_risk: float
    consumer_risk: float
    lot: int | None = None

    def accepts(self, error_rate: float) -> float:
        """Return the probability of accepting a delivery with a true error rate: P(X <= c).

        With `lot`, the number of wrong answers is rounded down for a rate of at most
        `acceptable_rate`, and up for others.
        """
        up = error_rate > self.acceptable_rate
        return _acceptance(error_rate, self.lot, up=up)(self.n, self.c)

    def to_frame(self) -> pd.DataFrame:
        """Return the plan as one row."""
        return self._one_row(
            "n c lot acceptable_rate rejectable_rate accepts_acceptable accepts_rejectable",
            accepts_acceptable=self.accepts(self.acceptable_rate),
            accepts_rejectable=self.accepts(self.rejectable_rate),
        )

    def __repr__(self) -> str:
        return f"<AcceptancePlan: {self}>"

    def __str__(self) -> str:
        of_lot = "answers" if self.lot is None else f"of the {self.lot:,} answers,"
        return (
            f"Check {self.n:,} {of_lot} drawn at random; accept with at most "
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
        """One-sided 95% upper bound of the error rate (Clopper and Pearson 1934).

        With `lot`, the largest rate in the delivery with P(X <= n_errors) above 0.05.
        """
        from scipy.special import betaincinv

        n, k, lot = self.n_checked, self.n_errors, self.plan.lot
        if lot is not None:
            # P(X <= k) falls as the number of wrong answers in the delivery rises.
            more = range(k + 1, lot - (n - k) + 1)
            first = first_number(more, lambda wrong: _accepted_of_lot(n, k, wrong, lot) <= 0.05)
            return (first - 1) / lot
        return 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.95))

    @property
    def lower_bound(self) -> float:
        """One-sided 95% lower bound of the error rate.

        With `lot`, the smallest rate in the delivery with P(X >= n_errors) above 0.05.
        """
        from scipy.special import betaincinv

        n, k, lot = self.n_checked, self.n_errors, self.plan.lot
        if lot is not None:
            wrong = range(k, lot - (n - k) + 1)
            return first_number(wrong, lambda D: _accepted_of_lot(n, k - 1, D, lot) < 0.95) / lot
        return float(betaincinv(k, n - k + 1, 0.05)) if k else 0.0

    @property
    def verdict(self) -> str:
        """Sentence with the decision and its basis."""
        errors = f"{counted(self.n_errors, 'error')} in {self.n_checked:,} answers checked"
        allowed = f"{self.plan.c:,} {'is' if self.plan.c == 1 else 'are'} allowed"
        bound = f"{number(self.upper_bound)} or less"
        if not self.passes:
            bound = f"{number(self.lower_bound)} or more"
        sure = f"with 95% confidence the error rate is {bound}"
        return f"{self.outcome}: {errors}, {allowed}; {sure}."

    @property
    def outcome(self) -> str:
        """Outcome: "Accepted" or "Refused"."""
        return "Accepted" if self.passes else "Refused"

    def to_frame(self) -> pd.DataFrame:
        """Return the decision as one row."""
        return self._one_row("n_checked n_errors c passes lower_bound upper_bound", c=self.plan.c)

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
    lot: int | None = None,
) -> AcceptancePlan:
    """Return the number of answers of a delivery to check and the number of errors to allow.

    The plan has the smallest n, and for it the smallest c, with P(X <= c | acceptable_rate) >= 1 -
    `producer_risk` and P(X <= c | rejectable_rate) <= `consumer_risk`. X is the number of errors
    among n answers drawn at random: binomial, or hypergeometric if the size of the delivery is
    given, which needs fewer answers.

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
    lot : int, optional
        Number of answers in the delivery. The risks are then those of deliveries with at most
        `acceptable_rate`, or at least `rejectable_rate`, wrong answers among them. Default: the
        delivery is large compared with the answers to check.

    Returns
    -------
    AcceptancePlan

    Raises
    ------
    OptionError
        A rate, a risk or `lot` is out of its range, or `acceptable_rate` and `rejectable_rate` are
        so close that a million answers cannot distinguish them.

    References
    ----------
    Schilling and Neubauer (2017), "Acceptance sampling in quality control", ch. 2.

    Examples
    --------
    >>> import setagree as sa
    >>> plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10)
    >>> plan.n, plan.c
    (65, 3)
    >>> plan = sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.10, lot=100)
    >>> plan.n, plan.c
    (44, 2)
    """
    for name, one in {
        "acceptable_rate": acceptable_rate,
        "rejectable_rate": rejectable_rate,
        "producer_risk": producer_risk,
        "consumer_risk": consumer_risk,
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
    if lot is not None:
        check_least("lot", lot, 1)
    largest = MAX_CHECKED if lot is None else int(lot)
    good = _acceptance(acceptable_rate, lot, up=False)
    bad = _acceptance(rejectable_rate, lot, up=True)
    # If the largest number cannot distinguish the rates, skip the search over smaller numbers.
    most = first_number(range(largest + 1), lambda c: bad(largest, c) > consumer_risk) - 1
    if good(largest, most) >= 1 - producer_risk:
        n = 0
        for c in range(most + 1):
            # The smallest n with P(X <= c | rejectable_rate) <= consumer_risk rises with c.
            numbers = range(n + 1, largest + 1)
            n = first_number(numbers, lambda n, c=c: bad(n, c) <= consumer_risk)  # type: ignore[misc]
            if good(n, c) >= 1 - producer_risk:
                return AcceptancePlan(
                    n, c, acceptable_rate, rejectable_rate, producer_risk, consumer_risk, lot
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
        raise DataError(f"{n_errors:,} errors are more than the {n_checked:,} answers checked.")
    if n_checked != plan.n:
        raise DataError(
            f"the plan requires {plan.n:,} answers, and {n_checked:,} were checked; its risks are "
            "those of that number alone."
        )
    return AcceptanceTest(plan, int(n_checked), int(n_errors))


def _acceptance(rate: float, lot: int | None, *, up: bool) -> Callable[[int, int], float]:
    """Return P(X <= c) as a function of n and c, for deliveries with this rate of errors.

    The number of wrong answers in a lot is rounded up or down.
    """
    from scipy.special import bdtr

    if lot is None:
        return lambda n, c: float(bdtr(c, n, rate))
    # 0.29 * 100 is 28.999999999999996.
    n_wrong = (ceil if up else floor)(round(lot * rate, 9))
    return lambda n, c: _accepted_of_lot(n, c, n_wrong, lot)


def _accepted_of_lot(n: int, c: int, n_wrong: int, lot: int) -> float:
    """Return P(X <= c) for a hypergeometric X: wrong answers among n of a delivery."""
    from scipy.special import gammaln

    def log_choose(n: Any, k: Any) -> Any:
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    # P(X = k) = C(D, k) C(N - D, n - k) / C(N, n)
    k = np.arange(max(0, n - (lot - n_wrong)), min(n, c, n_wrong) + 1)
    ways = log_choose(n_wrong, k) + log_choose(lot - n_wrong, n - k) - log_choose(lot, n)
    # Risks such as 1 of 10 are often met exactly, which the logarithms would miss.
    return round(float(np.exp(ways).sum()), 9)
