"""Answers that mean no annotation, repeats that are counted, and raters who do not count."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, long_table, sentence, the_warning

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    LabelError,
    MissingMarkerWarning,
    OptionError,
    SetagreeWarning,
    SimilarLabelsWarning,
    UndefinedAgreementWarning,
)

MARKERS = ["NA", "n/a"]
ROWS = [
    ("u1", "ann", "a, b"),
    ("u1", "bob", " NA "),
    ("u2", "ann", "n/a"),
    ("u2", "bob", "a"),
    ("u3", "ann", ""),
    ("u3", "bob", "NA, a"),
]


def table(rows=ROWS):
    return pd.DataFrame(rows, columns=["unit", "rater", "labels"])


def answers(study):
    return {(unit, rater): value for rater, unit, value in study.to_triples()}


class TestMissing:
    def test_doors(self):
        options = {"na_values": MARKERS, "blank": "empty"}
        wide = table().pivot(index="unit", columns="rater", values="labels")
        triples = [(rater, unit, cell) for unit, rater, cell in ROWS]
        for study in (
            sa.Annotations.from_long(table(), **options),
            sa.Annotations.from_wide(wide, **options),
            sa.Annotations.from_triples(triples, **options),
        ):
            assert answers(study) == {
                ("u1", "ann"): {"a", "b"},
                ("u2", "bob"): {"a"},
                ("u3", "ann"): set(),
                ("u3", "bob"): {"NA", "a"},
            }
            assert study.n_missing == 2
            assert study.missing_by_rater == {"ann": 1, "bob": 1}

    def test_agreement_and_groups_are_those_of_the_rows_that_are_left(self):
        rows = [*ROWS[:2], ("u2", "ann", "b"), *ROWS[3:], ("u4", "ann", "a"), ("u4", "bob", "b")]
        marked = table(rows).assign(batch=1, day=1)
        kept = marked[marked["labels"] != " NA "]
        options = {"blank": "empty", "na_values": ["NA"]}
        found = sa.agreement(marked.drop(columns=["batch", "day"]), **options)
        expected = sa.agreement(kept.drop(columns=["batch", "day"]), blank="empty")
        assert [row.estimate for row in found] == [row.estimate for row in expected]
        marked, kept = marked.drop(columns="day"), kept.drop(columns="day")
        group = sa.by_group(marked, "batch", reading=sa.Reading(**options))
        others = sa.by_group(kept, "batch", reading=sa.Reading(blank="empty"))
        assert group["estimate"][0] == others["estimate"][0]
        window = sa.over_time(marked, "batch", window=1, reading=sa.Reading(**options))
        assert window["estimate"].tolist() == group["estimate"].tolist()

    def test_numbers(self):
        rows = [("u1", "ann", 1), ("u1", "bob", -9), ("u2", "ann", 2), ("u2", "bob", 2)]
        scores = table(rows).rename(columns={"labels": "score"})
        study = sa.Annotations.from_long(scores, value="score", na_values=[-9])
        assert (study.kind, study.values, study.n_missing) == ("number", (1, 2), 1)
        text = scores.astype(str).replace("-9", "none")
        study = sa.Annotations.from_long(text, value="score", na_values=["none"])
        assert (study.kind, study.values, study.n_missing) == ("number", (1, 2), 1)

    @pytest.mark.parametrize("one", [["NA"], ("NA",), {"NA"}, frozenset({"NA"})], ids=repr)
    def test_lists_of_one_label(self, one):
        cells = [("u", "ann", ["a"]), ("u", "bob", one), ("u", "cy", []), ("u", "di", ["NA", "a"])]
        study = sa.Annotations.from_long(table(cells), na_values=["NA"])
        expected = {("u", "ann"): {"a"}, ("u", "cy"): set(), ("u", "di"): {"NA", "a"}}
        assert answers(study) == expected

    def test_exports(self, tmp_path):
        path = tmp_path / "toy.jsonl"
        line = '{"id": "u1", "annotator": "%s", "labels": ["%s"]}\n'
        path.write_text(line % ("ann", "joy") + line % ("bob", "skip") + line % ("cy", "joy"))
        expected = {("u1", "ann"): {"joy"}, ("u1", "cy"): {"joy"}}
        assert answers(sa.read(path, na_values=["skip"])) == expected
        with pytest.warns(UndefinedAgreementWarning):
            (alpha, _) = sa.agreement(path, na_values=["skip"])
        assert (alpha.n_raters, alpha.reason) == (2, "only one value was used")

    def test_no_more_doubt(self):
        with pytest.warns(MissingMarkerWarning, match=r"use na_values=\['NA', 'n/a'\]\.$"):
            sa.Annotations.from_long(table(ROWS[:4]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sa.Annotations.from_long(table(ROWS[:4]), na_values=MARKERS)

    def test_another_separator_in_a_marker(self):
        cells = [
            ("u1", "ann", "a,b"),
            ("u1", "bob", " n, a "),
            ("u2", "ann", "n"),
            ("u2", "bob", "b"),
        ]
        with pytest.warns(
            MissingMarkerWarning, match="' n, a ' has the parts of 'n/a': if it .* write 'n/a'"
        ):
            sa.Annotations.from_long(table(cells), na_values=["n/a", "-"])

    def test_what_nobody_said(self):
        with pytest.warns(MissingMarkerWarning, match="No answer is 'na', which na_values= lists"):
            sa.Annotations.from_long(table(), na_values=[*MARKERS, "na"], blank="missing")

    @pytest.mark.parametrize("missing", ["NA", 7, [""], [" "], [None], [("a",)]], ids=repr)
    def test_refused(self, missing):
        with pytest.raises(OptionError, match="na_values="):
            sa.Annotations.from_long(table(), na_values=missing)
        study = sa.Annotations.from_long(table(), blank="empty", na_values=MARKERS)
        with pytest.raises(OptionError, match=r"already built; omit na_values="):
            sa.agreement(study, na_values=["NA"])


class TestRepeats:
    @pytest.mark.parametrize("policy", ["first", "last", "union"])
    def test_counted(self, policy):
        study = sa.Annotations.from_long(
            table([("u", "ann", "a"), ("u", "ann", "b"), ("u", "bob", "a")]), duplicates=policy
        )
        assert (study.n_repeated, study.n_ratings) == (1, 2)
        assert sa.Annotations.from_long(table(ROWS[:1]), duplicates=policy).n_repeated == 0

    @pytest.mark.parametrize(("policy", "done"), [("last", "dropped"), ("union", "united with")])
    def test_most_of_the_table(self, policy, done):
        rows = [(f"t{k // 2}", ("ann", "bob")[k % 2], "a", "check") for k in range(20)]
        frame = pd.DataFrame(rows, columns=["ref", "rater", "labels", "comment"])
        match = rf"'{policy}': 18 of 20 ratings {done}.* only 2 remain.*column 'comment'"
        with pytest.warns(SetagreeWarning, match=match):
            sa.Annotations.from_long(frame, unit="comment", duplicates=policy)
        triples = [("ann", "u", "a")] * 3
        with pytest.warns(SetagreeWarning, match=r"2 of 3 .* the unit \(its column\)"):
            sa.Annotations.from_triples(triples, duplicates="first")


class TestSimilarNames:
    def test_raters_and_units(self):
        rows = [("t-1", "dave", "a"), ("t-1", "DAVE", "a"), ("t-2", "dave", "a")]
        with pytest.warns(SimilarLabelsWarning, match=r"Raters that .*: 'DAVE' and 'dave'\. If"):
            assert sa.Annotations.from_long(table(rows)).n_raters == 2
        rows = [("T-1", "ann", "a"), ("t-1", "bob", "a"), ("t-2", "bob", "a")]
        with pytest.warns(SimilarLabelsWarning, match=r"Units that .*: 'T-1' and 't-1'\. If they"):
            assert sa.Annotations.from_long(table(rows)).n_units == 3

    def test_no_false_alarm(self):
        rows = [(("U", 1), "Ann", "a"), (7, "bob", "a"), ("x\nX", "Ann", "a"), ("y", "bob", "a")]
        assert sa.Annotations.from_triples((r, u, a) for u, r, a in rows).n_units == 4

    def test_many_units_are_not_looked_at(self):
        n = 100_001
        units = [f"u{k}" for k in range(n - 1)] + ["U0"]
        study = sa.Annotations.from_long(pd.DataFrame({"unit": units, "rater": 1, "labels": "a"}))
        assert study.n_units == n


class TestWithoutRaters:
    def test_as_if_they_had_never_answered(self):
        rows = [*ROWS, ("u4", "cy", "c"), ("u1", "cy", None), ("u2", "cy", "NA")]
        options = {"blank": "empty", "na_values": MARKERS}
        with pytest.warns(BlankLabelsWarning, match="^1 null .* and 1 blank text"):
            study = sa.Annotations.from_long(table(rows), **options)
        study = study.exclude_raters(["cy"])
        expected = sa.Annotations.from_long(table(ROWS), **options)
        assert answers(study) == answers(expected)
        for name in ("units", "raters", "unit_codes", "rater_codes", "value_codes"):
            assert getattr(study, name).tolist() == getattr(expected, name).tolist()
        for name in ("values", "n_missing", "missing_by_rater", "n_repeated", "labels"):
            assert getattr(study, name) == getattr(expected, name)

    def test_nobody(self):
        study = sa.Annotations.from_long(table(ROWS[:4]), na_values=MARKERS)
        assert answers(study.exclude_raters([])) == answers(study)

    @pytest.mark.parametrize(
        ("names", "error", "match"),
        [
            ("ann", OptionError, "must be a list of raters"),
            (["Ann"], DataError, "rater 'Ann' gave no answer in this study. Did you mean 'ann'"),
            (["x"], DataError, "The raters are 'ann', 'bob'"),
            (["ann", "bob"], DataError, "no rater remains"),
        ],
    )
    def test_refused(self, names, error, match):
        study = sa.Annotations.from_long(table(ROWS[:4]), na_values=MARKERS)
        with pytest.raises(error, match=match):
            study.exclude_raters(names)


def test_empty_set_as_an_answer():
    """The empty set is a value like any other, however it is written.

    Units ({}, {}), ({}, a), nominal: Do = 1/2; values 3 {}, 1 a: De = 2 * 3 * 1 / (4 * 3) = 1/2, so
    alpha = 0. Were {} missing, no unit would be pairable.
    """
    for empty in ([], set(), frozenset(), np.array([]), "[]", "set()"):
        alpha = alpha_of((1, "x", empty), (1, "y", empty), (2, "x", empty), (2, "y", "a"))
        assert (alpha.observed_disagreement, alpha.expected_disagreement) == (0.5, 0.5)
        assert alpha.estimate == 0
    blank = alpha_of((1, "x", ""), (1, "y", " "), (2, "x", ""), (2, "y", "a"), blank="empty")
    assert blank.estimate == 0


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT")], ids=str)
def test_missing_cell(missing):
    """A missing cell is no rating and never a category: the number is that of the other rows.

    Units (a, a), (a, b), (b, .): Do = 1/2; pairable values 3 a, 1 b: De = 1/2, so alpha = 0.
    """
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "a"), (2, "y", "b"), (3, "x", "b")]
    alpha, words = the_warning(BlankLabelsWarning, alpha_of, *rows, (3, "y", missing))
    assert words.startswith("1 null (None or NaN) and 0 blank texts among the labels: ")
    assert alpha.estimate == alpha_of(*rows).estimate == 0
    assert (alpha.n_values, alpha.n_ratings, alpha.n_pairable_units) == (2, 5, 2)


def test_missing_cell_that_is_blank():
    rows = [(1, "x", "a"), (1, "y", "a"), (2, "x", "b"), (2, "y", ""), (3, "x", " "), (3, "y", "b")]
    study, words = the_warning(BlankLabelsWarning, sa.Annotations.from_long, long_table(*rows))
    assert (study.n_ratings, study.n_missing, study.n_values) == (4, 2, 2)
    assert words == (
        "2 blank cells read as missing; use blank='empty' if blank means 'no label applies'. "
        "Otherwise nothing changes, and blank='missing' omits this warning."
    )
    words = sentence(LabelError, alpha_of, *rows, blank="error")
    assert words == (
        "Unit 2, rater 'y': '' is blank; use blank='missing' (no annotation) or 'empty' (no label "
        "applies). (1 more row fails: Unit 3, rater 'x'.)"
    )


class TestUnanswered:
    ROWS = (
        *(("u1", "ann", "a"), ("u1", "bob", "a"), ("u2", "ann", "b"), ("u2", "bob", "NA")),
        *(("u3", "ann", ""), ("u3", "bob", "NA"), ("u4", "bob", "a")),
    )

    def read(self):
        """Return the study; nobody answered u3."""
        return sa.Annotations.from_long(table(self.ROWS), na_values=["NA"], blank="missing")

    def test_every_layout(self):
        study, how = self.read(), {"na_values": ["NA"], "blank": "missing"}
        wide = table(self.ROWS).pivot(index="unit", columns="rater", values="labels")
        triples = [(rater, unit, cell) for unit, rater, cell in self.ROWS]
        assert sa.Annotations.from_wide(wide, **how).unanswered.tolist() == ["u3"]
        assert sa.Annotations.from_triples(triples, **how).unanswered.tolist() == ["u3"]
        assert (study.n_units, study.unanswered.tolist()) == (3, ["u3"])
        assert study.exclude_raters(["bob"]).unanswered.tolist() == ["u4", "u3"]
        assert study.take(study.rater_codes == 0).unanswered.tolist() == []

    def test_it_is_first_in_need(self):
        frame = sa.next_ratings(self.read(), budget=3).frame
        assert frame[["unit", "n_ratings", "more"]].to_numpy().tolist()[0] == ["u3", 0, 2]
        assert frame["raters"][0] == "ann, bob"

    @pytest.mark.parametrize("method", ["label_majority", "medoid", "dawid_skene", "unanimous"])
    def test_it_has_no_agreed_answer(self, method):
        agreed = sa.consensus(self.read(), method=method)
        row = agreed.to_frame().iloc[-1]
        assert (row["unit"], row["labels"], row["n_ratings"]) == ("u3", None, 0)
        assert (row["adjudicate"], row["reason"]) == (True, "no rating")
        assert np.isnan([row["support"], row["confidence"]]).all()
        assert "4 units" in repr(agreed)
        assert agreed.answers["u3"] is None
        alone = sa.consensus(self.read().exclude_raters(["bob"]), method=method).to_frame()
        assert alone["unit"].tolist() == ["u1", "u2", "u4", "u3"]


class TestMissingAndCase:
    @pytest.mark.parametrize("marker", ["n/a", "N/A", "N/a"])
    def test_every_road(self, marker, tmp_path):
        rows = [("u1", "ann", "x"), ("u1", "bob", "N/A"), ("u2", "ann", "X"), ("u2", "bob", "n/a")]
        frame, path = table([*rows, ("u3", "ann", "y"), ("u3", "bob", "x")]), tmp_path / "s.csv"
        frame.to_csv(path, index=False)
        how = {"na_values": [marker], "case": "lower"}
        scalars = frame.rename(columns={"labels": "value"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            studies = [
                sa.Annotations.from_long(frame, **how),
                sa.Annotations.from_long(scalars, value="value", **how),
                sa.read(path, **how),
            ]
        assert [study.n_ratings for study in studies] == [4, 4, 4]
        pytest.importorskip("duckdb", reason="files larger than memory need the files extra")
        assert sa.tally(path, **how, memory_limit="1GB").n_ratings == 4

    def test_kept_case(self):
        rows = [("u1", "ann", "no"), ("u1", "bob", "a"), ("u2", "ann", "NO"), ("u2", "bob", "a")]
        with pytest.warns(SimilarLabelsWarning), pytest.warns(MissingMarkerWarning, match="'No'"):
            study = sa.Annotations.from_long(table(rows), na_values=["No"])
        assert study.n_ratings == 4
