"""Studies of answers with degrees: every coefficient, and whatever else takes a distance."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import T1
from small_studies import annotations

import setagree as sa
from setagree.errors import DataError, DegreesWarning, DistanceError, OptionError
from setagree.large.joining import with_models
from setagree.wording.label_sets import Degrees

QUARTERS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 6), max_size=3)
ANSWERS = QUARTERS.map(lambda one: Degrees({label: n / 4 for label, n in one.items()}))
STUDIES = st.lists(
    st.lists(st.none() | ANSWERS, min_size=3, max_size=3), min_size=2, max_size=6
).filter(lambda rows: any(one is not None for row in rows for one in row))


def exact(A, B):
    """Return the degrees of both answers label by label, as exact fractions."""
    return [[Fraction(each.degrees.get(label, 0)) for each in (A, B)] for label in A | B]


def ruzicka(A, B):
    """1 - sum min / sum max."""
    pairs = exact(A, B)
    return 1 - sum(map(min, pairs)) / sum(map(max, pairs)) if pairs else 0


def manhattan(A, B):
    return sum(abs(a - b) for a, b in exact(A, B))


def study_of(seed=1, n_units=20, n_raters=4):
    """Return a study in which raters give two of four labels a degree near that of the unit."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(n_units):
        truth = {
            label: int(rng.integers(1, 5)) for label in rng.choice([*"abcd"], 2, replace=False)
        }
        for rater in range(n_raters):
            for label, degree in truth.items():
                said = min(4, max(0, degree + int(rng.integers(-1, 2))))
                rows.append((unit, f"r{rater}", label, said / 4))
    table = pd.DataFrame(rows, columns=["unit", "rater", "labels", "degree"])
    return sa.Annotations.from_long(table.assign(half=table["unit"] % 2), degree="degree",
                                    unit_columns=["half"])  # fmt: skip


STUDY = study_of()


@pytest.mark.slow
@pytest.mark.parametrize("distance", [ruzicka, manhattan])
@settings(max_examples=15)
@given(rows=STUDIES)
def test_equal_the_reference(distance, rows):
    name = distance.__name__
    d_max = reference.largest(reference.values_of(rows), distance, name)
    for coefficient in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
        expected = reference.COEFFICIENTS[coefficient](rows, distance, d_max)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            actual = getattr(sa, coefficient)(annotations(rows), distance=name)
        if expected is None or reference.is_lone(rows, coefficient):
            assert np.isnan(actual.estimate)
        else:
            assert actual.estimate == pytest.approx(float(expected.estimate), abs=1e-9)
            assert actual.observed_agreement == pytest.approx(float(expected.pa), abs=1e-9)
            assert actual.expected_agreement == pytest.approx(float(expected.pe), abs=1e-9)


def test_label_sets_are_the_special_case():
    study = annotations(T1)
    for degrees, sets in (("ruzicka", "jaccard"), ("manhattan", "hamming")):
        for coefficient in (sa.krippendorff_alpha, sa.conger_kappa, sa.mv_alpha):
            one, other = (coefficient(study, distance=name) for name in (degrees, sets))
            assert one.distance == degrees
            assert one.estimate == other.estimate
        scores = [sa.score_against_panel(study, distance=name).table for name in (degrees, sets)]
        pd.testing.assert_frame_equal(*scores)
    ones = study.with_answers(Degrees.of)
    assert sa.krippendorff_alpha(ones).distance == "ruzicka"
    assert sa.krippendorff_alpha(ones) == sa.krippendorff_alpha(study, distance="ruzicka")
    with pytest.raises(DistanceError, match="mv_alpha requires a distance of"):
        sa.mv_alpha(ones, distance="ruzicka")


