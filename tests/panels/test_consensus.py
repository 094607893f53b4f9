"""The agreed answer, and how raters do against it: hand counts, published data, scikit-learn."""

import functools
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import noisy_rows, one_line
from small_studies import annotations, numbers, random_rows, row_lists, sets_of, text

import setagree as sa
from setagree import checks as limits
from setagree.errors import ConvergenceWarning, DataError, OptionError, UndefinedAgreementWarning
from setagree.panels import consensus as consensus_module
from setagree.panels import dawid_skene as dawid_skene_module
from setagree.panels.consensus import METHODS, code_sets, consensus
from setagree.panels.dawid_skene import answer_counts, dawid_skene
from setagree.panels.references import score_against_consensus

# Dawid and Skene (1979), table 1: 45 patients by five anaesthetists, the first of whom judged each
# form three times.
ANAESTHETISTS = """
111 1 1 1 1/333 4 3 3 4/112 2 1 2 2/222 3 1 2 1/222 3 2 2 2/222 3 3 2 2/122 2 1 1 1/333 3 4 3 3
222 2 2 2 3/232 2 2 2 3/444 4 4 4 4/222 3 3 4 3/111 1 1 1 1/222 3 2 1 2/121 1 1 1 1/111 2 1 1 1
111 1 1 1 1/111 1 1 1 1/222 2 2 2 1/222 1 3 2 2/222 2 2 2 2/222 2 2 2 1/222 3 2 2 2/221 2 2 2 2
111 1 1 1 1/111 1 1 1 1/232 2 2 2 2/111 1 1 1 1/111 1 1 1 1/112 1 1 2 1/111 1 1 1 1/333 3 2 3 3
111 1 1 1 1/222 2 2 2 2/222 3 2 3 2/433 4 3 4 3/221 2 2 3 2/232 3 2 3 3/333 3 4 3 2/111 1 1 1 1
111 1 1 1 1/121 2 1 1 1/232 2 2 2 2/121 1 1 1 1/222 2 2 2 2
"""


def responses():
    """Return the table as (unit, rater, answer)."""
    rows = ANAESTHETISTS.strip().replace("\n", "/").split("/")
    return [
        (i, k, int(grade) - 1)
        for i, row in enumerate(rows)
        for k, cell in enumerate(row.split())
        for grade in cell
    ]


def em(triples, shape, rounds):
    """Return posterior and error rates after some rounds, by loops and products."""
    I, K, J = shape
    counts = np.zeros((*shape[:2], J))
    for i, k, l in triples:
        counts[i, k, l] += 1
    T = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    for _ in range(rounds):
        p = (T.sum(axis=0) + 1) / (I + J)
        rates = np.zeros((K, J, J))
        for j in range(J):
            pool = T[:, j] @ counts.sum(axis=1) + 1 / J
            for k in range(K):
                row = T[:, j] @ counts[:, k, :] + 8 * pool / pool.sum()
                rates[k, j] = row / row.sum()
        for i in range(I):
            T[i] = [p[j] * np.prod(rates[:, j, :] ** counts[i]) for j in range(J)]
            T[i] /= T[i].sum()
    return T, rates


def answers(study, **options):
    """Return the agreed answers as sorted text, None where there is none."""
    found = consensus(study, **options).answers
    return [a if a is None else "".join(sorted(map(str, a))) for a in found]


