"""SoSci Survey: options with 1 and 2, labels in a second row of the header, questions as units."""

import pytest

import setagree as sa

HEAD = "CASE\tQUESTNNR\tSTARTED\tAN01\tAN01_01\tAN01_02\tAN02\tAN02_01\tAN02_02\tRA01_01\tTIME001"
TEXTS = "Interview-Nummer\t\t\tText 1: Anzahl\tText 1: joy\tText 1: fear"
TEXTS += "\tText 2: Anzahl\tText 2: joy\tText 2: fear\tScale: warm\t"
ROWS = [
    "7\tbase\t2026\t1\t2\t1\t2\t2\t2\t1\t33",
    "8\tbase\t2026\t1\t1\t2\t0\t1\t1\t5\t41",
    "9\tbase\t2026\t\t-9\t-9\t1\t2\t1\t2\t5",
]


def answers(study):
    return {(unit, rater): labels for rater, unit, labels in study.to_triples()}


@pytest.mark.parametrize(
    ("lines", "labels"),
    [([HEAD, TEXTS, *ROWS], ("joy", "fear")), ([HEAD, *ROWS], ("01", "02"))],
)
def test_options_are_labels_and_questions_are_units(lines, labels, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines), encoding="utf-16")
    with pytest.raises(sa.SetagreeError, match=r"1 blank answer .*SoSci Survey writes 1 for each"):
        sa.read(path, encoding="utf-16")
    study = sa.read(path, encoding="utf-16", blank="empty")
    one, two = labels
    assert study.reading.tool == "sosci"
    assert answers(study) == {
        ("AN01", "7"): {one},
        ("AN01", "8"): {two},
        ("AN02", "7"): {one, two},
        ("AN02", "8"): set(),
        ("AN02", "9"): {one},
    }


REFUSED = [
    ([HEAD, TEXTS.replace("Text 2: joy", "Text 2: anger"), *ROWS], {}, "its questions are 'AN01'"),
    ([HEAD, *ROWS], {"question": "B*"}, "matches no question of export.csv"),
    ([HEAD.replace("AN", "an"), *ROWS], {}, "has no multiple-choice question"),
    ([HEAD, ROWS[0].replace("1\t2\t1\t", "1\t2\t-9\t", 1), *ROWS[1:]], {}, "the cell is blank"),
]


@pytest.mark.parametrize(("lines", "options", "sentence"), REFUSED)
def test_refusals(lines, options, sentence, save):
    with pytest.raises(sa.SetagreeError, match=sentence):
        sa.read(save("\n".join(lines)), **options)
