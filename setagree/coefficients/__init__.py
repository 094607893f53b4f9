"""Tally and weights in, coefficient out: pure arrays, no text, no warnings.

Others use `models` (how chance answers), `estimate`, `replicates`, `leave_one_out`, and the case
that `chance` describes.
"""
