"""Inter-rater agreement for set-valued (multi-label) annotations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setagree import distances, plots
    from setagree.credit import Weights
    from setagree.diagnosis.by_depth import by_depth
    from setagree.diagnosis.by_group import by_group, over_time
    from setagree.diagnosis.by_label import by_label
    from setagree.diagnosis.by_pair import by_pair, pair_matrix
    from setagree.diagnosis.by_rater import by_rater
    from setagree.diagnosis.by_unit import by_unit
    from setagree.diagnosis.confusions import confusions
    from setagree.diagnosis.intra_rater import intra_rater_agreement
    from setagree.diagnosis.next_ratings import next_ratings
    from setagree.diagnosis.what_if import what_if
    from setagree.distances import CallableDistance, Distance, OverlapDistance, distance_matrix
    from setagree.errors import SetagreeError, SetagreeWarning, UndefinedAgreementWarning
    from setagree.inference.acceptance import acceptance_plan, acceptance_test
    from setagree.inference.benchmark import at_least, benchmark
    from setagree.inference.bootstrap import bootstrap
    from setagree.inference.comparison import compare
    from setagree.inference.completion import completion_bounds
    from setagree.inference.cross_replication import cross_replication
    from setagree.inference.jackknife import jackknife
    from setagree.inference.ks import ks_statistic
    from setagree.inference.monitor import monitor
    from setagree.inference.permutation import permutation_test
    from setagree.inference.plan_goals import PlanCosts, PlanGoals
    from setagree.inference.planning import plan
    from setagree.inference.variance_components import variance_components
    from setagree.large.opening import read
    from setagree.large.recognition import formats
    from setagree.large.reduce import tally
    from setagree.panels.alt_test import alt_test
    from setagree.panels.consensus import consensus
    from setagree.panels.crowdtruth import crowdtruth
    from setagree.panels.facets import facet_agreement
    from setagree.panels.k_rater import k_rater_reliability
    from setagree.panels.noninferiority import noninferiority_test
    from setagree.panels.rater_map import rater_map
    from setagree.panels.references import (
        panel_scorer,
        score_against_consensus,
        score_against_panel,
    )
    from setagree.reporting.methods import methods_text
    from setagree.reporting.report import report
    from setagree.scoring.coefficients import (
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
    from setagree.scoring.definition import Coefficient, coefficient
    from setagree.scoring.results import Agreement, AgreementTable
    from setagree.scoring.scorer import score
    from setagree.scoring.table import agreement, weights
    from setagree.study.annotations import Annotations
    from setagree.study.labels import parse_labels
    from setagree.study.reading import Reading
    from setagree.study.simulation import simulate
    from setagree.study.tally import Tally
    from setagree.wording.label_sets import LabelSet, format_labels

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "AgreementTable",
    "Annotations",
    "CallableDistance",
    "Coefficient",
    "Distance",
    "LabelSet",
    "OverlapDistance",
    "PlanCosts",
    "PlanGoals",
    "Reading",
    "SetagreeError",
    "SetagreeWarning",
    "Tally",
    "UndefinedAgreementWarning",
    "Weights",
    "acceptance_plan",
    "acceptance_test",
    "agreement",
    "alt_test",
    "at_least",
    "benchmark",
    "bootstrap",
    "brennan_prediger",
    "by_depth",
    "by_group",
    "by_label",
    "by_pair",
    "by_rater",
    "by_unit",
    "coefficient",
    "cohen_kappa",
    "compare",
    "completion_bounds",
    "confusions",
    "conger_kappa",
    "consensus",
    "cross_replication",
    "crowdtruth",
    "distance_matrix",
    "distances",
    "facet_agreement",
    "fleiss_kappa",
    "format_labels",
    "formats",
    "gwet_ac",
    "intra_rater_agreement",
    "jackknife",
    "k_rater_reliability",
    "krippendorff_alpha",
    "ks_statistic",
    "methods_text",
    "monitor",
    "mv_alpha",
    "next_ratings",
    "noninferiority_test",
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
    "report",
    "score",
    "score_against_consensus",
    "score_against_panel",
    "scott_pi",
    "simulate",
    "tally",
    "variance_components",
    "weights",
    "what_if",
]

# Where each public name is; it is imported when it is asked for.
_HOMES = {
    "Agreement": "scoring.results",
    "AgreementTable": "scoring.results",
    "Annotations": "study.annotations",
    "CallableDistance": "distances",
    "Coefficient": "scoring.definition",
    "Distance": "distances",
    "LabelSet": "wording.label_sets",
    "OverlapDistance": "distances",
    "PlanCosts": "inference.plan_goals",
    "PlanGoals": "inference.plan_goals",
    "Reading": "study.reading",
    "SetagreeError": "errors",
    "SetagreeWarning": "errors",
    "Tally": "study.tally",
    "UndefinedAgreementWarning": "errors",
    "Weights": "credit",
    "acceptance_plan": "inference.acceptance",
    "acceptance_test": "inference.acceptance",
    "agreement": "scoring.table",
    "alt_test": "panels.alt_test",
    "at_least": "inference.benchmark",
    "benchmark": "inference.benchmark",
    "bootstrap": "inference.bootstrap",
    "brennan_prediger": "scoring.coefficients",
    "by_depth": "diagnosis.by_depth",
    "by_group": "diagnosis.by_group",
    "by_label": "diagnosis.by_label",
    "by_pair": "diagnosis.by_pair",
    "by_rater": "diagnosis.by_rater",
    "by_unit": "diagnosis.by_unit",
    "coefficient": "scoring.definition",
    "cohen_kappa": "scoring.coefficients",
    "compare": "inference.comparison",
    "completion_bounds": "inference.completion",
    "confusions": "diagnosis.confusions",
    "conger_kappa": "scoring.coefficients",
    "consensus": "panels.consensus",
    "cross_replication": "inference.cross_replication",
    "crowdtruth": "panels.crowdtruth",
    "distance_matrix": "distances",
    "facet_agreement": "panels.facets",
    "fleiss_kappa": "scoring.coefficients",
    "format_labels": "wording.label_sets",
    "formats": "large.recognition",
    "gwet_ac": "scoring.coefficients",
    "intra_rater_agreement": "diagnosis.intra_rater",
    "jackknife": "inference.jackknife",
    "k_rater_reliability": "panels.k_rater",
    "krippendorff_alpha": "scoring.coefficients",
    "ks_statistic": "inference.ks",
    "methods_text": "reporting.methods",
    "monitor": "inference.monitor",
    "mv_alpha": "scoring.coefficients",
    "next_ratings": "diagnosis.next_ratings",
    "noninferiority_test": "panels.noninferiority",
    "over_time": "diagnosis.by_group",
    "pair_matrix": "diagnosis.by_pair",
    "panel_scorer": "panels.references",
    "parse_labels": "study.labels",
    "percent_agreement": "scoring.coefficients",
    "permutation_test": "inference.permutation",
    "plan": "inference.planning",
    "rater_map": "panels.rater_map",
    "read": "large.opening",
    "report": "reporting.report",
    "score": "scoring.scorer",
    "score_against_consensus": "panels.references",
    "score_against_panel": "panels.references",
    "scott_pi": "scoring.coefficients",
    "simulate": "study.simulation",
    "tally": "large.reduce",
    "variance_components": "inference.variance_components",
    "weights": "scoring.table",
    "what_if": "diagnosis.what_if",
}


# What else a public name may be called.
_ALSO = {
    "Annotations": "Study Dataset Data AnnotationTask",
    "read": "load open load_csv read_csv from_csv load_file read_file read_json read_excel",
    "parse_labels": "parse parse_label",
    "agreement": "iaa irr agree coefficients scores compute",
    "gwet_ac": "gwet_ac1 gwet_ac2",
    "tally": "reduce",
    "report": "html_report write_report to_html",
    "rater_map": "map",
}

if not TYPE_CHECKING:  # a type checker knows what there is

    def __getattr__(name: str) -> object:
        if name in ("distances", "plots"):
            return importlib.import_module(f"setagree.{name}")
        if name in _HOMES:
            found = getattr(importlib.import_module(f"setagree.{_HOMES[name]}"), name)
            globals()[name] = found  # the next look finds it at once
            return found
        raise AttributeError(_unknown(name))


def _unknown(name: str) -> str:
    """Return a sentence with what a name that does not exist may stand for."""
    from setagree.checks import constructor_hint
    from setagree.errors import did_you_mean
    from setagree.study.annotations import Annotations

    said = f"module {__name__!r} has no attribute {name!r}"
    if name.startswith("_"):
        return said
    if called := _called(name):
        return f"setagree.{name} is called setagree.{called}."
    also = constructor_hint(Annotations, name) if name.startswith("from_") else ""
    hint = also or did_you_mean(name, __all__)
    return f"{said}.{hint}" if hint else said


def _called(name: str) -> str | None:
    """Return the public name that another name stands for."""
    from setagree import distances
    from setagree.checks import constructor
    from setagree.scoring.coefficients import COEFFICIENTS
    from setagree.study.annotations import Annotations
    from setagree.study.tally import Tally

    if ours := next((ours for ours, others in _ALSO.items() if name in others.split()), None):
        return ours
    for one in COEFFICIENTS.values():
        if name in one.short_names:
            return one.name
    if (made := constructor(Annotations, name)) is not None:
        return f"Annotations.{made}"
    owners = {"Annotations": Annotations, "Tally": Tally, "distances": distances}
    return next((f"{n}.{name}" for n, owner in owners.items() if hasattr(owner, name)), None)


def __dir__() -> list[str]:
    return [*__all__]
