"""Limits and tolerances that several modules share, each with its reason."""

LONG_WORK = 20_000_000
"""Array elements, such as ratings times resamples, that take about a second: longer work shows its
progress."""

LONG_LOOP = 2_000_000
"""Rounds of a loop, such as calls of a user's function, that take about as long."""

TIE = 1e-12
"""Statistics of resamples closer than this to the observed one count as equal to it: the order of
a sum changes them by no more."""

MAX_PLANNED_UNITS = 100_000_000
"""Largest number of units that a plan returns: a study of more is a mistake in its goal."""