class TestDawidSkene:
    def test_an_answer_that_nobody_gave(self):
        rows = text("a b c / {} b c / ab ab ab / bc bc bc / ac ac ac / {} {} {} / c c c / a a a")
        found = consensus(annotations(rows), method="dawid_skene")
        assert found.answers.tolist()[:2] == [None, frozenset()]
        assert found.to_frame()["reason"][0] == "no majority; no answer"
        left = consensus(annotations(rows), method="dawid_skene", ties="empty")
        assert left.to_frame()["reason"][0] == "no majority; an answer that nobody gave"
        rows = text("ab ac bc / ab ab ac")
        pieced = consensus(annotations(rows), method="label_majority")
        assert pieced.answers.tolist() == [frozenset("abc"), frozenset("ab")]
        assert pieced.to_frame()["reason"].tolist() == ["an answer that nobody gave", ""]

    def test_vectors(self):
        """STATISTICS 10.5, to the digits given: three values at once, and label b of its own."""
        answers = np.array([*"aabaaabbabbbaabccbcbcaaababccc"])
        units, raters = np.divmod(np.arange(30), 3)
        codes = np.searchsorted([*"abc"], answers)
        counts, rounds = answer_counts(units, raters, codes, (10, 3, 3)), []
        fit = dawid_skene(counts, 3, on_iteration=rounds.append)
        assert (len(rounds), fit.converged.tolist()) == (31, [True])
        exact = functools.partial(pytest.approx, rel=1e-8, abs=5e-11)
        assert fit.posterior[0] == exact([0.8383137329, 0.1611226771, 0.0005635900])
        assert fit.posterior[8] == exact([0.303635586, 0.690381564, 0.005982849994])
        assert fit.error_rates[2, 0] == exact([0.6641827807, 0.3191754124, 0.0166418069])
        # p belongs to the probabilities before the last step.
        before = dawid_skene(counts, 3, max_iterations=30).posterior.sum(axis=0)
        assert (before + 1) / 13 == exact([0.3934641519, 0.295203512, 0.3113323361])
        is_b, rounds = answer_counts(units, raters, (codes == 1).astype(int), (10, 3, 2)), []
        fit = dawid_skene(is_b, 2, on_iteration=rounds.append)
        b = fit.posterior[:4, 1]
        assert len(rounds) == 37
        assert b == exact([0.1952190205, 0.0660462606, 0.7916739527, 0.9287515818])
        before = dawid_skene(is_b, 2, max_iterations=36).posterior.sum(axis=0)
        assert (before + 1) / 12 == exact([0.6261119737, 0.3738880263])

    def test_equals_the_loops(self):
        units, raters, grades = map(np.array, zip(*responses(), strict=True))
        counts, n_entries = answer_counts(units, raters, grades, (45, 5, 4)), []
        fit = dawid_skene(counts, 4, tolerance=0.0, max_iterations=7, on_iteration=n_entries.append)
        T, rates = em(responses(), (45, 5, 4), 7)
        assert (n_entries, fit.converged.tolist()) == ([counts.nnz] * 7, [False])
        np.testing.assert_allclose(fit.posterior, T, atol=1e-12)
        np.testing.assert_allclose(fit.error_rates, rates, atol=1e-12)

    def test_many_raters_do_not_underflow(self):
        units = np.repeat([0, 1], 2000)
        raters = np.tile(np.arange(2000), 2)
        given_answers = np.concatenate([np.arange(2000) % 4 > 0, np.arange(2000) % 4 == 0]).astype(
            int
        )
        fit = dawid_skene(answer_counts(units, raters, given_answers, (2, 2000, 2)), 2)
        assert fit.posterior.argmax(axis=1).tolist() == [1, 0]

    def test_it_learns_who_errs(self):
        study = sa.simulate(600, 5, n_labels=3, skill=[0.95, 0.95, 0.3, 0.2, 0.2], rng=4)
        truth = sa.simulate(600, 1, n_labels=3, skill=1.0, rng=4)
        ds = consensus(study, method="dawid_skene")
        rates = ds.error_rates.groupby("rater")["sensitivity"].mean()
        assert rates[["r1", "r2"]].min() > rates[["r3", "r4", "r5"]].max()
        # The first draw of `simulate` is the truth, whatever the raters.
        true = dict(zip(truth.units, truth.to_wide()["r1"], strict=True))
        right = {
            method: sum(a == true[u] for u, a in consensus(study, method=method).answers.items())
            for method in ("label_majority", "dawid_skene")
        }
        assert right["dawid_skene"] > right["label_majority"]

    def test_labels_one_by_one(self):
        study = annotations(noisy_rows(1, units=30, raters=4))
        found = consensus(study, method="dawid_skene")
        flags = study.to_indicators()
        log, sets = np.zeros(30), [set() for _ in range(30)]
        for label in flags:
            triples = [
                (study.units.tolist().index(u), study.raters.tolist().index(g), int(x))
                for (u, g), x in flags[label].items()
            ]
            columns = map(np.array, zip(*triples, strict=True))
            T = dawid_skene(answer_counts(*columns, (30, 4, 2)), 2).posterior
            named = flags[label].groupby(level="unit", sort=False).any().to_numpy()
            taken = (T[:, 1] > 0.5) & named
            log += np.log(np.where(taken, T[:, 1], T[:, 0]))
            for i in np.flatnonzero(taken):
                sets[i].add(label)
        assert found.answers.tolist() == [frozenset(s) for s in sets]
        np.testing.assert_allclose(found.confidence, np.exp(log), rtol=1e-6)

    def test_scalars(self):
        """Single values are fitted all at once; the answer is one that the unit got."""
        rows = [
            [int(c) - 1 for c in row.replace(" ", "")]
            for row in ANAESTHETISTS.strip().replace("\n", "/").split("/")
        ]
        found = consensus(annotations(rows), method="dawid_skene")
        triples = [(i, k, x) for i, row in enumerate(rows) for k, x in enumerate(row)]
        columns = map(np.array, zip(*triples, strict=True))
        T = dawid_skene(answer_counts(*columns, (45, 7, 4)), 4).posterior
        assert found.answers.tolist() == T.argmax(axis=1).tolist()
        np.testing.assert_allclose(found.confidence, T.max(axis=1), rtol=1e-9)
        assert found.error_rates is None

    def test_stopped_early(self, monkeypatch):
        fits = functools.partial(dawid_skene, tolerance=0.0, max_iterations=1)
        monkeypatch.setattr(consensus_module, "dawid_skene", fits)
        monkeypatch.setattr(dawid_skene_module, "dawid_skene", fits)
        rows = text("a ab b / ab b b / a a ab")
        with pytest.warns(ConvergenceWarning, match="rates of 2 labels had not converged"):
            consensus(annotations(rows), method="dawid_skene")
        with pytest.warns(ConvergenceWarning, match="rates of 3 labels had not converged"):
            score_against_consensus(
                annotations(noisy_rows(2, units=30, raters=5)), method="dawid_skene"
            )
        with pytest.warns(ConvergenceWarning, match="had not converged"):
            consensus(annotations(numbers("1 2 1 / 2 2 1 / 1 1 2")), method="dawid_skene")

    @pytest.mark.parametrize(
        ("rows", "of"),
        [
            # Alpha of a is -0.31, of b 1; one rater gave c once.
            (text("ab bc b / {} a a / ab ab b / {} {} a") + 4 * text("ab b b / {} a a"), "1 label"),
            (text("ab ab b / c c c / ab ab ab") * 5, None),
            # Alpha of the values 1 and 2 is -0.05.
            ([[1, 1, 1, 1, 2], [2, 1, 1, 1, 2], [1, 2, 2, 2, 1]] * 5, ""),
            ([[1, 1, 1], [2, 2, 2]] * 5, None),
        ],
    )
    def test_confidence_too_high(self, rows, of):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            consensus(annotations(rows), method="dawid_skene")
        text = f" of {of} ('a')" if of else ""
        said = [f"the confidence{text} may be too high" in str(one.message) for one in caught]
        assert said == [True] * (of is not None)

    @pytest.mark.parametrize("kind", ["labels", "category"])
    @pytest.mark.parametrize("n_strays", range(6))
    def test_stray_answers_leave_other_units_certain(self, kind, n_strays):
        """Raters of 60 units agree on a or b, except for single answers z; a z has no majority."""
        rows = [["ab"[i % 2]] * 3 for i in range(60)]
        for i in range(n_strays):
            rows[7 * i][i % 3] = "z"
        expected = [row[1] if row[0] == "z" else row[0] for row in rows]
        unanimous = np.array(["z" not in row for row in rows])
        if kind == "labels":
            rows, expected = text(" / ".join(map(" ".join, rows))), [*map(frozenset, expected)]
        found = consensus(annotations(rows), method="dawid_skene")
        assert found.answers.tolist() == expected
        assert found.confidence[unanimous].min() > 0.99

    @pytest.mark.parametrize("most", [1, 2])
    def test_a_class_without_agreement(self, most):
        """Its probability is 0 where nobody gave it, unless two answers of a unit agree on it."""
        given = np.array([[0, 0, 0]] * 20 + [[1, 0, 0], [0, 1, 0]] + [[1, 1, 0]] * (most - 1))
        units, raters = np.divmod(np.arange(given.size), 3)
        counts = answer_counts(units, raters, given.ravel(), (len(given), 3, 2))
        p = dawid_skene(counts, 2).posterior[:, 1]
        assert np.all((p[:20] == 0) == (most == 1))
        assert np.all(p[20:] > 0)

    @pytest.mark.slow
    @pytest.mark.parametrize("cells", [dawid_skene_module._CELL_BLOCK_SIZE, 1])
    @settings(max_examples=2)
    @given(seed=st.integers(0, 10**6))
    def test_labels_together_as_one_by_one(self, cells, seed):
        rng = np.random.default_rng(seed)
        labels = list("abcdef")
        rows = [
            [
                None if rng.random() < 0.3 else frozenset(rng.choice(labels, rng.integers(0, 3)))
                for _ in range(5)
            ]
            for _ in range(25)
        ]
        study = annotations(rows)
        ballot = consensus_module.Ballot(study)
        units, given_labels, _ = ballot.votes
        order = np.argsort(given_labels, kind="stable")
        named = given_labels[order], units[order]
        panel, panels = dawid_skene_module.panels_of(study)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dawid_skene_module, "_CELL_BLOCK_SIZE", cells)
            fits = list(
                dawid_skene_module.label_fits(study, ballot.geometry.flags, named, panel, panels)
            )
        assert len(fits) == len(study.labels)
        for l, (with_label, of_panels, right, converged) in enumerate(fits):
            answers = ballot.geometry.flags.toarray()[study.value_codes, l].astype(int)
            shape = (study.n_units, study.n_raters, 2)
            alone = dawid_skene(
                answer_counts(study.unit_codes, study.rater_codes, answers, shape), 2
            )
            p = of_panels[panel]
            p[named[1][named[0] == l]] = with_label
            assert p.tolist() == pytest.approx(alone.posterior[:, 1].tolist(), rel=1e-9, abs=1e-12)
            both = np.stack([alone.error_rates[:, j, j] for j in (0, 1)])
            np.testing.assert_allclose(right, both, rtol=1e-9, atol=1e-12)
            assert converged == alone.converged[0]

    @pytest.mark.filterwarnings("ignore::setagree.errors.ConvergenceWarning")
    def test_a_thousand_labels(self, monkeypatch):
        """Of 1,000 labels in 500 units the ratings are read a few times, not once for each."""
        rng = np.random.default_rng(0)
        truth = [frozenset(rng.choice(1_000, 3).tolist()) for _ in range(500)]
        study = sa.Annotations.from_triples(
            [
                (g, u, {f"l{one:03}" for one in [*truth[u], rng.integers(1_000)]})
                for u in range(500)
                for g in range(3)
            ]
        )
        n_labels = []
        monkeypatch.setattr(
            dawid_skene_module,
            "dawid_skene",
            lambda *of, **options: n_labels.append(of[2].max() + 1) or dawid_skene(*of, **options),
        )
        agreed = consensus(study, method="dawid_skene")
        assert sum(n_labels) == len(study.labels)
        assert len(n_labels) < 20
        pairs = zip(agreed.answers, truth, strict=True)
        right = [answer == {f"l{one:03}" for one in true} for answer, true in pairs]
        # Of a label that few units have, one who invents it may be believed.
        assert np.mean(right) > 0.8

    def test_labels_beyond_all_measure(self, monkeypatch):
        monkeypatch.setattr(limits, "MOST_STEPS", 100)
        with pytest.raises(sa.SetagreeError, match=r"steps; .* Use method='label_majority'"):
            consensus(annotations(text("a ab b / ab b b / a a ab")), method="dawid_skene")

    @pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
    def test_labels_that_tell_nothing(self, monkeypatch):
        rng = np.random.default_rng(0)
        rows = [
            (rater, u, {f"l{one}" for one in rng.choice(40, 16, replace=False).tolist()})
            for u in range(20)
            for rater in rng.choice(8, 3, replace=False).tolist()
        ]
        study, steps = sa.Annotations.from_triples(rows), []
        check = dawid_skene_module.check_cost
        monkeypatch.setattr(
            dawid_skene_module,
            "check_cost",
            lambda what, **of: steps.append(of["n_steps"]) or check(what, **of),
        )
        consensus(study, method="dawid_skene")
        reckoned, *made = steps
        assert made == sorted(made)
        assert made[-1] > 2 * reckoned
        monkeypatch.setattr(limits, "MOST_STEPS", reckoned)
        with pytest.raises(sa.errors.CostError, match=r"steps; .* Use method='label_majority'"):
            consensus(study, method="dawid_skene")

    def test_entries_are_removed_a_few_times(self):
        rng = np.random.default_rng(0)
        questions, units = np.repeat(np.arange(60), 30), np.arange(1800)
        rows, raters = np.repeat(units, 3), np.tile(np.arange(3), 1800)
        answers = rng.integers(0, 2, 5400)
        counts = answer_counts(rows, questions[rows] * 3 + raters, answers, (1800, 180, 2))
        n_entries: list[int] = []
        fit = dawid_skene(counts, 2, questions, on_iteration=n_entries.append)
        assert fit.converged.any()
        assert 1 < len(set(n_entries)) < 25

    def test_too_many_values(self):
        rows = [[k, k + 1] for k in range(0, 5000, 2)]
        with pytest.raises(
            OptionError, match="an error rate for each rater between any two values"
        ):
            consensus(annotations(rows), method="dawid_skene")


