"""The commands that decide: next, monitor, components, repeats, accept, panel."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal, rows

import setagree as sa
from setagree.cli.options import CALLED
from setagree.errors import spelling


@pytest.fixture
def study(tmp_path, monkeypatch, few_draws):
    monkeypatch.chdir(tmp_path)
    found = sa.simulate(120, 4, skill=[0.9, 0.9, 0.9, 0.6], missing=0.1, rng=1)
    table = found.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table["batch"] = [f"b{int(unit[1:]) // 30}" for unit in table["unit"]]
    table.to_csv("study.csv", index=False)
    return found


@pytest.mark.parametrize(
    ("command", "made"),
    [
        (["next", "study.csv", "--budget", 3], lambda study: sa.next_ratings(study, budget=3)),
        (
            ["monitor", "study.csv", "--batch", "batch", "--threshold", 0.3],
            lambda study: sa.monitor(
                study, batch={u: f"b{int(u[1:]) // 30}" for u in study.units}, threshold=0.3
            ),
        ),
        (["components", "study.csv"], sa.variance_components),
        (
            ["repeats", "twice.csv"],
            lambda _: sa.intra_rater_agreement(sa.read("twice.csv", duplicates="repeats")),
        ),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else "",
)
def test_the_command_prints_the_result(study, command, made):
    table = pd.read_csv("study.csv")
    pd.concat([table, table.head(80)]).to_csv("twice.csv", index=False)
    shown = ok(*command)
    with spelling({**CALLED, "raters": "--pool"}):
        assert shown == f"{made(study)}\n"
    assert "nan" not in shown


def test_next_writes_the_queue(study):
    found = rows("next", "study.csv", "--budget", 12)
    expected = sa.next_ratings(study, budget=12).frame
    assert [row["unit"] for row in found] == expected["unit"].tolist()
    assert [row["more"] for row in found] == expected["more"].tolist()
    result = invoke("next", "study.csv", "--budget", 12, "-o", "queue.csv")
    assert "Written: queue.csv (12 ratings of" in result.stderr
    assert "Keep the column queued with the new ratings" in result.stderr
    assert "setagree score study.csv new.csv --queued queued" in result.stderr
    marks = pd.read_csv("queue.csv")["queued"].tolist()
    assert marks == (expected["n_ratings"] >= 2).tolist() == expected["queued"].tolist()
    shown = " ".join(ok("next", "study.csv", "--budget", 99).split())
    assert "Keep the column queued with the new ratings" in shown
    assert "-o FILE writes all" in shown


def test_next_asks_a_pool(study):
    found = rows("next", "study.csv", "--budget", 3, "--pool", "eva,r1")
    assert {row["raters"] for row in found} <= {"eva", "r1", "eva, r1", "r1, eva"}
    fewest = rows("next", "study.csv", "--budget", 3, "--goal", "agreement", "--seed", 1)
    assert not any(row["queued"] for row in fewest)
    assert "--goal 'accuracy'" in refusal("next", "study.csv", "--budget", 3, "--goal", "accuracy")
    assert "--budget 0 must be" in refusal("next", "study.csv", "--budget", 0)


def test_a_queue_that_comes_back_is_left_out(study):
    table = pd.read_csv("study.csv", dtype=str)
    extra = table.drop_duplicates("unit").head(5).assign(rater="new", queued="yes")
    pd.concat([table, extra]).to_csv("more.csv", index=False)
    result = invoke("score", "more.csv", "--format", "json", "--queued", "queued")
    assert "5 of" in result.stderr
    assert "came from a queue that uses the answers" in result.stderr
    estimate = json.loads(result.stdout)[0]["estimate"]
    assert estimate == pytest.approx(sa.krippendorff_alpha(study).estimate, abs=1e-12)
    extra.to_csv("new.csv", index=False)  # in a file of its own, beside one without the column
    beside = invoke("score", "study.csv", "new.csv", "--queued", "queued", "--format", "json")
    assert (beside.stdout, beside.stderr) == (result.stdout, result.stderr)


def test_a_queue_of_an_export_is_read_with_the_converted_ratings(study):
    choices = [{"id": name, "text": name} for name in ("joy", "fear")]
    lines = [
        {
            "text": "t",
            "_input_hash": i,
            "_task_hash": i,
            "_session_id": f"set-{rater}",
            "_annotator_id": f"set-{rater}",
            "_view_id": "choice",
            "answer": "accept",
            "options": choices,
            "accept": [label],
        }
        for i in range(4)
        for rater, label in (("ann", "joy"), ("ben", "joy" if i < 2 else "fear"))
    ]
    Path("export.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    advice = invoke("next", "export.jsonl", "--budget", 2, "-o", "queue.csv").stderr
    convert = "setagree convert export.jsonl -o ratings.csv"
    score = "setagree score ratings.csv new.csv --queued queued"
    assert f"{convert}, then {score}" in " ".join(advice.split())
    new = pd.read_csv("queue.csv").assign(rater="eva", labels="joy")
    new[["unit", "rater", "labels", "queued"]].to_csv("new.csv", index=False)
    ok(*convert.split()[1:])
    assert "2 of 10 ratings came from a queue" in invoke(*score.split()[1:]).stderr


def test_monitor_reads_the_column_of_batches(study):
    at = {unit: f"b{int(unit[1:]) // 30}" for unit in study.units}
    expected = sa.monitor(study, batch=at, threshold=0.6)
    found = rows("monitor", "study.csv", "--batch", "batch", "--threshold", 0.6)
    assert [row["n_units"] for row in found] == expected.frame["n_units"].tolist()
    shown = " ".join(ok("monitor", "study.csv", "--batch", "batch", "--threshold", 0.6).split())
    assert expected.verdict in shown
    assert "anytime-valid" in shown
    planned = rows(
        "monitor", "study.csv", "--batch", "batch", "--threshold", 0.6, "--looks", "50,99"
    )
    assert [row["n_units"] for row in planned] == [50, 99]
    one = ("--looks", "4", "--max-units", 100)
    assert len(rows("monitor", "study.csv", "--batch", "batch", "--threshold", 0.6, *one)) == 4


def test_monitor_refuses_in_the_words_of_the_command(study):
    said = refusal("monitor", "study.csv", "--batch", "week", "--threshold", 0.6)
    assert "week" in said
    assert "--threshold 2.0 must be" in refusal(
        "monitor", "study.csv", "--batch", "batch", "--threshold", 2
    )
    few = ("monitor", "study.csv", "--batch", "batch", "--threshold", 0.6, "--looks")
    assert "--looks 4 needs --max-units" in refusal(*few, "4")
    assert "must be whole numbers" in refusal(*few, "a,b")


def test_components_show_both_tables(study):
    found = rows("components", "study.csv")
    expected = sa.variance_components(study).frame
    assert [row["estimate"] for row in found] == pytest.approx(expected["estimate"].tolist())
    assert found[1]["reason"] == "4 raters; an interval takes 5"
    shown = ok("components", "study.csv", "-d", "nominal")
    assert "dependability" in shown
    assert "about raters and units like these" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("command", "name"), [("repeats", "--duplicates"), ("monitor", "--raters-in-rows")]
)
def test_options_that_a_command_refuses_are_not_listed(command, name):
    assert f"{name} " not in ok(command, "--help")
    assert f"{name} " in ok("score", "--help")


def test_repeats_are_kept_apart(study):
    table = pd.read_csv("study.csv", dtype=str)
    pd.concat([table, table.head(40)]).to_csv("again.csv", index=False)
    result = invoke("repeats", "again.csv")
    assert "40 repeated ratings kept apart" in result.stderr
    assert "The agreement of raters with themselves is 1.0000" in " ".join(result.stdout.split())
    assert "omit --duplicates last" in refusal("repeats", "again.csv", "--duplicates", "last")
    assert "--duplicates 'repeats'" in refusal("repeats", "study.csv")
    alone = rows("repeats", "again.csv", "--exclude-raters", "r1")
    assert "r1" not in {row["rater"] for row in alone}
    assert "'repeats' compares raters with themselves" in refusal("score", "again.csv")


def test_accept_plans_and_judges():
    rates = ("--acceptable-rate", 0.02, "--rejectable-rate", 0.1)
    assert "Check 65 answers drawn at random; accept with at most 3 errors" in ok("accept", *rates)
    assert rows("accept", *rates)[0]["n"] == 65
    judged = ok("accept", *rates, "--checked", 65, "--errors", 4)
    assert judged.startswith("Refused: 4 errors in 65 answers checked")
    assert "belong together" in refusal("accept", *rates, "--checked", 65)
    assert "--acceptable-rate 0.2 must be below --rejectable-rate 0.1" in refusal(
        "accept", "--acceptable-rate", 0.2, "--rejectable-rate", 0.1
    )


def test_panel_with_a_margin_adds_the_change(study):
    plain = rows("panel", "study.csv", "--model", "r4")
    found = rows("panel", "study.csv", "--model", "r4", "--margin", 0.1)
    assert [row["human"] for row in found] == [row["human"] for row in plain]
    test = sa.noninferiority_test(study, model="r4", margin=0.1)["r4"]
    assert found[0]["replaced_difference"] == pytest.approx(test.humans["difference"].iloc[0])
    assert found[0]["mean_difference"] == pytest.approx(test.difference)
    assert found[0]["noninferior"] is test.passes
    words = ["panel", "study.csv", "--model", "r4", "--margin", 0.1]
    brief, shown = (" ".join(ok(*words, *more).split()) for more in ([], ["--tables"]))
    alt = sa.alt_test(study, model="r4")["r4"]
    assert all(one.verdict in text for one in (test, alt) for text in (brief, shown))
    assert "the second about by how much" in shown
    assert f"r4 {alt.average_advantage_probability:.4f} {alt.winning_rate:.4f} 3 " in brief
    assert len(brief) < len(shown) / 2
    assert "is not below the alpha of the humans" in refusal(
        "panel", "study.csv", "--model", "r4", "--margin", 0.95
    )
    assert Path("study.csv").exists()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Write a study of two models in two runs and two people, whole and in two files."""
    monkeypatch.chdir(tmp_path)
    found = sa.simulate(60, 6, skill=[0.9, 0.9, 0.4, 0.4, 0.8, 0.8], rng=2)
    table = found.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table["model"] = table["rater"].map({"r1": "gpt", "r2": "gpt", "r3": "mini", "r4": "mini"})
    table["run"] = table["rater"].map({"r1": "one", "r2": "two", "r3": "one", "r4": "two"})
    table.to_csv("runs.csv", index=False)
    table[table["model"].isna()][["unit", "rater", "labels"]].to_csv("people.csv", index=False)
    table.dropna()[["unit", "model", "run", "labels"]].to_csv("models.csv", index=False)
    return table


