"""The decisions of a report: only what was asked, each answer that of its function."""

import re

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import OptionError, SetagreeWarning
from setagree.reporting.findings import gather, main_findings, sections
from setagree.reporting.headline import plain_verdict, verdict_sentence
from setagree.reporting.report import methods_of
from setagree.wording.sentences import plain

pytestmark = pytest.mark.usefixtures("few_draws")

FEW = {"n_resamples": 19, "rng": 1}


@pytest.fixture(scope="module")
def study():
    """Return four people and a model in two runs."""
    found = sa.simulate(80, 6, skill=[0.9, 0.9, 0.9, 0.9, 0.7, 0.7], rng=1)
    return found.with_raters({"model": {"r5": "gpt", "r6": "gpt"}})


def section(f, name):
    return next((one for one in sections(f) if one.id == name), None)


def answers(f):
    rows = section(f, "decisions").table.rows
    return [tuple(plain(cell, quoted=False) for cell in row) for row in rows]


def unquoted(text):
    """Return a verdict as the report has it: names without the quotes of Python."""
    return re.sub(r"'(\w+)'", r"\1", text)


def test_nothing_asked_nothing_said(study):
    f = gather(study, model=["r5", "r6"], **FEW)
    assert section(f, "decisions") is None
    assert section(f, "facets") is None
    assert "Decisions" not in {one.about for one in main_findings(f)}
    assert "Hall" not in methods_of(f).text


@pytest.mark.parametrize(
    ("pairs", "threshold", "begins"),
    [
        (["ab", "ba"] * 15, 0.3, "Krippendorff's alpha is below 0.3: with 95% confidence "),
        (["aa", "bb"] * 15, 0.3, "Krippendorff's alpha is at least 0.3: with 95% confidence "),
        (["aa", "bb"] * 15, 0.95, "No verdict by the usual limits, which need "),
        (["ab", "ba"] * 15, None, "No verdict by the usual limits, which need "),
    ],
    ids=["below", "at least", "not decided", "no threshold"],
)
def test_a_headline_without_the_usual_limits_gives_the_verdict_on_the_threshold(
    pairs, threshold, begins
):
    """Their standard error is 0, so that only the interval can decide about a threshold."""
    rows = [(rater, u, pair[k]) for u, pair in enumerate(pairs) for k, rater in enumerate("xy")]
    f = gather(sa.Annotations.from_triples(rows), threshold=threshold, **FEW)
    assert plain_verdict(f) == verdict_sentence(f)
    assert plain_verdict(f).startswith(begins)
    assert plain_verdict(f).count("No verdict by the usual limits") == 1
    reason = "no disagreement was seen in 30" if pairs[0] == "aa" else "all units disagree alike"
    assert f"which need a standard error above 0: {reason}" in plain_verdict(f)
    if not begins.startswith("No"):
        assert plain_verdict(f).startswith(f"{answers(f)[0][1]} No verdict")


def test_each_answer_is_that_of_its_function(study):
    people = study.exclude_raters(["r5", "r6"])
    f = gather(study, model=["r5", "r6"], margin=0.15, threshold=0.5, facets=["model"], **FEW)
    tests = sa.noninferiority_test(study, model=["r5", "r6"], margin=0.15)
    assert [answer for _, answer in answers(f)] == [
        sa.at_least(sa.krippendorff_alpha(people), 0.5).verdict,
        *(unquoted(test.verdict) for test in tests),
        unquoted(sa.facet_agreement(study, facets=["model"]).verdict),
    ]
    said = plain(main_findings(f)[0].sentence, quoted=False)
    assert said.startswith(answers(f)[0][1])
    assert all(test.model in said for test in tests)
    assert "margin of 0.15" in methods_of(f).text
    assert "Hall, P. (1992)" in methods_of(f).text
    rows = section(f, "facets").table.rows
    assert rows[0][0] == ("same model",)


def test_the_findings_hold_what_each_model_costs():
    skill = [0.9, 0.9, 0.9, 0.9, 0.3]
    study = sa.simulate(120, 5, skill=skill, rng=2)
    cheap, dear = (
        "r4 in the place of a human does not lower agreement by 0.2 or more.",
        "r5 in the place of a human lowers agreement by more than 0.2.",
    )
    for model, told in (("r5", dear), (["r4", "r5"], f"{cheap} {dear}")):
        f = gather(study, model=model, margin=0.2, threshold=0.5, **FEW)
        said = plain(main_findings(f)[0].sentence, quoted=False)
        assert said == f"{answers(f)[0][1]} {told}"
    both = gather(study, model=["r4", "r5"], margin=0.2, **FEW)
    assert plain(main_findings(both)[0].sentence, quoted=False) == f"{cheap} {dear}"
    one = gather(study, model="r5", margin=0.2, **FEW)
    assert plain(main_findings(one)[0].sentence, quoted=False) == answers(one)[0][1]


@pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
def test_repeats_are_answered_where_there_are_some(study):
    table = study.to_long()
    twice = sa.Annotations.from_long(pd.concat([table, table.head(60)]), duplicates="repeats")
    (row,) = answers(gather(twice, **FEW))
    assert row == (
        "Do raters agree with themselves?",
        unquoted(sa.intra_rater_agreement(twice).verdict),
    )


def test_models_that_nobody_named_are_no_people(study):
    with pytest.warns(
        SetagreeWarning, match="'r6' has model as models do, but is treated as people"
    ):
        f = gather(study, model="r5", facets=["model"], **FEW)
    ((_, answer),) = answers(f)
    assert answer == unquoted(sa.facet_agreement(study, facets=["model"]).verdict)


def test_what_has_no_answer_says_why(study):
    two = study.exclude_raters(["r2", "r3", "r4", "r6"])
    with pytest.warns(sa.UndefinedAgreementWarning):
        f = gather(two, model="r5", margin=0.1, **FEW)
    (row,) = answers(f)
    assert row[1].startswith("No verdict: agreement with the other humans needs two humans or more")
    with pytest.raises(OptionError, match="margin= requires models; name them by model="):
        gather(study, margin=0.1, **FEW)


def test_the_report_and_the_command(study, tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the command needs the cli extra")
    from cli_support import ok

    monkeypatch.chdir(tmp_path)
    table = study.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table["model"] = table["rater"].map({"r5": "gpt", "r6": "gpt"})
    table.to_csv("study.csv", index=False)
    asked = {"model": ["r5", "r6"], "margin": 0.1, "threshold": 0.4, "facets": ["model"]}
    sa.report("study.csv", "python.md", title="x", **asked, **FEW)
    options = ("--model", "r5", "--model", "r6", "--margin", 0.1, "--threshold", 0.4)
    more = ("--facets", "model", "--title", "x", "--resamples", 19, "--seed", 1)
    ok("report", "study.csv", "-o", "command.md", *options, *more)
    ours, theirs = (
        (tmp_path / name).read_text(encoding="utf-8").partition("## Decisions")[2]
        for name in ("python.md", "command.md")
    )
    assert ours == theirs
    assert "Agreement of models with themselves" in ours
