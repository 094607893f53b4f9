"""Inference on labelled spans: documents are drawn, left out and planned."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import spans_support as spans

import setagree as sa
from setagree.errors import OptionError

pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")

COEFFICIENTS = ["krippendorff_alpha", "fleiss_kappa", "conger_kappa", "percent_agreement"]


def study_of(names, chance="documents"):
    """Return V2 with these of its documents, each time as another one."""
    rows = spans.rows(spans.V2)
    parts = [
        rows[rows["document"] == name].assign(document=f"{name}{k}") for k, name in enumerate(names)
    ]
    lengths = {f"{name}{k}": spans.V2["lengths"][name] for k, name in enumerate(names)}
    done = [
        (f"{name}{k}", rater)
        for k, name in enumerate(names)
        for document, rater in spans.done(spans.V2)
        if document == name
    ]
    return sa.Annotations.from_spans(pd.concat(parts), length=lengths, done=done, chance=chance)


@pytest.mark.parametrize("chance", ["documents", "characters"])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_resamples_are_studies_of_documents(name, chance):
    """A document that is drawn twice counts as two documents."""
    documents, score = ["x", "y", "w"], getattr(sa, name)
    found = sa.bootstrap(score(study_of(documents, chance)), n_resamples=400, rng=1)
    drawn = itertools.combinations_with_replacement(documents, 3)
    possible = {round(score(study_of(one, chance)).estimate, 9) for one in drawn}
    assert {*np.round(found.distribution, 9).tolist()} == possible


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_documents_are_left_out(name):
    documents, score = [*spans.V2["lengths"]], getattr(sa, name)
    found = sa.jackknife(score(study_of(documents)))
    assert found.over == "clusters"
    for document, without in found.values.items():
        rest = study_of([one for one in documents if one != document[0]])
        assert without == pytest.approx(score(rest).estimate, abs=1e-12)


@pytest.mark.parametrize("chance", ["documents", "characters"])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_raters_are_left_out(name, chance):
    """Each estimate is that of the study of the other raters."""
    study, score = study_of([*spans.V2["lengths"]], chance), getattr(sa, name)
    found = sa.jackknife(score(study, distance="nominal"), over="raters").values
    expected = {g: score(study.exclude_raters([g]), distance="nominal") for g in study.raters}
    assert found.to_dict() == pytest.approx(
        {g: one.estimate for g, one in expected.items()}, abs=1e-12, nan_ok=True
    )


def test_differences_are_bootstrapped_over_documents():
    documents = ["x", "y", "w"]
    score = sa.krippendorff_alpha
    table = sa.agreement(study_of(documents), distance=["masi", "nominal"], coefficient=score)
    found = sa.compare(table, method="bootstrap", n_resamples=400, rng=1)
    possible = set()
    for drawn in itertools.combinations_with_replacement(documents, 3):
        one, other = (score(study_of(drawn), distance=name) for name in ("masi", "nominal"))
        possible.add(round(one.estimate - other.estimate, 9))
    assert {*np.round(found.differences[0].resampled, 9).tolist()} == possible


def test_plans_count_documents():
    alpha = sa.krippendorff_alpha(study_of(["x", "y", "w", "x", "y", "w"]))
    frame = sa.plan(alpha, sa.PlanGoals(n_units=[6, 24])).frame
    error, df = alpha.standard_error, alpha.degrees_of_freedom
    assert frame["standard_error"].tolist() == pytest.approx([error, error / 2])
    # of 6 documents with the lengths of the pilot
    assert frame["degrees_of_freedom"][0] == pytest.approx(df)
    assert frame["half_width"][0] == pytest.approx(error * scipy.stats.t.ppf(0.975, df))
    assert frame["n_additional_units"].tolist() == [0, 18]
    printed = str(sa.plan(alpha, sa.PlanGoals(half_width=0.1)))
    assert "units: documents, of the lengths of the 6 documents of the pilot" in printed
    with pytest.raises(OptionError, match="a plan counts documents"):
        sa.plan(alpha, units_per_cluster=[5])


def test_a_required_value_is_tested_by_fieller(recwarn):
    alpha = sa.krippendorff_alpha(study_of(["x", "y", "w", "x", "y", "w"]))
    found = sa.at_least(alpha, 0.1)
    assert not [one for one in recwarn if "t interval" in str(one.message)]
    assert (found.low, found.high) == alpha.interval(0.9, method="fieller")
    judged = sa.benchmark(alpha)
    assert judged.at_least == found.low
    assert "Fieller's interval" in str(judged)


def test_raters_are_not_drawn():
    alpha = sa.krippendorff_alpha(study_of(["x", "y", "w"]))
    with pytest.raises(OptionError, match="over='both' is not defined for units with sizes"):
        sa.bootstrap(alpha, over="both")


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_studies_of_the_same_documents_are_compared_by_document(name):
    """The pieces differ; one unit per character gives the same difference."""
    found, expected = [], []
    # Twice the documents, so that at least four hold an answer other than the commonest.
    lengths = {d + k: n for k in "12" for d, n in spans.V2["lengths"].items()}
    both = pd.concat(
        [
            spans.rows(spans.V2).assign(document=lambda table, k=k: table["document"] + k)
            for k in "12"
        ]
    )
    for raters in ("ab", "bc"):
        rows = both[both["rater"].isin([*raters])]
        done = [(d + k, r) for k in "12" for d, r in spans.done(spans.V2) if r in raters]
        study = sa.Annotations.from_spans(rows, length=lengths, done=done, chance="characters")
        found.append(getattr(sa, name)(study))
        cells = [
            (f"{d} {k}", d, r, [*one["label"][(one["start"] <= k) & (k < one["end"])]])
            for d, r in done
            for one in [rows[(rows["document"] == d) & (rows["rater"] == r)]]
            for k in range(lengths[d])
        ]
        table = pd.DataFrame(cells, columns=["unit", "document", "rater", "labels"])
        single = sa.Annotations.from_long(table, unit_columns=["document"])
        expected.append(getattr(sa, name)(single.sampled(cluster="document")))
    one, other = sa.compare(*found), sa.compare(*expected, design="same_units")
    assert one.design == "same_units"
    assert one.n_shared_units == (8,)
    assert one.difference == pytest.approx(other.difference, abs=1e-12)
    assert one.standard_error == pytest.approx(other.standard_error, abs=1e-12)
    with pytest.raises(OptionError, match="not defined for pieces of documents"):
        sa.compare(*found, design="shared_units")
