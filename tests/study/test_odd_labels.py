"""Warnings about labels that look like slips: counts of ratings, remedy, silence on clean data."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    LabelError,
    MixedScaleWarning,
    SeparatorWarning,
    SetagreeWarning,
    SimilarLabelsWarning,
)

WORDS = ["anger", "sadness", "joy", "joy, sadness", "anger, joy"]


def table(*odd, words=WORDS):
    """Return 300 answers to 100 units, in which these take the place of the first ones."""
    answers = [words[k % len(words)] for k in range(300)]
    answers[: len(odd)] = odd
    units, raters = [f"u{k // 3}" for k in range(300)], [f"r{k % 3}" for k in range(300)]
    return pd.DataFrame({"unit": units, "rater": raters, "labels": answers})


def warned(frame, **options):
    """Return the warnings of a reading, by category."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.Annotations.from_long(frame, **options)
    return {one.category: str(one.message) for one in caught}


def test_joined_labels():
    frame = table("anger/sadness", "anger/sadness", "joy, sadness/joy")
    said = warned(frame)[SeparatorWarning]
    assert said.startswith(
        "labels 'anger/sadness' (2 ratings), 'sadness/joy' (1 rating): read as one label, "
        "although the parts 'anger', 'joy', 'sadness' are labels as well."
    )
    assert said.endswith("If '/' separates labels, use label_sep=[',', '/'].")
    assert warned(frame, label_sep=[",", "/"]) == {}
    frame = frame.replace({"labels": {"anger/sadness": "anger + sadness"}})
    said = warned(frame, label_sep=[",", "|"])[SeparatorWarning]
    assert said.endswith("If '+' or '/' separates labels, use label_sep=[',', '|', '+', '/'].")


def test_joined_labels_where_nothing_else_separates():
    frame = table("anger+joy", words=["anger", "sadness", "joy"])
    assert "(1 rating)" in warned(frame)[SeparatorWarning]
    assert "label_sep='+'" in warned(frame)[SeparatorWarning]
    assert warned(frame, label_sep="+") == {}


def test_a_number_among_words():
    frame = table("joy", "2", "2, joy")
    said = warned(frame)[MixedScaleWarning]
    assert said.startswith("label '2' (2 ratings): a number among words, read as a label.")
    with pytest.raises(
        LabelError, match=r"codebook: '2' \(2 answers\)\. First: Unit 'u0', rater 'r1'"
    ):
        sa.Annotations.from_long(frame, codebook=["anger", "sadness", "joy"])


@pytest.mark.parametrize(("n", "rest"), [(5, ": a number"), (7, " and 2 more: a number")])
def test_numbers_among_words(n, rest):
    frame = table(*map(str, range(1, n + 1)), words=[f"word {letter}" for letter in "abcdefgh"])
    said = warned(frame)[MixedScaleWarning]
    listed = ", ".join(f"'{k}' (1 rating)" for k in range(1, 6))
    assert said.startswith(f"labels {listed}{rest}")


@pytest.mark.parametrize("slip", ["sadnes", "sadnness", "sadmess", "sandess", "asdness"])
def test_a_rare_misspelling(slip):
    said = warned(table(slip))[SimilarLabelsWarning]
    assert f"{slip!r} (1 of 300 ratings) and 'sadness' (120)" in said


@pytest.mark.parametrize("word", ["sedniss", "sasdnes", "ssedans"])
def test_a_rare_label_of_another_spelling(word):
    assert warned(table(word)) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["1", "2", "3", "other"],
        ["class1", "class2", "1-1_small", "1-2_small", "and/or", "R&D"],
        ["mat", "cat", "bat", "hat, cat"],
        ["house", "horse", "mouse"],
        ["fear/rage", "joy", "fear, joy"],
    ],
)
def test_clean_labels_are_not_warned_of(words):
    rng = np.random.default_rng(1)
    frame = table(words=list(rng.permutation(words * 3)))
    odd = {SeparatorWarning, MixedScaleWarning, SimilarLabelsWarning}
    assert not odd & warned(frame, label_sep=",").keys()


def test_a_codebook_permits_what_it_lists():
    frame = table("anger/sadness", "2", "sadnes")
    listed = ["anger", "sadness", "joy", "anger/sadness", "2", "sadnes"]
    assert warned(frame, codebook=listed) == {}


def test_weighted_counts_in_a_file(tmp_path):
    path = tmp_path / "study.csv"
    table("2", "2", "2", "anger/joy").to_csv(path, index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.tally(path, unit="unit", rater="rater", labels="labels")
    said = " ".join(str(one.message) for one in caught)
    assert "label '2' (3 ratings)" in said
    assert "label 'anger/joy' (1 rating)" in said


@pytest.mark.skipif("SETAGREE_DATA" not in os.environ, reason="needs the real annotations")
@pytest.mark.parametrize("name", ["convabuse", "hs_brexit", "sonyc_ust", "varierr_nli"])
def test_real_studies_are_clean(name):
    path = Path(os.environ["SETAGREE_DATA"]) / f"{name}.csv"
    given = {"unit": "unit", "rater": "rater", "labels": "labels", "blank": "empty"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SetagreeWarning)
        assert sa.read(path, **given, duplicates="first").n_ratings > 1000


def test_commas_with_another_separator():
    cells = ["joy/fear", "joy, fear", "joy", "fear", "joy/fear", "joy"]
    frame = pd.DataFrame({"unit": [1, 1, 2, 2, 3, 3], "rater": list("ababab"), "labels": cells})
    with pytest.warns(
        SeparatorWarning, match=r"'joy, fear' \(1 rating\): read as one label, .*=\['/', ','\]"
    ):
        sa.Annotations.from_long(frame, label_sep="/")


@pytest.mark.parametrize(
    ("cell", "label_sep"),
    [
        (["fear/joy"], ","),
        ('["fear/joy"]', ","),
        ("['fear/joy', 'sad']", ","),
        ('"fear/joy"', ","),
        ('"fear/joy", sad', ","),
        ('"fear, joy"; sad', ";"),
    ],
)
def test_labels_that_no_separator_splits(cell, label_sep):
    answers = [cell, "fear", "joy", f"fear{label_sep} joy"]
    rows = {"unit": [1, 1, 2, 2], "rater": list("abab"), "labels": answers}
    assert warned(pd.DataFrame(rows), label_sep=label_sep) == {}


def test_the_separator_of_an_export(tmp_path):
    """MTurk splits at pipes; a codebook permits what it lists."""
    path = tmp_path / "mturk.csv"
    cells = ["joy|sad", "joy", "joy/sad", "sad"]
    rows = [f"h{k // 2},{k},w{k % 2},t{k // 2},{cell}" for k, cell in enumerate(cells)]
    names = "HITId,AssignmentId,WorkerId,Input.text,Answer.emotions"
    path.write_text("\n".join([names, *rows]), encoding="utf-8")
    with pytest.warns(SeparatorWarning, match=r"'joy/sad' \(1 rating\)") as caught:
        sa.read(path, tool="mturk_pipe")
    assert [one.message.remedy for one in caught] == [{"label_sep": ["|", "/"]}]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeparatorWarning)
        sa.read(path, tool="mturk_pipe", codebook=["joy", "sad", "joy/sad"])
