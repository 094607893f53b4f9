"""Distances between answers, by name and by function.

A new distance is a function in `sets` or `scales` and its name in the list at the end of that file;
it is listed here, too. The full reference is in `scoring.references`. Another package provides a
`Distance` through the entry-point group ``setagree.distances``.
"""

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
from setagree.distances.scales import (
    bipolar,
    circular,
    interval,
    linear,
    ordinal,
    ordinal_gwet,
    quadratic,
    radical,
    ratio,
)
from setagree.distances.sets import (
    any_overlap,
    augmented,
    dice,
    hamming,
    jaccard,
    kulczynski,
    masi,
    masi_dkpro,
    masi_nltk,
    nominal,
    ochiai,
    overlap,
    passonneau_2004,
)
from setagree.distances.transport import TransportDistance, transport

__all__ = [
    "CallableDistance",
    "Distance",
    "MatrixDistance",
    "NominalDistance",
    "OverlapDistance",
    "ScaleDistance",
    "TransportDistance",
    "any_overlap",
    "augmented",
    "bipolar",
    "circular",
    "dice",
    "distance_matrix",
    "distance_names",
    "embedding",
    "get_distance",
    "hamming",
    "interval",
    "jaccard",
    "kulczynski",
    "linear",
    "manhattan",
    "masi",
    "masi_dkpro",
    "masi_nltk",
    "nominal",
    "ochiai",
    "ordinal",
    "ordinal_gwet",
    "overlap",
    "passonneau_2004",
    "quadratic",
    "radical",
    "ratio",
    "ruzicka",
    "taxonomy",
    "transport",
    "weighted_jaccard",
]