class TestLabelMajority:
    def test_counts(self):
        """A label is in from more than half of the unit's raters on; missing ones do not count."""
        study = annotations(text("ab a b / ab ab c / . b ab / {} {} a / abc ab ac / a b c"))
        assert answers(study) == ["ab", "ab", "b", "", "abc", None]

    def test_support_and_confidence(self):
        found = consensus(annotations(text("ab ab a c / ab a a a / {} {} {} {}")))
        assert found.support.tolist() == [0.25, 0.75, 1.0]
        # a 3/4, b tied and out 1/2, c out 3/4; a 1, b out 3/4; nothing to decide.
        assert found.confidence.tolist() == [0.5, 0.75, 1.0]

    @pytest.mark.parametrize(
        ("ties", "expected"),
        [("empty", ["a", "a"]), ("plurality", ["ab", "a"]), ("missing", ["a", "a"])],
    )
    def test_a_tie_beside_a_majority(self, ties, expected):
        study = annotations(text("ab a / a a"))
        found = consensus(study, ties=ties)
        assert answers(study, ties=ties) == expected
        assert found.to_frame()["reason"].tolist() == ["tie", ""]
        assert not np.isnan(found.confidence).any()

    @pytest.mark.parametrize(
        ("row", "missing", "plurality", "empty"),
        [
            ("a b c", None, "abc", ""),
            ("a b", None, "ab", ""),
            ("a a b c d", None, "a", ""),
            ("ab ac d e", None, "a", ""),
            ("{} a", None, "a", ""),
            ("{} {} a a", None, "a", ""),
            ("{} {} a b", None, "", ""),
            ("{} {} a", "", "", ""),
            ("{} {} {} a b", "", "", ""),
            ("{} a a", "a", "a", "a"),
            ("ab ac bc", "abc", "abc", "abc"),
        ],
    )
    def test_no_majority(self, row, missing, plurality, empty):
        study = annotations(text(row))
        assert answers(study) == answers(study, ties="missing") == [missing]
        assert answers(study, ties="plurality") == [plurality]
        assert answers(study, ties="empty") == [empty]
        for ties in ("missing", "plurality", "empty"):
            why = consensus(study, ties=ties).to_frame()["reason"][0]
            assert ("no majority" in why) == (missing is None)
            assert ("no answer" in why) == (missing is None and ties == "missing")

    def test_no_label_reaches_the_threshold(self):
        study = annotations(text("a a b / {} {} a / a a a"))
        assert answers(study, threshold=0.9) == [None, "", "a"]
        assert answers(study, threshold=0.9, ties="empty") == ["", "", "a"]
        assert answers(study, threshold=0.9, ties="plurality") == ["a", "", "a"]

    @pytest.mark.parametrize("ties", ["missing", "plurality", "empty"])
    @given(rows=row_lists(sets_of("abc")))
    def test_by_count(self, ties, rows):
        """The rule by plain counting: majorities, else nothing, the most votes, or no label."""
        for name, found in consensus(annotations(rows), ties=ties).answers.items():
            row = [x for x in rows[int(name[1:])] if x is not None]
            votes = {x: sum(x in answer for answer in row) for answer in row for x in answer}
            majority = {x for x, n in votes.items() if 2 * n > len(row)}
            half = {x for x, n in votes.items() if 2 * n == len(row)}
            nobody = row.count(frozenset())
            if majority or 2 * nobody > len(row):
                assert found == majority | (half if ties == "plurality" else set())
            elif ties == "plurality":
                most = max([nobody, *votes.values()])
                assert found == {x for x, n in votes.items() if n == most}
            else:
                assert found == (None if ties == "missing" else frozenset())

    @pytest.mark.parametrize(
        ("threshold", "expected"),
        [(np.float32(0.25), "abc"), (1 / 3, "abc"), (0.5, "ab"), (2 / 3, "ab"), (1, "a")],
    )
    def test_threshold(self, threshold, expected):
        """A label is in from the threshold on: a 3/3, b 2/3, c 1/3."""
        assert answers(annotations(text("abc ab a")), threshold=threshold) == [expected]

    def test_flags(self):
        study = annotations(text("a b c / a . . / ab a . / aaa a a"))
        why = consensus(study, adjudicate_below=0.6).to_frame()["reason"].tolist()
        assert why == ["no majority; no answer", "one rating", "tie; low confidence", ""]
        found = consensus(study, adjudicate_below=0.5)
        assert found.to_frame().loc[2, ["confidence", "reason"]].tolist() == [0.5, "tie"]

    def test_chosen_raters(self):
        """Only the named raters count; units that only others rated have no answer."""
        found = consensus(annotations(text("a b b / . . c / a . a")).exclude_raters(["r1", "r2"]))
        assert found.answers.dropna().to_dict() == {"u0": frozenset("a"), "u2": frozenset("a")}
        assert found.to_frame()["reason"].tolist() == ["one rating", "one rating", "no rating"]

    def test_only_empty_sets(self):
        study = annotations(text("{} {} / {} ."))
        for method in METHODS:
            found = consensus(study, method=method)
            assert found.answers.tolist() == [frozenset(), frozenset()]
            assert found.support.tolist() == [1, 1]


