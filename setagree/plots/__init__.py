"""Results as pictures; each function takes a result and ``ax=None``, and returns the Axes.

They need matplotlib, which ``pip install "setagree[plot]"`` brings.
"""

from setagree.plots.answers import acceptance, queue, repeats, weights
from setagree.plots.diagnosis import confusions, groups, labels, over_time, pairs, raters, units
from setagree.plots.inference import (
    bootstrap,
    facets,
    forest,
    monitor,
    null,
    reliability,
    replacement,
)
from setagree.plots.panels import advantage, rater_map

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
    "queue",
    "rater_map",
    "raters",
    "reliability",
    "repeats",
    "replacement",
    "units",
    "weights",
]
