"""The methods paragraph: every count, policy and reference it states is true."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from inference_support import T1, T2
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.distances import get_distance
from setagree.errors import DataError, OptionError, UndefinedAgreementWarning
from setagree.inference.bootstrap import Bootstrap
from setagree.reporting.methods import methods_text
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.scoring.references import (
    REFERENCES,
    cited,
)
from setagree.wording.number_format import level_text


@pytest.fixture
def alpha():
    """Return MASI alpha of the walk-through: 0.40257152, se 0.15186146, 0.0642031 to 0.7409399."""
    return sa.krippendorff_alpha(annotations(T1))


def paragraph(result, **options):
    return methods_text(result, references=False, **options)


class TestDesign:
    def test_the_walkthrough(self, alpha):
        """T1: 3 raters, 11 units, 32 ratings, 10 distinct sets of the 6 labels a b c d e i."""
        said = paragraph(alpha)
        assert said.startswith(
            "Three raters annotated 11 units, each answer being a set of labels (6 labels, 10 "
            "distinct sets in use). Not every rater rated every unit: the units have 2 to 3 "
            "ratings each, 2.9 on average, 32 ratings in all."
        )
        assert "no rating is the empty set" in said
        assert "= 0.403, 95% interval 0.064 to 0.719" in said
        assert "(observed disagreement 0.460, expected 0.770)" in said  # 0.4600694, 0.7700829
        assert "the 95% intervals are score intervals, " in said

    def test_complete(self):
        """T2 is complete: 11 units by 2 raters are 22 ratings."""
        said = paragraph(annotations(T2))
        assert "every rater rated every unit (22 ratings)" in said

    def test_singles_and_empty_sets(self):
        said = paragraph(sa.krippendorff_alpha(annotations(text("a a / {} b / {} . / {} a"))))
        assert "; 1 unit with a single rating." in said
        assert "the empty set (3 ratings, 43%) was an answer like any other" in said

    def test_same_number_of_other_raters(self):
        said = paragraph(sa.krippendorff_alpha(annotations(text("a a . / . b b / b . a"))))
        assert "the units have 2 ratings each, 6 ratings in all" in said
        alone = sa.Annotations.from_triples([("a", 1, "x"), ("b", 2, "y")])
        with pytest.warns(UndefinedAgreementWarning):
            said = sa.methods_text(alone)
        assert "the units have 1 rating each, 2 ratings in all" in said

    def test_missing_cells(self):
        study = sa.Annotations.from_triples(
            [("x", 1, "a"), ("y", 1, None), ("z", 1, "b"), ("x", 2, "a"), ("y", 2, "a")]
        )
        assert study.n_missing == 1
        said = paragraph(study)
        assert "Missing ratings (1 cell) were left out and never counted as an answer" in said

    def test_scalars(self):
        """One number or category an answer; no word of empty sets."""
        said = paragraph(annotations(numbers("1 2 / 2 2 / 3 1")))
        assert "each answer being one number (3 distinct values in use)" in said
        assert "empty" not in said
        triples = [("x", 1, "lo"), ("y", 1, "hi"), ("x", 2, "lo"), ("y", 2, "lo")]
        said = paragraph(sa.Annotations.from_triples(triples, kind="value"))
        assert "each answer being one category (2 distinct values in use)" in said

    def test_tally(self):
        """A tally may not know its raters, and then says so."""
        import pandas as pd

        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1, 0], "b": [0, 1, 2]}))
        assert paragraph(tally).startswith("Several raters annotated 3 units")

    def test_many_raters_begin_with_a_figure(self):
        assert paragraph(sa.simulate(20, 10, rng=1)).startswith("Ten raters")
        assert paragraph(sa.simulate(20, 11, rng=1)).startswith("11 raters")


def read_as(study, **options):
    """Return the paragraph of a study that was read in some way."""
    return paragraph(sa.krippendorff_alpha(replace(study, reading=sa.Reading(**options))))


class TestPolicies:
    @pytest.mark.parametrize(
        ("blank", "words"),
        [("missing", "taken as missing"), ("empty", "as the empty set"), ("error", "not allowed")],
    )
    def test_blank(self, blank, words):
        assert f"blank cells were {words}".replace("were as", "were taken as") in read_as(
            annotations(T1), blank=blank
        )

    @pytest.mark.parametrize(
        ("duplicates", "words"),
        [
            ("error", "no rater rated a unit twice"),
            ("first", "the first was kept"),
            ("last", "the last was kept"),
            ("union", "they were merged into the union of their labels"),
        ],
    )
    def test_duplicates(self, duplicates, words):
        """How many repeats there were and what was done with them, if there were any."""
        study = annotations(T1)
        assert "; no rater rated a unit twice." in read_as(study, duplicates=duplicates)
        said = read_as(replace(study, n_repeated=3), duplicates=duplicates)
        assert words in said
        if duplicates != "error":
            assert f"; where a rater had rated a unit again (3 times in the data), {words}." in said

    @pytest.mark.parametrize(
        ("missing", "words"),
        [
            (["NA"], "; the answer “NA” counts as missing;"),
            (["NA", "n/a", "-"], "; the answers “NA”, “n/a” and “-” count as missing;"),
            (["\u202e"], "the answer “\\u202e” counts"),
        ],
    )
    def test_markers_of_missing(self, missing, words):
        assert words in read_as(annotations(T1), na_values=missing)
        assert "as missing" not in read_as(annotations(T1), na_values=[])

    @pytest.mark.parametrize(
        ("case", "words"), [("keep", "as written"), ("lower", "compared in lower case")]
    )
    def test_case(self, case, words):
        """How upper and lower case were treated is said, of labels alone."""
        assert words in read_as(annotations(T1), case=case)
        of_numbers = annotations(numbers("1 2 / 2 2 / 3 3"))
        assert words not in read_as(of_numbers, case=case)

    def test_silence_without_them(self):
        said = paragraph(sa.krippendorff_alpha(sa.simulate(20, 3, rng=1)))
        assert "blank" not in said
        assert "twice" not in said


class TestMeasures:
    def test_a_table_has_all_rows(self):
        table = sa.agreement(annotations(T1), distance=["masi", "jaccard"], level=0.9)
        said = paragraph(table)
        for row in table:
            low, high = row.interval(0.9)
            assert f"{row.estimate:.3f}, 90% interval {low:.3f} to {high:.3f}" in said
        assert "with the distances MASI" in said
        assert "earns the credit 1 − d / d_max" in said
        assert "95% interval" in paragraph(table, level=0.95)

    def test_alpha_alone_needs_no_credit(self, alpha):
        assert "d_max" not in paragraph(alpha)

    def test_ac1_and_ac2(self):
        """Gwet's AC is AC1 with nominal, AC2 otherwise."""
        study = annotations(T1)
        assert "Gwet's AC1 (Gwet, 2008)" in paragraph(sa.gwet_ac(study, distance="nominal"))
        assert "Gwet's AC2 (Gwet, 2008)" in paragraph(sa.gwet_ac(study, distance="masi"))

    def test_own_distance(self):
        """A distance of one's own is not credited to anybody else."""
        mine = sa.CallableDistance(lambda A, B: float(A != B), name="mine", bounded=True)
        said = methods_text(sa.krippendorff_alpha(annotations(T1), distance=mine))
        assert "the distance “mine” (defined by the authors)" in said

    def test_no_interval(self):
        said = paragraph(sa.mv_alpha(annotations(T1)))
        assert "mv-alpha = 0.467" in said  # R: .4674643522
        assert "Standard errors" not in said

    def test_undefined(self):
        with pytest.warns(UndefinedAgreementWarning):
            said = paragraph(annotations(text("a a / a a")))
        assert "is undefined, because only one value was used" in said

    def test_resampling(self, alpha):
        """The bootstrap and the permutation test are reported as they were made."""
        boot = sa.bootstrap(alpha, n_resamples=50, rng=7)
        test = sa.permutation_test(alpha, n_resamples=99, rng=7)
        said = paragraph(alpha, bootstrap=boot, test=test, seed=7)
        low, high = boot.interval(0.95)
        assert f"of 50 bootstrap resamples of the units is {low:.3f} to {high:.3f}" in said
        assert "99 random reshuffles of the answers over all raters and units" in said
        assert f"p = {test.p_value:.3f}" in said
        assert said.count("seed 7") == 2
        both = sa.bootstrap(alpha, n_resamples=20, over="both", rng=7)
        assert "of the units and raters" in paragraph(alpha, bootstrap=both)

    def test_all_arrangements(self):
        small = sa.krippendorff_alpha(annotations(text("a a / b b")))
        test = sa.permutation_test(small, n_resamples=999)
        assert test.exact
        said = paragraph(small, test=test, seed=3)
        assert "all 6 arrangements of the answers" in said  # 4! / (2! 2!)
        assert "seed" not in said

    def test_version(self, alpha):
        assert paragraph(alpha).endswith(f"setagree {sa.__version__}.")


