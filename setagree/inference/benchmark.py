"""Benchmark scales and thresholds for a coefficient, with sampling error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np
import pandas as pd

from setagree.checks import check_level, is_number
from setagree.errors import OptionError, SetagreeWarning, did_you_mean, option, shorten, warn
from setagree.inference.panel_members import check_threshold
from setagree.large.opening import Data, RaterAnswers, ReadingOptions, takes_data
from setagree.scoring.coefficients import coefficient_name
from setagree.scoring.result_tables import ResultTable, for_each_row, per_row
from setagree.scoring.results import Agreement, AgreementTable, raters_in_words
from setagree.wording.number_format import four, level_text
from setagree.wording.result_base import Result
from setagree.wording.tables import Column

Scale: TypeAlias = str | Mapping[str, float]

SCALES: dict[str, dict[str, float]] = {
    "krippendorff": {"discard": -1.0, "tentative": 0.667, "reliable": 0.800},
    "landis_koch": {
        "poor": -1.0,
        "slight": 0.0,
        "fair": 0.2,
        "moderate": 0.4,
        "substantial": 0.6,
        "almost perfect": 0.8,
    },
    "altman": {"poor": -1.0, "fair": 0.2, "moderate": 0.4, "good": 0.6, "very good": 0.8},
    "fleiss": {"poor": -1.0, "intermediate to good": 0.40, "excellent": 0.75},
}
"""Lower bound of each level; -1 is the lowest bound."""

PROPOSED_FOR = {
    **dict.fromkeys(SCALES, "The scale was proposed for kappa with the nominal distance"),
    "krippendorff": "The limits were proposed for alpha with nominal, ordinal, interval or ratio "
    "distances of single answers",
}
"""What a named scale was proposed for; Krippendorff (2004, Content Analysis, ch. 11) states his
limits for alpha, which he defines for each of these levels of measurement."""
PARTIAL_CREDIT = (
    "A distance with partial credit raises observed and expected agreement together, so the same "
    "verdict does not mean the same agreement with it as with nominal: compare studies by the "
    "same coefficient and distance, not by the verdict."
)

_ENOUGH = 0.95

_TWO_SIDED = 0.90
"""Level of the two-sided interval whose lower bound has that one-sided confidence."""


class Published(NamedTuple):
    """A coefficient of a publication, whose data are not at hand."""

    estimate: float
    standard_error: float

    def __repr__(self) -> str:
        return f"<estimate {self.estimate:.4f} (se {self.standard_error:.4f})>"


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Result):
    """The level of a scale that a coefficient reaches with 95% confidence.

    Attributes
    ----------
    agreement : Agreement or Published
        The coefficient that is judged.
    scale : str
        Name of the scale.
    levels : DataFrame
        Columns level, from, to, membership and cumulative (both Gwet's), best level first.
    verdict : str
        The level that contains `at_least`; if that is NaN, the best level whose cumulative
        membership is at least 0.95. "undefined" if the coefficient is NaN. If its standard error is
        0, or it has no interval, such as if all answers except the commonest weigh less than four
        units, "none" with the reason, and the memberships are NaN.
    at_least : float
        Lower bound of the 90% score interval, which the coefficient exceeds with 95% confidence.
        NaN without a score interval or a verdict.
    reason : str or None
        Reason for the missing verdict, or None.
    """

    agreement: Agreement | Published
    scale: str
    levels: pd.DataFrame
    verdict: str
    at_least: float = float("nan")
    reason: str | None = None

    frame_name = "levels"
    columns = (
        Column("level", "text"),
        Column("from"),
        Column("to"),
        Column("membership"),
        Column("cumulative"),
    )

    @property
    def remark(self) -> str | None:
        """Sentences on a rough interval of the coefficient, or None."""
        return getattr(self.agreement, "remark", None)

    def _heading(self) -> str:
        return repr(self.agreement)[1:-1]

    def _notes(self) -> list[str]:
        judged = self.agreement
        rule = " It is the best level whose cumulative membership (Gwet's) reaches 95%."
        proposed = PROPOSED_FOR.get(self.scale)
        caution = f"{proposed}. {PARTIAL_CREDIT}" if proposed else PARTIAL_CREDIT
        if isinstance(judged, Agreement) and not np.isnan(self.at_least):
            about = raters_in_words([judged])
            about += f", {drawn}" if (drawn := judged.drawn) else ""
            named = "Fieller's" if judged.interval_method == "fieller" else "score"
            rule = (
                f" {judged.coefficient} is at least {four(self.at_least)} with 95% "
                f"confidence ({named} interval, {about}); membership is Gwet's, from the standard "
                "error."
            )
        elif self.levels["membership"].isna().any():
            rule = ""
        has_none = self.reason is not None and not np.isnan(judged.estimate)
        verdict = f"No verdict. {self.reason}" if has_none else f"Verdict: {self.verdict}"
        return [f"{verdict}.{rule} {caution}"]


@per_row(Benchmark, ResultTable[Benchmark])
@takes_data
def benchmark(
    agreement: Agreement | AgreementTable | Data,
    *more: RaterAnswers,
    scale: Scale = "krippendorff",
    **options: Unpack[ReadingOptions],
) -> Benchmark | ResultTable[Benchmark]:
    """Return the level of a benchmark scale that a coefficient reaches with 95% confidence.

    The verdict is the level that contains the lower bound of the 90% score interval, which keeps
    its coverage in small studies, too; of labelled spans it is Fieller's over documents. A study
    with a standard error of 0, such as in full agreement, has no verdict; `at_least` compares its
    interval with a threshold.

    Units from strata, from a population of known size and from most clusters have t intervals (see
    `Agreement.interval_method`). Their verdict is Gwet's (2014, ch. 6). The membership of a level
    [lo, hi) is [Phi((k - lo) / se) - Phi((k - hi) / se)] / [Phi((k + 1) / se) - Phi((k - 1) / se)].
    Memberships are summed from the best level down; the verdict is the first level whose sum is at
    least 0.95. It uses the standard error, which is too small in small studies with high agreement.
    A published coefficient gets this verdict, too, because its data are not available.
    `levels` has the memberships of every coefficient; NaN if the standard error is 0.

    Parameters
    ----------
    agreement : Agreement, AgreementTable, a study, or a tuple of two numbers
        Coefficients with a standard error. For a study, a table or a path, Krippendorff's alpha
        with its default distance. Two numbers are a published estimate and its standard error.
    scale : {"krippendorff", "landis_koch", "altman", "fleiss"} or mapping
        A named scale, or a mapping from your levels to their lower bounds, the lowest -1.

    Returns
    -------
    Benchmark or ResultTable of Benchmark

    Raises
    ------
    OptionError
        The scale is unknown, or its lowest level does not begin at -1. A published estimate is
        above 1, or its standard error is not above 0.
    DataError
        The input is not an agreement.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(200, 3, skill=0.9, rng=1))
    >>> sa.benchmark(alpha, scale="landis_koch").verdict
    'substantial'
    >>> sa.benchmark((0.71, 0.04), scale="landis_koch").verdict
    'substantial'
    """
    name, lows = _levels(scale)
    if isinstance(agreement, tuple) and len(agreement) == 2 and all(map(is_number, agreement)):
        numbers: Any = agreement
        estimate, error = numbers
        if not (estimate <= 1 and 0 < error < np.inf):
            raise OptionError(
                "two numbers are a published estimate, at most 1, and its standard error, above 0, "
                f"not {shorten(estimate)} and {shorten(error)}."
            )
        levels = _memberships(estimate, error, lows)
        return Benchmark(Published(float(estimate), float(error)), name, levels, _reached(levels))

    def judged(row: Agreement) -> Benchmark:
        at_least = row.interval(_TWO_SIDED)[0]
        error = np.nan if np.isnan(at_least) else row.standard_error
        levels = _memberships(row.estimate, error, lows)
        if np.isnan(row.estimate):
            return Benchmark(row, name, levels, "undefined", reason=row.reason)
        reason = _no_bound_reason(row) if np.isnan(at_least) else row.standard_error_reason
        if reason is not None:
            return Benchmark(row, name, levels, f"none: {reason}", reason=reason)
        if row.interval_method == "t":
            return Benchmark(row, name, levels, _reached(levels))
        reached = levels["from"] <= max(at_least, -1.0)
        return Benchmark(row, name, levels, str(levels["level"][reached].iloc[0]), at_least)

    return for_each_row(agreement, judged)


def _reached(levels: pd.DataFrame) -> str:
    """Return the best level whose cumulative membership reaches 0.95."""
    return str(levels["level"][levels["cumulative"] >= _ENOUGH - 1e-12].iloc[0])


def _levels(scale: Scale) -> tuple[str, dict[str, float]]:
    if isinstance(scale, str):
        if scale not in SCALES:
            hint = did_you_mean(scale, SCALES)
            raise OptionError(f"scale={scale!r} is unknown; use {', '.join(SCALES)}.{hint}")
        return scale, SCALES[scale]
    ends = list(scale.values()) if isinstance(scale, Mapping) else []
    fits = all(isinstance(end, int | float) and -1 <= end < 1 for end in ends)
    if not fits or -1 not in ends or len(set(ends)) < len(ends):
        raise OptionError(
            f"scale={scale!r} must name a scale or give each level its lower end, the lowest -1, "
            "all different and below 1."
        )
    return "your scale", dict(sorted(scale.items(), key=lambda item: item[1]))


def _memberships(estimate: float, se: float, lows: Mapping[str, float]) -> pd.DataFrame:
    from scipy.special import ndtr

    names = list(lows)[::-1]
    low = np.array([lows[name] for name in names])
    high = np.array([1.0, *low[:-1]])
    membership = np.full(len(low), np.nan)
    with np.errstate(over="ignore"):
        whole = ndtr((estimate + 1) / se) - ndtr((estimate - 1) / se) if se > 0 else 0.0
        inside = ndtr((estimate - low) / se) - ndtr((estimate - high) / se) if se > 0 else low
    if whole > 0:
        membership = inside / whole
    elif se > 0:
        # The estimate is so far below -1 that the denominator underflows to 0.
        at = max(estimate, -1.0)
        membership = ((at >= low) & ((at < high) | (high == 1.0))).astype(float)
    return pd.DataFrame(
        {
            "level": names,
            "from": low,
            "to": high,
            "membership": membership,
            "cumulative": np.cumsum(membership),
        }
    )


@dataclass(frozen=True, eq=False, repr=False)
class AtLeast(Result):
    """Test whether a coefficient is at least a threshold.

    Attributes
    ----------
    agreement : Agreement
        The coefficient.
    threshold : float
        The required value.
    level : float
        The one-sided confidence level.
    low, high : float
        One-sided bounds: the coefficient is at least `low`, and at most `high`.
    """

    agreement: Agreement
    threshold: float
    level: float
    low: float
    high: float

    columns = (
        Column("coefficient", "text"),
        Column("distance", "text"),
        Column("estimate"),
        Column("threshold"),
        Column("low", head="at least"),
        Column("high", head="at most"),
    )

    @property
    def passes(self) -> bool:
        """Whether the lower bound is at least the threshold."""
        return self.low >= self.threshold

    @property
    def reason(self) -> str | None:
        """Reason for missing bounds, or None."""
        if not np.isnan(self.low):
            return None
        return _no_bound_reason(self.agreement)

    @property
    def verdict(self) -> str:
        """Sentence with the decision and its basis."""
        name, goal = _name(self.agreement), f"{self.threshold:g}"
        if (why := self.reason) is not None:
            return f"No verdict: {why[0].lower()}{why[1:]}."
        sure = f"with {level_text(self.level)} confidence ({raters_in_words([self.agreement])})"
        if self.passes:
            return f"{name} is at least {goal}: {sure} it is at least {four(self.low)}."
        if self.high < self.threshold:
            return f"{name} is below {goal}: {sure} it is at most {four(self.high)}."
        return (
            f"Not shown: {name} is {four(self.agreement.estimate)}, and {sure} it is "
            f"at least {four(self.low)}; these data do not exclude {goal}."
        )

    def _notes(self) -> list[str]:
        return [self.verdict, self.remark or ""]

    @property
    def remark(self) -> str | None:
        """Sentences on a rough interval of the coefficient, or None."""
        return self.agreement.remark

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided interval by the method of the bounds, at any level."""
        return self.agreement.interval(level)

    def to_frame(self) -> pd.DataFrame:
        """Return the test as one row."""
        names = "coefficient distance estimate threshold level low high"
        return self._one_row(f"{names} passes")


