"""Patterns that dominate a study come first, with their counts, and without misleading advice."""

from itertools import combinations

import numpy as np
import pytest
from reporting_support import by_id, gathered, told

import setagree as sa
from setagree.reporting.findings import main_findings, sections
from setagree.wording.number_format import share
from setagree.wording.sentences import plain

RATERS = ("ann", "ben", "cem")


def rows_of(answer, n_units, raters=RATERS, seed=1):
    """Return triples: ``answer(rater, unit, truth, rng)`` of each rater to each unit."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n_units)
    return [
        (rater, unit, answer(rater, unit, "abcd"[truth[unit]], rng))
        for unit in range(n_units)
        for rater in raters
    ]


def noisy(rater, unit, truth, rng):
    """Return the truth three times of four, else any label."""
    return truth if rng.random() < 0.75 else "abcd"[rng.integers(4)]


def often_empty(rater, unit, truth, rng):
    return "[]" if rng.random() < 0.5 else noisy(rater, unit, truth, rng)


def mostly_one(rater, unit, truth, rng):
    """Return one label in 97 of 100 units, and another one in the rest."""
    return "yes" if rng.random() < 0.97 else "no" if rng.random() < 0.5 else "yes, no"


def cem_empty(rater, unit, truth, rng):
    return "[]" if rater == "cem" else noisy(rater, unit, truth, rng)


def copied():
    """Return answers of four raters, where two give the same answers to all of 60 units."""
    rows = rows_of(noisy, 60, ("ann", "ben", "cem"))
    return [*rows, *(("dot", unit, value) for rater, unit, value in rows if rater == "ann")]


def found(rows):
    return gathered(rows)


def first(f):
    one, *_ = main_findings(f)
    return one.about, plain(one.sentence)


def test_pairs_with_an_empty_set_are_counted():
    rows = rows_of(often_empty, 150)
    f = found(rows)
    pairs = [
        (a, b)
        for (_, u, a), (_, v, b) in combinations(rows, 2)
        if u == v and a != b
    ]  # fmt: skip
    n, differ = sum("[]" in pair for pair in pairs), len(pairs)
    assert n / differ > 0.5
    assert first(f) == (
        "Pattern",
        (
            f"One of two raters gave the empty set in {n} of {differ} differing pairs "
            f"({share(n / differ)})."
        ),
    )
    table = by_id(f)["patterns"].table
    assert table.rows[0][1:] == (n, differ, "differing pairs", n / differ)


def test_one_answer_that_most_ratings_have():
    rows = rows_of(mostly_one, 120)
    alone, held = (sum(p(v) for *_, v in rows) for p in ("yes".__eq__, lambda v: "yes" in v))
    assert f"The answer is “yes” in {alone} of 360 ratings (" in first(found(rows))[1]
    rows = [(r, u, v if u % 2 else v.replace("yes", "yes, maybe")) for r, u, v in rows]
    assert f"The label “yes” was given in {held} of 360 ratings (" in first(found(rows))[1]


def test_a_rater_who_never_varies():
    f = found(rows_of(cem_empty, 100))
    assert first(f)[0] == "Pattern"
    others = "; the other raters gave it in 0% of theirs."
    assert f"“cem” gave the empty set in 100 of 100 ratings (100%){others}" in (first(f)[1])


def test_raters_with_identical_answers():
    rows = copied()
    given = {(r, u): v for r, u, v in rows}
    others = [p for p in combinations(["ann", "ben", "cem", "dot"], 2) if p != ("ann", "dot")]
    same = np.mean([given[a, u] == given[b, u] for a, b in others for u in range(60)])
    assert first(found(rows)) == (
        "Pattern",
        (
            "“ann” and “dot” gave identical answers in 60 of 60 shared units (100%); other "
            f"pairs of ratings are identical in {share(same)}."
        ),
    )


@pytest.mark.parametrize(
    "rows",
    [
        rows_of(often_empty, 150),
        rows_of(mostly_one, 120),
        rows_of(cem_empty, 100),
    ],
)
def test_no_label_is_advised_away(rows):
    f = found(rows)
    assert "drop label" not in set(f.results["changes"]["action"])
    said = told(f)
    assert "drop the label" not in said.get("Change", "")


def test_no_rater_is_advised_away_beside_copies():
    rows = copied()
    rows = [(r, u, "a" if r == "cem" and u % 3 else v) for r, u, v in rows]
    f = found(rows)
    raised = f.results["raters"]
    assert ((raised["difference"] > 0) & (raised["p_holm"] < 0.05)).any()
    assert "drop rater" not in set(f.results["changes"]["action"])


@pytest.mark.parametrize(
    "study",
    [
        sa.simulate(200, 4, rng=1),
        sa.simulate(120, 3, skill=0.95, rng=2),
        sa.simulate(300, 30, missing=0.85, rng=3),
        sa.Annotations.from_triples(rows_of(noisy, 100)),
        # Full agreement makes all raters identical, which is not a pattern of two of them.
        sa.Annotations.from_triples(rows_of(lambda rater, unit, truth, rng: truth, 60)),
    ],
)
def test_ordinary_studies_have_none(study):
    f = gathered(study)
    assert f.results["patterns"] == []
    assert "Pattern" not in {one.about for one in main_findings(f)}
    assert "patterns" not in {one.id for one in sections(f)}