class TestResampled:
    @pytest.fixture
    def alpha(self):
        """Return alpha of a study of 40 units."""
        return sa.krippendorff_alpha(sa.simulate(40, 3, rng=2))

    @pytest.mark.parametrize(
        ("level", "shown"), [(0.975, "97.5%"), (0.999, "99.9%"), (0.9, "90%"), (0.55, "55%")]
    )
    def test_levels_are_not_rounded(self, alpha, level, shown):
        low, high = alpha.interval(level)
        assert f"{shown} interval {low:.3f} to {high:.3f}" in paragraph(alpha, level=level)
        assert f"the {shown} intervals are score intervals" in paragraph(alpha, level=level)
        assert level_text(level) == shown

    def test_a_level_that_is_no_number(self, alpha):
        with pytest.raises(sa.SetagreeError, match=r"level='0\.9' must lie between 0 and 1"):
            paragraph(alpha, level="0.9")

    def test_an_interval_is_called_what_it_is(self, alpha):
        boot = sa.bootstrap(alpha, n_resamples=200, rng=3)
        low, high = boot.interval(0.9, method="BCa")
        assert f"90% BCa interval of 200 bootstrap resamples of the units is {low:.3f} to " in (
            paragraph(alpha, level=0.9, bootstrap=boot)
        )
        assert (low, high) != tuple(np.quantile(boot.distribution, [0.05, 0.95]))
        raters = sa.bootstrap(alpha, n_resamples=200, rng=3, over="both")
        low, high = np.quantile(raters.defined, [0.05, 0.95])
        text_ = paragraph(alpha, level=0.9, bootstrap=raters)
        assert "percentile interval of 200 bootstrap resamples of the units and raters, " in text_
        assert f"{raters.n_undefined} of them undefined and left out, is {low:.3f} to " in text_

    def test_no_bca(self):
        alpha = sa.krippendorff_alpha(annotations(text("a a / b b / a a / b a")))
        below = alpha.estimate - np.linspace(0.1, 0.2, 50)
        boot = Bootstrap(alpha, below, "units")
        assert math.isnan(boot.interval(method="BCa")[0])
        assert " percentile interval of 50 bootstrap resamples of the units" in paragraph(
            alpha, bootstrap=boot
        )
        # Where all are the same there is none at all.
        alike = sa.krippendorff_alpha(annotations(text("a a / b b / a a / b b")))
        boot = sa.bootstrap(alike, n_resamples=50, rng=3)
        assert "bootstrap" not in paragraph(alike, bootstrap=boot)

    def test_undefined_is_left_out(self):
        with pytest.warns(sa.UndefinedAgreementWarning):
            alpha = sa.krippendorff_alpha(annotations(text("a a / a a")))
        boot = sa.bootstrap(alpha, n_resamples=9, rng=1)
        test = sa.permutation_test(alpha, n_resamples=9, rng=1)
        said = paragraph(alpha, bootstrap=boot, test=test)
        assert "bootstrap" not in said
        assert "permutation" not in said
        assert "undefined, because" in said

    def test_of_another_coefficient(self, alpha):
        other = sa.krippendorff_alpha(alpha.study, distance="nominal")
        boot = sa.bootstrap(other, n_resamples=50, rng=3)
        test = sa.permutation_test(other, n_resamples=9, rng=3)
        with pytest.raises(sa.SetagreeError, match=r"bootstrap= is of <krip.*nominal"):
            paragraph(alpha, bootstrap=boot)
        with pytest.raises(sa.SetagreeError, match=r"test= is of <krip.*nominal"):
            paragraph(alpha, test=test)
        with pytest.raises(sa.SetagreeError, match="bootstrap= is "):
            paragraph(alpha, bootstrap=sa.bootstrap(sa.agreement(alpha.study), n_resamples=9))
        elsewhere = sa.krippendorff_alpha(sa.simulate(40, 3, rng=9))
        with pytest.raises(sa.SetagreeError, match="but reported is"):
            paragraph(alpha, test=sa.permutation_test(elsewhere, n_resamples=9, rng=3))

    def test_of_one_of_several(self, alpha):
        table = sa.agreement(alpha.study, distance=["masi", "nominal"])
        test = sa.permutation_test(table["fleiss_kappa", "nominal"], n_resamples=9, rng=3)
        boot = sa.bootstrap(table["fleiss_kappa", "nominal"], n_resamples=9, rng=3)
        said = paragraph(table, test=test, bootstrap=boot)
        assert "compared the estimate of Fleiss' kappa with nominal with 9 random" in said
        assert "interval of Fleiss' kappa with nominal of 9 bootstrap resamples" in said

    def test_a_distance_that_borrows_a_name(self, alpha):
        def masi(A, B):
            return float(A != B)

        own = sa.krippendorff_alpha(alpha.study, distance=masi)
        said = methods_text(own)
        assert "“masi” (defined by the authors)" in said
        assert "Passonneau" not in said
        assert "Passonneau" in methods_text(alpha)

    def test_distances_that_know_the_labels(self, alpha):
        tree = {alpha.study.labels[0]: "x"}
        for distance, source in (
            (sa.distances.taxonomy(tree, credit="lin"), "Lin, 1998"),
            (sa.distances.taxonomy(tree, credit="wu_palmer"), "Wu & Palmer, 1994"),
            (sa.distances.taxonomy(tree, label_weights="-log prevalence"), "Pesquita et al."),
        ):
            said, _, listed = methods_text(
                sa.krippendorff_alpha(alpha.study, distance=distance)
            ).partition("\n\n")
            assert f"“taxonomy” [{distance.formula}] ({source}" in said
            assert source.partition(",")[0].split(" ")[0] in listed


