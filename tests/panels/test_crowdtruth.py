"""CrowdTruth's quality scores: the published vectors, plain loops, what is undefined."""

import itertools
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from inference_support import T1
from small_studies import annotations, numbers, row_lists, sets_of, text

import setagree as sa
from setagree.errors import ConvergenceWarning, DataError, OptionError
from setagree.panels import crowdtruth as crowdtruth_module
from setagree.panels.crowdtruth import crowdtruth


def cosine(x, y, q):
    """Return the cosine of two vectors whose entries are weighted, as published."""
    dot = sum(q[a] * x[a] * y[a] for a in q)
    norm = math.sqrt(sum(q[a] * x[a] ** 2 for a in q) * sum(q[a] * y[a] ** 2 for a in q))
    return dot / max(norm, 1e-8)


def over(pairs):
    """Return the weighted mean of (value, weight) pairs: nan of none, 0 where nothing weighs."""
    pairs = [*pairs]
    total = sum(weight for _, weight in pairs)
    if not pairs:
        return math.nan
    return sum(value * weight for value, weight in pairs) / total if total > 0 else 0.0


def swept(units, labels, raters, old):
    """Return the qualities that follow from old ones, formula by formula.

    `units` holds a list of (rater, label vector) for each unit.
    """
    u, w, q = ({k: 0.0 if math.isnan(x) else x for k, x in part.items()} for part in old)
    uqs = {
        k: over(
            (cosine(x, y, q), w[i] * w[j]) for (i, x), (j, y) in itertools.combinations(unit, 2)
        )
        for k, unit in enumerate(units)
    }
    wqs = {}
    for i in raters:
        wwa, wsa = [], []
        for k, unit in enumerate(units):
            mine = dict(unit).get(i)
            others = [(j, y) for j, y in unit if j != i]
            if mine is None or not others:
                continue
            wwa += [(cosine(mine, y, q), w[j] * u[k]) for j, y in others]
            own = {a: w[i] * mine[a] for a in q}
            rest = {a: sum(w[j] * y[a] for j, y in others) for a in q}
            wsa.append((cosine(own, rest, q), u[k]))
        wqs[i] = over(wwa) * over(wsa)
    aqs = {}
    for a in labels:
        told, seen = [], False
        for i, j in itertools.permutations(raters, 2):
            both = [(k, dict(unit)) for k, unit in enumerate(units) if {i, j} <= {*dict(unit)}]
            seen |= any(unit[j][a] for _, unit in both)
            given = sum(u[k] * unit[j][a] for k, unit in both)
            if given > 0:
                shared = sum(u[k] * unit[i][a] * unit[j][a] for k, unit in both)
                told.append((shared / given, w[i] * w[j]))
        aqs[a] = over(told) if told or not seen else 0.0
    return uqs, wqs, aqs


def reference(rows, empty):
    """Return first and last qualities by loops over units, raters and labels."""
    names = sorted({label for row in rows for x in row if x is not None for label in x})
    if empty == "label" and any(x == frozenset() for row in rows for x in row):
        names.append("{}")
    given = [
        [
            (i, {a: float(a in (x or {"{}"})) for a in names})
            for i, x in enumerate(row)
            if x is not None
        ]
        for row in rows
    ]
    raters = [i for i in range(len(rows[0])) if any(row[i] is not None for row in rows)]
    old = tuple(dict.fromkeys(part, 1.0) for part in (range(len(rows)), raters, names))
    first = None
    for _ in range(100):
        new = swept(given, names, raters, old)
        first = first or new
        moved = max(
            (
                abs(n[k] - o[k])
                for n, o in zip(new, old, strict=True)
                for k in n
                if not math.isnan(n[k])
            ),
            default=0,
        )
        old = new
        if moved < 0.001:
            break
    return first, old


class TestVectors:
    @pytest.mark.parametrize("empty", ["label", "published"])
    def test_the_walk_through(self, empty):
        found = crowdtruth(annotations(T1), empty=empty)
        expected = {
            "units": (
                ".494291 1 1 1 0.799941 1 0 0.494291 0.868802 0.335803 0.363346",
                ".471405 1 1 1 0.804738 1 0 0.471405 0.796543 0.333333 0.333333",
            ),
            "raters": (".786670 0.704595 0.651130", ".560991 0.413663 0.365673"),
            "labels": (
                ".821153 0.834477 0.853460 0.916519 0 0",
                ".742857 0.672222 0.861111 0.777778 0 0",
            ),
        }
        for name, texts in expected.items():
            frame = getattr(found, name)
            for column, said in zip(("quality", "quality_initial"), texts, strict=True):
                want = [float(x) for x in said.split()]
                np.testing.assert_allclose(frame[column], want, rtol=0, atol=5.1e-7)
        assert (found.n_sweeps, found.converged) == (7, True)
        assert found.labels.index.tolist() == list("abcdei")


