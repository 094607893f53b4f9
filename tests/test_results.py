"""What every result can do, whatever made it; and how every public function is called."""

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from results_support import spoil

import setagree as sa
from setagree.errors import OptionError
from setagree.wording.results import Result

STUDY = sa.simulate(60, 5, missing=0.1, rng=1)
TABLE = sa.agreement(STUDY, distance=["masi", "nominal"])
ALPHA = TABLE["krippendorff_alpha", "masi"]
PANELS = {"one": ["r1", "r2"], "two": ["r3", "r4", "r5"]}

MADE = {
    "Agreement": ALPHA,
    "AgreementTable": TABLE,
    "Bootstrap": sa.bootstrap(ALPHA, n_resamples=30, rng=1),
    "BootstrapTable": sa.bootstrap(TABLE, n_resamples=30, rng=1),
    "ResultTable": sa.jackknife(TABLE),
    "Jackknife": sa.jackknife(ALPHA, over="raters"),
    "PermutationTest": sa.permutation_test(ALPHA, n_resamples=19, rng=1),
    "Benchmark": sa.benchmark(ALPHA),
    "Plan": sa.plan(ALPHA),
    "Comparison": sa.compare(TABLE),
    "AltTest": sa.alt_test(STUDY, model="r5")["r5"],
    "AltTestTable": sa.alt_test(STUDY, model=["r4", "r5"]),
    "Consensus": sa.consensus(STUDY),
    "ConsensusScores": sa.score_against_consensus(STUDY),
    "KRaterReliability": sa.k_rater_reliability(STUDY, k=2, n_splits=20, rng=1),
    "CrossReplication": sa.cross_replication(STUDY, panels=PANELS, n_resamples=30, rng=1),
    "RaterMap": sa.rater_map(STUDY, n_resamples=9, rng=1),
}


def kinds(kind=Result):
    """Yield every class of results."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def test_every_result_is_here():
    """A new result is added to the table above."""
    assert {each.__name__ for each in kinds()} - {"Resampled", "Replicated"} == set(MADE)  # bases
    assert all(type(result).__name__ == name for name, result in MADE.items())


@pytest.mark.parametrize("result", MADE.values(), ids=MADE)
class TestEveryResult:
    """House rules of what comes back."""

    def test_the_frame_is_a_copy(self, result):
        """Whatever is done to a frame, the next one is as the first was."""
        before = result.to_frame().copy()
        said = repr(result)
        spoil(result.to_frame())
        pd.testing.assert_frame_equal(result.to_frame(), before)
        assert repr(result) == said

    def test_it_is_frozen(self, result):
        """No attribute can be set."""
        with pytest.raises(AttributeError):
            result.rows = ()

    def test_plain_values(self, result):
        """`to_dict` has the columns of the frame, and its named index, as plain values."""
        plain, frame = result.to_dict(), result.to_frame()
        names = [*frame.columns] if frame.index.name is None else [frame.index.name, *frame.columns]
        assert [*plain] == names
        assert {len(cells) for cells in plain.values()} == {len(frame)}
        json.dumps(plain, default=sorted)  # label sets are lists there

    def test_markdown(self, result):
        """A table with as many rows, none of which a label breaks."""
        lines = result.to_markdown().splitlines()
        assert len(lines) == len(result.to_frame()) + 2
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)

    def test_notebook(self, result):
        """A notebook shows a table, of a long one its ends."""
        page = result._repr_html_()
        assert "<table" in page
        assert page.count("<tr") < 30

    def test_interval(self, result):
        """Where there is an interval, it is had at any level: a wider one at a higher level."""
        if not hasattr(result, "interval"):
            assert "low" not in result.to_frame() or len(result.to_frame()) > 1
            return
        (low, high), (lower, higher) = result.interval(0.8), result.interval(level=0.99)
        assert lower < low < high < higher
        with pytest.raises(OptionError, match="level=1 must lie between 0 and 1"):
            result.interval(1)


@pytest.mark.parametrize("name", sorted(set(MADE) - {"AgreementTable"}))
def test_one_line(name):
    """The repr is one line between angle brackets; a table of agreements prints as a table."""
    said = repr(MADE[name])
    assert said[0] == "<"
    assert said[-1] == ">"
    assert "\n" not in said


def test_label_sets_are_said_in_words():
    """People read labels, programs have the sets; markup in labels is no markup."""
    study = sa.Annotations.from_triples([("a", 1, ["<b>", "x|y"]), ("b", 1, ["<b>", "x|y"])])
    found = sa.consensus(study)
    assert found.to_dict()["labels"] == [frozenset({"<b>", "x|y"})]
    assert r"&lt;b&gt;, x\|y" in found.to_markdown()
    assert "&lt;b&gt;, x|y" in found._repr_html_()
    assert "frozenset" not in found._repr_html_() + found.to_markdown()


def test_small_p_values_are_said_to_be_small():
    """No p is 0."""
    assert "| <.0001 |" in TABLE.to_markdown()
    assert all(isinstance(p, float) and 0 < p < 1e-4 for p in TABLE.to_dict()["p_value"])
    assert not any(isinstance(x, np.generic) for cells in TABLE.to_dict().values() for x in cells)


FUNCTIONS = [name for name in sa.__all__ if inspect.isroutine(getattr(sa, name))] + [
    name for name in sa.__all__ if isinstance(getattr(sa, name), sa.Coefficient)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_positionals_at_most(name):
    """Data first, then options by name; a boolean never stands without its name."""
    parameters = inspect.signature(getattr(sa, name)).parameters.values()
    positional = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 2
    assert not any(isinstance(one.default, bool) for one in positional)


def test_functions_are_found():
    """The test above is not blind."""
    assert {"agreement", "compare", "weights", "krippendorff_alpha", "simulate"} <= {*FUNCTIONS}
