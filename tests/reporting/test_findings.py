"""The main findings: what they name, what they leave unsaid, and that no two contradict."""

import re
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from reporting_support import by_id, gathered, told
from small_studies import annotations, numbers, text

import setagree as sa
from setagree.errors import OptionError, UndefinedAgreementWarning
from setagree.reporting.findings import (
    TOPICS,
    claims_note,
    correct,
    gather,
    main_findings,
    next_steps,
    sections,
)
from setagree.reporting.headline import caution, headline, verdict_sentence
from setagree.reporting.report import methods_of
from setagree.reporting.sections import changes, estimates, labels
from setagree.reporting.sections.labels import evenly_spread
from setagree.wording.number_format import number, p_phrase, share
from setagree.wording.sentences import plain


def unsure_and_sure():
    """Return scores of five raters: r4 is far out once, r3 is always off by one, to the middle."""
    rows = []
    for unit in range(30):
        true = 1 + unit * 7 % 9
        off, far = (1 if true < 5 else -1), (8 if unit == 5 else 0)
        rows += [(f"r{g}", unit, true) for g in range(3)]
        rows += [("r3", unit, true + off), ("r4", unit, true + far)]
    return sa.Annotations.from_triples(rows, kind="value")


def finding_of(topic, found):
    (one,) = [one for one in TOPICS if one.id == topic]
    return plain(one.summary(found, found.results[topic]))