class TestVotes:
    @pytest.mark.parametrize("dense", [0, 4, 1000])
    @pytest.mark.parametrize("missing", [0, 0.4])
    @pytest.mark.parametrize("by_unit", [True, False])
    def test_equal_the_loops(self, monkeypatch, dense, missing, by_unit):
        """By counting all cells or sorting those in use, for complete studies or not: as by loops.

        Whether the ratings stand unit by unit or rater by rater.
        """
        monkeypatch.setattr(consensus_module, "_DENSE", dense)
        rng = np.random.default_rng(1)
        rows = random_rows(rng, sets_of("abcd"), units=20, raters=4, missing=missing)
        study = annotations(rows)
        order = np.argsort(study.unit_codes if by_unit else study.rater_codes, kind="stable")
        ballot = consensus_module.Ballot(study.take(order))
        counted = Counter(
            (ballot.study.units[u], label)
            for u, v in zip(ballot.study.unit_codes, ballot.study.value_codes, strict=True)
            for label in ballot.study.values[v]
        )
        units, labels, counts = ballot.votes
        named = [
            (ballot.study.units[u], ballot.geometry.labels[l])
            for u, l in zip(units, labels, strict=True)
        ]
        assert dict(zip(named, counts.tolist(), strict=True)) == counted
        assert (np.diff(units) >= 0).all()
        empty = [sum(x == frozenset() for x in row) for row in rows]
        assert ballot.empty[np.argsort(ballot.study.units)].tolist() == [
            empty[int(name.removeprefix("u"))] for name in sorted(ballot.study.units)
        ]


