"""Plots of results: each function takes a result and ``ax=None``, and returns the Axes.

They need matplotlib: ``pip install "setagree[plot]"``.
"""

from setagree.plots.diagnosis import (
    confusions,
    groups,
    labels,
    over_time,
    pairs,
    raters,
    units,
    weights,
)
from setagree.plots.inference import (
    acceptance,
    bootstrap,
    forest,
    monitor,
    null,
    queue,
    reliability,
)
from setagree.plots.panels import advantage, facets, prevalence, rater_map, repeats, replacement

__all__ = [
    "acceptance",
    "advantage",
    "bootstrap",
    "confusions",
    "facets",
    "forest",
    "groups",
    "labels",
    "monitor",
    "null",
    "over_time",
    "pairs",
    "prevalence",
    "queue",
    "rater_map",
    "raters",
    "reliability",
    "repeats",
    "replacement",
    "units",
    "weights",
]