class TestSentences:
    def test_agreement_below_chance_has_the_lower_tail(self):
        found = gather(annotations(text(" / ".join(["a b", "b a"] * 10))), n_resamples=199, rng=1)
        (said,) = [
            plain(x.sentence) for x in main_findings(found) if "below chance" in plain(x.sentence)
        ]
        test = found.results["chance"]
        lowest = float(said.split("is at least ")[1].split(" (")[0].replace("\u2212", "-"))
        assert (
            (test.defined >= lowest - 5e-4).mean() >= 0.95 > (test.defined > lowest + 5e-4).mean()
        )

    def test_groups_of_groups_are_refused(self):
        study = annotations(text("a b / b a"))
        with pytest.raises(
            OptionError, match="groups= must map each unit to its group, not to a d"
        ):
            gather(study, groups={"g": dict.fromkeys(study.units, "x")})

    def test_the_culprits_are_named(self):
        """One label that one rater alone gives at random is the costly label and rater.

        Ann and ben agree fully; cem adds "noise" to every second unit.
        """
        truth = ["a", "b", "c"] * 24
        triples = [(rater, u, v) for u, v in enumerate(truth) for rater in ("ann", "ben")]
        triples += [("cem", u, f"{v}, noise" if u % 2 else v) for u, v in enumerate(truth)]
        said = told(gather(sa.Annotations.from_triples(triples), n_resamples=99, rng=1))
        assert said["Labels"].startswith("Alpha is lowest for “noise”: −")
        assert "100% of the disagreement is about 1 of 4 labels" in said["Labels"]
        assert "“noise”" in said["Labels"]
        # cem's noise is left out by ann and by ben in 36 units: in all 72 pairs that differ. Of
        # the answers with two labels, 12 have each of the two labels that are not the unit's, and
        # 36 have noise: it is expected in 36 / 60 of the 72 pairs, or 43.2.
        assert re.fullmatch(
            r"More frequent than expected by chance: “noise” left out \(100% of the pairs that "
            r"differ, 1\.7 times the expected number, p = 0\.\d+\)\.",
            said["Confusion"],
        )
        assert said["Raters"].startswith("Without “cem”, alpha would be 1.000")
        assert ". “cem” gives 1.5 labels per unit, 0.5 more than the others." in said["Raters"]
        # 36 units disagree alike, so that no 18 of them have half more than the others do.
        assert (
            "in equal parts in 36 of 72 units (50%); all ratings are equal in 50% of the units."
            in said["Units"]
        )
        assert "drop the label “noise”: 1.000" in said["Change"]
        assert "one answer contains the other" in said["Choice"]
        assert said["Chance"].startswith("Agreement is above chance")
        assert "Left out" not in said

    def test_a_guesser_stands_out(self):
        rng = np.random.default_rng(7)
        truth = rng.integers(4, size=150)
        rows = [
            (rater, u, "abcd"[v if rng.random() < 0.8 else rng.integers(4)])
            for u, v in enumerate(truth)
            for rater in ("ann", "ben", "cem")
        ]
        rows += [("dot", u, "abcd"[rng.integers(4)]) for u in range(150)]
        f = gathered(rows)
        said = told(f)
        pairs = sa.by_pair(f.study)
        own = pairs[(pairs["rater_a"] == "dot") | (pairs["rater_b"] == "dot")]["estimate"]
        ends = f"{number(own.min())} to {number(own.max())}"
        assert f" Alpha of “dot” with each of 3 other raters is {ends}." in said["Raters"]
        assert said["Raters"].startswith("Without “dot”, alpha would be ")
        tried = len(f.results["changes"]) - 1
        assert said["Change"].startswith(
            f"Of {tried} changes tried, alpha rises most if you leave out the rater “dot”: "
        )

    def test_pairs_of_equal_agreement_are_one_number(self):
        """A rater who agrees equally with all others has one number, not a range of one."""
        wrong = {2, 5, 9, 11, 14, 18, 21, 25}
        rows = [(rater, u, "abc"[u % 3]) for u in range(30) for rater in ("ann", "ben")]
        rows += [("dot", u, "abc"[(u + (u in wrong)) % 3]) for u in range(30)]
        f = gathered(rows)
        own = number(sa.by_pair(f.study)["estimate"].min())
        assert f" Alpha of “dot” with each of 2 other raters is {own}." in told(f)["Raters"]

    def test_units_that_cost_most_are_named(self):
        triples = [(r, u, "a" if r < "r2" else "b") for u in range(4) for r in ("r1", "r2")]
        triples += [(r, u, r) for u in range(4, 6) for r in ("r1", "r2", "r3", "r4")]
        triples += [(r, u, "a") for u in range(6, 12) for r in ("r1", "r2", "r3")]
        f = gathered(triples)
        said = told(f)
        named = "To adjudicate first: “4”, “5” and “0”."
        assert said["Units"].endswith(named)
        table = by_id(f)["units"].table
        assert [row[0] for row in table.rows[:5]] == [4, 5, 0, 1, 2]

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (
                "a b / a a / a a / b b / b b",
                (
                    "All of the disagreement lies in 1 of 5 units (20%); all ratings are equal in "
                    "80% of the units. To adjudicate first: “0”."
                ),
            ),
            # A unit of six, three against three, weighs 18 / 5 = 3.6, and one of two 2: of 13.2 in
            # all the two large ones hold 7.2, though their mean disagreement is smaller.
            (
                "a b . . . . / a b . . . . / a b . . . . / a a a b b b / a a a b b b",
                (
                    "55% of the disagreement lies in 2 of 5 units (40%). To adjudicate "
                    "first: “3”, “4” and “0”."
                ),
            ),
            (
                "a b / a b / a b / a b / a b / a b / a a / b b",
                (
                    "The disagreement lies in equal parts in 6 of 8 units (75%); all ratings "
                    "are equal in 25% of the units. To adjudicate first: 6 units with the same "
                    "disagreement, among them “0”, “1” and “2”."
                ),
            ),
        ],
    )
    def test_where_the_disagreement_lies(self, rows, said):
        rows = [
            (f"r{g}", u, answer)
            for u, row in enumerate(rows.split(" / "))
            for g, answer in enumerate(row.split())
            if answer != "."
        ]
        assert told(gathered(rows))["Units"] == said

    def test_a_label_that_is_never_used(self):
        """What a rater leaves out is named where it is more than what the rater overuses.

        w gives z for five t and y for the other five, of 40 units: 10 fewer t, 5 more of each.
        """
        truth = ["t"] * 10 + ["x", "y", "z"] * 10
        rows = [(rater, u, v) for u, v in enumerate(truth) for rater in ("a", "b", "c")]
        rows += [("w", u, "zy"[u % 2] if v == "t" else v) for u, v in enumerate(truth)]
        said = told(gathered(rows))
        assert said["Raters"].startswith("Without “w”, alpha would be 1.000")
        assert said["Raters"].endswith(" “w” uses “t” in 25 fewer of 100 units than the others.")

    def test_a_rater_who_gives_hardly_any_label(self):
        rows = [(r, u, "a, b" if u % 2 else "c, d") for u in range(200) for r in ("x", "y", "z")]
        rows += [("w", u, "a" if u < 3 else "") for u in range(200)]
        study = sa.Annotations.from_triples(rows, blank="empty")
        said = told(gathered(study))
        assert "gives 0.015 labels per unit, 2 fewer than the others." in said["Raters"]

    def test_over_how_many_raters_a_removal_was_possible(self):
        rows = [("r0", u, "ab"[u % 2]) for u in range(9)]
        rows += [("r1", u, "ab"[(u + (u % 3 == 0)) % 2]) for u in range(9)]
        study = sa.Annotations.from_triples([*rows, ("r2", 0, "a")])
        found = gathered(study)
        raters = found.results["raters"].set_index("rater")
        assert raters["difference"].notna().tolist().count(True) == 1
        change = number(abs(raters.loc["r2", "difference"]))
        said = told(found)
        assert said["Raters"] == (
            "Leaving out the only one of the 3 raters without whom alpha is defined changes alpha "
            f"by {change}; no removal raises it significantly."
        )

    def test_labels_that_tie_are_named_together(self):
        pairs = ["joy calm", "calm anger", "anger joy", "x x", "y y", "z z"]
        rows = [(g, u, v) for u, row in enumerate(pairs) for g, v in enumerate(row.split())]
        said = told(gathered(rows))
        assert said["Labels"].startswith("100% of the disagreement is about 3 of 6 labels")
        for name in ("joy", "calm", "anger"):
            assert f"“{name}” (33%)" in said["Labels"]

    def test_one_batch_stands_out(self):
        rng = np.random.default_rng(3)
        rows = []
        for u in range(160):
            answer = rng.integers(3)
            for rater in ("r", "s", "t"):
                by_lot = u % 4 == 3 or rng.random() < 0.2
                rows.append((rater, u, "abc"[rng.integers(3) if by_lot else answer]))
        study = sa.Annotations.from_triples(rows)
        groups = {u: f"b{u % 4}" for u in range(160)}
        found = gather(study, groups=groups, n_resamples=199, rng=1)
        said = told(found)
        estimates = sa.by_group(study, groups).set_index("group")["estimate"]
        low, high = (number(x) for x in (estimates.drop("b3").min(), estimates.drop("b3").max()))
        assert said["Groups"].startswith(f"“b3” ({number(estimates['b3'])}, −")
        differs = "differs from the common value of the others"
        rest = f"the other 3 are between {low} and {high}."
        assert said["Groups"].endswith(f"{differs}; {rest}")
        # A group that differs significantly by at most half as much counts as the others.
        table = found.results["groups"]
        less = table["difference"].abs().max() * 0.45
        for difference, named in ((less, False), (1.2 * less, True)):
            changed = table["difference"].where(table["group"] != "b0", difference)
            found.results["groups"] = table.assign(difference=changed)
            found.corrected["groups"] = [1e-6] * 5
            assert ("“b0”" in told(found)["Groups"]) == named

    def test_no_culprit(self):
        f = gathered(sa.simulate(200, 3, rng=4))
        raters = f.results["raters"]
        assert not (raters["difference_low"] > 0).any()
        said = told(f)
        assert said["Raters"].startswith("Leaving out any one of the 3 raters changes alpha by ")
        assert said["Raters"].endswith("; no removal raises it significantly.")

    def test_perfect_agreement(self):
        said = told(gathered(annotations(text("a a a / b b b / ab ab ab / a a a"))))
        assert said["Units"] == "The raters agree fully in all 4 units."
        same = "The estimate does not depend on the distance: alpha is 1.000 with each of them."
        assert said["Choice"] == same
        assert not {"Labels", "Confusion", "Raters", "Change"} & set(said)

    def test_singles_are_counted(self):
        rows = text("a a / b b / a b / a . / . b")
        for n, words in ((2, "2 units (40%) have"), (1, "1 unit (25%) has")):
            f = gathered(annotations(rows[: 3 + n]))
            assert words in plain(main_findings(f)[-1].sentence)

    def test_groups_differ(self):
        """Groups that agree fully and not at all differ; alike groups do not."""
        rng = np.random.default_rng(5)
        rows = []
        for u in range(60):
            answer = "abc"[rng.integers(3)]
            other = answer if u < 30 and u % 7 else "abc"[rng.integers(3)]
            rows += [("r", u, answer), ("s", u, other)]
        study = sa.Annotations.from_triples(rows)
        said = told(gather(study, groups={u: u < 30 for u in range(60)}, n_resamples=199, rng=1))
        assert re.search(r"The 2 groups differ \(test .* p .*\): from .* in “False” to .* “True”",
                         said["Groups"])  # fmt: skip
        alike = gathered(study, groups={u: u % 2 for u in range(60)})
        said = told(alike)
        p = alike.corrected["groups"][0]
        assert said["Groups"] == (
            "The groups are not distinguishable (test of one common value of all 2: "
            f"{p_phrase(p)})."
        )
        said = told(gathered(study, groups=dict.fromkeys(range(60), "all")))
        assert said["Groups"] == "Fewer than two groups have an estimate."

    def test_no_rater_can_be_left_out(self):
        f = gathered(annotations(text("a b . / . a b")))
        assert f.results["raters"]["difference"].isna().all()
        assert "Raters" not in {one.about for one in main_findings(f)}

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            (text("a a / a a"), "only one value was used"),
            (text("a b"), "only one unit has two ratings"),
            (text("a . / . b"), "no unit has two ratings"),
            (text("a . / b ."), "there is only one rater"),
        ],
    )
    def test_undefined(self, rows, reason):
        """Where nothing can be estimated, the one finding says why; the sections still stand."""
        with pytest.warns(UndefinedAgreementWarning, match=reason):
            f = gathered(annotations(rows))
        assert [plain(one.sentence) for one in main_findings(f)] == [plain(headline(f))]
        assert reason in plain(headline(f))
        assert "data" in {section.id for section in sections(f)}

    def test_scalars(self):
        """Numbers have no labels and no confusions; categories have both."""
        rows = numbers("1 2 1 / 2 2 3 / 3 3 3 / 4 5 4 / 5 5 4")
        f = gathered(annotations(rows))
        assert not {"labels", "confusions", "changes"} & {one.id for one in sections(f)}
        rows = [[("low", "mid", "high")[x % 3] for x in row] for row in rows]
        f = gathered(annotations(rows))
        assert {"labels", "confusions"} <= {one.id for one in sections(f)}
        said = told(f)
        assert "of 3 categories" in said["Labels"]

    # one answer is far off on purpose
    @pytest.mark.filterwarnings("ignore::setagree.errors.FarAnswersWarning")
    def test_the_surest_rater_need_not_be_the_first(self):
        study = unsure_and_sure()
        raters = sa.by_rater(study, distance="interval").set_index("rater")
        assert raters.index[0] == "r4"
        assert raters.loc["r4", "difference_low"] < 0 < raters.loc["r3", "difference_low"]
        found = gathered(study, distance="interval")
        found.corrected["raters"] = np.where(found.results["raters"]["rater"] == "r3", 0.01, 1)
        said = told(found)
        assert said["Raters"].startswith("Without “r3”, alpha would be ")
        assert "no removal raises it" not in said["Raters"]
        assert (
            said["Raters"]
            .rstrip()
            .endswith(
                "Raters with identical answers are treated here as if they had rated independently."
            )
        )
        # The others are identical, so that the change would give full agreement.
        assert said["Pattern"].startswith("“r0” and “r1” gave identical answers in 30 of 30")
        assert "leave out the rater" not in said.get("Change", "")

    def test_without_a_rater_the_identical_ones_are_left(self):
        rows = [[label, label, "c" if i % 3 == 0 else label] for i, label in enumerate("ab" * 15)]
        said = told(gathered(annotations(rows)))
        assert said["Pattern"].startswith("“r0” and “r1” gave identical answers in 30 of 30")
        assert said["Raters"].startswith("Without “r2”, alpha would be 1.000 (")
        # The estimate without r2 has no spread, so that there is p and no interval.
        assert "(+0.371, p = 0.008). " in said["Raters"]
        assert said["Raters"].endswith(
            " Raters with identical answers are treated here as if they had rated independently."
        )

    def test_one_change(self):
        odd = [0, 1, 1, 0, 1, 0]
        rows = [
            ["ab"[i % 2], "a" if i % 10 == 1 else "ab"[i % 2], "ab"[odd[i % 6]]] for i in range(60)
        ]
        said = told(gathered(annotations(rows)))
        assert said["Change"].startswith("Alpha rises if you leave out the rater “r2”: ")

    def test_no_standard_error(self):
        study = sa.simulate(60, 4, skill=[0.9, 0.9, 0.9, 0], rng=1)
        said = told(gathered(study, coefficient="mv_alpha"))
        whole = sa.mv_alpha(study).estimate
        changes = []
        for rater in study.raters:
            rows = [row for row in study.to_triples() if row[0] != rater]
            changes.append(abs(sa.mv_alpha(sa.Annotations.from_triples(rows)).estimate - whole))
        assert said["Raters"] == (
            "Leaving out any one of the 4 raters changes mv-alpha by at most "
            f"{max(changes):.3f}; no test is possible."
        )
        assert "mv-alpha rises most (no test is possible) if you" in said["Change"]
        assert "significantly" not in said["Change"]

    def test_no_change_helps(self):
        found = gathered(sa.simulate(30, 3, rng=1), coefficient="mv_alpha")
        worse = found.results["changes"].assign(difference=-0.1)
        found.results["changes"] = worse
        assert finding_of("changes", found) == ""

    def test_models_that_were_not_tested(self):
        study = sa.simulate(20, 6, rng=1)
        said = told(gathered(study, model=["r1", "r2"]))["Models"]
        assert said == (
            "No verdict on any of 2 models: no human shares enough units with the model."
        )

    def test_one_model_of_two_was_tested(self):
        rows = sa.simulate(40, 5, rng=1).to_triples()
        rows = [row for row in rows if row[0] != "r1" or row[1] in {"u1", "u2"}]
        study = sa.Annotations.from_triples(rows)
        said = told(gathered(study, model=["r1", "r2"]))["Models"]
        assert "1 model that could be tested (of 2) may replace a human" in said

    def test_groups_of_another_coefficient(self, tmp_path):
        study = sa.simulate(40, 3, rng=1)
        batch = {unit: k % 2 for k, unit in enumerate(study.units)}
        for options in ({"coefficient": "fleiss_kappa"}, {"distance": "nominal"}):
            groups = sa.by_group(study, batch, **options)
            with pytest.raises(sa.SetagreeError, match="the groups were scored with"):
                sa.report(study, tmp_path / "r.md", groups=groups, n_resamples=19, rng=1)
            sa.report(study, tmp_path / "r.md", groups=groups, n_resamples=19, rng=1, **options)
        assert "Agreement by group" in (tmp_path / "r.md").read_text()

    def test_full_agreement_is_not_certain(self):
        """Where nothing varies there is no verdict; chance is given by all six studies.

        a a b b over two units of two: two of the six arrangements agree fully, so that the least
        number that 95% of them do not exceed is 1, and p is twice a third.
        """
        found = gather(annotations(text("a a / b b")), n_resamples=99, rng=1)
        assert verdict_sentence(found).startswith(
            "No verdict. No disagreement was seen in 2 units, and all answers except the commonest "
        )
        full = sum(p[0] == p[1] for p in permutations("aabb"))
        assert 2 * full / 24 == pytest.approx(found.results["chance"].p_value)
        assert finding_of("chance", found) == (
            "Agreement is not distinguishable from chance: alpha of 95% of 6 reshuffled studies "
            "is at most 1.000 (p = 0.667)."
        )

    def test_p_beside_a_limit_that_is_exceeded_names_its_correction(self):
        """One reshuffle in 50 is as high as the estimate; twice that and Holm leave no claim."""
        found = gather(annotations(text("a a / b b / a b / a a / b a")), n_resamples=99, rng=1)
        test = found.results["chance"]
        high = replace(test, distribution=np.linspace(-0.9, 0.19, 100))
        found.corrected.update(chance=np.array([0.32]), changes=np.array([0.4, 1, np.nan]))
        assert test.agreement.estimate > high.quantile(0.95)
        (said,) = estimates.chance_summary(found, high)
        assert said.endswith("(p = 0.320, two-sided, corrected by Holm over 3 claims).")

    def test_fewer_reshuffles_say_why(self, monkeypatch):
        """Of a large study fewer reshuffles are made than were asked for, and it says so.

        100 units x 3 raters are 300 ratings, of which 30,300 may be reshuffled here: 101 times. p
        is then that of a t of 100 degrees of freedom (about the mean and spread of the reshuffles).
        """
        study = sa.simulate(100, 3, skill=0.25, rng=1)
        full = gather(study, n_resamples=1999, rng=1)
        monkeypatch.setattr(estimates, "_RESHUFFLED", 30_300)
        few = gather(study, n_resamples=1999, rng=1)
        assert "95% of 101 reshuffled studies (not 1,999, because the study is large) is" in (
            finding_of("chance", few)
        )
        p = [estimates.chance_p_values(one, one.results["chance"])[0] for one in (full, few)]
        assert p[0] == full.results["chance"].p_value
        assert 0.01 < p[0] < 0.5
        assert p[1] == pytest.approx(p[0], rel=0.5)

    def test_intervals_below_minus_one(self):
        found = gathered(sa.simulate(100, 3, rng=1))
        for low, rough in ((-1.2, True), (-1.0, False)):
            found.results["pairs"] = found.results["pairs"].assign(low=low)
            note = by_id(found)["pairs"].note
            assert ("below −1 is a rough one" in note) is rough

    def test_every_interval_below_minus_one_has_its_word(self):
        """Headline, choices, panels and methods say that such an interval is rough; else not.

        Two raters who agree on two of 9 units: the score interval of alpha ends at -1, and the t
        interval of a stratified study lies below that.
        """
        word = "begins below −1 is a rough one"
        pairs = annotations(text("a b / b a / a b / b a / a a / a b / b a / b a / b b"))
        for study, is_rough in ((pairs, True), (sa.simulate(100, 2, rng=1), False)):
            panels = {"one": [study.raters[0]], "two": [study.raters[1]]}
            found = gathered(study, panels=panels)
            assert found.main.interval()[0] >= -1
            assert word not in verdict_sentence(found)
            drawn = study.sampled(strata=dict.fromkeys(study.units, "all"))
            by_t = gathered(drawn, coefficient="cohen_kappa")
            assert (by_t.main.interval()[0] < -1) is is_rough
            assert (word in verdict_sentence(by_t)) is is_rough
            assert (word in methods_of(by_t).text) is is_rough
            notes = {one.id: one.note for one in sections(by_t)}
            assert (word in notes["choices"]) is is_rough
            notes = {one.id: one.note for one in sections(found)}
            assert word not in notes["replication"]
            low = replace(found.results["replication"], distribution=np.array([-1.4, -1.2, -1.1]))
            found.results["replication"] = low
            assert word in by_id(found)["replication"].note

    def test_what_the_limits_were_proposed_for(self):
        study = sa.simulate(60, 3, rng=1)
        scores = [(r, u, u % 5 + (u % 7 == k)) for u in range(40) for k, r in enumerate("xyz")]
        scale = sa.Annotations.from_triples(scores, kind="value")
        studies = {"nominal": study, "masi": study, "ordinal": scale, "ratio": scale}
        said = {
            name: verdict_sentence(gathered(answers, distance=name))
            for name, answers in (studies | {"linear": scale}).items()
        }
        for name, title in {"masi": "MASI", "linear": "linear"}.items():
            assert said[name].endswith(
                " The limits were proposed for alpha with nominal, ordinal, interval or ratio "
                f"distances of single answers, not with the {title} distance."
            )
        for name in ("nominal", "ordinal", "ratio"):
            assert "proposed" not in said[name]

    def test_what_the_limits_were_proposed_for_is_said_once(self, tmp_path):
        study = sa.simulate(60, 3, rng=1)
        for name in ("nominal", "masi"):
            path = sa.report(study, tmp_path / f"{name}.md", distance=name, n_resamples=19, rng=1)
            said = path.read_text(encoding="utf-8")
            assert said.count("were proposed for alpha with nominal") == 1
            assert said.count("not mean the same agreement with it as with nominal") == 1

    def test_confusions_below_chance_are_no_findings(self):
        """A confusion is named only above chance, of at least 5 pairs seen and 5 by chance.

        a and b are the most frequent labels, and nobody confuses them more often than two answers
        drawn at random that differ do; c and d are rare, and confused with each other alone.
        """
        rows = [[{x}, {x}] for x in "ab" for _ in range(40)]
        rows += [[{"a"}, {"b"}]] * 6 + [[{"c"}, {"d"}]] * 5
        study = annotations([[frozenset(x) for x in row] for row in rows])
        table = sa.confusions(study).set_index(["label", "other"])
        assert table["n_pairs"].tolist() == [6, 5]
        assert table.loc[("a", "b"), "lift"] < 1 < table.loc[("c", "d"), "lift"]
        # Of 182 answers 86 are a, 86 b, 5 c and 5 d: 9,141 of their pairs differ, and 11 of those
        # in the units. Chance gives 11 * 86² / 9,141 = 8.9 and 11 * 5² / 9,141 = 0.0301.
        alone = study.take(study.unit_codes < 86)
        for one in (study, alone):
            found = gathered(one)
            assert "Confusion" not in {one.about for one in main_findings(found)}
            assert "merge" not in set(found.results["changes"]["action"])
        # 40 more of c against d: of 262 answers 86 are a, 86 b, 45 c and 45 d, of whose pairs
        # (262² - 2 * 86² - 2 * 45²) / 2 = 24,901 differ, and 51 of those in the units: chance has
        # 51 * 45² / 24,901 = 4.15 of c against d, and with 60 more 71 * 65² / 33,981 = 8.83.
        for more, named in ((40, False), (60, True)):
            many = annotations(
                [[frozenset(x) for x in row] for row in rows + [[{"c"}, {"d"}]] * more]
            )
            found = gathered(many)
            said = told(found)
            assert ("“c” ↔ “d” (92% of the pairs" in said.get("Confusion", "")) == named

    @pytest.mark.parametrize(
        ("p", "said"),
        [
            ([1.0, 0.001, 1.0, 0.03], "“c” ↔ “d” (30{}6.0 times the expected number, {p})."),
            (
                [1.0, 0.001, 1.0, 0.001],
                (
                    "“c” ↔ “d” (30{}6.0 times the expected number, {p}) and “f” left out (15{}3.0 "
                    "times the expected number, {p})."
                ),
            ),
            ([1.0, 0.4, 1.0, 0.6], ""),
            ([np.nan] * 4, ""),
        ],
    )
    def test_confusions_of_the_least_p(self, p, said):
        rows = [
            ("a", "b", "instead", 100.0, 90.0, 100 / 90, 0.5),
            ("c", "d", "instead", 60.0, 10.0, 6.0, 0.3),
            ("e", None, "left out", 40.0, 41.0, 40 / 41, 0.2),
            ("f", None, "left out", 30.0, 10.0, 3.0, 0.15),
        ]
        columns = ["label", "other", "kind", "n_pairs", "expected_pairs", "lift", "share"]
        found = gathered(annotations(text("a b / b c / c d / a a")))
        found.results["confusions"] = pd.DataFrame(rows, columns=columns).assign(p_value=p)
        correct(found)
        start, least = "More frequent than expected by chance: ", found.corrected["confusions"][0]
        said = said.replace("{}", "% of the pairs that differ, ").replace("{p}", p_phrase(least))
        assert finding_of("confusions", found) == (start + said if said else "")

    def test_too_few_units_to_clear_a_rater(self):
        study = annotations(text("ab a ab / b b b / cd cd c / e e e / ef e ef / a ab a"))
        found = gathered(study)
        said = told(found)
        assert said["Raters"].startswith(
            "Leaving out any one of the 3 raters changes alpha by at most "
        )
        reach = number(found.results["raters"]["difference_high"].max(), signed=True)
        assert said["Raters"].endswith(f"but rough intervals reach {reach}.")

    def test_repeats_are_counted(self):
        rows = [(r, u, "ab"[u % 2]) for r in "xy" for u in range(6)] + [("x", 0, "b")]
        for kept, words in (("first", "the first was kept"), ("last", "the last was kept")):
            study = sa.Annotations.from_triples(rows, duplicates=kept)
            found = gathered(study)
            table = by_id(found)["data"].table
            (row,) = (row for row in table.rows if row[0] == "Repeated ratings")
            assert row[1:] == (
                1,
                f"a rater rated a unit again: dropped, the {kept} rating was kept",
            )
            again = "where a rater had rated a unit again (1 time in the data)"
            assert f"{again}, {words}." in methods_of(found).text

    def test_rows_that_do_not_count(self, tmp_path):
        path = tmp_path / "study.csv"
        rows = [f"u{u},{r},{'ab'[u % 2]},{u // 5}" for u in range(6) for r in "xy"]
        path.write_text("\n".join(["unit,rater,labels,repeat", *rows]), encoding="utf-8")
        with pytest.warns(sa.SetagreeWarning, match="drops 2 of 12 rows"):
            found = gathered(sa.read(path, where="repeat == 0"))
        table = by_id(found)["data"].table
        assert table.caption.endswith("; only rows of the table with repeat == 0 were read")
        assert "only rows of the table with repeat == 0 were read" in methods_of(found).text

    def test_holm_over_all_raters(self):
        """Of many raters one interval above 0 is to be expected; corrected, it names nobody.

        Of 12 raters alike, the interval of one lies above 0 and the corrected p is not below 0.05.
        """
        study = sa.simulate(60, 12, rng=1)
        found = gathered(study)
        raters = found.results["raters"]
        assert (raters["difference_low"] > 0).any()
        said = told(found)
        assert said["Raters"].endswith("; no removal raises it significantly.")
        assert "drop rater" not in set(found.results["changes"]["action"])

    def test_one_p_for_one_rater(self):
        study = sa.simulate(60, 4, rng=6)
        rng = np.random.default_rng(0)
        bad = [("odd", u, {str(rng.choice(study.labels))}) for u in study.units]
        found = gathered([*study.to_triples(), *bad])
        tried = changes.with_p(found)
        row = tried[tried["action"] == "drop rater"].iloc[0]
        raters = found.tested("raters").set_index("rater")
        assert row["p_holm"] == raters.loc["odd", "p_holm"]
        raw = [found.results["raters"]["p_value"], found.results["changes"]["p_value"]]
        assert found.n_claims > sum(each.notna().sum() for each in raw) - 1
        assert f"{found.n_claims} claims were tested." in claims_note(found)

    def test_limits_are_not_for_percent_agreement(self):
        found = gathered(sa.simulate(30, 3, rng=1), coefficient="percent_agreement")
        assert verdict_sentence(found).startswith("No verdict by the usual limits, which are for")

    def test_a_generator_has_no_seed(self, tmp_path):
        path = sa.report(
            sa.simulate(30, 3, rng=1),
            tmp_path / "r.md",
            n_resamples=19,
            rng=np.random.default_rng(1),
        )
        assert "(seed None)" not in path.read_text()

    def test_two_ways_to_leave_out_a_rater(self, tmp_path):
        drawn = np.random.default_rng(0).integers(1, 7, 25).tolist()
        rows = [
            (f"r{g}", u, drawn[u] if g == 3 else 1 + (u + (g == u % 5)) % 4)
            for u in range(25)
            for g in range(4)
        ]
        study = sa.Annotations.from_triples(rows, kind="value")
        whole = sa.by_rater(study, distance="ordinal").set_index("rater")
        anew = sa.what_if(study, distance="ordinal", exclude_raters=["r3"]).set_index("target")
        rest = sa.Annotations.from_triples([row for row in rows if row[0] != "r3"], kind="value")
        alone = sa.krippendorff_alpha(rest, distance="ordinal").estimate
        assert anew.loc["r3", "estimate"] == pytest.approx(alone)
        assert abs(whole.loc["r3", "estimate_without"] - alone) > 1e-3
        assert whole.loc["r3", "difference_low"] > 0
        path = sa.report(study, tmp_path / "r.md", distance="ordinal", n_resamples=19, rng=1)
        assert "are computed again here" in path.read_text()
        path = sa.report(study, tmp_path / "r.md", distance="nominal", n_resamples=19, rng=1)
        assert "computed again here" not in path.read_text()


