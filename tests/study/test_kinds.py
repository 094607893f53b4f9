"""What the answers are, said in one word in both directions: labels, number or category."""

import pandas as pd
import pytest
from cli_support import refusal, rows

import setagree as sa
from setagree.errors import DataError, MixedScaleWarning, OptionError

# As labels that look alike, 007 and 7 are kept apart with a word of warning.
pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.SimilarLabelsWarning")

CODES = pd.DataFrame({"ann": ["007", "7", "8"], "bob": ["7", "7", "8"]}, index=["u1", "u2", "u3"])


def counts(names):
    """Return a square table of counts over these names."""
    square = [[2 + (k == l) for l in range(len(names))] for k in range(len(names))]
    return pd.DataFrame(square, index=names, columns=names)


def roads(answers, **options):
    """Yield the study of two raters who gave these answers, by every road that takes a kind."""
    triples = [(rater, u, x) for u, x in enumerate(answers) for rater in ("ann", "bob")]
    yield sa.Annotations.from_triples(triples, **options)
    yield sa.Annotations.from_wide(pd.DataFrame({"ann": answers, "bob": answers}), **options)
    yield sa.Annotations.from_contingency(counts(answers), **options)
    yield sa.Tally.from_counts(counts(answers), **options)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [(["a", "b"], "labels"), (["1", "2.5"], "number"), (["007", "7"], "category")],
)
def test_what_is_asked_for_is_what_it_is(answers, kind):
    for study in roads(answers, kind=kind):
        assert study.kind == kind
        assert study.n_values == 2


def test_categories_keep_their_text():
    with pytest.warns(sa.SetagreeWarning, match=r"that look alike are kept apart: '007' and '7'"):
        kept = sa.Annotations.from_wide(CODES, kind="category")
    assert set(kept.values) == {"007", "7", "8"}
    assert sa.percent_agreement(kept).estimate == pytest.approx(2 / 3)
    with pytest.warns(sa.SetagreeWarning, match="007"):
        guessed = sa.Annotations.from_wide(CODES, kind="value")
    assert guessed.kind == "number"
    assert sa.percent_agreement(guessed).estimate == 1


def test_numbers_as_categories():
    for study in roads([3, 5], kind="category"):
        assert (study.kind, set(study.values)) == ("category", {3, 5})
        assert [row.distance for row in sa.agreement(study, coefficient="fleiss_kappa")] == [
            "nominal"
        ]


def test_the_same_table_read_again():
    for kind in ("number", "category"):
        study = sa.Annotations.from_wide(CODES.replace("007", "70"), kind=kind)
        again = sa.Annotations.from_wide(study.to_wide(), kind=study.kind)
        assert (again.kind, again.values) == (study.kind, study.values)
        assert (again.value_codes == study.value_codes).all()


def test_mixed_categories_are_no_doubt(recwarn):
    table = pd.DataFrame({"ann": ["1", "2", "other"], "bob": ["1", "2", "other"]})
    assert sa.Annotations.from_wide(table, kind="category").kind == "category"
    assert not [each for each in recwarn if issubclass(each.category, MixedScaleWarning)]


def test_no_number():
    table = pd.DataFrame({"ann": ["1", "2"], "bob": ["1", "two"]}, index=["u1", "u2"])
    said = "Unit 'u2', rater 'bob': 'two' is not a number, as kind='number' requires; use kind="
    with pytest.raises(DataError, match=said):
        sa.Annotations.from_wide(table, kind="number")
    found = sa.Annotations.from_wide(table, kind="number", na_values=["two"])
    assert (found.kind, found.n_missing) == ("number", 1)
    with pytest.raises(DataError, match="Column 'two': 'two' is not a number"):
        sa.Tally.from_counts(counts(["1", "two"]), kind="number")


def test_another_word():
    for call in (sa.Annotations.from_wide, sa.Annotations.from_contingency, sa.Tally.from_counts):
        with pytest.raises(
            OptionError, match="kind='numbers' is unknown; use 'labels', 'number', 'category'"
        ):
            call(counts(["a", "b"]), kind="numbers")


@pytest.mark.parametrize("kind", ["number", "category", "value"])
def test_a_codebook_is_for_labels(kind):
    with pytest.raises(OptionError, match="single values have none"):
        sa.Annotations.from_wide(CODES, kind=kind, codebook=["7", "8"])


def test_the_model_of_a_panel():
    scorer = sa.panel_scorer(sa.Annotations.from_wide(CODES, kind="category"))
    # At u1 one rater said 007 and the other 7: either prediction is right for one of them, but 007
    # is the rarer one by chance; 8 is right for nobody.
    names = [*CODES.index]
    scores = {x: scorer.score(names, [x, "7", "8"]) for x in ("007", "7", "8")}
    assert scores["007"] > scores["7"] > scores["8"]
    numbers = sa.panel_scorer(
        sa.Annotations.from_wide(pd.DataFrame({"a": [1, 2], "b": [1, 3]}), kind="number")
    )
    with pytest.raises(DataError, match="'high' is not a number"):
        numbers.score([0, 1], ["1", "high"])


def test_the_command(tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the command needs the cli extra")
    monkeypatch.chdir(tmp_path)
    CODES.to_csv("codes.csv", index_label="unit")
    words = ["score", "codes.csv", "--wide", "-c", "percent_agreement"]
    (kept,) = rows(*words, "--kind", "category")
    assert kept["estimate"] == pytest.approx(2 / 3)
    assert [row["distance"] for row in rows(*words, "--kind", "number")] == [
        "nominal",
        "ordinal",
        "interval",
    ]
    assert "--kind 'codes' is unknown" in refusal(*words, "--kind", "codes")
