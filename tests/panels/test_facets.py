"""Models in runs and prompts: agreement within, across and with people."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError, SetagreeWarning

FACETS = ["model", "prompt", "run"]


def built(n_units, seed, *, missing=0.0):
    """Return a long table: two models, two prompts, two runs, three people; sets of labels."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(n_units):
        truth = frozenset(rng.choice(list("abcd"), size=rng.integers(0, 3)))
        who = [("gpt", p, r) for p in "xy" for r in (1, 2)] + [("llama", "x", r) for r in (1, 2, 3)]
        who += [(None, None, None)] * 3
        for place, (model, prompt, run) in enumerate(who):
            if rng.random() < missing:
                continue
            flip = rng.random() < (0.1 if model == "gpt" else 0.4)
            answer = truth ^ frozenset(rng.choice(list("abcd"), size=1)) if flip else truth
            name = f"h{place}" if model is None else f"{model}-{prompt}-{run}"
            rows.append((unit, name, model, prompt, run, answer))
    return pd.DataFrame(rows, columns=["unit", "rater", *FACETS, "labels"]).astype({"run": object})


def masi(a, b):
    if a == b:
        return 0.0
    m = 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0.0
    return 1 - m * len(a & b) / len(a | b)


def kind_of(a, b):
    """Return the kind of pairs of two raters, each with model, prompt and run."""
    people = [x[0] is None for x in (a, b)]
    if all(people):
        return "people with one another"
    if any(people):
        return "models with people"
    if a[0] != b[0]:
        return "other model"
    return "same model, other prompt" if a[1] != b[1] else "same model and prompt, other run"


def by_loop(table, distance=masi):
    """Return the agreement of each kind, by going through all pairs of ratings."""
    counts = table.groupby("unit")["rater"].transform("size")
    rows = [*table[counts > 1].astype(object).where(table.notna(), None).itertuples(index=False)]
    expected = np.mean([distance(a.labels, b.labels) for a, b in combinations(rows, 2)])
    apart = {}
    for a, b in combinations(rows, 2):
        if a.unit == b.unit:
            facets = [(x.model, x.prompt, x.run) for x in (a, b)]
            d = distance(a.labels, b.labels)
            apart.setdefault((kind_of(*facets), "all"), []).append(d)
            models = {f"{m} / {p}" for m, p, _ in facets if m is not None}
            if len(models) == 1 and kind_of(*facets) != "people with one another":
                apart.setdefault((kind_of(*facets), *models), []).append(d)
    return {key: (1 - np.mean(d) / expected, len(d)) for key, d in apart.items()}


@pytest.mark.parametrize(("seed", "missing"), [(1, 0.0), (2, 0.35)])
def test_each_kind_is_a_plain_double_loop(seed, missing):
    table = built(14, seed, missing=missing)
    frame = sa.facet_agreement(table, facets=FACETS).frame.set_index(["pairs", "who"])
    expected = by_loop(table)
    shown = {key: v for key, v in expected.items() if key in frame.index}
    assert len(frame) == len(shown)
    assert {kind for kind, who in expected if who == "all"} == {kind for kind, _ in frame.index}
    for key, (agreement, n_pairs) in shown.items():
        assert frame.loc[key, "estimate"] == pytest.approx(agreement, abs=1e-12)
        assert frame.loc[key, "n_pairs"] == n_pairs


def test_standard_errors_are_the_jackknife_over_units():
    from scipy.stats import t

    table = built(5, 3)
    frame = sa.facet_agreement(table, facets=FACETS).frame.set_index(["pairs", "who"])
    key = ("same model, other prompt", "all")
    without = [by_loop(table[table["unit"] != unit])[key][0] for unit in range(5)]
    error = np.sqrt(4 / 5 * ((np.array(without) - np.mean(without)) ** 2).sum())
    row = frame.loc[key]
    assert row["standard_error"] == pytest.approx(error, abs=1e-12)
    factor = np.exp(t.ppf(0.975, 4) * error / (1 - row["estimate"]))
    assert row["low"] == pytest.approx(1 - (1 - row["estimate"]) * factor, abs=1e-12)
    assert row["high"] == pytest.approx(1 - (1 - row["estimate"]) / factor, abs=1e-12)


