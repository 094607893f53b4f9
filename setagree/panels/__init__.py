"""Raters against raters: humans and models, two panels, the agreed answer."""

from setagree.panels.alt_test import AltTest, AltTestTable, alt_test
from setagree.panels.cross_replication import CrossReplication, cross_replication

__all__ = ["AltTest", "AltTestTable", "CrossReplication", "alt_test", "cross_replication"]
