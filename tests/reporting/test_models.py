"""Models beside humans: they enter no number of the humans, and have sections of their own."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from reporting_support import by_id, gathered, told

import setagree as sa
from setagree.errors import DataError, SetagreeWarning
from setagree.reporting.findings import gather, sections
from setagree.reporting.headline import counts_line, headline
from setagree.reporting.report import methods_of
from setagree.wording.number_format import number
from setagree.wording.sentences import plain

pytestmark = pytest.mark.usefixtures("few_draws")

FRAMES = ("labels", "confusions", "raters", "pairs", "units", "changes")


def humans_only():
    """Return four humans on 80 units."""
    return sa.simulate(80, 4, labels=["joy", "fear", "calm"], n_labels=3, rng=1)


def with_model(name="bot"):
    """Return the same with a model that answers "spam" to 60 of the units and to 5 others."""
    rows = humans_only().to_triples()
    rows += [(name, unit, {"spam"}) for unit in humans_only().units[:60]]
    rows += [(name, f"alone {k}", {"spam"}) for k in range(5)]
    return sa.Annotations.from_triples(rows)


@pytest.fixture(scope="module")
def alone():
    return gather(humans_only(), n_resamples=49, rng=1)


@pytest.fixture(scope="module")
def beside():
    return gather(with_model(), model="bot", n_resamples=49, rng=1)


def table(f, name):
    """Return the rows of the table of a section, by their first cell."""
    section = by_id(f)[name]
    return {row[0]: row[1:] for row in section.table.rows}


def test_every_number_is_the_humans(alone, beside):
    # Values stand in another order, which may move the last digit of a sum.
    assert beside.main.estimate == pytest.approx(alone.main.estimate, rel=1e-14)
    assert beside.main.interval() == pytest.approx(alone.main.interval(), rel=1e-13)
    for name in FRAMES:
        assert_frame_equal(beside.results[name], alone.results[name])
    for name, drawn in (("chance", "distribution"), ("map", "null")):
        ours, theirs = (getattr(f.results[name], drawn) for f in (beside, alone))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    assert_frame_equal(beside.results["choices"].to_frame(), alone.results["choices"].to_frame())


def test_the_sentences_are_the_humans(alone, beside):
    said, without = (told(f) for f in (beside, alone))
    assert {about: one for about, one in said.items() if about != "Models"} == without
    shown = [one for one in sections(beside) if one.id not in {"models", "consensus"}]
    assert not any("spam" in repr((one.lead, one.table and one.table.rows)) for one in shown)


class TestPrevalence:
    """A model that answered 40 units more than the humans of the study."""

    @pytest.fixture
    def more(self):
        answers = sa.simulate(120, 1, labels=["joy", "fear", "calm"], n_labels=3, rng=2)
        model = answers.to_long().drop(columns="rater")
        return gather(humans_only(), model=model, n_resamples=49, rng=1)

    def test_the_section(self, more):
        section = by_id(more)["prevalence"]
        found = sa.prevalence(more.everyone, model="model")
        assert {row[0] for row in section.table.rows} == {"joy", "fear", "calm"}
        assert round(max(found.frame["count"])) == section.table.rows[0][-2]
        assert plain(section.lead).startswith(f"About {max(found.frame['count']):.0f} of 120 units")
        assert "both by prediction-powered inference" in section.table.caption
        assert more.main.n_units == 80

    def test_the_model_is_named(self, more):
        answers = more.everyone.to_long().query("rater == 'model'")
        both = pd.concat([humans_only().to_long(), answers, answers.assign(rater="llama")])
        f = gather(sa.Annotations.from_long(both), model=["llama", "model"], n_resamples=9, rng=1)
        assert "; the model “llama” alone has " in told(f)["Prevalence"]
        assert "; the model alone has " in told(more)["Prevalence"]

    def test_no_section_if_people_have_all_units(self):
        model = humans_only().to_long().query("rater == 'r1'").drop(columns="rater")
        f = gather(humans_only(), model=model, n_resamples=49, rng=1)
        assert "prevalence" not in {one.id for one in sections(f)}

    def test_a_unit_without_an_answer_of_the_model(self, beside):
        section = by_id(beside)["prevalence"]
        assert "the model has no answer to 20 checked units of 80" in plain(section.lead)


def test_how_many_are_counted(beside):
    assert plain(headline(beside)).startswith(
        "Among the 4 humans (1 model is left out), Krippendorff's alpha with the MASI distance is "
    )
    assert counts_line(beside).startswith("80 units · 4 humans (1 model is left out) · 320 ratings")
    rows = table(beside, "data")
    assert (rows["Humans"][0], rows["Models"][0], rows["Ratings of models"][0]) == (4, 1, 65)
    assert rows["Units that only models rated"][0] == 5
    said = methods_of(beside).text
    assert said.startswith("Four raters annotated 80 units")
    assert "The raters are human; 1 model is left out of these numbers." in said


def test_a_name_of_a_model_among_the_raters_is_counted():
    unmarked = gather(with_model("gpt-4o"), n_resamples=19, rng=1)
    assert table(unmarked, "data")["Names of models"] == (1, "counted as people: 'gpt-4o'")
    named = gather(with_model("gpt-4o"), model="gpt-4o", n_resamples=19, rng=1)
    assert "Names of models" not in table(named, "data")


def test_a_rater_called_like_a_model_is_a_model_beside_a_named_one():
    """The people are the four of `humans_only` and claude, whose name people may have, too."""
    rows = with_model("gpt-4o").to_triples()
    rows += [(name, k, {"joy"}) for name in ("llama-3", "claude") for k in humans_only().units]
    with pytest.warns(SetagreeWarning) as warned:
        f = gather(sa.Annotations.from_triples(rows), model="gpt-4o", n_resamples=19, rng=1)
    assert sorted(str(one.message) for one in warned) == [
        "Counted among the people: 'claude'. If that is a model, name it with model=.",
        (
            "Not counted among the people, because of names of models: 'llama-3'. "
            "If they are people, change their names."
        ),
    ]
    # 320 ratings of four people and 80 of claude; 65 of gpt-4o and 80 of llama-3.
    assert counts_line(f).startswith("80 units · 5 humans (2 models are left out) · 400 ratings")
    assert table(f, "data")["Ratings of models"][0] == 145
    assert table(f, "consensus")["llama-3"][0] == "model"
    lead = plain(by_id(f)["models"].lead)
    assert "Treated as people: “r1”, “r2”, “r3”, “r4” and “claude” (all raters without" in lead


def test_the_section_compares(beside):
    both = [sa.krippendorff_alpha(one).estimate for one in (humans_only(), with_model())]
    note = by_id(beside)["models"].note
    assert (
        f"Among 4 humans, alpha is {number(both[0])}; with the model as one more rater it would be "
        f"{number(both[1])}." in note
    )


def test_groups_are_of_humans():
    study = with_model()
    batch = {unit: k % 2 for k, unit in enumerate(humans_only().units)}
    f = gathered(study, model="bot", groups=batch)
    found = f.results["groups"]
    alone = sa.by_group(humans_only(), batch, n_resamples=f.n_reshuffles, rng=1)
    assert_frame_equal(found, alone)
    everyone = sa.by_group(study, {**batch, **{f"alone {k}": 0 for k in range(5)}})
    with pytest.raises(DataError, match="the groups include answers of models"):
        gathered(study, model="bot", groups=everyone)
    ready = gathered(study, model="bot", groups=found)
    assert ready.results["groups"] is found


@pytest.mark.parametrize("panels", [{"model": ["bot"]}, {"model": ["bot"], "h": ["r1", "r2"]}])
def test_a_panel_may_name_a_model(panels):
    rows = [*with_model().to_triples(), *(("bot 2", u, {"joy"}) for u in humans_only().units)]
    study = sa.Annotations.from_triples(rows)
    asked = {"model": ["bot", "bot 2"], "panels": panels, "n_resamples": 19, "rng": 1}
    found = gather(study, **asked).results["replication"]
    expected = sa.cross_replication(with_model(), panels=panels, n_resamples=99, rng=1)
    assert found.estimate == expected.estimate


@pytest.mark.slow
def test_on_the_page(tmp_path):
    pytest.importorskip("jinja2", reason="the page needs the report extra")
    pytest.importorskip("matplotlib", reason="the page needs the report extra")
    path = sa.report(with_model(), tmp_path / "x.html", model="bot", n_resamples=19, rng=1)
    page = path.read_text(encoding="utf-8")
    assert "the MASI distance<br>of the 4 humans (1 model is left out)<br>" in page


class TestCommands:
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path, monkeypatch):
        """Work in a folder with the file of all raters, batches and days, and the humans'."""
        pytest.importorskip("typer", reason="the command needs the cli extra")
        monkeypatch.chdir(tmp_path)
        frame = with_model().to_long()
        place = pd.factorize(frame["unit"])[0]
        frame = frame.assign(batch=place % 2, day=place // 20)
        frame["labels"] = [sa.format_labels(one) for one in frame["labels"]]
        frame.to_csv("all.csv", index=False)
        frame[frame["rater"] != "bot"].to_csv("humans.csv", index=False)

    @pytest.mark.parametrize(
        ("options", "title"),
        [(["--by", "batch"], "GROUPS"), (["--time", "day", "--window", "1"], "OVER TIME")],
    )
    def test_groups_and_windows(self, options, title):
        from cli_support import invoke

        common = ["--tables", "--blank", "empty", "--resamples", "19", "--seed", "1", *options]
        both = [
            invoke("diagnose", "--tables", file, *more, *common)
            .stdout.partition(title)[2]
            .partition("\n\n")[0]
            for file, more in (("all.csv", ["--model", "bot"]), ("humans.csv", []))
        ]
        assert both[0] == both[1] != ""
