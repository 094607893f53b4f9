"""A section of the report is a topic and a line in `TOPICS`; all outputs then show it."""

import dataclasses
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from reporting_support import by_id, gathered

import setagree as sa
from setagree.errors import DataError, FewClustersWarning
from setagree.reporting import findings
from setagree.reporting.findings import gather
from setagree.reporting.headline import headline, verdict_sentence
from setagree.reporting.report import methods_of, report
from setagree.reporting.sections.base import Picture, Section, Topic, table_of
from setagree.wording.sentences import Name, plain
from setagree.wording.tables import Column


def compute(f):
    """Count how often each set size occurs, without the study's own counts."""
    sizes = Counter(len(value) for _, _, value in f.study.to_long().to_numpy())
    return pd.DataFrame(sorted(sizes.items()), columns=["size", "n"])


def summary(f, _):
    return ("The toy likes ", Name.of(f.study.raters[0]), ".")


def draw(frame, *, ax):
    ax.bar(frame["size"], frame["n"])
    ax.set_title("Bars of a toy")


def show(_, frame):
    """Show the sizes as a table with a picture."""
    columns = [Column("size", "count", "Size"), Column("n", "count", "How often")]
    table = table_of(frame, columns, "Sets by size", limit=40, function="by_size")
    return [Section(table, Picture(partial(draw, frame), 3.0))]


def method(*_):
    """Tell the methods paragraph, with a source that no other section cites."""
    return "Sets were counted by size.", ("Dice 1945",)


TOY = Topic("toy", "A toy section", show, compute, "Toy", summary, method=method)


@pytest.fixture
def study():
    """Return a small study, whose sets have one label to five."""
    return sa.simulate(40, 3, rng=1)


@pytest.fixture
def _toy(monkeypatch):
    monkeypatch.setattr(findings, "TOPICS", (*findings.TOPICS, TOY))


@pytest.mark.slow
@pytest.mark.usefixtures("_toy")
def test_a_section_is_in_the_page(study, tmp_path):
    pytest.importorskip("jinja2", reason="the page needs the report extra")
    pytest.importorskip("matplotlib", reason="the page needs the report extra")
    page = report(study, tmp_path / "x.html", n_resamples=19, rng=1).read_text(encoding="utf-8")
    assert '<a href="#toy">Toy</a>' in page
    assert '<li><a href="#toy">A toy section</a></li>' in page
    assert "The toy likes <bdi>r1</bdi>." in page
    assert "Bars of a toy" in page
    assert "Sets by size" in page
    assert "Sets were counted by size." in page


@pytest.mark.usefixtures("_toy")
def test_a_section_is_in_markdown(study, tmp_path):
    text = report(study, tmp_path / "x.md", n_resamples=19, rng=1).read_text(encoding="utf-8")
    assert "- **Toy.** The toy likes r1." in text
    assert "## A toy section" in text
    sizes = study.to_long()["labels"].map(len).value_counts()
    for size, n in sizes.items():
        assert f"| {size} | {n} |" in text
    said = methods_of(gathered(study))
    paragraph, references = said.paragraph, said.text.partition("\n\n")[2]
    assert " Sets were counted by size. Computations were made with setagree " in paragraph
    assert "Dice, L. R. (1945)" in references


