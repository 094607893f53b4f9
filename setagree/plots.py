"""Results as pictures; each function takes a result and ``ax=None``, and returns the Axes.

They need matplotlib, which ``pip install "setagree[plot]"`` brings.
"""

from setagree.views.pictures_inference import bootstrap, forest, null
from setagree.views.pictures_labels import confusions, labels
from setagree.views.pictures_panels import advantage, rater_map
from setagree.views.pictures_raters import pairs, raters
from setagree.views.pictures_units import groups, over_time, units
from setagree.views.pictures_weights import weights

__all__ = [
    "advantage",
    "bootstrap",
    "confusions",
    "forest",
    "groups",
    "labels",
    "null",
    "over_time",
    "pairs",
    "rater_map",
    "raters",
    "units",
    "weights",
]
