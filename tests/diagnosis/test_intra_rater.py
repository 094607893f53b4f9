"""How far raters agree with themselves: repeats kept apart, by rater and pooled."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, SetagreeWarning

DATA = os.environ.get("SETAGREE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="SETAGREE_DATA names the folder of the data sets")

ROWS = [
    *[("ann", 1, "a"), ("ann", 1, "a"), ("ann", 2, "b"), ("ann", 2, "a, b"), ("ann", 3, "c")],
    *[("ben", 1, "a"), ("ben", 2, "c"), ("ben", 3, "c"), ("ben", 3, "c"), ("ben", 3, "a")],
]


@pytest.fixture
def study():
    """Return a study in which two raters rated units again, one of them three times."""
    return sa.Annotations.from_triples(ROWS, duplicates="repeats")


def test_repeats_are_kept_apart(study):
    first = sa.Annotations.from_triples(ROWS, duplicates="first")
    pd.testing.assert_frame_equal(study.to_long(), first.to_long())
    assert study.n_repeated == 4
    repeats = study.repeats.to_long()
    assert repeats["unit"].tolist() == [(1, "ann")] * 2 + [(2, "ann")] * 2 + [(3, "ben")] * 3
    assert repeats["rater"].tolist() == [
        *["answer 1", "answer 2"] * 2,
        *["answer 1", "answer 2", "answer 3"],
    ]


def test_pooled_and_by_rater_are_alphas_of_the_repeats(study):
    found = sa.intra_rater_agreement(study, distance="jaccard")
    table = pd.DataFrame(
        [["a", "a", None], ["b", "a, b", None], ["c", "c", "a"]], columns=["one", "two", "three"]
    )
    alpha = sa.krippendorff_alpha(sa.Annotations.from_wide(table), distance="jaccard")
    assert found.pooled.estimate == pytest.approx(alpha.estimate)
    assert found.pooled.standard_error == pytest.approx(alpha.standard_error)
    ann = sa.krippendorff_alpha(sa.Annotations.from_wide(table.iloc[:2]), distance="jaccard")
    frame = found.to_frame().set_index("rater")
    assert frame.loc["ann", "estimate"] == pytest.approx(ann.estimate)
    first = sa.Annotations.from_triples(ROWS, duplicates="first")
    between = sa.krippendorff_alpha(first, distance="jaccard")
    assert found.between.estimate == pytest.approx(between.estimate)


def test_repeats_of_one_unit_are_a_cluster():
    hard = np.random.default_rng(1).random(30) < 0.5
    rows = [
        (rater, k, "ab"[(k + (hard[k] and again)) % 2])
        for k in range(30)
        for rater in ("ann", "ben", "cem", "eva")
        for again in (0, 1)
    ]
    study = sa.Annotations.from_triples(rows, duplicates="repeats")
    found = sa.intra_rater_agreement(study)
    by_unit = study.repeats.sampled(cluster={one: one[0] for one in study.repeats.units})
    clustered = sa.krippendorff_alpha(by_unit)
    assert found.pooled.estimate == clustered.estimate
    assert found.pooled.interval(method="score") == clustered.interval(method="score")
    low, high = found.pooled.interval(method="score")
    one = dict(found.by_rater)["ann"]  # a rater has each unit once
    assert one.interval() == pytest.approx(
        sa.krippendorff_alpha(
            study.repeats.take(np.isin(study.repeats.unit_codes, range(0, 120, 4)))
        ).interval()
    )
    alone = sa.krippendorff_alpha(study.repeats).interval(method="score")
    assert high - low > 1.5 * (alone[1] - alone[0])


@pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
def test_repeats_keep_the_clusters_of_the_study():
    rows = [
        (rater, k, "ab"[(k + (k // 6 % 2 and again)) % 2])
        for k in range(60)
        for rater in ("ann", "ben")
        for again in (0, 1)
    ]
    study = sa.Annotations.from_triples(rows, duplicates="repeats")
    found = sa.intra_rater_agreement(study.sampled(cluster={k: k // 6 for k in range(60)}))
    documents = study.repeats.sampled(cluster={one: one[0] // 6 for one in study.repeats.units})
    expected = sa.krippendorff_alpha(documents).interval(method="score")
    assert found.pooled.interval(method="score") == expected
    plain = sa.intra_rater_agreement(study).pooled.interval(method="score")
    assert expected[1] - expected[0] > 1.5 * (plain[1] - plain[0])
    weighted = study.sampled(sampling_weight={k: 1 + k % 3 for k in range(60)})
    with pytest.warns(SetagreeWarning, match="sampling_weight= is ignored"):
        assert sa.intra_rater_agreement(weighted).verdict == sa.intra_rater_agreement(study).verdict


def test_the_verdict_follows_from_the_intervals():
    own = {"ann": "ab", "ben": "ba"}
    rows = [(rater, k, own[rater][k % 2]) for k in range(40) for rater in own for _ in range(2)]
    alike = sa.intra_rater_agreement(sa.Annotations.from_triples(rows, duplicates="repeats"))
    assert alike.pooled.estimate == 1
    assert "show more agreement with themselves than with others" in alike.verdict
    few = sa.Annotations.from_triples(ROWS, duplicates="repeats")
    assert "They are not compared: " in sa.intra_rater_agreement(few).verdict


def test_both_intervals_count():
    first = sa.simulate(40, 3, skill=0.97, rng=1).to_triples()
    later = sa.simulate(40, 3, skill=0.8, rng=1).to_triples()
    study = sa.Annotations.from_triples([*first, *later], duplicates="repeats")
    found = sa.intra_rater_agreement(study)
    own, between = (one.interval() for one in (found.pooled, found.between))
    assert between[0] < own[1] < found.between.estimate
    assert "The two are not distinguishable" in found.verdict
    assert f"({between[0]:.4f}".removeprefix("(") in found.verdict


def test_a_table_is_read_with_its_repeats():
    table = pd.DataFrame(ROWS, columns=["rater", "unit", "labels"])
    found = sa.intra_rater_agreement(table)
    assert "3 answers repeated" in repr(found)
    assert "and with one another " in found.verdict
    assert found.verdict.count("(no interval") == 2
    assert ". They are not compared: too few rarer answers for an interval" in found.verdict


def test_a_study_without_repeats_is_refused(study):
    plain = sa.Annotations.from_triples([("ann", 1, "a"), ("ben", 1, "a")])
    for one in (plain, study.take(slice(None)), sa.Tally.from_annotations(plain)):
        with pytest.raises(DataError, match="duplicates='repeats'"):
            sa.intra_rater_agreement(one)


def test_repeats_that_stop_a_table_offer_it():
    with pytest.raises(DataError, match="'repeats' compares raters with themselves"):
        sa.Annotations.from_triples(ROWS)


@needs_data
def test_convabuse_knows_its_repeats():
    table = pd.read_csv(Path(DATA) / "convabuse.csv", dtype=str, keep_default_na=False)
    marked = table[table["repeat"].astype(int) > 0]
    study = sa.Annotations.from_long(table, blank="empty", duplicates="repeats")
    assert study.n_repeated == len(marked)
    pairs = {(unit, rater) for unit, rater in study.repeats.units}
    assert pairs == {*zip(marked["unit"], marked["rater"], strict=True)}
    found = sa.intra_rater_agreement(study)
    assert 0 < found.between.estimate < found.pooled.estimate