class TestMedoid:
    def test_by_hand(self):
        """Of a, ab, abc the middle is nearest to all (jaccard 1/2, 1/3 against 1/2, 2/3)."""
        found = consensus(annotations(text("a ab abc")), method="medoid", distance="jaccard")
        assert found.answers.tolist() == [frozenset("ab")]
        assert found.confidence[0] == pytest.approx(1 - (1 / 2 + 1 / 3) / 3, abs=1e-15)

    @pytest.mark.parametrize(
        ("ties", "expected"), [("empty", "a"), ("plurality", "bc"), ("missing", None)]
    )
    def test_ties(self, ties, expected):
        """Of answers that are as near, the first or last in reading order, or none."""
        study = annotations(text("bc a"))
        assert answers(study, method="medoid", ties=ties) == [expected]
        assert consensus(study, method="medoid", ties=ties).adjudicate.all()

    def test_scalars(self):
        """The default for scalars is the most frequent value; on a scale the nearest one."""
        study = annotations(numbers("1 1 4 5 6 / 2 2 2 3 3"))
        assert consensus(study).answers.tolist() == [1, 2]
        assert consensus(study, distance="linear").answers.tolist() == [4, 2]

    @given(rows=row_lists(sets_of("abc")))
    def test_equals_the_loop(self, rows):
        study = annotations(rows)
        found = consensus(study, method="medoid", distance="dice", ties="empty").answers
        for name, answer in found.items():
            row = [x for x in rows[int(name[1:])] if x is not None]
            cost = [sum(sa.distances.dice(x, y) for y in row) for x in row]
            assert answer in row
            assert cost[row.index(answer)] == pytest.approx(min(cost), abs=1e-12)


