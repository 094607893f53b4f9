"""What words a coefficient deserves: benchmark scales that allow for sampling error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, overload

import numpy as np
import pandas as pd

from setagree.checks import public
from setagree.errors import OptionError, did_you_mean
from setagree.large.opening import Data
from setagree.scoring.result_tables import ResultTable, for_each_row
from setagree.scoring.results import Agreement, AgreementTable
from setagree.wording.results import Result

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
"""The lower end of each level; -1 is the lowest a coefficient is taken to be."""

CAUTION = (
    "Such scales were proposed for nominal agreement. A distance with partial credit raises "
    "observed and expected agreement together, so a word means something else with MASI than with "
    "nominal: compare studies by the same coefficient and distance, not by the word."
)

_ENOUGH = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Result):
    """The level of a scale that a coefficient reaches with 95 % probability.

    Attributes
    ----------
    agreement : Agreement
        What was judged.
    scale : str
        The name of the scale.
    levels : DataFrame
        From the best level down: level, from, to, membership, cumulative.
    verdict : str
        The best level whose cumulative membership reaches .95; "undefined" for nan. Where the
        coefficient has no standard error, or one of 0, there is none, and it says why; the
        memberships are nan then.
    """

    agreement: Agreement
    scale: str
    levels: pd.DataFrame
    verdict: str

    def to_frame(self) -> pd.DataFrame:
        """Return the levels, the best first, with their membership and its running sum."""
        return self.levels.copy()

    def __repr__(self) -> str:
        return (
            f"<Benchmark of {self.agreement.coefficient} [{self.agreement.distance}] "
            f"{self.agreement.estimate:.4f} on {self.scale}: {self.verdict}>"
        )

    def __str__(self) -> str:
        return (
            f"{self.levels.round(5).to_string(index=False)}\n\nVerdict: {self.verdict}. {CAUTION}"
        )


@overload
def benchmark(agreement: AgreementTable, *, scale: Scale = ...) -> ResultTable[Benchmark]: ...


@overload
def benchmark(agreement: Agreement | Data, *, scale: Scale = ...) -> Benchmark: ...


@public
def benchmark(
    agreement: Agreement | AgreementTable | Data, *, scale: Scale = "krippendorff"
) -> Benchmark | ResultTable[Benchmark]:
    """Return the level of a benchmark scale that a coefficient reaches, uncertainty included.

    The membership of a level [lo, hi) is
    [Phi((k - lo) / se) - Phi((k - hi) / se)] / [Phi((k + 1) / se) - Phi((k - 1) / se)]; summed from
    the best level down, the first sum of .95 or more is the verdict (Gwet 2014, ch. 6).

    Parameters
    ----------
    agreement : Agreement, AgreementTable, or a study
        Coefficients with a standard error; of a study, a table or a path, it is Krippendorff's
        alpha with its default distance.
    scale : {"krippendorff", "landis_koch", "altman", "fleiss"} or mapping
        A named scale, or the lower end of each level of your own; the lowest begins at -1.

    Returns
    -------
    Benchmark or ResultTable of Benchmark

    Raises
    ------
    OptionError
        The scale is unknown, or its lowest level does not begin at -1.
    DataError
        It is no agreement.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(200, 3, skill=0.9, rng=1))
    >>> sa.benchmark(alpha, scale="landis_koch").verdict
    'substantial'
    """
    name, lows = _levels(scale)

    def judged(row: Agreement) -> Benchmark:
        levels = _memberships(row.estimate, row.standard_error, lows)
        enough = levels[levels["cumulative"] >= _ENOUGH - 1e-12]
        verdict = str(enough["level"].iloc[0]) if len(enough) else _no_verdict(row)
        return Benchmark(row, name, levels, verdict)

    return for_each_row(agreement, judged)


def _no_verdict(agreement: Agreement) -> str:
    if np.isnan(agreement.estimate):
        return "undefined"
    if agreement.standard_error == 0:
        return f"none. {agreement.interval_reason}"
    return f"none, because {agreement.interval_reason}"


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
        # So far below -1 that nothing is left of it above.
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
