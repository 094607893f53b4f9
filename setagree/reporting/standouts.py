"""Who and what stands out beyond doubt: numbers only, judged by their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from setagree.inference.comparison import holm

_KNOWN = 0.4
"""The width of the interval beyond which a label's alpha is not known well enough to compare."""

_EVEN = 1.3
"""Times its fair part that labels must hold of the disagreement, or it is spread evenly."""

_LOW = 0.25
"""What the middle interval of a rater who agrees with nobody stays below."""

_SURE = 0.05


def worst_label(labels: pd.DataFrame) -> tuple[pd.Series[Any], pd.DataFrame] | None:
    """Return the label with the lowest alpha and the others, if it is clearly the lowest.

    It is where its interval ends below the alpha of every other label. Labels whose interval is
    wide are left out, as their alpha says little; those of full agreement have none, and stay.
    """
    narrow = labels["high"] - labels["low"] <= _KNOWN
    known = labels[narrow | (labels["alpha"].notna() & labels["low"].isna())]
    known = known.sort_values("alpha", kind="stable")
    if len(known) < 2 or not known["high"].iloc[0] < known["alpha"].iloc[1]:
        return None
    return known.iloc[0], known.iloc[1:]


def evenly_spread(labels: pd.DataFrame, n: int) -> bool:
    """Say whether the first ``n`` labels hold hardly more of the disagreement than their part."""
    held = float(labels["share_of_disagreement"].iloc[:n].sum())
    return bool(held < _EVEN * n / len(labels))


def pairs_at_chance(pairs: pd.DataFrame | None, rater: object) -> pd.DataFrame | None:
    """Return a rater's pairs, if that rater alone agrees with nobody.

    None of the intervals lies above 0, the middle one ends low, and the others agree surely more
    among themselves.
    """
    if pairs is None:
        return None
    known = pairs[pairs["high"].notna()]
    mine = (known["rater_a"] == rater) | (known["rater_b"] == rater)
    own, others = known[mine], known[~mine]
    if len(own) < 2 or not len(others) or (own["low"] > 0).any():
        return None
    high = float(own["high"].median())
    return own if high < _LOW and high < float(others["low"].median()) else None


def groups_apart(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the groups that differ from the rest, p corrected by Holm, the farthest first.

    A group that differs by less than half of what the farthest does is left out: that one is part
    of its rest.
    """
    tested = groups[groups["difference_p_value"].notna()]
    p = holm(tested["difference_p_value"].to_numpy(dtype=float))
    apart = tested.assign(p_holm=p)[p < _SURE]
    far = apart["difference"].abs().to_numpy(dtype=float)
    order = np.argsort(-far, kind="stable")
    return apart.iloc[order[: int((far > far.max(initial=0.0) / 2).sum())]]
