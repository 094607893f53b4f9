"""Qualtrics: values, texts, split choices, and the rows of the header."""

import re

import pytest
from exports.csv_writers import (
    LABELS,
    RATERS,
    SIMPLE,
    SIMPLE_LABELS,
    TRUTH,
    UNITS,
    answered,
    flags,
    given_answers,
    labelled,
    qualtrics,
    qualtrics_labels,
    qualtrics_split,
    qualtrics_values,
    read,
    roster,
)

from setagree.errors import DataError, FileError, OptionError, SetagreeWarning
from setagree.exports import FORMATS
from setagree.exports.detection import peek, recognised


def test_qualtrics_split_without_recoding(save):
    path = save(qualtrics_split(TRUTH, off=""))
    with pytest.raises(DataError, match=r"5 blank answers .*recoded as -99"):
        read(path)
    assert given_answers(path, roster=roster(TRUTH)) == answered(TRUTH)


def test_qualtrics_split_without_marker(save):
    assert given_answers(save(qualtrics_split(TRUTH, marker=""))) == answered(TRUTH)


def test_qualtrics_split_cells(save):
    """A choice is 1, its number, its text, -99 or blank."""
    text = qualtrics_split(TRUTH)
    with pytest.raises(FileError, match=r"column '1_Q1_2': '0' is neither 'drama', 1, -99 nor"):
        read(save(text.replace("kim,-99,1,", "kim,-99,0,")))
    assert given_answers(save(text.replace("kim,-99,1,", "kim,-99,Drama,"))) == answered(TRUTH)


def test_qualtrics_labels_with_commas_are_seen(save):
    path = save(qualtrics_labels(TRUTH))
    with pytest.raises(FileError, match=r"'1?2?_?.*a label appears to contain a comma; export"):
        read(path, blank="missing")


def test_qualtrics_values_must_be_codes(save):
    path = save(qualtrics_values(SIMPLE).replace('"1,2"', '"1,x"'))
    assert given_answers(path, blank="missing", label_sep=",")["f1", "lee"] == {"1", "x"}
    with pytest.raises(FileError, match=r"'1,x' is not a list of codes.*tool='qualtrics_labels'"):
        read(path, blank="missing")
    path = save(qualtrics_values(SIMPLE).replace('"1,2"', "-99"))
    for label_sep in (None, ","):
        assert read(path, blank="missing", label_sep=label_sep)["f1", "lee"] == set()


def test_qualtrics_previews_are_left_out(save):
    text = qualtrics_labels(SIMPLE).replace("2024,0,True,R_lee", "2024,Survey Preview,True,R_lee")
    with pytest.warns(SetagreeWarning, match=r"1 preview or test response left out\."):
        found = read(save(text), blank="missing")
    assert {rater for _, rater in found} == {"kim", "max"}


def test_qualtrics_raters_and_units_without_names(save):
    text = qualtrics_labels(SIMPLE).replace(",R_lee,lee,", ",R_lee,kim,")
    text = re.sub(r"which\? - f\d", "which? - it", text)
    found = read(save(text), blank="missing")
    assert {rater for _, rater in found} == {"R_kim", "R_lee", "R_max"}
    assert {unit for unit, _ in found} == {"1", "2", "3", "4"}


def test_qualtrics_headers(save):
    lines = qualtrics_labels(SIMPLE).splitlines(keepends=True)
    with pytest.raises(FileError, match="line 3: no ImportId"):
        read(save("".join([lines[0], *lines[3:]])), tool="qualtrics_labels")
    with pytest.raises(FileError, match=r"export.csv, line 3: .*is not JSON"):
        read(save("".join(lines).replace('""4_QID1""}', '""4_QID1')))
    with pytest.raises(DataError, match="no looped question"):
        read(save("".join(lines).replace("_Q1", "Q1")))
    assert read(save("".join(lines).replace('{""ImportId"": ""status""}', "3")), blank="missing")


def test_qualtrics_codes_are_told_from_texts_without_a_column_that_says(save):
    for writer, name in [(qualtrics_values, "values"), (qualtrics_labels, "labels")]:
        path = save(writer(SIMPLE).replace("Finished", "Done"))
        assert [f.name for f in recognised(peek(path), FORMATS)] == [f"qualtrics_{name}"]


