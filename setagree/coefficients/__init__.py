"""Tally and weights in, coefficient out: pure arrays, no text, no warnings.

Others use `models` (how chance answers), `replicates`, `leave_one_out`, and the estimate
and the case of `chance`.
"""