def test_the_hand_built_study():
    """Worked by hand: two runs of a model, two people, two units of single labels.

    u1: runs a a, people a b; u2: runs b a, people b b. Of the 28 pairs of ratings 16 differ (four
    a, four b). Runs differ in 1 of 2 pairs, models and people in 2 + 2 of 8, people in 1 of 2.
    """
    rows = [("m1", 1, "a"), ("m2", 1, "a"), ("h1", 1, "a"), ("h2", 1, "b")]
    rows += [("m1", 2, "b"), ("m2", 2, "a"), ("h1", 2, "b"), ("h2", 2, "b")]
    study = sa.Annotations.from_triples([(rater, unit, label) for rater, unit, label in rows])
    study = study.with_raters({"model": {"m1": "m", "m2": "m"}, "run": {"m1": 1, "m2": 2}})
    frame = sa.facet_agreement(study, facets=["model", "run"], distance="nominal").frame
    expected = 16 / 28
    assert frame["pairs"].tolist() == [
        *("same model, other run", "models with people", "people with one another")
    ]
    assert frame["estimate"].to_numpy() == pytest.approx(
        [1 - (1 / 2) / expected, 1 - (4 / 8) / expected, 1 - (1 / 2) / expected], abs=1e-15
    )
    assert frame["upper_bound"].tolist()[1] == pytest.approx(1 - (1 / 2) / expected, abs=1e-15)


def test_all_kinds_together_are_alpha():
    table = built(12, 4)
    frame = sa.facet_agreement(table, facets=FACETS).frame.query("who == 'all'")
    mean = (frame["estimate"] * frame["n_pairs"]).sum() / frame["n_pairs"].sum()
    assert mean == pytest.approx(sa.krippendorff_alpha(table).estimate, abs=1e-12)


def test_the_limit_holds_for_repeated_draws():
    """No model agrees with people by more than the mean of its own agreement and theirs.

    Exact where answers are drawn alike: 4,000 units, so that sampling hardly matters.
    """
    study = sa.simulate(4000, 6, skill=[0.9, 0.9, 0.4, 0.4, 0.7, 0.7], rng=5)
    model = {"r1": "good", "r2": "good", "r3": "poor", "r4": "poor"}
    found = sa.facet_agreement(study.with_raters({"model": model}), facets=["model"])
    rows = found.frame.query("pairs == 'models with people' and who != 'all'")
    assert rows["who"].tolist() == ["good", "poor"]
    assert (rows["estimate"] <= rows["upper_bound"] + 0.01).all()
    assert "'poor' agrees with itself by" in found.verdict
    assert "'good' agrees with itself" not in found.verdict
    assert f"by more than {rows['upper_bound'].iloc[1]:.4f}." in found.verdict
    assert sa.facet_agreement(study.with_raters({"model": model}), facets=["model"],
                              distance="overlap").frame["upper_bound"].isna().all()  # fmt: skip


def test_stability_stands_before_validity():
    found = sa.facet_agreement(built(60, 6), facets=FACETS)
    pairs = found.frame["pairs"].drop_duplicates().tolist()
    assert pairs == [
        *("same model and prompt, other run", "same model, other prompt", "other model"),
        *("models with people", "people with one another"),
    ]
    said = found.verdict
    order = ["the same model and prompt but another run", "another prompt", "another model"]
    places = [said.index(text) for text in [*order, "agree with people by"]]
    assert places == sorted(places)


def test_what_stability_leaves_room_for_is_a_plain_loop():
    table = built(15, 7, missing=0.2)
    frame = sa.facet_agreement(table, facets=FACETS).frame.set_index(["pairs", "who"])
    own = {key[1]: v for key, (v, _) in by_loop(table).items() if key[1] != "all"
           and key[0] == "same model and prompt, other run"}  # fmt: skip
    own["people"] = by_loop(table)["people with one another", "all"][0]
    rooms = {}
    rows = [*table.astype(object).where(table.notna(), None).itertuples(index=False)]
    for a, b in combinations(rows, 2):
        if a.unit == b.unit:
            names = [f"{x.model} / {x.prompt}" if x.model else "people" for x in (a, b)]
            kind = kind_of(*((x.model, x.prompt, x.run) for x in (a, b)))
            rooms.setdefault(kind, []).append((own[names[0]] + own[names[1]]) / 2)
    for kind in ("same model, other prompt", "other model", "models with people"):
        row = frame.loc[kind, "all"]
        assert row["upper_bound"] == pytest.approx(np.mean(rooms[kind]), abs=1e-12)
        assert row["difference"] == pytest.approx(row["upper_bound"] - row["estimate"], abs=1e-12)
    assert np.isnan(frame.loc["people with one another", "all"]["upper_bound"])
    assert np.isnan(frame.loc["same model and prompt, other run", "all"]["upper_bound"])