@per_row(AtLeast, ResultTable[AtLeast])
@takes_data
def at_least(
    agreement: Agreement | AgreementTable | Data,
    threshold: float,
    *,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> AtLeast | ResultTable[AtLeast]:
    """Return a one-sided test of whether a coefficient is at least a threshold.

    The lower bound is that of the two-sided interval with level 2 `level` - 1: 0.90 for 0.95. The
    interval is the score interval if it keeps its coverage for the coefficient, else t (see
    `Agreement.interval_method`), also if no disagreement was observed. If all answers except the
    commonest weigh less than four units, there is no verdict; `reason` states this.

    In simulated studies of 20 to 100 units whose alpha was exactly the threshold, the score
    interval gave "at least" in at most 6% of studies, and "below" likewise; the nominal level is
    5%. Fully agreeing studies are included: of 20 to 100 units whose alpha was exactly 0.667, 0.8
    or 0.9, at most 5% agreed fully and were called "at least" (400 studies per design). The t
    interval gave "at least" in up to 15% (strata, 30 units, alpha 0.9); a warning reports this.
    Fieller's of spans in 10 to 50 documents gave it in 4% to 7% of studies (600 per design).

    Parameters
    ----------
    agreement : Agreement, AgreementTable, or a study
        For a study, a table or a path, Krippendorff's alpha with its default distance:
        MASI for label sets, interval for numbers, nominal for categories.
    threshold : float
        The required value, such as 0.667 or 0.8; below 1.
    level : float
        The one-sided confidence level, above 0.5.

    Returns
    -------
    AtLeast or ResultTable of AtLeast

    Raises
    ------
    OptionError
        The threshold is not a number below 1, or the level is not above 0.5.

    Warns
    -----
    SetagreeWarning
        The verdict "at least" is based on the t interval, because the design has no score interval
        or t was requested.

    Examples
    --------
    >>> import setagree as sa
    >>> print(sa.at_least(sa.simulate(200, 3, skill=0.9, rng=1), 0.6).verdict)
    Krippendorff's alpha is at least 0.6: with 95% confidence (these raters) it is at least 0.6775.
    """
    check_level(level)
    if not level > 0.5:
        raise OptionError(
            f"{option('level', level)} must be above 0.5: the confidence is one-sided."
        )
    check_threshold(threshold)

    def judged(row: Agreement) -> AtLeast:
        low, high = row.interval(2 * level - 1)
        found = AtLeast(row, float(threshold), level, low, high)
        by_t = row.requested_method == "t" or (
            row.interval_method == "t" and row.inference.no_score_reason is not None
        )
        if found.passes and by_t:
            warn(
                f"That {_name(row)} is at least {threshold:g} rests on its t interval, which is "
                "too narrow if agreement is high: in simulated studies it gave this verdict for up "
                "to 15% that were not better than the threshold, instead of 5%.",
                SetagreeWarning,
            )
        return found

    return for_each_row(agreement, judged)


def _no_bound_reason(agreement: Agreement) -> str:
    return agreement.interval_reason or "One unit shows no spread"


def _name(agreement: Agreement) -> str:
    """Return the name of the coefficient in the literature."""
    return coefficient_name(agreement.definition, [agreement.distance])
