"""Speed and memory of the library beside its limits and its peers, in one run.

``python -m tests.benchmarks`` prints one table with a row for each promise: what was measured, our
number, the other number, their ratio, the bar and whether it holds. Nothing is asserted.

Times are processor seconds, the best of several rounds in which the candidates take turns, with
linear algebra on one thread: a busy machine disturbs them less than the clock on the wall.
"""

import os

BLAS_THREADS = "BENCHMARK_BLAS_THREADS"
"""The variable that is "default" in a child process whose linear algebra is not held back."""

# Read when numpy is imported, so it must stand before that.
if os.environ.get(BLAS_THREADS) != "default":
    os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_NUM_THREADS="1")
