"""Resamples by the million million: refused before anything is drawn, with what passes."""

import re

import numpy as np
import pytest

import setagree as sa
from setagree.checks import MOST_BYTES, MOST_STEPS, check_drawing
from setagree.errors import CostError

MANY = 999_999_999_999
STUDY = sa.simulate(40, 5, rng=1)
ALPHA = sa.krippendorff_alpha(STUDY)
KAPPA = sa.fleiss_kappa(STUDY)
ALIKE = sa.Annotations.from_triples([(r, u, "x") for r in "ab" for u in range(2)], kind="value")
PANELS = {"one": ["r1", "r2"], "two": ["r3", "r4", "r5"]}

CALLS = {
    "bootstrap": lambda n: sa.bootstrap(ALPHA, n_resamples=n, rng=1),
    "bootstrap, raters": lambda n: sa.bootstrap(ALPHA, n_resamples=n, over="raters", rng=1),
    "bootstrap, both": lambda n: sa.bootstrap(ALPHA, n_resamples=n, over="both", rng=1),
    "test": lambda n: sa.permutation_test(ALPHA, n_resamples=n, rng=1),
    "test, raters": lambda n: sa.permutation_test(
        ALPHA, n_resamples=n, scheme="within_rater", rng=1
    ),
    "test, table": lambda n: sa.permutation_test(ALPHA, n_resamples=n, scheme="table", rng=1),
    "compare": lambda n: sa.compare(ALPHA, KAPPA, method="bootstrap", n_resamples=n, rng=1),
    "cross-replication": lambda n: sa.cross_replication(STUDY, panels=PANELS, n_resamples=n, rng=1),
    "map": lambda n: sa.rater_map(STUDY, n_resamples=n, rng=1),
    "k raters": lambda n: sa.k_rater_reliability(STUDY, k=2, n_splits=n, rng=1),
}


@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
class TestCost:
    @pytest.mark.parametrize("name", CALLS)
    def test_every_function_refuses(self, name):
        with pytest.raises(CostError, match=r"would take about .*Use at most n_\w+=\d+\.") as no:
            CALLS[name](MANY)
        most = int(re.search(r"=(\d+)\.$", str(no.value))[1])
        assert 100_000 < most < MANY  # what no test waits for; the reckoning is checked below
        assert CALLS[name](19) is not None

    @pytest.mark.parametrize("n_entries", [1, 60, 5_000, 10**7])
    def test_what_is_named_passes(self, n_entries):
        with pytest.raises(CostError) as no:
            check_drawing(10**30, n_entries)
        most = int(re.search(r"=(\d+)\.$", str(no.value))[1])
        check_drawing(most, n_entries)
        with pytest.raises(CostError):
            check_drawing(most + 1, n_entries)

    def test_units_beyond_every_limit(self):
        with pytest.raises(CostError, match="Use fewer units"):
            check_drawing(1, MOST_STEPS + 1)

    def test_numbers_of_any_kind(self):
        for n in (10**400, np.int64(MANY)):
            with pytest.raises(CostError, match="resamples would take"):
                sa.bootstrap(ALPHA, n_resamples=n)

    def test_undefined_studies(self):
        """Where the estimate is undefined, the nan of so many resamples are not made either."""
        with pytest.raises(CostError):
            sa.bootstrap(sa.krippendorff_alpha(ALIKE), n_resamples=MANY)
        with pytest.raises(CostError):
            sa.permutation_test(sa.krippendorff_alpha(ALIKE), n_resamples=MANY)

    def test_plans(self):
        """Choices of raters are counted before they are listed."""
        alpha = sa.krippendorff_alpha(sa.simulate(40, 40, rng=1))
        with pytest.raises(CostError, match="n_resamples="):
            sa.plan(alpha, n_raters=[20], n_resamples=MANY)

    def test_all_arrangements(self):
        tiny = sa.krippendorff_alpha(sa.simulate(3, 2, rng=2))
        assert sa.permutation_test(tiny, n_resamples=MANY).exact


@pytest.mark.parametrize(
    "words",
    [
        ["score", "--interval", "bootstrap"],
        ["test"],
        ["compare", "-d", "masi,jaccard", "--method", "bootstrap"],
    ],
)
def test_the_command(words, tmp_path):
    pytest.importorskip("typer", reason="the command needs the cli extra")
    from cli_support import ok, refusal

    file = tmp_path / "study.csv"
    rows = [f"{u},{r},{'xyz'[(u * u + r) % 3]}\n" for u in range(40) for r in range(3)]
    file.write_text("unit,rater,labels\n" + "".join(rows))
    name, *options = words
    sentence = refusal(name, file, *options, "--resamples", MANY)
    assert re.search(r"Use at most --resamples \d+\.$", sentence), sentence
    assert f"limit is {MOST_BYTES / 1e9:.1f} GB" in sentence
    ok(name, file, *options, "--resamples", 19, "--seed", 1)
