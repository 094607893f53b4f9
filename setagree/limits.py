"""Limits and tolerances that several modules share, each with its reason."""

TIE = 1e-12
"""Statistics of resamples closer than this to the observed one count as equal to it: the order of
a sum changes them by no more."""

MAX_PLANNED_UNITS = 100_000_000
"""Largest number of units that a plan returns: a study of more is a mistake in its goal."""

BLOCK_ENTRIES = 4_000_000
"""Numbers of an array that is computed block by block: 32 MB."""

MAX_RESHUFFLED = 200_000_000
"""Ratings of a tally above which they are not listed for a reshuffle: 5 GB."""

MAX_TABLE_CELLS = 50_000_000
"""Cells of a table of units and raters above which it is not reshuffled: 400 MB."""

MAX_LOOKS = 100
"""Looks at a stream with a time for every unit: more cannot be told apart in a plot."""

MAX_CHECKED = 1_000_000
"""Answers of a delivery to check: a plan of more is a mistake in its error rates."""

BLOCK_UNITS = 200_000
"""Units of permuted copies of a study that are scored together, to limit memory."""

MAX_PERMUTED_UNITS = 20_000_000
"""Units of all permutations of groups above which these are omitted, to limit time."""

MAX_SCORED_GROUPS = 200
"""Groups, or windows, that are scored one by one, with score intervals and tests; more are scored
together, with t intervals, as each takes about a millisecond."""
