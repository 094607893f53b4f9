"""Why is it low: labels, raters, units and groups that cost the agreement."""

from setagree.diagnosis.by_group import by_group, over_time
from setagree.diagnosis.by_label import by_label
from setagree.diagnosis.by_pair import by_pair, pair_matrix
from setagree.diagnosis.by_rater import by_rater
from setagree.diagnosis.by_unit import by_unit
from setagree.diagnosis.confusions import confusions
from setagree.diagnosis.what_if import what_if

__all__ = [
    "by_group",
    "by_label",
    "by_pair",
    "by_rater",
    "by_unit",
    "confusions",
    "over_time",
    "pair_matrix",
    "what_if",
]