@pytest.mark.usefixtures("_toy")
def test_a_section_is_in_diagnose(study, tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the command needs the cli extra")
    from cli_support import invoke

    monkeypatch.chdir(tmp_path)
    frame = study.to_long()
    frame["labels"] = [sa.format_labels(labels) for labels in frame["labels"]]
    frame.to_csv("study.csv", index=False)
    said = invoke("diagnose", "--tables", "study.csv", "--resamples", "19", "--seed", "1").stdout
    assert "- Toy: The toy likes r1.\n" in said
    assert "\nA TOY SECTION\nSize  How often\n" in said


def test_what_cannot_be_found(study, monkeypatch):
    def refused(_):
        raise DataError("no toys here.")

    with monkeypatch.context() as patch:
        patch.setattr(findings, "TOPICS", (dataclasses.replace(TOY, compute=refused),))
        with pytest.raises(DataError, match="no toys here"):
            gather(study, n_resamples=19)
    optional = dataclasses.replace(TOY, compute=refused, optional=True)
    monkeypatch.setattr(findings, "TOPICS", (optional,))
    found = gather(study, n_resamples=19)
    assert (found.results, found.absent) == ({}, {"toy": "no toys here."})


def test_names_are_unique():
    names = [topic.id for topic in findings.TOPICS]
    assert len(set(names)) == len(names)


class TestSampled:
    WITHOUT = "are counted over the units of the sample, without their weights."

    @pytest.mark.slow
    def test_weights(self):
        """What is not weighted says so at the end of its note; what is weighted does not."""
        study = sa.simulate(30, 5, rng=3)
        weighted = study.sampled(sampling_weight={u: 1 + k % 4 for k, u in enumerate(study.units)})
        model, panels = study.raters[-1], {"one": study.raters[:2], "two": study.raters[2:4]}
        options = {"model": model, "panels": panels, "n_resamples": 19, "rng": 1}
        with pytest.warns(sa.SetagreeWarning, match="sampling_weight= is ignored"):
            shown = findings.sections(gather(weighted, **options))
        told = {one.id for one in shown if one.note.endswith(self.WITHOUT)}
        plain = {"data", "confusions", "raters", "map", "models", "consensus", "replication"}
        assert told == plain
        shown = findings.sections(gathered(study))
        assert not [one.id for one in shown if "weights" in one.note]

    def test_in_diagnose(self, tmp_path, monkeypatch):
        """The terminal, which prints no notes, prints that sentence below the table."""
        pytest.importorskip("typer", reason="the command needs the cli extra")
        from cli_support import ok

        monkeypatch.chdir(tmp_path)
        frame = sa.simulate(20, 3, rng=3).to_long()
        frame["labels"] = ["; ".join(sorted(labels)) or "[]" for labels in frame["labels"]]
        frame.assign(w=frame["unit"].str[1:]).to_csv("study.csv", index=False)
        words = (
            "diagnose",
            "--tables",
            "study.csv",
            "--label-sep",
            ";",
            "--resamples",
            "19",
            "--seed",
            "1",
        )
        said = " ".join(ok(*words, "--sampling-weight", "w").split())
        assert f"Pairs {self.WITHOUT} RATERS" in said
        assert "weights" not in ok(*words)

    @pytest.mark.parametrize(
        ("drawn", "said"),
        [
            ({"cluster": "c"}, "clusters"),
            ({"strata": "s"}, "strata"),
            ({"population_size": 90}, "a population size"),
        ],
    )
    def test_drawn_otherwise(self, drawn, said):
        study = sa.simulate(30, 4, rng=3)
        study = study.with_units(
            {
                "c": {unit: k // 3 for k, unit in enumerate(study.units)},
                "s": {unit: "ab"[k % 2] for k, unit in enumerate(study.units)},
            }
        )
        options = {"n_resamples": 19, "rng": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the map
            shown = findings.sections(gather(study.sampled(**drawn), **options))
        end = f"ignore {said} and treat the units as drawn one by one."
        notes = {one.id: one.note for one in shown}
        assert {name for name, note in notes.items() if note.endswith(end)} == {
            *("confusions", "units", "chance"),
        }
        assert notes["chance"].endswith(f" The reshuffles {end}")
        plain = findings.sections(gather(study, **options))
        assert not [one.id for one in plain if "drawn one by one" in one.note]

    def test_what_is_weighted(self):
        """Labels and pairs of raters have the shares of the units that were written down as often.

        Weights of 1 to 4 are frequencies to every mean, though not to its standard error.
        """
        study = sa.simulate(40, 4, rng=3)
        weights = {unit: 1 + k % 4 for k, unit in enumerate(study.units)}
        rows = [
            (rater, f"{unit}_{j}", labels)
            for rater, unit, labels in study.to_triples()
            for j in range(weights[unit])
        ]
        again, weighted = (
            sa.Annotations.from_triples(rows),
            study.sampled(sampling_weight=weights),
        )
        for function, name, columns in (
            (sa.by_pair, ["rater_a", "rater_b"], ["mean_distance"]),
            (sa.by_label, "label", ["prevalence", "positive_agreement", "share_of_disagreement"]),
        ):
            one, two = (function(x).set_index(name)[columns] for x in (weighted, again))
            pd.testing.assert_frame_equal(one, two.loc[one.index], rtol=1e-10)

    def test_a_population_of_known_size(self):
        """Headline and labels say that their intervals are t and for a population of known size.

        The headline's is narrower by the root of 1 - 60/80 than that of a population without end.
        """
        study = sa.simulate(60, 3, rng=1)
        f = gathered(study.sampled(population_size=80))
        assert ", for these raters; a population of 80)" in plain(headline(f))
        note = by_id(f)["labels"].note
        t = "is the t interval (a population of 80), which is too narrow for rare labels;"
        assert t in note
        plainly = sa.krippendorff_alpha(study).standard_error
        assert f.main.standard_error == pytest.approx(plainly / 2)

    def test_labels_with_different_intervals(self):
        """Of clusters, the interval of a label with one disagreement is the score interval.

        Each row has that of its binary study, and the note states that they differ.
        """
        truth = np.random.default_rng(1).choice(list("abc"), 200, p=[0.5, 0.3, 0.2])
        rows = np.array([truth] * 3)
        errors = np.random.default_rng(2).random(rows.shape) < 0.25
        swapped = pd.Series({"a": "b", "b": "a", "c": "c"})
        rows = np.where(errors, swapped.loc[truth].to_numpy(), rows)
        rows[0, np.flatnonzero(truth == "a")[0]] = "c"
        wide = pd.DataFrame(rows.T, columns=[*"xyz"])
        drawn = {unit: unit // 10 for unit in range(200)}
        study = sa.Annotations.from_wide(wide).sampled(cluster=drawn)
        frame = sa.by_label(study).set_index("label")
        for label, row in frame.iterrows():
            binary = sa.Annotations.from_wide(wide == label, kind="category")
            alpha = sa.krippendorff_alpha(binary.sampled(cluster=drawn))
            assert row["interval_method"] == alpha.interval_method == ("t", "score")[label == "c"]
            assert (row["low"], row["high"]) == pytest.approx(alpha.interval(), abs=1e-12)
        f = gathered(study)
        one = by_id(f)["labels"]
        assert (
            "alpha is the score or the t interval (20 clusters), as its row states; t is"
            in one.note
        )
        shown = [column.first for column in one.table.columns].index("interval_method")
        assert [row[shown] for row in one.table.rows] == [*f.results["labels"]["interval_method"]]
        halves = {unit: unit % 20 // 10 for unit in range(200)}
        with pytest.warns(FewClustersWarning, match="there are 10 clusters"):
            groups = sa.by_group(study, halves, n_resamples=9, rng=1)
        assert groups["interval_method"].tolist() == ["t", "t"]

    def test_a_rare_answer(self):
        rows = [["a"] * 4] * 37 + [["<b>"] * 4, ["<b>"] * 4, ["a", "a", "a", "<b>"]]
        study = sa.Annotations.from_wide(pd.DataFrame(rows, columns=[*"wxyz"]))
        f = gathered(study)
        assert "interval" not in plain(headline(f))
        assert verdict_sentence(f).startswith("No verdict. Too few rarer answers for an interval")


@pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")
def test_few_documents_are_warned_of_once():
    spans = [
        (f"d{d}", rater, 10 * s + (rater == "y" and d % 2), 10 * s + 5, "ab"[(d + s) % 2])
        for d in range(6)
        for rater in "xy"
        for s in range(3)
    ]
    frame = pd.DataFrame(spans, columns=["document", "rater", "start", "end", "label"])
    study = sa.Annotations.from_spans(frame, length=dict.fromkeys(frame["document"], 40))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = gathered(study)
    assert [one.category for one in caught].count(FewClustersWarning) == 1
    assert by_id(f)["places"].passages == []  # without a text, nothing is quoted
    text = dict.fromkeys(frame["document"], "word " * 8)
    of_text = gathered(sa.Annotations.from_spans(frame, text=text))
    passages = by_id(of_text)["places"].passages
    # y starts each of the three spans of an odd document one character late
    titles = [f"“d{d}:0-1”: 11% of the disagreement." for d in (1, 3, 5)]
    assert [plain(one.title) for one in passages] == titles
    (_, x), (_, y) = passages[0].lines
    assert [(piece.text, len(piece.colours)) for piece in y[:3]] == [
        ("w", 0),
        ("ord ", 1),
        ("word w", 0),
    ]
    assert [piece.text for piece in x[:2]] == ["word ", "word "]
