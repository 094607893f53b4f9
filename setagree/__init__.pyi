# The public names of the package and their modules. `__init__.py` reads them from here.

from setagree import (
    distances as distances,
    plots as plots,
)
from setagree.credit import Weights as Weights
from setagree.diagnosis.by_group import (
    by_group as by_group,
    over_time as over_time,
)
from setagree.diagnosis.by_label import (
    by_depth as by_depth,
    by_label as by_label,
    by_presence as by_presence,
)
from setagree.diagnosis.by_pair import (
    by_pair as by_pair,
    pair_matrix as pair_matrix,
)
from setagree.diagnosis.by_question import by_question as by_question
from setagree.diagnosis.by_rater import by_rater as by_rater
from setagree.diagnosis.by_unit import by_unit as by_unit
from setagree.diagnosis.confusions import confusions as confusions
from setagree.diagnosis.intra_rater import intra_rater_agreement as intra_rater_agreement
from setagree.diagnosis.next_ratings import next_ratings as next_ratings
from setagree.diagnosis.what_if import what_if as what_if
from setagree.distances import (
    CallableDistance as CallableDistance,
    Distance as Distance,
    OverlapDistance as OverlapDistance,
    distance_matrix as distance_matrix,
)
from setagree.errors import (
    SetagreeError as SetagreeError,
    SetagreeWarning as SetagreeWarning,
    UndefinedAgreementWarning as UndefinedAgreementWarning,
)
from setagree.inference.acceptance import (
    acceptance_plan as acceptance_plan,
    acceptance_test as acceptance_test,
)
from setagree.inference.benchmark import (
    at_least as at_least,
    benchmark as benchmark,
)
from setagree.inference.bootstrap import bootstrap as bootstrap
from setagree.inference.comparison import compare as compare
from setagree.inference.completion import completion_bounds as completion_bounds
from setagree.inference.cross_replication import cross_replication as cross_replication
from setagree.inference.jackknife import jackknife as jackknife
from setagree.inference.ks import ks_statistic as ks_statistic
from setagree.inference.monitor import monitor as monitor
from setagree.inference.permutation import permutation_test as permutation_test
from setagree.inference.plan_goals import (
    PlanCosts as PlanCosts,
    PlanGoals as PlanGoals,
)
from setagree.inference.planning import plan as plan
from setagree.inference.prevalence import prevalence as prevalence
from setagree.inference.variance_components import variance_components as variance_components
from setagree.large.opening import read as read
from setagree.large.recognition import formats as formats
from setagree.large.reduce import tally as tally
from setagree.panels.alt_test import alt_test as alt_test
from setagree.panels.consensus import consensus as consensus
from setagree.panels.crowdtruth import crowdtruth as crowdtruth
from setagree.panels.facets import facet_agreement as facet_agreement
from setagree.panels.k_rater import k_rater_reliability as k_rater_reliability
from setagree.panels.noninferiority import noninferiority_test as noninferiority_test
from setagree.panels.rater_map import rater_map as rater_map
from setagree.panels.references import (
    panel_scorer as panel_scorer,
    score_against_consensus as score_against_consensus,
    score_against_panel as score_against_panel,
)
from setagree.panels.soft_scores import soft_scores as soft_scores
from setagree.reporting.methods import methods_text as methods_text
from setagree.reporting.report import report as report
from setagree.scoring.coefficients import (
    brennan_prediger as brennan_prediger,
    cohen_kappa as cohen_kappa,
    conger_kappa as conger_kappa,
    fleiss_kappa as fleiss_kappa,
    gwet_ac as gwet_ac,
    krippendorff_alpha as krippendorff_alpha,
    mv_alpha as mv_alpha,
    percent_agreement as percent_agreement,
    scott_pi as scott_pi,
)
from setagree.scoring.definition import (
    Coefficient as Coefficient,
    coefficient as coefficient,
)
from setagree.scoring.results import (
    Agreement as Agreement,
    AgreementTable as AgreementTable,
)
from setagree.scoring.scorer import score as score
from setagree.scoring.table import (
    agreement as agreement,
    weights as weights,
)
from setagree.study.annotations import Annotations as Annotations
from setagree.study.labels import parse_labels as parse_labels
from setagree.study.reading import Reading as Reading
from setagree.study.simulation import simulate as simulate
from setagree.study.tally import Tally as Tally
from setagree.wording.label_sets import (
    LabelSet as LabelSet,
    format_labels as format_labels,
)

__version__: str