def test_the_default_and_what_a_function_gets():
    assert [row.distance for row in sa.agreement(STUDY)] == ["ruzicka"] * 2
    assert {"b 0.75", "a 0.75, b 0.25"} & {*sa.weights(STUDY).to_frame().index}
    own = sa.krippendorff_alpha(STUDY, distance=lambda A, B: float(ruzicka(A, B)))
    assert own.estimate == pytest.approx(sa.krippendorff_alpha(STUDY).estimate, abs=1e-12)
    # What looks at labels alone sees which ones were given.
    plain = STUDY.with_answers(frozenset)
    said = (
        r"a comparison by (masi|jaccard), unlike one by ruzicka, uses only which labels were given"
    )
    for name in ("masi", "jaccard"):
        with pytest.warns(DegreesWarning, match=said):
            both = [sa.krippendorff_alpha(one, distance=name).estimate for one in (STUDY, plain)]
        assert both[0] == pytest.approx(both[1], abs=1e-12)
    with warnings.catch_warnings():  # beside one that looks at degrees, that is the question
        warnings.simplefilter("error", DegreesWarning)
        sa.krippendorff_alpha(plain, distance="masi")
        sa.agreement(STUDY, distance=["masi", "ruzicka"])
    with pytest.warns(DegreesWarning, match="by masi and dice, unlike"):
        sa.agreement(STUDY, distance=["masi", "dice"])
    alike = sa.distances.transport(lambda x, y: float(x != y))
    both = [sa.krippendorff_alpha(one, distance=alike).estimate for one in (STUDY, plain)]
    assert both[0] == pytest.approx(both[1], abs=1e-12)
    columns = ["label", "n_ratings", "share_of_disagreement"]
    with pytest.warns(DegreesWarning, match="by_label uses only which labels were given"):
        labels = [sa.by_label(one)[columns] for one in (STUDY, plain)]
    pd.testing.assert_frame_equal(*labels)


@pytest.mark.parametrize("name", ["by_label", "confusions", "crowdtruth", "next_ratings"])
def test_what_does_not_look_at_degrees_says_so(name):
    options = {"next_ratings": {"budget": 1}}.get(name, {})
    apart = [("ann", {"a": 0.9, "b": 0.1}), ("bob", {"a": 0.1, "b": 0.9})]
    study = sa.Annotations.from_triples(
        [(who, unit, Degrees(one)) for unit in range(3) for who, one in apart]
    )
    with pytest.warns(DegreesWarning, match=f"{name} uses only which labels were given, with any"):
        getattr(sa, name)(study, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegreesWarning)
        getattr(sa, name)(study.with_answers(frozenset), **options)
        sa.next_ratings(study, budget=1, goal="agreement")


def test_the_report_says_where_degrees_do_not_count(tmp_path):
    text = sa.report(STUDY, tmp_path / "a.md", n_resamples=19, rng=1).read_text(encoding="utf-8")
    assert "Degrees do not count for these shares." in text
    assert "Any degree above 0 is a yes." in text
    assert "Degrees do not count: a pair of answers with the same labels" in text
    assert "its degree is unknown" not in text
    judged = sa.report(STUDY, tmp_path / "b.md", model="r3", n_resamples=19, rng=1)
    page = judged.read_text(encoding="utf-8")
    assert "Jaccard and F1 use the labels without their degrees" in page


