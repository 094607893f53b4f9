"""The intervals that need no resampling: t, score, and t for raters that are a sample too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from setagree.coefficients.models import Model, Urn
from setagree.coefficients.score_interval import score_ends
from setagree.errors import OptionError, check_choice, option

if TYPE_CHECKING:
    from setagree.scoring.results import Agreement

Method: TypeAlias = Literal["t", "score"]
Over: TypeAlias = Literal["units", "both"]
"""What is a sample: the units, judged by these raters; or the raters, too."""

ABOUT = {"units": "these raters", "raters": "raters like these", "both": "raters like these"}
"""What an interval is about, by what is a sample."""

NONE = (float("nan"), float("nan"))


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
    urns: tuple[Model, ...] = (Urn("ratings"), Urn("units"))
    sample = row.case.sample
    stratified = sample is not None and not sample.is_clustered and sample.groups is not None
    return "score" if row.definition.model in urns and not stratified else "t"


def _score_interval(row: Agreement, level: float) -> tuple[float, float]:
    model = row.definition.model
    if row.best_method != "score" or not isinstance(model, Urn):
        of = "units drawn from strata" if isinstance(model, Urn) else row.coefficient
        raise OptionError(
            f"{option('method', 'score')} is not known to hold for {of}; it is for "
            "krippendorff_alpha, fleiss_kappa and scott_pi without strata."
        )
    if row.reason is not None or row.spread.reason is not None:
        return NONE
    low, high = score_ends(row.case, model, level)
    if row.standard_error > 0:
        low = min(low, row.interval(level)[0])
    return max(low, min(row.estimate, -1.0)), high
