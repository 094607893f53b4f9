"""Groups of raters: agreement inside and between them, and raters dealt to groups anew."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from small_studies import annotations, random_rows, sets_of

import setagree as sa
from setagree.distances import masi
from setagree.errors import DataError
from setagree.reporting.findings import gather, main_findings, sections
from setagree.wording.number_format import number
from setagree.wording.sentences import plain


def two_camps(sizes=(3, 3), *, units=60, own=0.6, seed=1):
    """Return a long table: raters of a group often repeat the answer of their group, not another's.

    A rater gives the answer of the group in a share `own` of the units, else any.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(units):
        for group, size in zip("xyz", sizes, strict=False):
            common = rng.choice(list("abcd"))
            for k in range(size):
                answer = common if rng.random() < own else rng.choice(list("abcd"))
                rows.append((f"u{unit}", f"{group}{k}", answer, group))
    return pd.DataFrame(rows, columns=["unit", "rater", "labels", "panel"])


def gap(table, group_of):
    """Return mean distance between groups less that inside them by loops, pairs by 1 / (r - 1)."""
    sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
    for _, unit in table.groupby("unit"):
        answers = [*zip(unit["rater"], map(sa.parse_labels, unit["labels"]), strict=True)]
        for (g, a), (h, b) in itertools.combinations(answers, 2):
            side = sums[group_of[g] == group_of[h]]
            side[0] += masi(a, b) / (len(answers) - 1)
            side[1] += 1 / (len(answers) - 1)
    return sums[False][0] / sums[False][1] - sums[True][0] / sums[True][1]


class TestWhatIsCompared:
    def test_constant_in_raters(self):
        frame = sa.by_group(two_camps(), "panel", rng=1)
        assert frame["compares"].tolist() == ["raters", "raters"]
        of_units = ["difference", "difference_standard_error", "difference_p_value"]
        assert frame[[*of_units, "homogeneity_p_value"]].isna().all(axis=None)

    def test_constant_in_units(self):
        table = two_camps()
        table["panel"] = (table["unit"] < "u3").map({True: "old", False: "new"})
        frame = sa.by_group(table, "panel")
        assert set(frame["compares"]) == {"units"}
        assert frame["between"].isna().all()
        assert frame["homogeneity_p_value"].notna().all()

    def test_constant_in_both(self):
        table = two_camps()
        table["unit"] = table["unit"] + table["panel"]
        frame = sa.by_group(table, "panel", rng=1)
        assert set(frame["compares"]) == {"units and raters"}
        assert frame["homogeneity_p_value"].notna().all()
        study = sa.Annotations.from_long(table)
        by_unit = sa.by_group(study, {unit: unit[-1] for unit in study.units}, rng=1)
        pd.testing.assert_frame_equal(by_unit, frame)
        by_rater = sa.by_group(study, {rater: rater[0] for rater in study.raters}, rng=1)
        pd.testing.assert_frame_equal(by_rater, frame)

    def test_constant_in_neither(self):
        table = two_camps()
        table.loc[0, "panel"] = "y"
        assert set(sa.by_group(table, "panel")["compares"]) == {"units"}

    def test_every_road(self):
        table = two_camps()
        frame = sa.by_group(table, "panel", rng=3)
        study = sa.Annotations.from_long(table[["unit", "rater", "labels"]])
        group_of = {rater: rater[0] for rater in study.raters}
        for by in (group_of, pd.Series(group_of)):
            pd.testing.assert_frame_equal(sa.by_group(study, by, rng=3), frame)

    def test_refusals(self):
        """Raters without a group, and groups nearly as many as raters, are sentences."""
        study = sa.Annotations.from_long(two_camps()[["unit", "rater", "labels"]])
        with pytest.raises(DataError, match="the raters 'x0' have no group"):
            sa.by_group(study, {rater: None if rater == "x0" else 1 for rater in study.raters})
        with pytest.raises(DataError, match="the raters 'x0' have no group"):
            sa.by_group(study, {rater: 1 for rater in study.raters if rater != "x0"})
        many = annotations(
            random_rows(np.random.default_rng(1), sets_of("ab"), units=40, raters=30)
        )
        with pytest.raises(DataError, match="30 groups of 30 raters, which are too few"):
            sa.by_group(many, {rater: rater for rater in many.raters})