def test_everything_that_takes_a_distance(tmp_path):
    alpha = sa.krippendorff_alpha(STUDY)
    assert 0.2 < alpha.estimate < 0.9
    assert sa.bootstrap(alpha, n_resamples=99, rng=1).standard_error > 0
    assert sa.jackknife(alpha).standard_error == pytest.approx(alpha.standard_error, rel=0.2)
    assert sa.permutation_test(alpha, n_resamples=99, rng=1).p_value == 0.01
    other = sa.krippendorff_alpha(STUDY, distance="manhattan")
    assert sa.compare(alpha, other).difference == alpha.estimate - other.estimate
    assert sa.krippendorff_alpha(sa.Tally.from_annotations(STUDY)).estimate == alpha.estimate
    assert len(sa.by_rater(STUDY)) == 4
    assert len(sa.by_pair(STUDY)) == 6
    assert len(sa.by_unit(STUDY)) == 20
    assert len(sa.by_group(STUDY, by="half")) == 2
    assert sa.ks_statistic(STUDY, n_resamples=19, rng=1).estimate > 0
    assert sa.rater_map(STUDY, n_resamples=19, rng=1).distance == "ruzicka"
    assert sa.variance_components(STUDY).distance == "ruzicka"
    assert len(sa.alt_test(STUDY, model="r3", min_units=5).to_frame())
    text = sa.report(STUDY, tmp_path / "a.md", n_resamples=19, rng=1).read_text(encoding="utf-8")
    assert "Distinct degrees" in text
    assert "each answer being a set of labels, each with its degree" in sa.methods_text(alpha)


def test_one_answer_from_several():
    study = sa.Annotations.from_triples([
        ("ann", 1, Degrees({"a": 0.75})), ("bob", 1, Degrees({"a": 0.75})),
        ("cem", 1, Degrees({"a": 0.25})), ("ann", 2, "b"), ("bob", 2, "b"),
    ])  # fmt: skip
    agreed = sa.consensus(study)
    assert (agreed.method, agreed.answers[1]) == ("medoid", Degrees({"a": 0.75}))
    for method in ("label_majority", "dawid_skene"):
        with pytest.raises(DataError, match=f"{method}' decides which labels apply; these labels"):
            sa.consensus(study, method=method)
    # The same label with another degree is not the same answer.
    with pytest.warns(DegreesWarning, match="except for the column exact, uses only which labels"):
        scores = sa.score_against_consensus(study).table.loc["cem"]
    assert (scores["exact"], scores["jaccard"]) == (0.0, 1.0)


def test_merges_have_no_degree():
    tried = sa.what_if(STUDY)
    assert set(tried["action"]) == {"as it is", "drop label", "drop rater"}
    kept = sa.Annotations.from_triples(
        [(rater, unit, answer - {"a"}) for rater, unit, answer in STUDY.to_triples()]
    )
    dropped = sa.what_if(STUDY, exclude_labels=["a"]).set_index("action").loc["drop label"]
    assert dropped["estimate"] == pytest.approx(sa.krippendorff_alpha(kept).estimate, abs=1e-12)
    for call in (
        lambda: sa.what_if(STUDY, merge=[["a", "b"]]),
        lambda: sa.what_if(STUDY, parents={"a": "x"}),
        lambda: sa.by_depth(STUDY, parents={"a": "x"}),
    ):
        with pytest.raises(DataError, match="a merge makes one label of several, and its degree"):
            call()


def test_a_model_with_or_without_degrees():
    human = pd.DataFrame(
        [(u, r, "joy", d) for u in "xy" for r, d in (("ann", 0.5), ("bob", 1))],
        columns=["unit", "rater", "labels", "sure"],
    )
    study = sa.read(human, degree="sure")
    model = pd.DataFrame({"unit": ["x", "y"], "labels": "joy"})
    for table, said in ((model, 1.0), (model.assign(sure=0.5), 0.5)):
        joined, _ = with_models(study, [table])
        answers = {u: one for r, u, one in joined.to_triples() if r == "model"}
        assert [dict(one.degrees) for one in answers.values()] == [{"joy": said}] * 2


def test_no_engine_reduces_degrees(tmp_path):
    pd.DataFrame({"unit": [1], "rater": [1], "labels": ["a"], "d": [1]}).to_csv(tmp_path / "a.csv")
    from setagree.large.opening import open_study
    from setagree.study.reading import Plan, Reading

    with pytest.raises(OptionError, match="degree= is for files that are read into memory"):
        open_study(tmp_path / "a.csv", Reading(degree="d"), Plan(memory_limit="1GB"))
