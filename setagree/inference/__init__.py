"""How sure are we: intervals, null distributions, comparisons, planning."""