class TestMedoidOfNumbers:
    def test_other_numbers_have_no_say(self):
        """An answer of 100,000 by a rater who is not asked, or to another unit, changes nothing.

        Of 3, 4, 4, 5, 4 the middle has the least sum: 2, also of squares; 3 and 5 have 5 and 7.
        """
        row = [("a", 3), ("b", 4), ("c", 4), ("d", 5), ("e", 4)]
        triples = [(g, u, x) for u in range(40) for g, x in row]
        more = sa.Annotations.from_triples([*triples, ("m", 39, 1e5)], kind="value")
        alone = sa.Annotations.from_triples(triples, kind="value")
        for distance in ("interval", "linear"):
            found = consensus(more.exclude_raters(["m"]), distance=distance)
            assert set(found.answers) == {4}
            assert not found.adjudicate.any()
            asked = consensus(alone, distance=distance)
            np.testing.assert_array_equal(found.confidence, asked.confidence)
            assert set(consensus(more, distance=distance).answers[:39]) == {4}

    @given(
        rows=row_lists([1, 2, 4, 7, 1001, 10**6, 10**7], units=8, raters=6, missing=False),
        distance=st.sampled_from(["interval", "linear"]),
    )
    def test_equals_whole_numbers(self, rows, distance):
        power = 2 if distance == "interval" else 1
        found = consensus(annotations(rows), distance=distance, ties="empty")
        open_units = np.isin(consensus(annotations(rows), distance=distance).codes, -1)
        assert open_units.tolist() == found.to_frame()["reason"].str.contains("tie").tolist()
        for name, answer, tied in zip(
            found.units, found.answers, found.to_frame()["reason"].str.contains("tie"), strict=True
        ):
            row = rows[int(name[1:])]
            sums = {x: sum(abs(x - y) ** power for y in row) for x in row}
            best = [x for x in sums if sums[x] == min(sums.values())]
            assert answer == min(best)
            assert tied == (len(best) > 1)

    def test_mid_ranks_are_those_of_the_panel(self):
        rows = [[1, 2, 5], [2, 2, 4], [1, 3, 5], [4, 3, 3]]
        more = [[*row, 1, 1, 1, 1] for row in rows]
        panel = annotations(more).exclude_raters(["r3", "r4", "r5", "r6"])
        asked = consensus(panel, distance="ordinal")
        alone = consensus(annotations(rows), distance="ordinal")
        assert asked.answers.tolist() == alone.answers.tolist()
        np.testing.assert_array_equal(asked.confidence, alone.confidence)


