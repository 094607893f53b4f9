"""Sentences and tables of the report at the limits of what they name."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import FewClustersWarning
from setagree.reporting.sections import groups, labels, raters, spans, units
from setagree.reporting.sections.base import table_of
from setagree.wording.sentences import plain
from setagree.wording.tables import Column


def findings_with(p, **options):
    """Return what the summaries read of findings with one corrected p for each topic."""
    corrected = {"confusions": np.array([p]), "map": np.array([p])}
    return SimpleNamespace(corrected=corrected, result=lambda _: None, **options)


@pytest.mark.parametrize(("n", "end"), [(3, "“c3” ↔ “d3”"), (4, "1 more"), (6, "3 more")])
def test_three_confusions_are_named(monkeypatch, n, end):
    monkeypatch.setattr(labels, "has_pattern", lambda *_: False)
    each = pd.DataFrame({
        "kind": "instead", "label": [f"c{k}" for k in range(1, n + 1)],
        "other": [f"d{k}" for k in range(1, n + 1)], "lift": 2.0, "share": 0.1,
        "n_pairs": np.arange(n, 0, -1.0), "expected_pairs": 0.5, "p_value": 0.01,
    })  # fmt: skip
    said = plain(labels.confusions_summary(findings_with(0.01), each))
    assert said.startswith("More frequent than expected by chance: “c1” ↔ “d1” (10% of the pairs")
    assert said.count("2.0 times the expected number") == 3
    assert end in said.split(" and ")[-1]


@pytest.mark.parametrize(("n", "expected"), [(2, [0.3]), (3, [0.3, 0.1, 0.2, 0.4])])
def test_two_groups_have_one_test(n, expected):
    """The tests of two groups against each other are the test of both."""
    frame = pd.DataFrame({
        "estimate": [0.5, 0.6, 0.7][:n], "homogeneity_p_value": 0.3,
        "difference_p_value": [0.1, 0.2, 0.4][:n],
    })  # fmt: skip
    assert groups.p_values(None, frame) == expected


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ([0.7, 0.2, 0.1], "70% of the disagreement is about 1 of 3 labels: “l0”."),
        (
            [0.46, 0.46, 0.04, 0.04],
            "92% of the disagreement is about 2 of 4 labels: “l0” (46%) and “l1” (46",
        ),
    ],
)
def test_the_share_of_one_label_is_stated_once(shares, said):
    frame = pd.DataFrame({
        "label": [f"l{k}" for k in range(len(shares))], "share_of_disagreement": shares,
        "estimate": np.nan, "low": np.nan, "high": np.nan, "n_units": 50, "prevalence": 0.3,
        "reason": "", "n_with": 40, "n_without": 60, "n_ratings": 100,
    })  # fmt: skip
    assert said in plain(labels._shares(frame, "labels"))


def test_clusters_are_described_only_if_they_are_significant():
    placed = SimpleNamespace(
        words_at=lambda p: ("words",), rater_clusters=[["a", "b"], ["c", "d"]],
        table=pd.DataFrame({"cluster": [1, 1, 2, 2]}, index=list("abcd")),
    )  # fmt: skip
    both = {"rater_a": [*"aabc"], "rater_b": [*"bcdd"], "estimate": [0.5, 0.1, 0.1, 0.6]}
    pairs = pd.DataFrame(both)
    f = findings_with(0.2)
    f.result = lambda _: pairs
    assert raters._map_lead(f, placed) == ("words",)


@pytest.mark.parametrize(
    ("n", "who"), [(6, " (“r1”, “r2”, “r3”, “r4”, “r5” and “r6”)"), (7, "\u00a0×7")]
)
def test_six_raters_of_an_answer_are_named(n, who):
    study = sa.Annotations.from_triples([(f"r{k}", "u", "x") for k in range(1, n + 1)])
    assert plain(units.answers(study, ["u"])[0]) == f"“x”{who}"


@pytest.mark.parametrize(("n", "is_sortable"), [(2, False), (3, True)])
def test_tables_of_three_rows_are_sortable(n, is_sortable):
    pytest.importorskip("jinja2", reason="the extra 'report' is not installed")
    from setagree.reporting.page import _table

    frame = pd.DataFrame({"n": range(n)})
    table = table_of(frame, [Column("n", "count", "N")], "Numbers", limit=40, function="by_size")
    assert _table(table)["sortable"] is is_sortable


def test_documents_in_full_agreement_have_no_share():
    rows = [("d1", "ann", 0, 9, "x"), ("d1", "bob", 5, 9, "x"), ("d2", "ann", 0, 9, "x")]
    frame = pd.DataFrame([*rows, ("d2", "bob", 0, 9, "x")],
                         columns=["document", "rater", "start", "end", "label"])  # fmt: skip
    study = sa.Annotations.from_spans(frame, length={"d1": 20, "d2": 20}, done="all")
    with pytest.warns(FewClustersWarning):
        main, pieces = sa.krippendorff_alpha(study), sa.by_unit(study)
    said = plain(spans.summary(SimpleNamespace(study=study, main=main), pieces))
    assert said == (
        "Raters differ on 12% of the length. The largest shares of the disagreement: “d1” (100%)."
    )