def test_a_long_qualtrics_header_is_not_guessed_about(save):
    text = qualtrics_labels(SIMPLE).replace("Genres of a film", 20_000 * "x")
    with pytest.raises(OptionError, match="could be 'qualtrics_values', 'qualtrics_labels', "):
        read(save(text))
    assert given_answers(save(text), tool="qualtrics_labels", blank="missing") == labelled(SIMPLE)
    lines = qualtrics_labels(SIMPLE).splitlines(keepends=True)
    assert len(recognised(peek(save("".join(lines[:3]))), FORMATS)) == 3
    one_response = recognised(peek(save("".join(lines[:4]))), FORMATS)
    assert [tool.name for tool in one_response] == ["qualtrics_labels"]
    assert recognised(peek(save("ResponseId,x\n1,a\n2,b\n3,c\n")), FORMATS) == []


# ---- No loops -----------------------------------------------------------------------------------


def unlooped(truth, spell, finished, *, texts=UNITS):
    """Return one question a unit, and the age of each respondent."""
    return qualtrics(
        [*(f"Q{k}" for k in range(1, 5)), "age", "Q1_TEXT"],
        [*(f"Which genres has {text}?" for text in texts), "How old are you?", "Other"],
        [*({"ImportId": f"QID{k}"} for k in range(1, 6)), {"ImportId": "QID1_TEXT"}],
        lambda r: [
            *(",".join(map(spell, sorted(truth.get((u, r)) or ()))) for u in UNITS),
            *("3" if finished == "1" else "25-34", ""),
        ],
        finished,
    )


def by_question(truth):
    return {(f"Q{UNITS.index(unit) + 1}", rater): x for (unit, rater), x in truth.items()}


@pytest.mark.parametrize("has_finished", [True, False])
@pytest.mark.parametrize("layout", ["values", "labels"])
def test_qualtrics_without_loops(save, layout, has_finished):
    spell = str if layout == "labels" else lambda label: str(SIMPLE_LABELS.index(label) + 1)
    text = unlooped(SIMPLE, spell, "True" if layout == "labels" else "1")
    path = save(text if has_finished else text.replace("Finished", "Done"))
    assert [f.name for f in recognised(peek(path), FORMATS)] == [f"qualtrics_{layout}"]
    truth = {p: {*map(spell, x)} for p, x in by_question(labelled(SIMPLE)).items()}
    assert given_answers(path, question="Q*", blank="missing") == truth
    one = {pair: labels for pair, labels in truth.items() if pair[0] == "Q2"}
    assert given_answers(path, question="Q2", blank="missing") == one
    said = r"the questions are the units: its questions are 'Q1', .* 'age'\. Select .*='Q\*'"
    with pytest.raises(OptionError, match=said):
        read(path)
    with pytest.raises(OptionError, match=r"question='x\*' matches no question of export\.csv"):
        read(path, question="x*")
    everything = given_answers(path, question="*", blank="missing")
    assert {unit for unit, _ in everything} == {"Q1", "Q2", "Q3", "Q4", "age"}


def test_qualtrics_rows_of_a_matrix(save):
    text = qualtrics(
        [f"Q1_{k}" for k in range(1, 5)],
        [f"Which genres? - {unit}" for unit in UNITS],
        [{"ImportId": f"QID1_{k}"} for k in range(1, 5)],
        lambda r: [",".join(sorted(SIMPLE.get((u, r)) or ())) for u in UNITS],
        "True",
    )
    assert given_answers(save(text), question="*", blank="missing") == labelled(SIMPLE)


def split(truth, *, other=False):
    """Return one column a question and choice, and another question where that is asked for."""
    places = [(k, c) for k in range(1, 5) for c in range(1, 5)]
    more = [("Q9_1", "Yes? - Selected Choice - yes", {"ImportId": "QID9", "choiceId": "1"}, "1")]
    more *= other

    def cells(rater):
        given = [truth.get((u, rater)) for u in UNITS]
        chosen = [[""] * 4 if x is None else flags(x, off="-99") for x in given]
        return [cell for one in chosen for cell in one] + [cell for *_, cell in more]

    return qualtrics(
        [*(f"Q{k}_{c}" for k, c in places), *(name for name, *_ in more)],
        [
            *(f"Has {UNITS[k - 1]} these? - Selected Choice - {LABELS[c - 1]}" for k, c in places),
            *(text for _, text, *_ in more),
        ],
        [
            *({"ImportId": f"QID{k}", "choiceId": str(c)} for k, c in places),
            *(meta for *_, meta, _ in more),
        ],
        cells,
        "1",
    )


def test_qualtrics_split_without_loops(save):
    assert {rater for _, rater in TRUTH} == {*RATERS}
    assert given_answers(save(split(TRUTH))) == by_question(answered(TRUTH))
    path = save(split(TRUTH, other=True))
    with pytest.raises(OptionError, match=r"questions are 'Q1', 'Q2', 'Q3', 'Q4', 'Q9'\. Select"):
        read(path)
    assert given_answers(path, question="Q[1-4]") == by_question(answered(TRUTH))
