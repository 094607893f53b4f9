"""Raters against raters: humans and models, two panels, the agreed answer."""

from setagree.panels.against_consensus import ConsensusScores, score_against_consensus
from setagree.panels.alt_test import AltTest, AltTestTable, alt_test
from setagree.panels.consensus import Consensus, consensus
from setagree.panels.cross_replication import CrossReplication, cross_replication
from setagree.panels.k_rater import KRaterReliability, k_rater_reliability

__all__ = [
    "AltTest",
    "AltTestTable",
    "Consensus",
    "ConsensusScores",
    "CrossReplication",
    "KRaterReliability",
    "alt_test",
    "consensus",
    "cross_replication",
    "k_rater_reliability",
    "score_against_consensus",
]
