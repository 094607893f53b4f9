"""Speed and memory of the library beside its limits and its peers, in one run.

``python -m tests.benchmarks`` prints one table with a row for each promise: what was measured, our
number, the other number, their ratio, the bar and whether it holds. Nothing is asserted.

Times are processor seconds (user and system, all threads; the seconds on the wall where several
threads make those fewer), the best of several rounds in which the candidates take turns. A busy
machine disturbs them less than the clock on the wall alone.
"""