def test_panel_by_facets(runs):
    found = rows("panel", "runs.csv", "--facets", "model,run")
    expected = sa.facet_agreement("runs.csv", facets=["model", "run"])
    assert [row["estimate"] for row in found] == pytest.approx(expected.frame["estimate"].tolist())
    elsewhere = rows("panel", "people.csv", "--model", "models.csv", "--facets", "model,run")
    # The sums run over the raters in another order, so that last digits may differ.
    pd.testing.assert_frame_equal(pd.DataFrame(elsewhere), pd.DataFrame(found), rtol=1e-12)
    shown = " ".join(ok("panel", "runs.csv", "--facets", "model", "--facets", "run").split())
    assert expected.verdict in shown
    assert shown.index("same model, other run") < shown.index("models with people")
    people = rows("panel", "runs.csv", "--facets", "model,run", "--humans", "r5")
    assert "people with one another" not in {row["pairs"] for row in people}


def test_panel_by_facets_refuses_in_the_words_of_the_command(runs):
    assert "Did you mean 'run'?" in refusal("panel", "runs.csv", "--facets", "model,rum")
    assert "--facets makes sense only without --wide" in refusal(
        "panel", "runs.csv", "--facets", "model", "--wide"
    )
    both = ("panel", "runs.csv", "--facets", "model,run", "--margin", 0.1)
    assert "once with --model RATER --margin 0.1" in refusal(*both)
    said = refusal("panel", "runs.csv")
    assert "no model is named: use --model with a rater" in said


def test_units_to_check_for_the_prevalence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"u{k},gpt,{'ab'[k % 2]}" for k in range(40)]
    Path("gpt.csv").write_text("\n".join(["unit,rater,labels", *lines]), encoding="utf-8")
    words = ("next", "gpt.csv", "--goal", "prevalence", "--budget", "10", "--seed", "1")
    out = rows(*words, "--model", "gpt")
    assert [row["sampling_weight"] for row in out] == [4.0] * 10
    assert "name one model with --model: a rater of the study ('gpt')" in refusal(*words)
    both = ("next", "gpt.csv", "--budget", "10", "--model", "gpt.csv", "--goal")
    said = refusal(*both, "prevalence")
    assert "--model 'gpt.csv' is also the file to read. Name the file with the ratings of" in said
    assert "setagree next gpt.csv --goal prevalence --model NAME" in said
    assert "--goal 'prevalance'" in refusal(*both, "prevalance")
