"""The claims of a page are one family of tests, which Holm's method corrects together."""

import numpy as np
import pytest
from reporting_support import told

import setagree as sa
from setagree.reporting.findings import claims_note, gather, main_findings
from setagree.reporting.report import rendered
from setagree.wording.sentences import Name

FEW = {"n_resamples": 99, "rng": 1}


def holm_by_hand(raw):
    """Return p corrected as Holm (1979) has it: the least times m, the next times m - 1, ..."""
    known = sorted((p, name) for name, p in raw.items() if not np.isnan(p))
    corrected, largest = {}, 0.0
    for k, (p, name) in enumerate(known):
        largest = max(largest, (len(known) - k) * p)
        corrected[name] = min(largest, 1.0)
    return corrected


def guesses(seed, n_units=60, n_raters=4, share=0.25):
    """Return answers drawn at random: four categories, the first with a share of its own."""
    rng = np.random.default_rng(seed)
    shares = [share, *[(1 - share) / 3] * 3]
    answers = rng.choice(list("abcd"), (n_units, n_raters), p=shares)
    return sa.Annotations.from_triples(
        [(f"r{g}", u, answers[u, g]) for u in range(n_units) for g in range(n_raters)]
    )


@pytest.fixture(scope="module")
def found():
    """Return findings about a study with one poor rater, in three groups of units."""
    study = sa.simulate(90, 5, skill=[0.9, 0.9, 0.8, 0.8, 0.1], rng=3)
    return gather(study, groups={unit: k % 3 for k, unit in enumerate(study.units)}, **FEW)


def test_all_raw_p_values_are_one_family(found):
    raw = {("chance", 0): found.results["chance"].p_value, ("map", 0): found.results["map"].p_value}
    raw["confusions", 0] = found.results["confusions"]["p_value"].min()
    raw |= {("raters", k): p for k, p in enumerate(found.results["raters"]["p_value"])}
    raw |= {("changes", k): p for k, p in enumerate(found.results["changes"]["p_value"])}
    groups = found.results["groups"]
    raw["groups", 0] = groups["homogeneity_p_value"].iloc[0]
    raw |= {("groups", k): p for k, p in enumerate(groups["difference_p_value"], start=1)}
    expected = holm_by_hand(raw)
    for (topic, k), p in expected.items():
        assert found.corrected[topic][k] == pytest.approx(p)
    assert found.n_claims == len(expected)


def test_reshuffles_suffice_for_all_claims(found):
    for topic in ("chance", "map"):
        test = found.results[topic]
        n = len(test.distribution if topic == "chance" else test.null)
        assert n == 99 or n + 1 >= 40 * found.n_claims
    assert found.corrected["chance"][0] <= 0.05


def test_the_smallest_p_of_the_raters_is_called_that(found):
    """All reshuffles of the poor rater reach less, so that p is n_claims / (B + 1)."""
    least = found.corrected["raters"].min()
    assert least == pytest.approx(found.n_claims / (found.n_reshuffles + 1))
    page = rendered(found, Name.of("study"), "markdown")
    least = 1 / (found.n_reshuffles + 1)
    words = "is the smallest p that they can give, before the correction by Holm."
    assert f"; {least:.4f} {words}" in page


@pytest.mark.parametrize(
    ("n_made", "said"),
    [
        (150, "with 150 reshuffles, the most in a report, corrected p is at least 0."),
        (10, "a test takes long in a study of this size; use sa.by_rater."),
    ],
)
def test_raters_of_a_large_study_have_no_other_test(found, monkeypatch, n_made, said):
    """90 units x 5 raters are 450 ratings; of so few reshuffles none shows what r5 costs."""
    monkeypatch.setattr("setagree.reporting.sections.raters._RESHUFFLED", 450 * n_made)
    large = gather(found.study, **FEW)
    assert not (large.corrected["raters"] <= 0.05).any()
    assert not (large.corrected["raters"] < large.results["raters"]["p_value"]).any()
    assert said in told(large)["Raters"]


def test_the_page_has_the_number_of_claims(found):
    page = rendered(found, Name("study"), "markdown")
    assert f"{found.n_claims} claims were tested. Each p, here and in the tables" in page
    assert f"by Holm over {found.n_claims} claims" in page
    assert claims_note(found) in page.replace("\\", "")


def test_a_page_without_further_findings_still_says_when_one_is_claimed():
    pytest.importorskip("matplotlib", reason="pages need matplotlib and jinja2")
    rows = [(rater, u, "ab"[u % 2 ^ k]) for u in range(30) for k, rater in enumerate("xy")]
    f = gather(sa.Annotations.from_triples(rows), **FEW)
    assert len(main_findings(f)) == 3
    page = rendered(f, Name("study"), "html")
    assert "<summary>When a finding is claimed</summary>" in page


def test_no_claim_without_its_p():
    found = gather(guesses(1), **FEW)
    assert min(np.nanmin(p) for p in found.corrected.values()) > 0.05
    said = told(found)
    assert said["Chance"].startswith("Agreement is not distinguishable from chance: ")
    assert "no removal raises it significantly" in said["Raters"]
    assert {"Confusion", "Rater clusters"}.isdisjoint(said)


def repeated_answers(seed, n_clusters=20, size=10, n_raters=3):
    """Return guesses that each rater repeats for 80% of the units of a cluster."""
    rng = np.random.default_rng(seed)
    n, triples = n_clusters * size, []
    for g in range(n_raters):
        usual = np.repeat(rng.choice(list("abc"), n_clusters, p=[0.5, 0.3, 0.2]), size)
        keeps = rng.random(n) < 0.8
        answers = np.where(keeps, usual, rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]))
        triples += [(f"r{g}", u, answer) for u, answer in enumerate(answers)]
    study = sa.Annotations.from_triples(triples)
    return study.sampled(cluster={u: u // size for u in range(n)})


def test_a_claim_on_chance_over_clusters_needs_the_p_of_the_estimate():
    """Reshuffles ignore the clusters inside which raters repeat their answers."""
    found = gather(repeated_answers(5), **FEW)
    test, p = found.results["chance"], found.main.p_value
    assert test.p_value < 0.025 < p / 2 == test.tail("greater")
    assert test.versus_chance is None
    assert test.claim_p(0.9, "two-sided") == 0.9
    assert found.corrected["chance"] >= p
    said = told(found)["Chance"]
    assert said.startswith("Agreement is not distinguishable from chance: alpha of 95% of ")
    assert "and the estimate is tested against 0 with 20 clusters (p = " in said
    page = rendered(found, Name("study"), "markdown")
    assert page.count("The reshuffles ignore clusters") == 1
    assert "the largest p of the reshuffles and of the estimate over clusters" in page


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.25, 0.85])
def test_pages_about_nothing(share):
    """Of 14 studies of guesses at most 3 claim anything: at 6% each, more would be 1 in 120."""
    studies = (gather(guesses(seed, share=share), **FEW) for seed in range(14))
    claims = [any((p <= 0.05).any() for p in one.corrected.values()) for one in studies]
    assert sum(claims) <= 3
