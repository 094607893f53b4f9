"""Raters against raters: humans and models, two panels, the agreed answer."""

from setagree.panels.alt_test import AltTest, AltTestTable, alt_test

__all__ = ["AltTest", "AltTestTable", "alt_test"]
