"""Every output says that an interval is rough, or why there is none."""

import numpy as np
import pytest

import setagree as sa
from setagree.reporting.findings import gather
from setagree.reporting.report import rendered
from setagree.wording.sentences import Name


def of_rows(rows):
    return sa.Annotations.from_triples(
        [(f"r{g}", u, a) for u, row in enumerate(rows) for g, a in enumerate(row)]
    )


def rare():
    """40 units of six raters, of which nine hold a rarer answer: 4.5 units in weight."""
    rows = np.full((40, 6), "a", dtype=object)
    for u in range(9):
        rows[u, [*range(1 + u % 3), 3]] = "b"
    return of_rows(rows.tolist()), {}


def few_clusters():
    study = sa.simulate(60, 3, rng=2)
    return study.sampled(cluster={unit: k // 15 for k, unit in enumerate(study.units)}), {}


def squared():
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(18, 1)) + 0.7 * rng.normal(size=(18, 3))).round(2)
    triples = [(f"r{g}", u, x[u, g]) for u in range(18) for g in range(3)]
    return sa.Annotations.from_triples(triples, kind="value"), {"distance": "interval"}


def too_rare():
    return of_rows([*[["a", "a", "a"]] * 19, ["a", "b", "a"]]), {}


CASES = {
    rare: "The interval is rough: all answers except the commonest weigh as much as 4.5 units",
    few_clusters: "The interval and p are rough: there are 4 clusters",
    squared: "The interval is rough: with squared distances 18 units are few",
    too_rare: "oo few rarer answers for an interval or a p-value",
}


@pytest.fixture(params=CASES.items(), ids=lambda case: case[0].__name__)
def case(request):
    make, text = request.param
    study, options = make()
    return sa.krippendorff_alpha(study, **options), options, text


@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
class TestNothingIsSilent:
    def test_results(self, case):
        alpha, _, text = case
        other = sa.krippendorff_alpha(alpha.study, distance="nominal")
        results = alpha, sa.at_least(alpha, 0.3), sa.benchmark(alpha), sa.compare(alpha, other)
        for result in results:
            for shown in (repr(result), str(result), result._repr_html_(), result.to_json()):
                assert text in " ".join(shown.split()), shown

    def test_frames(self, case):
        alpha, options, text = case
        study, halves = alpha.study, dict.fromkeys(alpha.study.units, 0)
        frames = [
            sa.by_pair(study, **options),
            sa.by_rater(study, **options),
            sa.by_group(study, halves, n_resamples=9, rng=1, **options),
            sa.over_time(study, halves, window=1, **options),
            sa.what_if(study, **options),
        ]
        frames += [] if study.kind == "number" else [sa.by_label(study)]
        for frame in frames:
            told = frame["remark"].fillna(frame["reason"])
            assert told[frame["reason"].notna() | frame.get("low", frame["reason"]).notna()].all()
        assert text in str(frames[2]["remark"].fillna(frames[2]["reason"])[0])

    def test_report(self, case):
        alpha, options, text = case
        page = rendered(gather(alpha.study, n_resamples=9, rng=1, **options), Name("x"), "markdown")
        assert text in " ".join(page.split())


def test_many_pairs_are_scored_together():
    """Of 21 raters there are 210 pairs, with t intervals: rough below 8 units, here 5."""
    rows = [["b" if u < 10 and g % 2 else "a" for g in range(21)] for u in range(20)]
    pairs = sa.by_pair(of_rows(rows))
    remarks = pairs.loc[pairs["low"].notna(), "remark"]
    assert remarks.str.startswith("The interval is rough: all answers except").all()
    assert len(remarks)


@pytest.mark.parametrize(("n_apart", "is_rough"), [(23, True), (24, False)])
def test_few_units_disagree_because_of_a_rater(n_apart, is_rough):
    """Three raters rate all 60 units: a third of those that disagree, 23 / 3 or 24 / 3, is due."""
    rows = [["ab"[(u % 2) ^ (u < n_apart and u % 3 == g)] for g in range(3)] for u in range(60)]
    raters = sa.by_rater(of_rows(rows))
    assert raters["difference_low"].notna().all()
    due = "The interval is rough: if raters were alike, fewer than 8 units would disagree"
    assert [str(one).startswith(due) for one in raters["remark"]] == [is_rough] * 3
    assert raters["remark"].notna().all() == is_rough
