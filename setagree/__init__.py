"""Inter-rater agreement for set-valued (multi-label) annotations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from setagree import distances
from setagree.agreement import agreement, weights
from setagree.annotations import Annotations
from setagree.distances import CallableDistance, Distance, OverlapDistance, distance_matrix
from setagree.errors import SetagreeError, SetagreeWarning, UndefinedAgreementWarning
from setagree.labels import LabelSet, format_labels, parse_labels
from setagree.results import Agreement, AgreementTable
from setagree.scores import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    mv_alpha,
    percent_agreement,
    scott_pi,
)
from setagree.simulate import simulate
from setagree.tally import Tally
from setagree.weights import Weights

if TYPE_CHECKING:
    from setagree.inference.benchmark import benchmark
    from setagree.inference.bootstrap import bootstrap
    from setagree.inference.comparison import compare
    from setagree.inference.jackknife import jackknife
    from setagree.inference.permutation import permutation_test
    from setagree.inference.planning import plan
    from setagree.neighbours import panel_scorer
    from setagree.sources.reading import formats, read
    from setagree.sources.reduction import reduce

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "AgreementTable",
    "Annotations",
    "CallableDistance",
    "Distance",
    "LabelSet",
    "OverlapDistance",
    "SetagreeError",
    "SetagreeWarning",
    "Tally",
    "UndefinedAgreementWarning",
    "Weights",
    "agreement",
    "benchmark",
    "bootstrap",
    "brennan_prediger",
    "cohen_kappa",
    "compare",
    "conger_kappa",
    "distance_matrix",
    "distances",
    "fleiss_kappa",
    "format_labels",
    "formats",
    "gwet_ac",
    "jackknife",
    "krippendorff_alpha",
    "mv_alpha",
    "panel_scorer",
    "parse_labels",
    "percent_agreement",
    "permutation_test",
    "plan",
    "read",
    "reduce",
    "scott_pi",
    "simulate",
    "weights",
]

# What a first look at the data does not need is imported when it is asked for.
_LATER = {
    **dict.fromkeys(
        ("benchmark", "bootstrap", "compare", "jackknife", "permutation_test", "plan"),
        "setagree.inference",
    ),
    **dict.fromkeys(("formats", "read"), "setagree.sources.reading"),
    "panel_scorer": "setagree.neighbours",
    "reduce": "setagree.sources.reduction",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
