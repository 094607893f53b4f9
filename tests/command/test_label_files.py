"""Options of the command that name a file about the labels, which states the distance."""

import json
import warnings
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal, rows

import setagree as sa

pytest.importorskip("typer", reason="the command needs the cli extra")

WORDS = ["joy", '"joy, love"', "fear", '"fear, anger"', "love", '"anger, joy"']
WEIGHTS = "label,weight\njoy,3\nfear, 0.5\n"
PARENTS = "child,parent\njoy,good\nlove,good\nfear,bad\nanger,bad\ngood,\n"
TABLE = ",love,joy,fear,anger\njoy,.2,0,1,.8\nanger,.9,.8,.3,0\nlove,0,.2,1,.9\nfear,1,1,0,.3\n"
VECTORS = "label,x,y\njoy,1,0\nlove,.9,.1\nfear,0,1\nanger,1,1\n"
OPTIONS = {
    "--label-weights": ("weights.csv", sa.distances.weighted_jaccard({"joy": 3, "fear": 0.5})),
    "--taxonomy": (
        "parents.csv",
        sa.distances.taxonomy({"joy": "good", "love": "good", "fear": "bad", "anger": "bad"}),
    ),
    "--embeddings": (
        "vectors.csv",
        sa.distances.embedding(
            {"joy": [1, 0], "love": [0.9, 0.1], "fear": [0, 1], "anger": [1, 1]}
        ),
    ),
    "--label-distances": (
        "table.csv",
        sa.distances.transport(
            {
                ("joy", "love"): 0.2,
                ("joy", "fear"): 1,
                ("joy", "anger"): 0.8,
                ("love", "fear"): 1,
                ("love", "anger"): 0.9,
                ("fear", "anger"): 0.3,
            }
        ),
    ),
}
each_option = pytest.mark.parametrize("option", OPTIONS)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, few_draws):
    """Work in a fresh folder with a study of four raters and a file for each option."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f"u{unit},{rater},{WORDS[(unit + (k if unit % 3 == 0 else 0)) % 6]}"
        for unit in range(40)
        for k, rater in enumerate(["ann", "ben", "cem", "gpt"])
    ]
    Path("study.csv").write_text("\n".join(["unit,rater,labels", *lines]), encoding="utf-8")
    for name, text in {
        "weights": WEIGHTS,
        "parents": PARENTS,
        "table": TABLE,
        "vectors": VECTORS,
    }.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def study():
    return sa.Annotations.from_long(pd.read_csv("study.csv"))


@each_option
def test_it_selects_its_distance(option):
    file, distance = OPTIONS[option]
    (row,) = rows("score", "study.csv", "-c", "krippendorff_alpha", option, file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SetagreeWarning)  # two labels have no weight
        expected = sa.krippendorff_alpha(study(), distance=distance)
    assert row["distance"] == distance.name
    assert row["estimate"] == pytest.approx(expected.estimate, abs=1e-14)


@pytest.mark.slow
@each_option
@pytest.mark.parametrize(
    "words",
    [
        ["test", "--resamples", "99", "--seed", "1"],
        ["plan", "--half-width", "0.1"],
        ["compare", "-c", "krippendorff_alpha,fleiss_kappa"],
        ["panel", "--model", "gpt"],
        ["consensus", "--method", "medoid"],
    ],
)
def test_wherever_a_distance_is_chosen(option, words):
    command, *more = words
    file, distance = OPTIONS[option]
    found = ok(command, "study.csv", *more, option, file, "-f", "json")
    assert command == "consensus" or distance.name in json.dumps(json.loads(found))


@each_option
def test_the_report_names_it(option):
    file, distance = OPTIONS[option]
    ok("report", "study.csv", option, file, "--resamples", "19", "--seed", "1", "-o", "r.md")
    page = Path("r.md").read_text(encoding="utf-8")
    assert distance.name.replace("_", "\\_") in page or distance.name in page
    assert f" of {file}" in page


def test_the_diagnosis_names_it():
    file, distance = OPTIONS["--taxonomy"]
    more = ["--taxonomy", file, "--resamples", "19", "--seed", "1"]
    said = ok("diagnose", "--tables", "study.csv", *more)
    assert f"the {distance.name} distance" in " ".join(said.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--taxonomy", "parents.csv", "-d", "masi"], "--taxonomy selects its own distance; omit"),
        (
            ["--taxonomy", "parents.csv", "--label-weights", "weights.csv"],
            "--label-weights and --taxonomy each select a distance; use one",
        ),
        (["--label-weights", "table.csv"], "the columns label and weight are required; it has"),
        (["--taxonomy", "weights.csv"], "needs the columns child and parent; it has"),
        (["--label-weights", "twice.csv"], "label 'joy' has two weights"),
        (
            ["--label-weights", "word.csv"],
            "label 'joy' has weight 'heavy'; it must be a number",
        ),
        (["--label-distances", "few.csv"], "it has no entry for 'anger', 'fear', 'love'"),
        (["--label-distances", "ones.csv"], "looks like a similarity: state 1 - similarity"),
        (["--label-distances", "blank.csv"], "entries that are not numbers"),
        (["--embeddings", "few.csv"], "no vector is given for 3 labels: 'anger', 'fear', 'love'"),
        (["--taxonomy-credit", "lin"], "--taxonomy-credit requires --taxonomy"),
        (
            ["--taxonomy", "parents.csv", "--taxonomy-credit", "x"],
            "--taxonomy-credit 'x' is unknown; use 'ancestors', 'wu_palmer', 'lin'",
        ),
        (["--label-weights", "absent.csv"], "--label-weights absent.csv: There is no file"),
    ],
)
def test_what_is_refused(words, sentence):
    for name, text in {
        "twice": "label,weight\njoy,1\n joy ,2\n",
        "word": "label,weight\njoy,heavy\n",
        "few": ",joy,sad\njoy,0,1\nsad,1,0\n",
        "ones": ",joy,fear\njoy,1,.2\nfear,.2,1\n",
        "blank": ",joy,fear\njoy,0,\nfear,.2,0\n",
    }.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    assert sentence in refusal("score", "study.csv", *words)


def test_labels_are_spelled_as_the_study_reads_them():
    Path("upper.csv").write_text("label,weight\n JOY,3\nFear,0.5\nJyo,2\n", encoding="utf-8")
    words = ["score", "study.csv", "-c", "krippendorff_alpha", "-f", "json", "--case", "lower"]
    found = invoke(*words, "--label-weights", "upper.csv")
    distance = sa.distances.weighted_jaccard({"joy": 3, "fear": 0.5}, default=1)
    expected = sa.krippendorff_alpha(study(), distance=distance)
    assert json.loads(found.stdout)[0]["estimate"] == pytest.approx(expected.estimate, abs=1e-14)
    assert "has a weight for 'jyo', which no rater used" in found.stderr
    assert "no weight for 4 labels" in invoke(*words[:-2], "--label-weights", "upper.csv").stderr


@pytest.mark.parametrize(
    "words",
    [
        ["score", "study.csv"],
        ["test", "study.csv", "--resamples", "99", "--seed", "1"],
        ["diagnose", "study.csv", "--resamples", "99", "--seed", "1"],
        ["panel", "study.csv", "--model", "gpt"],
    ],
)
def test_labels_that_the_file_does_not_list(words):
    result = invoke(*words, "--label-weights", "weights.csv")
    assert result.exit_code == 0, result.stderr
    said = "Warning: 'weighted_jaccard' lists no weight for 2 labels of the study, which it counts"
    assert result.stderr.count("lists no weight for") == 1, result.stderr
    assert f"{said} as 1: 'anger', 'love'." in result.stderr


@pytest.mark.parametrize(
    ("words", "distance"),
    [
        (["--label-weights", "-log prevalence"], sa.distances.weighted_jaccard("-log prevalence")),
        (
            ["--taxonomy", "parents.csv", "--taxonomy-credit", "lin"],
            sa.distances.taxonomy(
                {"good": ["joy", "love"], "bad": {"fear": None, "anger": None}}, credit="lin"
            ),
        ),
        (
            ["--embeddings", "vectors.csv", "--embedding-match", "transport"],
            sa.distances.embedding(
                {"joy": [1, 0], "love": [0.9, 0.1], "fear": [0, 1], "anger": [1, 1]},
                match="transport",
            ),
        ),
    ],
)
def test_what_more_is_said_of_a_distance(words, distance):
    (row,) = rows("score", "study.csv", "-c", "krippendorff_alpha", *words)
    expected = sa.krippendorff_alpha(study(), distance=distance)
    assert row["estimate"] == pytest.approx(expected.estimate, abs=1e-14)


def test_labels_that_are_paths():
    lines = [
        f"u{k},{who},{at[k % 2]}"
        for k in range(9)
        for who, at in {
            "ann": ["e/joy", "e/fear"],
            "ben": ["e/joy", "e/joy"],
            "cem": ["e/joy", "f"],
        }.items()
    ]
    Path("paths.csv").write_text("\n".join(["unit,rater,labels", *lines]), encoding="utf-8")
    for credit in ("ancestors", "wu_palmer"):
        words = ["--taxonomy", "/", "--taxonomy-credit", credit, "-o", "out.json"]
        ok("score", "paths.csv", "-c", "krippendorff_alpha", *words)
        (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))
        distance = sa.distances.taxonomy("/", credit=credit)
        expected = sa.krippendorff_alpha(sa.read("paths.csv"), distance=distance)
        assert row["estimate"] == pytest.approx(expected.estimate, abs=1e-14)
        Path("out.json").unlink()


def test_the_file_is_never_overwritten():
    said = refusal("score", "study.csv", "--label-weights", "weights.csv", "-o", "weights.csv")
    assert "choose another output file" in said
    assert Path("weights.csv").read_text(encoding="utf-8") == WEIGHTS