class TestAllMethods:
    @given(
        rows=row_lists(sets_of("abc")),
        method=st.sampled_from(METHODS),
        ties=st.sampled_from(["empty", "plurality", "missing"]),
    )
    def test_nothing_is_invented(self, rows, method, ties):
        """No unit gets a label that none of its raters gave; measures lie in [0, 1] or are nan."""
        with warnings.catch_warnings():
            # A handful of units may leave the error rates of Dawid and Skene undecided for long.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = consensus(annotations(rows), method=method, ties=ties)
        for name, answer, support in zip(found.units, found.answers, found.support, strict=True):
            row = [x for x in rows[int(name[1:])] if x is not None]
            assert answer is None or answer <= frozenset().union(*row)
            if answer is None:
                assert np.isnan(support)
            else:
                assert support == pytest.approx(row.count(answer) / len(row), abs=1e-15)
        defined = found.confidence[found.codes >= 0]
        assert ((defined >= -1e-12) & (defined <= 1 + 1e-12)).all()
        assert one_line(found)

    @pytest.mark.parametrize("method", METHODS)
    def test_full_agreement(self, method):
        found = consensus(annotations(text("ab ab ab / c c c / {} {} {} / a a a")), method=method)
        assert [set(a) for a in found.answers] == [{"a", "b"}, {"c"}, set(), {"a"}]
        np.testing.assert_allclose(found.support, 1)
        # Three answers leave the algorithm of Dawid and Skene some doubt.
        np.testing.assert_allclose(found.confidence, 1, atol=2e-3 if "dawid" in method else 1e-6)
        assert not found.adjudicate.any()

    def test_unanimous(self):
        """Where one differs there is no answer."""
        found = consensus(annotations(text("a a a / a a b / b . .")), method="unanimous")
        assert found.answers.tolist() == [frozenset("a"), None, frozenset("b")]
        frame = found.to_frame()
        assert frame["reason"].tolist() == ["", "no answer", "one rating"]
        assert "1 without an answer" in repr(found)
        assert len(found) == 3

    def test_hostile_labels(self):
        odd = ["<script>", "x" * 10_000, "\u202eabc", "🙂", "a, b", "=1+1", 7]
        triples = [(g, ("u", k), [label]) for k, label in enumerate(odd) for g in (1, "1", 2)]
        with pytest.warns(sa.SetagreeWarning, match="Raters that look alike are kept apart"):
            study = sa.Annotations.from_triples(triples)
        found = consensus(study)
        assert [next(iter(a)) for a in found.answers] == odd
        assert found.answers.index.tolist() == [("u", k) for k in range(len(odd))]

    @pytest.mark.parametrize("n_labels", [20, 64, 65, 100])
    def test_sets_are_told_apart(self, n_labels):
        rng = np.random.default_rng(0)
        sets = [
            frozenset(rng.choice(n_labels, size=rng.integers(0, 4)).tolist()) for _ in range(500)
        ]
        units = np.repeat(np.arange(500), [len(s) for s in sets])
        labels = np.array([label for s in sets for label in s], dtype=int)
        codes, values = code_sets(units, labels, 500, list(range(n_labels)))
        assert [values[k] for k in codes] == sets
        assert len(values) == len(set(sets))

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"method": "majority"}, OptionError, "method='majority' is unknown"),
            ({"ties": "random"}, OptionError, "ties='random' is unknown"),
            ({"threshold": 0}, OptionError, "threshold=0 must be above 0"),
            ({"threshold": True}, OptionError, "threshold=True"),
            (
                {"threshold": 0.5, "method": "medoid"},
                OptionError,
                "does not apply to method='medoid'",
            ),
            ({"distance": "masi"}, OptionError, "'label_majority' uses none"),
            ({"adjudicate_below": 2}, OptionError, "adjudicate_below=2"),
        ],
    )
    def test_refusals(self, options, error, words):
        with pytest.raises(error, match=words):
            consensus(annotations(text("a a / b a")), **options)

    def test_scalars_have_no_label_majority(self):
        with pytest.raises(DataError, match="Use 'medoid'"):
            consensus(annotations(numbers("1 2")), method="label_majority")
        with pytest.raises(OptionError, match="threshold= does not apply"):
            consensus(annotations(numbers("1 2")), method="dawid_skene", threshold=0.4)


