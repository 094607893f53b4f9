"""Distances between answers, by name and by function.

A new distance is a function in `sets` or `scales` and its name in `__all__` of that file. The full
reference is in `scoring.references`. Another package provides a `Distance` through the entry-point
group ``setagree.distances``.
"""

from setagree.distances import scales, sets
from setagree.distances.base import (
    CallableDistance,
    Distance,
    NominalDistance,
    OverlapDistance,
    ScaleDistance,
)
from setagree.distances.degrees import manhattan, ruzicka
from setagree.distances.embeddings import embedding
from setagree.distances.labelled import taxonomy, weighted_jaccard
from setagree.distances.matrix import MatrixDistance, distance_matrix
from setagree.distances.registry import distance_names, get_distance
from setagree.distances.scales import *  # noqa: F403 - the names in `__all__`
from setagree.distances.sets import *  # noqa: F403
from setagree.distances.transport import TransportDistance, transport

__all__ = [
    "CallableDistance",
    "Distance",
    "MatrixDistance",
    "NominalDistance",
    "OverlapDistance",
    "ScaleDistance",
    "TransportDistance",
    "distance_matrix",
    "distance_names",
    "embedding",
    "get_distance",
    "manhattan",
    "ruzicka",
    "taxonomy",
    "transport",
    "weighted_jaccard",
]
__all__ += scales.__all__
__all__ += sets.__all__
