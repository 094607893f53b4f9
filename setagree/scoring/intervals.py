"""The intervals that need no resampling: t, score, and t for raters that are a sample too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from setagree.coefficients.chance_models import GwetUrn, NoChance, Uniform, Urn
from setagree.coefficients.conger import UrnOfEachRater
from setagree.coefficients.score_interval import score_ends
from setagree.errors import OptionError, check_choice, option

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement

Method: TypeAlias = Literal["t", "score"]
Over: TypeAlias = Literal["units", "both"]
"""What is a sample: the units, judged by these raters; or the raters, too."""

ABOUT = {
    **dict.fromkeys(("units", "clusters"), "these raters"),
    **dict.fromkeys(("raters", "both"), "raters like these"),
}
"""What an interval is about, by what is a sample."""

NONE = (float("nan"), float("nan"))

_SIMULATED = (Urn, GwetUrn, UrnOfEachRater, Uniform, NoChance)
"""The models of chance under which the score interval was seen to hold."""


def interval_of(row: Agreement, level: float, method: Method, over: Over) -> tuple[float, float]:
    """Return an interval of an agreement; see `Agreement.interval`."""
    check_choice("over", over, ("units", "both"))
    if not isinstance(method, str) or method not in ("t", "score"):
        raise OptionError(
            f"{option('method', method, limit=80)} is unknown; use 't' or 'score'. Resampled "
            "intervals are those of bootstrap(...).interval(method=) and of jackknife."
        )
    if over == "both":
        if method == "score":
            raise OptionError(
                f"{option('method', 'score')} is about these raters; drop {option('over', 'both')}."
            )
        found = row.two_way
        return t_interval(row.estimate, found.standard_error, found.degrees_of_freedom, level)
    if method == "score":
        return _score_interval(row, level)
    return t_interval(row.estimate, row.standard_error, row.degrees_of_freedom, level)


def t_interval(estimate: float, error: float, df: float, level: float) -> tuple[float, float]:
    """Return estimate ± t SE, its upper end cut at 1; nan without an SE above 0."""
    if not error > 0:
        return NONE
    from scipy.special import stdtrit  # 0.1 s, which import setagree does not pay

    half = float(stdtrit(df, (1 + level) / 2)) * error
    return estimate - half, min(1.0, estimate + half)


def best_method(row: Agreement) -> Method:
    """Return score where that interval is known to hold, else t."""
    return "score" if why_no_score(row) is None else "t"


def why_no_score(row: Agreement) -> str | None:
    """Return why an agreement has no score interval, for sentences; None where it has one."""
    if type(row.definition.model) not in _SIMULATED:
        return f"is not known to hold for {row.coefficient}; the bootstrap gives an interval"
    sample = row.case.sample
    if sample is None or sample.is_clustered:
        return None
    if sample.groups is None:
        known = bool(np.isfinite(sample.sizes).any())
        return "is about a population without end; use the t interval" if known else None
    return "takes the units as one sample, and these were drawn from strata; use the t interval"


def _score_interval(row: Agreement, level: float) -> tuple[float, float]:
    if (why := why_no_score(row)) is not None:
        raise OptionError(f"{option('method', 'score')} {why}.")
    if row.reason is not None or row.spread.reason is not None:
        return NONE
    low, high = score_ends(row.case, row.definition.model, level)
    if row.standard_error > 0:
        low = min(low, row.interval(level)[0])
    # Without a chance term 0 is the least; the others have no least value.
    least = 0.0 if isinstance(row.definition.model, NoChance) else min(row.estimate, -1.0)
    return max(low, least), high
