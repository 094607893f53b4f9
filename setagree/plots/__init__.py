"""Results as pictures; each function takes a result and ``ax=None``, and returns the Axes.

They need matplotlib, which ``pip install "setagree[plot]"`` brings.
"""

from setagree.plots.answers import acceptance, queue, repeats
from setagree.plots.by_label import confusions, labels
from setagree.plots.by_rater import pairs, raters
from setagree.plots.by_unit import groups, over_time, units
from setagree.plots.credit import weights
from setagree.plots.decisions import facets, monitor, reliability, replacement
from setagree.plots.inference import bootstrap, forest, null
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