class TestInsideAndBetween:
    def test_equal_to_the_library(self):
        table = two_camps((3, 2))
        study = sa.Annotations.from_long(table[["unit", "rater", "labels"]])
        frame = sa.by_group(table, "panel", n_resamples=200, rng=5, level=0.9).set_index("group")
        panels = {g: [r for r in study.raters if r[0] == g] for g in "xy"}
        found = sa.cross_replication(study, panels=panels, n_resamples=200, rng=5)
        for group, others in (("x", "y"), ("y", "x")):
            alone = sa.krippendorff_alpha(study.exclude_raters(panels[others]))
            row = frame.loc[group]
            assert row["estimate"] == pytest.approx(alone.estimate, abs=1e-12)
            assert (row["low"], row["high"]) == pytest.approx(alone.interval(0.9))
            assert row["between"] == found.estimate
            assert (row["between_low"], row["between_high"]) == found.interval(0.9)
            assert row["normalised"] == pytest.approx(found.normalised)
            side = "xy".index(group)
            assert row["in_group_cohesion"] == found.alphas[side]
            index, low, high = found.association(side, 0.9)
            assert index == pytest.approx(found.alphas[side] / found.estimate)
            assert low < index < high
            names = ("index", "low", "high")
            ends = [row[f"group_association_{name}"] for name in names]
            assert ends == [index, low, high]
            assert row["n_shared_units"] == found.n_units == 60

    def test_three_groups(self):
        table = two_camps((2, 2, 2))
        study = sa.Annotations.from_long(table[["unit", "rater", "labels"]])
        frame = sa.by_group(table, "panel", n_resamples=50, rng=1).set_index("group")
        for group in "xyz":
            panels = {group: [rater for rater in study.raters if rater[0] == group]}
            found = sa.cross_replication(study, panels=panels, n_resamples=50, rng=1)
            assert frame.loc[group, "between"] == found.estimate

    def test_panels_that_share_no_unit_but_one_group(self):
        table = two_camps((2, 1, 2))
        apart = table["panel"] == "z"
        table.loc[apart, "unit"] = "only" + table.loc[apart, "unit"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = sa.by_group(table, "panel", n_resamples=20, rng=1).set_index("group")
        assert np.isnan(frame.loc["z", "between"])
        assert frame.loc["z", "n_shared_units"] == 0
        assert np.isnan(frame.loc["y", "estimate"])
        assert frame.loc["y", "reason"]
        assert frame.loc["x", "between"] < 0.3

    def test_the_seed_decides(self):
        one, two = (sa.by_group(two_camps((6, 6)), "panel", rng=7, n_resamples=99) for _ in "ab")
        pd.testing.assert_frame_equal(one, two)


class TestWords:
    def said(self, table, **options):
        study = sa.Annotations.from_long(table[["unit", "rater", "labels"]])
        groups = sa.by_group(table, "panel", rng=1, **options)
        f = gather(study, groups=groups, n_resamples=19, rng=1)
        return plain(next(one.sentence for one in main_findings(f) if one.about == "Groups"))

    def test_camps(self):
        """Panels that agree inside and not between are said to, with all numbers and the test."""
        table = two_camps((8, 8))
        frame = sa.by_group(table, "panel", rng=1)
        said = self.said(table)
        assert said.startswith("These are groups of raters. Agreement inside “x” (0.")
        low, high = map(number, frame.loc[0, ["between_low", "between_high"]])
        assert f"between the two {number(frame['between'][0])} (kappa_x, " in said
        assert f"interval {low} to {high})" in said
        low, high = map(number, frame.loc[0, ["normalised_low", "normalised_high"]])
        divided = f"is {number(frame['normalised'][0])} ({low} to {high})."
        assert f"Divided by the root of both agreements inside them it {divided}" in said
        assert "The groups differ more than groups of raters formed at random (p = 0.0" in said

    def test_camps_of_few_raters(self):
        """Three against three cannot be tested by permutation.

        Four against four have 35 divisions: the least p, 1/35, does not hold beside other claims.
        """
        said = self.said(two_camps((3, 3)))
        assert "Whether the groups of raters differ cannot be tested: so few raters" in said
        table = two_camps((4, 4))
        assert sa.by_group(table, "panel", rng=1)["permutation_p_value"][0] == 1 / 35
        assert "not distinguishable from groups of raters formed at random" in self.said(table)

    def test_no_clusters(self):
        table = two_camps((8,), own=0.7)
        table["panel"] = table["rater"].str[-1].astype(int) % 2
        assert self.said(table).endswith(
            "The groups are not distinguishable from groups of raters formed at random (p = 1.000)."
        )

    def test_three_groups(self):
        said = self.said(two_camps((3, 3, 3)), n_resamples=99)
        assert re.search("“x” .* “y” .* and “z” .*; it is lowest between “.” and all others", said)

    def test_batches_with_raters_of_their_own(self):
        table = two_camps()
        table["unit"] = table["unit"] + table["panel"]
        said = self.said(table)
        assert said.endswith(
            "Each group has its own raters, so that differences between units and between raters "
            "cannot be separated."
        )

    def test_the_section(self):
        """The table has the agreement with all other raters, where that of units has a rest."""
        study = sa.Annotations.from_long(two_camps()[["unit", "rater", "labels"]])
        groups = {rater: rater[0] for rater in study.raters}
        f = gather(study, groups=groups, n_resamples=19, rng=1)
        section = next(one for one in sections(f) if one.id == "groups")
        assert section.title == "Groups of raters"
        heads = [column.heading() for column in section.table.columns]
        assert "With all other raters" in heads
        assert "Against the rest" not in heads


class TestDealing:
    def test_all_dealings_by_loops(self):
        table = two_camps((4, 3), units=12, own=0.3, seed=4)
        raters = sorted(set(table["rater"]))
        observed = gap(table, {rater: rater[0] for rater in raters})
        gaps = [
            gap(table, {rater: rater in chosen for rater in raters})
            for chosen in itertools.combinations(raters, 4)
        ]
        expected = np.mean(np.array(gaps) >= observed - 1e-12)
        frame = sa.by_group(table, "panel", distance="masi")
        assert frame["permutation_p_value"].tolist() == pytest.approx([expected] * 2)
        assert 1 / 35 < expected < 1
        assert frame["no_test"].isna().all()

    @pytest.mark.parametrize("unit", [1e-13, 1e8])
    def test_the_unit_of_distances_is_all_one(self, unit):
        answers = np.random.default_rng(0).integers(1, 8, (6, 8))
        rows = [(f"r{r}", u, int(answers[u, r])) for u in range(6) for r in range(8)]
        study = sa.Annotations.from_triples(rows, kind="value")
        groups = {rater: k < 4 for k, rater in enumerate(study.raters)}
        p = [
            sa.by_group(
                study,
                groups,
                distance=sa.CallableDistance(
                    lambda x, y, unit=unit: unit * abs(x - y) ** 0.5, bounded=False
                ),
                n_resamples=99,
                rng=1,
            )["permutation_p_value"][0]
            for unit in (1.0, unit)
        ]
        assert p[0] == p[1] == pytest.approx(8 / 70)

    @pytest.mark.parametrize("sizes", [(4, 4), (4, 3)])
    def test_camps_are_found(self, sizes):
        """Groups that agree inside and not between have the least p there is: 2 of 70, 1 of 35."""
        frame = sa.by_group(two_camps(sizes), "panel")
        assert frame["permutation_p_value"][0] == pytest.approx(1 / 35)

    def test_drawn_dealings(self):
        frame = sa.by_group(two_camps((8, 8)), "panel", n_resamples=199, rng=1)
        assert frame["permutation_p_value"][0] == 1 / 200

    @pytest.mark.slow
    def test_it_holds_its_level(self):
        rejected = 0
        for seed in range(60):
            study = sa.simulate(25, 8, rng=seed)
            groups = {rater: k % 2 for k, rater in enumerate(study.raters)}
            frame = sa.by_group(study, groups, n_resamples=99, rng=seed)
            rejected += frame["permutation_p_value"][0] <= 0.05
        # A binomial of 60 and 0.05 exceeds 9 once in 1,300.
        assert rejected <= 9

    @pytest.mark.parametrize(
        ("sizes", "ways"), [((3, 3), 10), ((2, 1), 3), ((2, 2, 2), 15), ((1, 1), 1)]
    )
    def test_too_few_raters(self, sizes, ways):
        """Where p cannot reach 0.05 there is none, and the reason names the number of ways."""
        frame = sa.by_group(two_camps(sizes, units=20), "panel", n_resamples=20, rng=1)
        assert frame["permutation_p_value"].isna().all()
        why = frame["no_test"][0]
        if ways > 1:
            assert f"in only {ways} ways, so that p cannot be below {1 / ways:.2g}" in why
        else:
            assert "no two raters of one group share a unit" in why
