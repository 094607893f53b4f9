"""Three ways to bring a distance of your own: a function, an overlap distance, a matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import setagree as sa

study = sa.Annotations.from_wide(
    pd.read_csv(Path(__file__).with_name("walkthrough.csv"), dtype=str, keep_default_na=False),
    unit="unit",
    blank="missing",
)


# 1. Any function of two frozensets. It is called once for each pair of distinct answers.
def first_letter(A: frozenset[str], B: frozenset[str]) -> float:
    """0 where the alphabetically first labels agree, else 1."""
    return float(min(A, default="") != min(B, default=""))


print(sa.krippendorff_alpha(study, distance=first_letter))


# 2. A function of |A|, |B| and |A ∩ B| on arrays: as fast as MASI, at any size.
def largest_share(a: np.ndarray, b: np.ndarray, i: np.ndarray) -> np.ndarray:
    """1 - i / max(a, b); two empty sets are equal."""
    larger = np.maximum(np.maximum(a, b), 1)
    return np.where(a + b == 0, 0.0, 1 - i / larger)


braun_blanquet = sa.OverlapDistance(largest_share, name="braun_blanquet")
print(sa.krippendorff_alpha(study, distance=braun_blanquet))
print(sa.weights(study, braun_blanquet).to_frame().iloc[:5, :5].round(2))

# 3. What is known about the labels: weights, a taxonomy, a distance between labels.
rare_counts_more = sa.distances.weighted_jaccard(
    {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3, "i": 3}, name="rare_counts_more"
)
families = sa.distances.taxonomy({"a": "vowel", "e": "vowel", "i": "vowel"}, name="families")
print(sa.agreement(study, distance=["masi", rare_counts_more, families, first_letter]))
