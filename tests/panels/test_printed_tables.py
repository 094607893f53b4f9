"""Results of panels print the table of their base, with its heading and notes."""

from __future__ import annotations

import pytest
from small_studies import annotations, text

import setagree as sa

STUDY = sa.simulate(40, 4, rng=1)


def parts_of(result):
    return str(result).split("\n\n")


def test_rater_map():
    found = sa.rater_map(STUDY, n_resamples=9, rng=1)
    heading, table, verdict, _ = parts_of(found)
    assert repr(found).startswith(f"<{type(found).__name__}: {heading}; ")
    heads, *rows = table.splitlines()
    assert heads.split() == [
        "rater",
        "cluster",
        "silhouette",
        "distance",
        "to",
        "others",
        "ratings",
    ]
    for line, (rater, row) in zip(rows, found.table.iterrows(), strict=True):
        assert line.split()[:3] == [rater, f"{row['cluster']:.0f}", f"{row['silhouette']:.4f}"]
    assert " ".join(verdict.split()) == found.verdict


def test_k_raters():
    found = sa.k_rater_reliability(STUDY, k=2, n_splits=20, rng=1)
    table, note = parts_of(found)[:2]
    low, high = found.interval()
    assert f"{found.estimate:.4f}  {low:.4f}, {high:.4f}" in table
    assert note == "The interval is about these raters."
    rows = [[*row[:2], None] for row in text("a a a / b b b / c c c")]
    alone = sa.k_rater_reliability(annotations(rows), k=1, n_splits=5, rng=1)
    assert parts_of(alone)[1] == "No interval: the standard error is 0."


def test_units_left_out_of_splits():
    study = annotations(text("a b a b / a a a a / b b b b / a a b b"))
    found = sa.k_rater_reliability(study, k=2, ties="missing", n_splits=20, rng=1)
    share = f"{found.share_left_out:.0%} of the units are left out of a split."
    assert 0 < found.share_left_out < 1
    assert share in parts_of(found)


def test_panel_scores():
    found = sa.score_against_panel(STUDY, level=0.9)
    heading, table, note = parts_of(found)
    assert heading == "Against the answers of the others [masi]:"
    heads, *rows = table.splitlines()
    assert "90% interval" in heads
    assert [row.split()[0] for row in rows] == STUDY.raters.tolist()
    row = found.table.iloc[0]
    assert f"{row['share_low']:.4f}, {row['share_high']:.4f}" in rows[0]
    assert note.startswith("ceiling: the score of the best answer to each unit.")


def test_crowdtruth():
    """Raters and labels before the units, of which the first are printed."""
    found = sa.crowdtruth(STUDY)
    heading, table, note, rest = parts_of(found)
    assert repr(found).startswith(f"<{type(found).__name__}: {heading}; ")
    assert "In small studies, scores of labels are too low" in note.replace("\n", " ")
    kinds = [line.split()[0] for line in table.splitlines()[1:]]
    assert kinds == sorted(kinds, key=["rater", "label", "unit"].index)
    assert len(kinds) == found.max_rows
    assert (
        rest.startswith(f"{len(found.to_frame()) - 40} more rows;") or len(found.to_frame()) <= 40
    )


def test_a_test_without_a_verdict_has_no_decision():
    """Neither table answers no where there is no verdict."""
    rows = [(r, u, "ab"[u % 2]) for u in range(12) for r in ("ann", "bob", "cem", "gpt")]
    study = sa.Annotations.from_triples(rows)
    with pytest.warns(sa.SetagreeWarning):
        tables = (
            sa.alt_test(study, model="gpt"),  # fewer than 30 units
            sa.noninferiority_test(study, model="gpt", margin=0.1),  # nothing varies
        )
    for table in tables:
        assert table["gpt"].verdict.startswith("No verdict")
        row = table.summary().splitlines()[1]
        assert row.startswith("gpt")
        assert row.endswith(" -")
        assert table.to_frame()["passes"].tolist() == [False]
