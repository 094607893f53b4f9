"""Raters against raters: humans and models, two panels, the agreed answer."""

from setagree.panels.against_consensus import ConsensusScores, score_against_consensus
from setagree.panels.alt_results import AltTest, AltTestTable
from setagree.panels.alt_test import alt_test
from setagree.panels.consensus import Consensus, consensus
from setagree.panels.cross_replication import CrossReplication, cross_replication
from setagree.panels.k_rater import KRaterReliability, k_rater_reliability
from setagree.panels.rater_map import RaterMap, rater_map

__all__ = [
    "AltTest",
    "AltTestTable",
    "Consensus",
    "ConsensusScores",
    "CrossReplication",
    "KRaterReliability",
    "RaterMap",
    "alt_test",
    "consensus",
    "cross_replication",
    "k_rater_reliability",
    "rater_map",
    "score_against_consensus",
]