class TestLoops:
    @pytest.mark.slow
    @given(rows=row_lists(sets_of("abc"), units=6, raters=4))
    def test_any_study(self, rows):
        rows = [[*row, frozenset("a")] for row in rows]
        for empty in ("label", "published"):
            # A study that still moves after 100 sweeps is somewhere else for each rounding.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = crowdtruth(annotations(rows), empty=empty)
            assume(found.converged)
            first, last = reference(rows, empty)
            frames = (found.units, found.raters, found.labels)
            for frame, prefix, *parts in zip(frames, ("u", "r", ""), first, last, strict=True):
                for column, want in zip(("quality_initial", "quality"), parts, strict=True):
                    got = frame[column].loc[[f"{prefix}{name}" for name in want]]
                    np.testing.assert_allclose(got, [*want.values()], rtol=1e-7, atol=1e-9)


class TestLabels:
    def test_none_is_lost(self):
        table = pd.DataFrame(
            {
                "unit": [1, 1, 2, 3, 3],
                "rater": ["ann", "bob", "ann", "ann", "bob"],
                "labels": ["a", "a", "b", "", ""],
            }
        )
        study = sa.Annotations.from_long(
            table, labels="labels", blank="empty", codebook=["a", "b", "z"]
        )
        ours, theirs = (crowdtruth(study, empty=empty) for empty in ("label", "published"))
        assert ours.labels.index.tolist() == ["a", "b", "z", "{}"]
        assert theirs.labels.index.tolist() == ["a", "b", "z"]
        np.testing.assert_array_equal(ours.labels["quality"], [1, np.nan, np.nan, 1])
        np.testing.assert_array_equal(theirs.labels["quality"], [1, np.nan, np.nan])
        assert ours.units["quality"].tolist()[::2] == [1, 1]
        assert theirs.units["quality"].tolist()[::2] == [1, 0]

    def test_single_values_are_labels(self):
        found = crowdtruth(annotations(numbers("1 1 / 2 2 / 1 2")))
        assert found.labels.index.tolist() == [1, 2]
        assert found.units["quality"].tolist() == [1, 1, 0]


class TestUndefined:
    def test_alone(self):
        """A unit with one rating, its rater and its label are nan with a reason, and do no harm."""
        rows = text("a a . / b b . / . . c")
        found = crowdtruth(annotations(rows))
        np.testing.assert_array_equal(found.units["quality"], [1, 1, np.nan])
        np.testing.assert_array_equal(found.raters["quality"], [1, 1, np.nan])
        np.testing.assert_array_equal(found.labels["quality"], [1, 1, np.nan])
        rows = json.loads(found.to_json())
        whys = {row["name"]: row["reason"] for row in rows if row["quality"] is None}
        assert [*whys.values()] == [
            "the unit has one rating",
            "nobody else rated the rater's units",
            "nobody gave the label to a unit with two ratings",
        ]

    def test_nothing_at_all(self):
        found = crowdtruth(annotations(text("a . / . b")))
        assert all(
            part["quality"].isna().all() for part in (found.units, found.raters, found.labels)
        )

    def test_no_two_agree(self):
        """Where nobody ever agrees all qualities are 0, not nan."""
        found = crowdtruth(annotations(text("a b / c d")))
        assert (found.to_frame()["quality"] == 0).all()


class TestRefusals:
    def test_words(self):
        """A tally, and an unknown role of the empty set."""
        study = annotations(T1)
        with pytest.raises(DataError, match="crowdtruth requires the rater"):
            crowdtruth(sa.Tally.from_annotations(study))
        with pytest.raises(OptionError, match="empty='nothing'"):
            crowdtruth(study, empty="nothing")

    def test_no_end(self, monkeypatch):
        monkeypatch.setattr(crowdtruth_module, "_MOST_SWEEPS", 2)
        with pytest.warns(ConvergenceWarning, match="not converged after 2 sweeps"):
            found = crowdtruth(annotations(T1))
        assert not found.converged
        assert ", 2 sweeps, not converged; " in repr(found)


def test_good_raters_stand_above_guessers():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, size=80)
    rows = [
        [
            frozenset("abcd"[t] if g < 4 and rng.random() < 0.9 else "abcd"[rng.integers(4)])
            for g in range(6)
        ]
        for t in truth
    ]
    raters = crowdtruth(annotations(rows)).raters
    assert raters["quality"].iloc[:4].min() > 2 * raters["quality"].iloc[4:].max()
