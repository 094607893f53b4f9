"""Kappa against alpha, and how much the choice of the distance matters."""

from __future__ import annotations

from pathlib import Path

import setagree as sa

table = sa.agreement(
    Path(__file__).with_name("study.csv"),
    blank="empty",
    coefficient=["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"],
    distance=["nominal", "masi", "jaccard", "dice"],
)
print(table)

# The same as a grid: coefficients down, distances across.
frame = table.to_frame()
print()
print(
    frame.pivot_table(index="coefficient", columns="distance", values="estimate", sort=False)
    .round(4)
    .to_string()
)

# On complete data the two differ by (1 - kappa) / (units x raters). With missing answers they also
# weigh units differently: alpha by their ratings, kappa all the same.
alpha, kappa = table["krippendorff_alpha", "masi"], table["fleiss_kappa", "masi"]
print(f"\nalpha - kappa = {alpha.estimate - kappa.estimate:+.4f} on {alpha.n_units} units")
