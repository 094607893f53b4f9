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
    from setagree import plots
    from setagree.diagnosis.by_group import by_group, over_time
    from setagree.diagnosis.by_label import by_label
    from setagree.diagnosis.by_pair import by_pair, pair_matrix
    from setagree.diagnosis.by_rater import by_rater
    from setagree.diagnosis.by_unit import by_unit
    from setagree.diagnosis.confusions import confusions
    from setagree.diagnosis.what_if import what_if
    from setagree.inference.benchmark import benchmark
    from setagree.inference.bootstrap import bootstrap
    from setagree.inference.comparison import compare
    from setagree.inference.jackknife import jackknife
    from setagree.inference.permutation import permutation_test
    from setagree.inference.planning import plan
    from setagree.neighbours import panel_scorer
    from setagree.panels.against_consensus import score_against_consensus
    from setagree.panels.alt_test import alt_test
    from setagree.panels.consensus import consensus
    from setagree.panels.cross_replication import cross_replication
    from setagree.panels.k_rater import k_rater_reliability
    from setagree.panels.rater_map import rater_map
    from setagree.sources.reading import formats, read
    from setagree.sources.reduction.door import reduce
    from setagree.views.methods import methods_text
    from setagree.views.report import report

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
    "alt_test",
    "benchmark",
    "bootstrap",
    "brennan_prediger",
    "by_group",
    "by_label",
    "by_pair",
    "by_rater",
    "by_unit",
    "cohen_kappa",
    "compare",
    "confusions",
    "conger_kappa",
    "consensus",
    "cross_replication",
    "distance_matrix",
    "distances",
    "fleiss_kappa",
    "format_labels",
    "formats",
    "gwet_ac",
    "jackknife",
    "k_rater_reliability",
    "krippendorff_alpha",
    "methods_text",
    "mv_alpha",
    "over_time",
    "pair_matrix",
    "panel_scorer",
    "parse_labels",
    "percent_agreement",
    "permutation_test",
    "plan",
    "plots",
    "rater_map",
    "read",
    "reduce",
    "report",
    "score_against_consensus",
    "scott_pi",
    "simulate",
    "weights",
    "what_if",
]

# What a first look at the data does not need is imported when it is asked for.
_WINGS = {
    "setagree.diagnosis": (
        "by_group by_label by_pair by_rater by_unit confusions over_time pair_matrix what_if"
    ),
    "setagree.inference": "benchmark bootstrap compare jackknife permutation_test plan",
    "setagree.neighbours": "panel_scorer",
    "setagree.panels": (
        "alt_test consensus cross_replication k_rater_reliability rater_map score_against_consensus"
    ),
    "setagree.sources.reading": "formats read",
    "setagree.sources.reduction.door": "reduce",
    "setagree.views.methods": "methods_text",
    "setagree.views.report": "report",
}
_LATER = {name: wing for wing, names in _WINGS.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "plots":
        return importlib.import_module("setagree.plots")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
