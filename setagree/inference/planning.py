"""How many units, and how many raters, a wanted interval takes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from setagree.annotations import Annotations
from setagree.coefficients.chance import standard_error
from setagree.errors import DataError, OptionError
from setagree.inference.draws import Rng, as_generator, check_level, check_resamples
from setagree.results import Agreement
from setagree.scoring import Bench, score_one
from setagree.substudies import without_rater

_MANY_UNITS = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What interval to expect from how many units and raters.

    Attributes
    ----------
    pilot : Agreement
        What the plan is made from.
    frame : DataFrame
        raters, units, standard_error, half_width, more_units, basis.
    level : float
        The level of the interval.
    """

    pilot: Agreement
    frame: pd.DataFrame
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return the plan, nothing rounded."""
        return self.frame

    def __repr__(self) -> str:
        return (
            f"<Plan from {self.pilot.coefficient} [{self.pilot.distance}] "
            f"{self.pilot.estimate:.4f} on {self.pilot.n_units:,} units: {len(self.frame)} rows>"
        )

    def __str__(self) -> str:
        shown = self.frame.round({"standard_error": 4, "half_width": 4})
        return shown.to_string(index=False)


def plan(
    pilot: Agreement | Annotations,
    *,
    half_width: float | None = None,
    units: Sequence[int] | None = None,
    raters: Sequence[int] | None = None,
    level: float = 0.95,
    n_resamples: int = 200,
    rng: Rng = None,
) -> Plan:
    """Return how many units give a wanted interval, or which interval given units give.

    The standard error of n units is that of the pilot times sqrt(n_pilot / n). For fewer raters
    than the pilot has, its raters are left out (all choices, or some at random) and the mean
    variance is taken. For more, n SE² = A + B / (r - 1) with A, B >= 0 is fitted to what fewer
    raters gave and extended: a rough guide, marked as such.

    Parameters
    ----------
    pilot : Agreement or Annotations
        A coefficient of a pilot study; for annotations, Krippendorff's alpha with its default
        distance. `simulate` makes one where there is no pilot.
    half_width : float, optional
        Half the width of the interval that is wanted. Without it and `units`, 0.05.
    units : sequence of int, optional
        Numbers of units to try.
    raters : sequence of int, optional
        Numbers of raters to try. Default: that of the pilot.
    level : float
        The level of the interval.
    n_resamples : int
        How many choices of raters at most for each number.
    rng : int or numpy Generator, optional
        The seed of those choices.

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        The pilot has no standard error, or other numbers of raters are asked of a tally.
    OptionError
        A number is out of range.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(60, 3, rng=1))
    >>> sa.plan(alpha, half_width=0.05).frame[["raters", "units", "more_units"]]
       raters  units  more_units
    0       3    164         104
    """
    check_level(level)
    check_resamples(n_resamples)
    agreement = (
        pilot if isinstance(pilot, Agreement) else score_one(pilot, "krippendorff_alpha", None)
    )
    if not agreement.standard_error > 0:
        raise DataError("the pilot has no standard error above 0, so nothing follows from it.")
    if half_width is None and units is None:
        half_width = 0.05
    _check_wishes(half_width, units, raters)
    per_unit = _variances(agreement, raters, n_resamples, as_generator(rng))
    done = int(agreement.degrees_of_freedom + 1)
    rows = []
    for r, (variance, basis) in per_unit.items():
        enough = [] if half_width is None else [_units_for(variance, half_width, level)]
        for n in enough if units is None else units:
            row = {"raters": r, "units": n, **_spread(variance, n, level)}
            rows.append({**row, "more_units": max(0, n - done), "basis": basis})
    return Plan(agreement, pd.DataFrame(rows), level)


def _check_wishes(
    half_width: float | None, units: Sequence[int] | None, raters: Sequence[int] | None
) -> None:
    if half_width is not None and not 0 < half_width < 1:
        raise OptionError(f"half_width={half_width!r} must lie between 0 and 1.")
    if half_width is not None and units is not None:
        raise OptionError("say half_width= (how many units?) or units= (what interval?), not both.")
    for name, wanted in (("units", units), ("raters", raters)):
        if wanted is not None and not _is_list_of_numbers(wanted):
            raise OptionError(f"{name}={wanted!r} must be a list of whole numbers of 2 or more.")


def _is_list_of_numbers(wanted: object) -> bool:
    if not isinstance(wanted, Sequence | np.ndarray) or not len(wanted):
        return False
    return all(isinstance(n, int | np.integer) and n >= 2 for n in wanted)


def _spread(variance: float, n: int, level: float) -> dict[str, float]:
    se = float(np.sqrt(variance / n))
    return {"standard_error": se, "half_width": _quantile(n, level) * se}


def _quantile(n: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + level) / 2))


def _units_for(variance: float, half_width: float, level: float) -> int:
    """Return the least n with t(n - 1) sqrt(variance / n) <= half_width."""
    low, high = 2, _MANY_UNITS
    if _quantile(high, level) * np.sqrt(variance / high) > half_width:
        raise OptionError(f"half_width={half_width!r} takes more than {_MANY_UNITS:,} units.")
    while low < high:
        middle = (low + high) // 2
        if _quantile(middle, level) * np.sqrt(variance / middle) <= half_width:
            high = middle
        else:
            low = middle + 1
    return low


def _variances(
    agreement: Agreement,
    raters: Sequence[int] | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> dict[int | None, tuple[float, str]]:
    """Return n SE² for each wanted number of raters, and what it rests on."""
    here = agreement.n_raters
    own = agreement.standard_error**2 * (agreement.degrees_of_freedom + 1)
    if raters is None or list(raters) == [here]:
        return {here: (own, "pilot")}
    if agreement.study is None or here is None:
        raise DataError("other numbers of raters need to know who gave what; a tally does not.")
    found = {
        r: _with_fewer(agreement, agreement.study, r, n_resamples, generator)
        for r in range(2, here)
        if r in raters or max(raters) > here
    }
    found[here] = own
    out: dict[int | None, tuple[float, str]] = {}
    for r in raters:
        basis = "pilot" if r == here else "raters left out" if r < here else "extended"
        out[r] = (found[r] if r <= here else _extended(found, r), basis)
    return out


def _with_fewer(
    agreement: Agreement,
    study: Annotations,
    r: int,
    n_resamples: int,
    generator: np.random.Generator,
) -> float:
    """Return the mean of n SE² over choices of r raters of the pilot."""
    choices = list(
        itertools.islice(itertools.combinations(range(study.n_raters), r), n_resamples + 1)
    )
    if len(choices) > n_resamples:
        picks = (generator.choice(study.n_raters, r, replace=False) for _ in range(n_resamples))
        choices = [tuple(sorted(pick.tolist())) for pick in picks]
    found = []
    for kept in choices:
        part = study
        for g in sorted(set(range(study.n_raters)) - set(kept), reverse=True):
            part = without_rater(part, g)
        found.append(_variance(agreement, part))
    if np.isnan(found).all():
        raise DataError(
            f"{r} raters of the pilot have no standard error, so nothing follows from it."
        )
    return float(np.nanmean(found))


def _variance(agreement: Agreement, part: Annotations) -> float:
    distance = agreement.case.distance
    if distance is None:
        return float("nan")
    bench = Bench(part, categories=agreement.weights.values)
    parts = bench.score(agreement.coefficient, distance).parts
    return standard_error(parts) ** 2 * float(parts.counted.sum())


def _extended(found: dict[int, float], r: int) -> float:
    """Return A + B / (r - 1), fitted with A, B >= 0 by least squares to what is known."""
    from scipy.optimize import nnls

    if len(found) < 2:
        raise DataError("a pilot of two raters cannot tell what more raters would bring.")
    known = np.array(sorted(found))
    terms = np.column_stack([np.ones(len(known)), 1 / (known - 1)])
    (start, slope), _ = nnls(terms, np.array([found[k] for k in known.tolist()]))
    return float(start + slope / (r - 1))