class TestReferences:
    def test_cited_and_listed_agree(self, alpha):
        test = sa.permutation_test(alpha, n_resamples=99, rng=1)
        said, _, listed = methods_text(alpha, test=test).partition("\n\n")
        keys = re.findall(r"\(([A-Z][\w &-]+?), (\d{4})\)", said)
        assert len(keys) == 4
        known = cited({f"{name} {year}" for name, year in keys})
        assert listed.splitlines() == [one.text for one in known]

    def test_the_order_is_alphabetical_and_each_once(self):
        table = sa.agreement(annotations(T1), distance=["masi", "jaccard", "nominal"])
        listed = methods_text(table).partition("\n\n")[2].splitlines()
        assert listed == sorted(set(listed))

    @pytest.mark.parametrize("key", sorted(REFERENCES))
    def test_keys_fit_the_references(self, key):
        author, year = key.rsplit(" ", 1)
        assert REFERENCES[key].text.startswith(author.split(" ")[0])
        assert f"({year})." in REFERENCES[key].text

    def test_every_name_is_known(self):
        sources = {name: one.source for name, one in COEFFICIENTS.items() if one.source}
        assert set(sources) == set(COEFFICIENTS) - {"percent_agreement"}
        distances = [get_distance(name) for name in sa.distances.distance_names()]
        assert all(one.formula for one in distances)
        used = {*sources.values(), *(one.source for one in distances if one.source)}
        assert used <= set(REFERENCES)

    @pytest.mark.parametrize("name", [n for n in COEFFICIENTS if n != "mv_alpha"])
    def test_every_coefficient_has_a_text(self, name):
        result = getattr(sa, name)(annotations(T2))
        assert f"= {result.estimate:.3f}" in paragraph(result)

    @pytest.mark.parametrize("name", sorted(sa.distances.distance_names()))
    def test_every_distance_has_a_text(self, name):
        rows = annotations(T2)
        if isinstance(get_distance(name), sa.distances.ScaleDistance):
            rows = annotations(numbers("1 2 / 2 2 / 3 3 / 5 4 / 1 1"))
        assert f"[{get_distance(name).formula}]" in paragraph(
            sa.krippendorff_alpha(rows, distance=name)
        )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"level": 1.5}, OptionError, "level=1.5 must lie between 0 and 1"),
    ],
)
def test_bad_options(alpha, options, error, words):
    with pytest.raises(error, match=re.escape(words)):
        methods_text(alpha, **options)


def test_nothing_to_report():
    with pytest.raises(DataError, match="cannot read answers of shape"):
        methods_text(np.zeros(3))
