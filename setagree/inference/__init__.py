"""Inference: intervals, null distributions, comparisons, plans."""