class TestScores:
    def test_equal_to_scikit_learn(self):
        metrics = pytest.importorskip("sklearn.metrics")
        rows = random_rows(
            np.random.default_rng(2), sets_of("abcd")[1:], units=60, raters=4, missing=0.2
        )
        scores = score_against_consensus(annotations(rows), raters=["r3"], threshold=0.3)
        agreed = consensus(annotations([row[:3] for row in rows]), threshold=0.3).answers
        pairs = [
            (agreed[f"u{i}"], row[3])
            for i, row in enumerate(rows)
            if row[3] is not None and f"u{i}" in agreed.index
        ]
        table = [[[x in side for x in "abcd"] for side in pair] for pair in pairs]
        truth, given_sets = np.array(table).transpose(1, 0, 2)
        row = scores.table.loc["r3"]
        assert row["n_units"] == len(pairs)
        assert row["exact"] == metrics.accuracy_score(truth, given_sets)
        jaccard = metrics.jaccard_score(truth, given_sets, average="samples")
        assert row["jaccard"] == pytest.approx(jaccard, abs=1e-14)
        for kind in ("micro", "macro"):
            f1 = metrics.f1_score(truth, given_sets, average=kind)
            assert row[f"{kind}_f1"] == pytest.approx(f1, abs=1e-14)
        parts = metrics.precision_recall_fscore_support(truth, given_sets, zero_division=0)
        by_label = scores.by_label.set_index("label").loc[list("abcd")]
        for name, expected in zip(["precision", "recall", "f1"], parts[:3], strict=True):
            np.testing.assert_allclose(by_label[name], expected, atol=1e-14)

    def test_scalars_equal_scikit_learn(self):
        """Categories: macro F1 over those that occur on either side, micro F1 = accuracy."""
        metrics = pytest.importorskip("sklearn.metrics")
        rng = np.random.default_rng(3)
        rows = random_rows(rng, list("xyz"), units=50, raters=4)
        triples = [(f"r{g}", i, x) for i, row in enumerate(rows) for g, x in enumerate(row)]
        study = sa.Annotations.from_triples(triples, kind="value")
        row = score_against_consensus(study, raters=["r3"]).table.loc["r3"]
        agreed = consensus(study.exclude_raters(["r3"])).answers
        given_values = [row[3] for row, a in zip(rows, agreed, strict=True) if a is not None]
        assert row["n_left_out"] == agreed.isna().sum() > 0
        agreed = agreed.dropna().tolist()
        assert row["exact"] == row["micro_f1"] == metrics.accuracy_score(agreed, given_values)
        macro = metrics.f1_score(agreed, given_values, average="macro")
        assert row["macro_f1"] == pytest.approx(macro, abs=1e-14)

    @pytest.mark.parametrize("method", METHODS)
    def test_nobody_judges_oneself(self, method):
        """Changing what a rater says never changes the consensus the rater is compared with.

        With two raters the consensus is the other's answer, so that the two scores are equal.
        """
        rows = noisy_rows(4, units=20, raters=2)
        table = score_against_consensus(annotations(rows), method=method).table
        share = np.mean([a == b for a, b in rows])
        assert table["exact"].tolist() == [share, share]

    def test_the_panel_judges(self):
        rows = random_rows(np.random.default_rng(5), sets_of("ab"), units=20, raters=4)
        scores = score_against_consensus(
            annotations(rows), raters=["r0", "r3"], panel=["r0", "r1", "r2"]
        )
        without = consensus(annotations(rows).exclude_raters(["r0", "r3"])).answers.tolist()
        of_all = consensus(annotations(rows).exclude_raters(["r3"])).answers.tolist()
        assert scores.table["exact"].tolist() == [
            np.mean([row[0] == a for row, a in zip(rows, without, strict=True) if a is not None]),
            np.mean([row[3] == a for row, a in zip(rows, of_all, strict=True) if a is not None]),
        ]
        assert one_line(scores)
        assert scores.to_frame().equals(scores.table)

    def test_left_out(self):
        """Units without others, or without an agreed answer, are counted and not compared."""
        study = annotations(text("a a a / a a b / . . a / b b b"))
        row = score_against_consensus(study, raters=["r2"], method="unanimous").table.loc["r2"]
        assert (row["n_units"], row["n_left_out"]) == (3, 1)
        assert row["exact"] == pytest.approx(2 / 3)

    def test_what_nobody_agreed_on_is_not_compared(self):
        study = annotations(text("a b c a / a a b a"))
        row = score_against_consensus(study, raters=["r3"]).table.loc["r3"]
        assert (row["n_units"], row["n_left_out"], row["exact"]) == (1, 1, 1.0)
        row = score_against_consensus(study, raters=["r3"], ties="empty").table.loc["r3"]
        assert (row["n_units"], row["n_left_out"], row["exact"]) == (2, 0, 0.5)

    def test_nothing_to_compare(self):
        study = annotations(text("a a . / b b . / . . a"))
        with pytest.warns(UndefinedAgreementWarning, match="'r2'"):
            table = score_against_consensus(study).table
        assert table.loc["r2", ["exact", "jaccard", "micro_f1", "macro_f1"]].isna().all()
        assert table.loc["r2", "n_left_out"] == 1

    def test_both_empty(self):
        """Two empty sets agree fully; without any label there is no F1."""
        table = score_against_consensus(annotations(text("{} {} / {} {}"))).table
        assert table["exact"].tolist() == table["jaccard"].tolist() == [1, 1]
        assert table[["micro_f1", "macro_f1"]].isna().all().all()

    def test_refusals(self):
        """A panel of one who is scored leaves nobody; unknown raters are named."""
        study = annotations(text("a a / b b"))
        with pytest.raises(DataError, match="the panel is 'r0' alone"):
            score_against_consensus(study, raters=["r0"], panel=["r0"])
        with pytest.raises(DataError, match="rater of the panel 'x' gave no answer"):
            score_against_consensus(study, panel=["x"])
        with pytest.raises(OptionError, match="panel='r0' must be a list"):
            score_against_consensus(study, panel="r0")

    def test_no_warning_without_cause(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = score_against_consensus(annotations(text("a b / b b"))).to_frame()
        assert isinstance(frame, pd.DataFrame)


def test_a_file_of_answers_is_read_again(tmp_path):
    cells = {"u": ["a", "a,b", "a"], "v": ["", "", "a"], "w": ["a", "b", "c"]}
    triples = [(r, u, cell) for u, row in cells.items() for r, cell in enumerate(row)]
    study = sa.Annotations.from_triples(triples, blank="empty")
    agreed = sa.consensus(study)
    path = agreed.to_csv(tmp_path / "gold.csv")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert frame["labels"].tolist() == ["a", "[]", ""]
    assert frame["support"].tolist() == ["0.6667", "0.6667", ""]