def test_what_is_called_lost_follows_from_its_interval():
    for seed in (7, 8, 9):
        found = sa.facet_agreement(built(150, seed), facets=FACETS)
        rows = found.frame.query("who == 'all'").set_index("pairs")
        said = found.verdict.split(". ")
        for kind, start in (
            ("same model, other prompt", "With the same model but another prompt, it is"),
            ("other model", "With another model, it is"),
            ("models with people", "Models agree with people by"),
        ):
            (sentence,) = [one for one in said if one.startswith(start)]
            assert ("less than what stability" in sentence) == (
                rows.loc[kind, "difference_low"] > 0
            )
            assert f"({rows.loc[kind, 'upper_bound']:.4f})" in sentence


def test_models_below_people_are_said_to_agree_less():
    study = sa.simulate(300, 5, skill=[0.5, 0.5, 0.9, 0.9, 0.9], rng=3)
    found = sa.facet_agreement(
        study.with_raters({"model": {"r1": "m", "r2": "m"}}), facets=["model"]
    )
    gap, low, high = found.difference("models with people", "people with one another")
    assert low < gap < high < 0
    said = f"models agree with them less, by {-gap:.4f} (95% {-high:.4f}, {-low:.4f})."
    assert said in found.verdict


def test_a_systematic_difference_is_lost():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 400)
    rows = []
    for name, shift, noise in (("a", 0, 0), ("b", 1, 0), ("c", 0, 0.4)):
        for run in (1, 2):
            given = np.where(rng.random(400) < noise, rng.integers(0, 4, 400), truth + shift) % 4
            rows += [(f"{name}{run}", u, "wxyz"[k]) for u, k in enumerate(given)]
    study = sa.Annotations.from_triples(rows)
    study = study.with_raters({"model": {rater: rater[0] for rater in study.raters}})
    pair = {other: study.exclude_raters([f"{other}1", f"{other}2"]) for other in "bc"}
    steady = sa.facet_agreement(pair["c"], facets=["model"], distance="nominal")
    row = steady.frame.set_index("pairs").loc["other model"]
    assert row["upper_bound"] == 1
    assert row["difference"] == pytest.approx(1 - row["estimate"])
    noisy = sa.facet_agreement(pair["b"], facets=["model"], distance="nominal")
    row = noisy.frame.set_index("pairs").loc["other model"]
    # Half of the squared distance between the shares of both: (0.4 * 3/4)^2 (1 + 3/9) / 2.
    lost = 0.3**2 * (1 + 1 / 3) / 2 / 0.75
    assert row["difference_low"] < lost
    assert row["difference"] == pytest.approx(lost, abs=0.03)


def test_one_run_says_that_stability_is_not_known():
    table = built(20, 8).query("run == 1 or run != run")
    found = sa.facet_agreement(table, facets=FACETS)
    assert "The stability of models cannot be estimated" in found.verdict
    assert "same model and prompt, other run" not in found.frame["pairs"].tolist()
    alone = sa.facet_agreement(table.dropna(subset="model"), facets=FACETS)
    assert "this is stability alone" in alone.verdict


def test_kinds_that_some_models_lack_name_the_others():
    said = sa.facet_agreement(built(60, 6), facets=FACETS).verdict
    start = "With the same model but another prompt, it is"
    (prompts,) = [one for one in said.split(". ") if one.startswith(start)]
    assert "(such pairs are only of 'gpt / x' and 'gpt / y')" in prompts
    assert "what their stability permits" in prompts
    (models,) = [one for one in said.split(". ") if one.startswith("With another model")]
    assert "such pairs" not in models
    assert "what stability permits" in models
    both = built(60, 6).query("model != 'llama'")
    assert "such pairs" not in sa.facet_agreement(both, facets=FACETS).verdict


def test_who_is_a_model():
    table = built(10, 9)
    named = table.assign(model=table["model"].fillna("human"))
    with pytest.raises(DataError, match=r"rater 'h\d' has no 'prompt'.*humans="):
        sa.facet_agreement(named, facets=FACETS)
    people = sorted({*table["rater"]} - {*table.dropna()["rater"]})
    found = sa.facet_agreement(named, facets=FACETS, humans=people)
    assert found.frame.equals(sa.facet_agreement(table, facets=FACETS).frame)
    study = sa.read(table, rater_columns=FACETS)
    with pytest.raises(OptionError, match="cannot be a model and a human at once"):
        sa.facet_agreement(study, facets=FACETS, model="gpt-x-1", humans=["gpt-x-1"])


def test_a_model_that_nobody_named_is_no_human():
    table = built(10, 9)
    runs = ["gpt-x-1", "gpt-x-2"]
    found = sa.facet_agreement(table, facets=FACETS, model=runs)
    without_llama = table[table["model"].isna() | table["rater"].isin(runs)]
    expected = sa.facet_agreement(without_llama, facets=FACETS).frame
    pd.testing.assert_frame_equal(found.frame, expected)
    named = table.assign(**{name: table[name].fillna("human") for name in FACETS})
    people = sa.facet_agreement(named, facets=FACETS, model=runs).frame.set_index(["pairs", "who"])
    assert people.loc[("people with one another", "all"), "n_pairs"] == 10 * 28  # of eight others


