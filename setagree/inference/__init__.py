"""How sure are we: intervals, null distributions, comparisons, planning."""

from setagree.inference.benchmark import Benchmark, benchmark
from setagree.inference.bootstrap import Bootstrap, BootstrapTable, bootstrap
from setagree.inference.comparison import Comparison, compare
from setagree.inference.jackknife import Jackknife, jackknife
from setagree.inference.permutation import PermutationTest, permutation_test
from setagree.inference.planning import Plan, plan

__all__ = [
    "Benchmark",
    "Bootstrap",
    "BootstrapTable",
    "Comparison",
    "Jackknife",
    "PermutationTest",
    "Plan",
    "benchmark",
    "bootstrap",
    "compare",
    "jackknife",
    "permutation_test",
    "plan",
]