class TestStandouts:
    @staticmethod
    def labels(*rows):
        """Return rows of by_label: name, estimate, low, high, share of the disagreement."""
        columns = ["label", "estimate", "low", "high", "share_of_disagreement"]
        return pd.DataFrame(rows, columns=columns).assign(
            n_units=100, n_ratings=300, standard_error=0.05
        )

    @pytest.mark.parametrize(
        ("second", "third", "others"),
        [
            ((0.6, 0.5, 0.7), (0.7, 0.6, 0.8), "the other labels 0.600 to 0.700."),
            ((0.6, 0.5, 0.7), (0.0, np.nan, np.nan), "1 other 0.600."),
            ((0.28, 0.2, 0.4), (0.7, 0.6, 0.8), None),
        ],
    )
    def test_the_lowest_label(self, second, third, others):
        rows = [("a", 0.2, 0.1, 0.3, 0.4), ("b", *second, 0.3), ("c", *third, 0.3)]
        found = SimpleNamespace(study=SimpleNamespace(kind="labels", values=()), result={}.get)
        said = plain(labels.summary(found, self.labels(*rows)))
        lowest = f"lpha is lowest for “a”: 0.200 (0.100 to 0.300); {others}"
        assert (lowest in said) == (others is not None)
        assert ("lpha is lowest" in said) == (others is not None)
        some = "Of the labels with an interval and at least 10 units, alpha"
        assert said.startswith(some) == (third[0] < 0.2)

    @pytest.mark.parametrize(("n", "worst"), [(10, "a"), (9, "b")])
    def test_a_rare_label_is_not_the_lowest(self, n, worst):
        rows = self.labels(
            ("a", 0.2, 0.1, 0.3, 0.4), ("b", 0.4, 0.3, 0.5, 0.3), ("c", 0.6, 0.5, 0.7, 0.3)
        )
        found = SimpleNamespace(study=SimpleNamespace(kind="labels", values=()), result={}.get)
        said = plain(labels.summary(found, rows.assign(n_units=[n, 100, 100])))
        assert f"lpha is lowest for “{worst}”: " in said

    def test_evenly_spread(self):
        """Half of six labels with 54% of the disagreement are no news; one of six with 50% is."""
        shares = (0.2, 0.18, 0.16, 0.16, 0.15, 0.15)
        even = self.labels(*[(str(k), 0.5, 0.4, 0.6, part) for k, part in enumerate(shares)])
        assert evenly_spread(even, 3)
        odd = even.assign(share_of_disagreement=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
        assert not evenly_spread(odd, 1)

    def test_a_rare_label_changes_no_finding(self):
        rows = self.labels(*[(str(k), 0.5, 0.4, 0.6, 0.2) for k in range(5)])
        typo = pd.concat([rows, rows.iloc[:1].assign(label="typo", n_ratings=1)])
        typo["share_of_disagreement"] = [0.27, 0.22, 0.19, 0.16, 0.155, 0.005]
        assert evenly_spread(typo, 2)
        assert not evenly_spread(typo.assign(n_ratings=300), 2)
        found = SimpleNamespace(study=SimpleNamespace(kind="labels", values=()), result={}.get)
        said = labels.summary(found, typo)
        assert plain(said) == ("The disagreement is spread over 5 of 6 labels, 16% to 27% each.")

    def test_disagreement_on_rare_labels_alone_is_not_spread(self):
        rows = self.labels(*[(name, 0.5, 0.4, 0.6, 0.5) for name in ("y", "z")], ("x", 1, 1, 1, 0))
        rows["n_ratings"] = [2, 2, 540]
        found = SimpleNamespace(study=SimpleNamespace(kind="labels", values=()), result={}.get)
        said = labels.summary(found, rows)
        assert "100% of the disagreement is about 2 of 3 labels: “y” (50%)" in plain(said)

    def test_ties_that_are_too_many_to_name(self):
        def said(*shares):
            rows = self.labels(*[(str(k), 0.5, 0.4, 0.6, part) for k, part in enumerate(shares)])
            found = SimpleNamespace(study=SimpleNamespace(kind="labels", values=()), result={}.get)
            return plain(labels.summary(found, rows))

        assert said(*[0.2] * 5, *[0.0] * 5) == (
            "The disagreement is spread over 5 of 10 labels, 20% each."
        )
        assert said(0.4, *[0.15] * 4, *[0.0] * 5) == (
            "40% of the disagreement is about “0”; the other 9 have at most 15%."
        )
        # The largest share is printed as the next one: no label stands out.
        many = [0.1304, 0.1301, *[0.1] * 7, *[0.0395] * 1]
        assert said(*many) == "Each of 10 labels has at most 13% of the disagreement."
        assert said(0.25, 0.22, 0.16, 0.15, 0.12, 0.1) == (
            "63% of the disagreement is about 3 of 6 labels: “0” (25%), “1” (22%) and “2” (16%)."
        )
        assert said(*[0.25] * 4) == ("The disagreement is spread over all 4 labels, 25% each.")
        assert said(*[0.2] * 5, 0.0) == ("The disagreement is spread over 5 of 6 labels, 20% each.")


def test_depths_of_a_hierarchy():
    study = sa.simulate(60, 3, n_labels=4, labels=["a/x", "a/y", "b/x", "b/y"], skill=0.6, rng=1)
    f = gathered(study, distance=sa.distances.taxonomy("/"))
    frame = sa.by_depth(study, parents="/", distance=sa.distances.taxonomy("/"))
    shown = by_id(f)["depths"]
    assert [row[:3] for row in shown.table.rows] == [
        tuple(row) for row in frame[["depth", "n_labels", "inside"]].itertuples(index=False)
    ]
    assert [row[3][0] for row in shown.table.rows] == frame["estimate"].tolist()
    said = told(f)
    assert said["Depth"].startswith(
        f"{share(frame['inside'][0])} of the nominal disagreement is inside branches: "
    )
    for plainly in ("masi", sa.distances.taxonomy({"a/x": "other"})):
        flat = gathered(study, distance=plainly)
        assert ("depths" in [one.id for one in sections(flat)]) == (plainly != "masi")


def test_a_change_that_leaves_few_pairable_units_counts_them():
    """Where one of three raters stopped halfway, leaving out another one leaves half of the units.

    r3 answers by lot, so that leaving out r3 raises alpha; r2 rated the first 30 units alone.
    """
    study = sa.simulate(120, 3, skill=[0.95, 0.95, 0.1], rng=4)
    table = study.to_long()
    late = table["unit"].isin(study.units[30:]) & (table["rater"] == "r2")
    half = sa.Annotations.from_long(table[~late])
    found = gathered(half)
    said = told(found)["Change"]
    assert "leave out the rater “r3”" in said
    assert "with 30 pairable units instead of 120" in said
    rows = by_id(found)["changes"].table
    n = [column.heading() for column in rows.columns].index("Pairable units")
    assert 30 in [row[n] for row in rows.rows]


def test_a_small_group_that_differs_is_named():
    good, poor = sa.simulate(60, 3, skill=0.95, rng=1), sa.simulate(8, 3, skill=0.0, rng=2)
    rows = [good.to_long(), poor.to_long().assign(unit=lambda t: "p" + t["unit"].astype(str))]
    study = sa.Annotations.from_long(pd.concat(rows))
    names = {u: "y" if str(u).startswith("p") else "xz"[k % 2] for k, u in enumerate(study.units)}
    said = told(gather(study, groups=names, n_resamples=199, rng=1))["Groups"]
    assert said.startswith("“y” (")


def test_full_agreement_is_not_ranked():
    answers = [(r, u, "a" if u % 2 else "b") for u in range(30) for r in "xyz"]
    found = gathered(answers)
    assert caution(found) == ""
    shown = by_id(found)
    assert "units" not in shown
    assert shown["raters"].table.caption == "Raters"
    assert "Holm" not in shown["raters"].note
    same = sa.Annotations.from_triples([(r, u, "a") for u in range(30) for r in "xyz"])
    with pytest.warns(sa.UndefinedAgreementWarning):
        found = gathered(same)
    assert finding_of("patterns", found) == "The answer is “a” in 90 of 90 ratings (100%)."


def test_identical_raters_leave_no_camps():
    study = sa.simulate(60, 4, skill=0.6, rng=1)
    table = study.to_long()
    wide = table.pivot(index="unit", columns="rater", values="labels")
    wide["r2"] = wide["r1"]
    rows = [(r, u, wide.loc[u, r]) for u in wide.index for r in wide.columns]
    found = gather(sa.Annotations.from_triples(rows), n_resamples=99, rng=1)
    said = {one.about for one in main_findings(found)}
    assert "Pattern" in said
    assert found.results["map"].p_value <= 0.05
    assert "Rater clusters" not in said


def test_confusions_near_chance_are_no_finding():
    found = gathered(sa.simulate(400, 3, n_labels=4, skill=0.5, rng=3))
    assert len(found.results["confusions"])
    above = found.results["confusions"]["lift"].max()
    assert 1.0 < above < 1.3
    assert "Confusion" not in {one.about for one in main_findings(found)}


def with_pairs(n_pairs):
    """Return 40 units of three raters, who give "d" in addition in the first units."""
    return [
        (r, u, {"abc"[(u + (u % 5 == k == 1)) % 3]} | ({"d"} if u < n_pairs and not k else set()))
        for u in range(40)
        for k, r in enumerate("xyz")
    ]


@pytest.mark.parametrize(
    ("n_pairs", "depends"),
    [(0, "does not depend"), (2, "hardly depends"), (4, "depends"), (30, "depends")],
)
def test_the_dependence_on_the_distance_is_that_of_the_range(n_pairs, depends):
    f = gathered(with_pairs(n_pairs))
    estimates = [row.estimate for row in f.results["choices"] if row.definition.short == "alpha"]
    assert (np.ptp(estimates) < 0.05) == (depends != "depends")
    said = plain(by_id(f)["choices"].lead)
    assert said.startswith(f"The estimate {depends} on the distance: alpha is ")
    assert ("; in many pairs one answer contains the other." in said) == (n_pairs == 30)


@pytest.mark.parametrize(
    ("rows", "step"),
    [
        (with_pairs(0)[:30], "Rate more units: setagree plan or sa.plan gives the number that is"),
        (
            [(r, u, "ba"[u > 0]) for u in range(12) for r in "xyz"],
            "Rate more units: these allow no",
        ),
        (with_pairs(30), None),
    ],
    ids=["unclear", "no interval", "decided"],
)
def test_more_units_are_advised_if_the_interval_does_not_decide(rows, step):
    steps = [plain(one) for one in next_steps(gathered(rows))]
    assert any(one.startswith("Rate more units") for one in steps) is (step is not None)
    assert step is None or steps[0].startswith(step)


@pytest.mark.parametrize("kind", ["labels", "category"])
def test_set_sizes_are_for_label_sets(kind):
    rows = [(r, u, "abc"[(u + (u % 5 == k)) % 3]) for u in range(40) for k, r in enumerate("xyz")]
    f = gathered(sa.Annotations.from_triples(rows, kind=kind))
    heads = [column.heading() for column in by_id(f)["raters"].table.columns]
    assert ({"Labels", "Vs. others"} <= {*heads}) is (kind == "labels")