def test_answers_of_models_elsewhere():
    table = built(10, 10)
    people = table[table["model"].isna()][["unit", "rater", "labels"]]
    runs = table.dropna(subset="model")[["unit", *FACETS, "labels"]]
    found = sa.facet_agreement(people, facets=FACETS, model=runs)
    expected = sa.facet_agreement(table, facets=FACETS).frame
    pd.testing.assert_frame_equal(found.frame, expected)
    assert "gpt / x / 1" in found.study.raters.tolist()


def test_runs_that_are_numbers_keep_their_names():
    table = built(10, 13).query("model != 'llama'").astype({"run": float})
    who = sa.facet_agreement(table, facets=["model", "run"]).frame["who"].tolist()
    assert {"gpt / 1", "gpt / 2"} <= {*who}


def test_what_is_refused():
    table = built(6, 11)
    study = sa.read(table, rater_columns=FACETS)
    with pytest.raises(DataError, match=r"no column 'promt' of its raters.*Did you mean 'prompt'"):
        sa.facet_agreement(study, facets=["model", "promt"])
    with pytest.raises(DataError, match=r"it has none; name it.*rater_columns=\['model'\]"):
        sa.facet_agreement(sa.read(table), facets=["model"])
    for wrong in ([], ["model", "model"], "model"):
        with pytest.raises(OptionError, match="facets="):
            sa.facet_agreement(study, facets=wrong)
    with pytest.raises(DataError, match="no rater has a model"):
        sa.facet_agreement(study, facets=["model"], humans=study.raters.tolist())


def test_a_low_end_is_cut_at_minus_one():
    """Three units with t of two degrees of freedom: the factor is exp(4.3 SE / (1 - estimate))."""
    rows = [
        (r, u, x)
        for u, pair in enumerate(["aa", "bb", "ab"])
        for r, x in zip("xy", pair, strict=True)
    ]
    study = sa.Annotations.from_triples(rows).with_raters({"model": dict.fromkeys("xy", "gpt")})
    row = sa.facet_agreement(study, facets=["model"]).frame.iloc[0]
    apart = 1 - row["estimate"]
    assert 1 - apart * np.exp(4.3 * row["standard_error"] / apart) < -2
    assert row["low"] == -1
    assert row["estimate"] < row["high"] < 1


def test_agreement_without_spread_has_no_interval():
    rows = [(rater, u, "ab"[u % 2]) for rater in ("m1", "m2") for u in range(8)]
    rows += [("h", u, "ab"[(u + u // 4) % 2]) for u in range(8)]
    study = sa.Annotations.from_triples(rows).with_raters({"model": {"m1": "m", "m2": "m"}})
    row = sa.facet_agreement(study, facets=["model"]).frame.iloc[0]
    assert row["estimate"] == 1
    assert np.isnan(row["low"])
    assert row["reason"] == "all of these pairs are alike"


def test_pairs_as_far_apart_in_every_unit_have_no_interval():
    """The model contradicts both people in every unit: no spread, which is not certainty."""
    rows = [(who, k, "ab"[k % 2]) for k in range(20) for who in ("h1", "h2")]
    rows += [("m", k, "ba"[k % 2]) for k in range(20)]
    study = sa.Annotations.from_triples(rows).with_raters({"model": {"m": "m"}})
    found = sa.facet_agreement(study, facets=["model"])
    frame = found.frame.set_index("pairs")
    assert frame[["low", "high", "difference_low"]].isna().all(axis=None)
    why = "these pairs are as far apart in every unit"
    assert frame["reason"].tolist() == [why, "all of these pairs are alike"]
    assert found.verdict.endswith(
        f"the difference has no interval ({why}; all of these pairs are alike)."
    )


def test_answers_that_are_all_alike_have_no_verdict():
    rows = [(rater, u, "a") for u in range(9) for rater in ("m1", "m2", "h1", "h2")]
    study = sa.Annotations.from_triples(rows).with_raters({"model": {"m1": "m", "m2": "m"}})
    found = sa.facet_agreement(study, facets=["model"])
    assert found.verdict == found.lead
    assert found.verdict.startswith("No verdict: all answers are alike")


def test_clusters_are_not_taken_into_account():
    study = sa.read(built(12, 12), rater_columns=FACETS)
    study = study.sampled(cluster={unit: unit // 3 for unit in study.units})
    with pytest.warns(
        SetagreeWarning, match="facet_agreement treats the units as drawn one by one"
    ):
        sa.facet_agreement(study, facets=FACETS)
