"""Readers of exports that are tables: the truth comes back, and what cannot tell it says so.

The files are written here, by small writers of each layout, from one truth about genres of films.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    FileError,
    MissingMarkerWarning,
    OptionError,
    SeparatorWarning,
    SetagreeError,
    SetagreeWarning,
)
from setagree.exports import FORMATS
from setagree.exports.detection import detect, format_of_name, peek, recognised
from setagree.exports.format import Request

SKIPPED = None
LABELS = ["comedy", "drama", "noir", "sci-fi, hard"]
# f2: lee skipped; f3: two empty sets; f4: lee was never asked, max gave the empty set.
TRUTH = {
    ("f1", "kim"): {"drama"},
    ("f1", "lee"): {"drama", "comedy"},
    ("f1", "max"): {"drama"},
    ("f2", "kim"): {"comedy", "sci-fi, hard"},
    ("f2", "lee"): SKIPPED,
    ("f2", "max"): {"comedy"},
    ("f3", "kim"): set(),
    ("f3", "lee"): set(),
    ("f3", "max"): {"drama", "noir"},
    ("f4", "kim"): {"noir"},
    ("f4", "max"): set(),
}
UNITS, RATERS = ["f1", "f2", "f3", "f4"], ["kim", "lee", "max"]
# Where a comma separates labels, no label has one.
SIMPLE = {
    pair: labels if labels is None else {label.split(",")[0] for label in labels}
    for pair, labels in TRUTH.items()
}
SIMPLE_LABELS = ["comedy", "drama", "noir", "sci-fi"]


def answered(truth):
    """Return the truth without what was skipped."""
    return {pair: labels for pair, labels in truth.items() if labels is not None}


def labelled(truth):
    """Return the truth without the empty sets."""
    return {pair: labels for pair, labels in truth.items() if labels}


def roster(truth):
    """Return who answered what."""
    return pd.DataFrame(list(answered(truth)), columns=["unit", "rater"])


def table(rows, *, delimiter=","):
    """Return rows of cells, the header first, as text."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def flags(labels, names=LABELS, *, on=1, off=0):
    """Return one cell a label."""
    return [on if name in labels else off for name in names]


# ---- Writers: truth -> text ---------------------------------------------------------------------


def mturk(column, cells):
    """Return a batch of results with the answer columns after the input."""

    def write(truth):
        head = ["HITId", "Reward", "AssignmentId", "WorkerId", "AssignmentStatus"]
        rows = [
            [f"HIT{u}", "$0.05", f"{u}{r}", r, "Approved", u, f"Film {u}", *cells(labels), ""]
            for (u, r), labels in answered(truth).items()
        ]
        columns = [f"Answer.{name}" for name in column]
        return table([[*head, "Input.film", "Input.item_id", *columns, "Approve"], *swapped(rows)])

    return write


def swapped(rows):
    """Put the column of the films' titles before that of their names."""
    return [[*row[:5], row[6], row[5], *row[7:]] for row in rows]


mturk_pipe = mturk(["genres"], lambda labels: ["|".join(sorted(labels))])
mturk_boxes = mturk([f"{x}.on" for x in LABELS], lambda x: flags(x, on="true", off="false"))
mturk_tasks = mturk(
    ["taskAnswers"],
    lambda labels: [json.dumps([{"genres": {label: label in labels for label in LABELS}}])],
)


def appen(truth):
    """Return a full report; the genres are lines in a cell."""
    head = [
        "_unit_id",
        "_tainted",
        "_trust",
        "_worker_id",
        "genres",
        "genres_gold",
        "title",
        "item",
    ]
    rows = [
        [u, "false", 1, r, "\n".join(sorted(labels)), "", f"Film {u}", u[1]]
        for (u, r), labels in answered(truth).items()
    ]
    return table([head, *rows])


def toloka(truth):
    """Return assignments, also those that were skipped."""
    head = ["INPUT:film", "INPUT:id", "OUTPUT:genres", "GOLDEN:genres", "ASSIGNMENT:task_id"]
    head += ["ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]
    rows = [
        [f"Film {u}", u, cell, "", f"task-{u}", f"{u}-{r}", r, state]
        for (u, r), labels in truth.items()
        for cell, state in [("", "SKIPPED") if labels is None else (to_json(labels), "APPROVED")]
    ]
    return table([head, *rows], delimiter="\t")


def to_json(labels):
    """Return a list."""
    return json.dumps(sorted(labels))


def zooniverse(truth):
    """Return classifications, the answers in JSON."""
    head = ["classification_id", "user_name", "annotations", "subject_ids"]
    rows = [
        [1, r, json.dumps([zooniverse_task(labels)]), u]
        for (u, r), labels in answered(truth).items()
    ]
    return table([head, *rows])


def zooniverse_task(labels):
    """Return the answer to one task."""
    return {"task": "T0", "task_label": "Genres?", "value": sorted(labels)}


def label_studio(truth):
    """Return one row an annotation, and one for a task that nobody annotated."""
    head = ["annotation_id", "annotator", "created_at", "genres", "id", "lead_time", "film", "item"]
    rows = [
        [k, r, "2024", chosen(labels), u, 4.2, f"Film {u}", u[1]]
        for k, ((u, r), labels) in enumerate(answered(truth).items())
    ]
    return table([head, *rows, ["", "", "", "", 99, "", "Film f9", "f9"]])


def chosen(labels):
    """Return the cell of a choice: plain text for one label, JSON for several."""
    if len(labels) < 2:
        return "".join(labels)
    return json.dumps({"choices": sorted(labels)}, separators=(",", ":"))


def atlasti(truth):
    """Return quotations, the codes in lines."""
    head = ["ID", "Quotation Name", "Document", "Codes", "Reference", "Created by"]
    rows = [
        [1, "a film", u, "\n".join(sorted(labels)), "1 - 1", r]
        for (u, r), labels in answered(truth).items()
    ]
    return table([head, *rows])


def dedoose(truth):
    """Return excerpts with a column a code; those without codes are not exported."""
    codes = [f"Code: {label} Applied" for label in LABELS]
    head = ["Media Title", "Excerpt Range", "Excerpt Creator", "Codes Applied Combined", *codes]
    rows = [
        [u, "0-15", r, ", ".join(sorted(labels)), *flags(labels, on="True", off="False")]
        for (u, r), labels in labelled(truth).items()
    ]
    return table([head, *rows])


def goemotions(truth):
    """Return flags, and one for what was very unclear."""
    head = ["text", "id", "rater_id", "example_very_unclear", *LABELS]
    rows = [
        [f"Film {u}", u, r, labels is None, *flags(labels or ())]
        for (u, r), labels in truth.items()
    ]
    return table([head, *rows])


def form(sep, time):
    """Return the responses to a checkbox grid, one row a rater."""

    def write(truth):
        head = ["Timestamp", "Email Address", *(f"Genres? [{unit}]" for unit in UNITS)]
        rows = [
            [time, r, *(sep.join(sorted(truth.get((u, r)) or ())) for u in UNITS)] for r in RATERS
        ]
        return table([head, *rows])

    return write


form_download = form(";", "2024/05/02 9:20:00 AM GMT+1")
form_sheet = form(", ", "02/05/2024 09:20:00")


def redcap_raw(truth):
    """Return flags and the status of the form, 2 for complete; all pairs have a record."""
    head = ["record_id", "item", "rater", *(f"genres___{k}" for k in range(1, 5))]
    rows = [
        [f"{u}-{r}", u, r, *flags(truth.get((u, r)) or (), SIMPLE_LABELS), status]
        for u in UNITS
        for r in RATERS
        for status in [redcap_status(truth, u, r)]
    ]
    return table([[*head, "genres_complete"], *rows])


def redcap_status(truth, unit, rater):
    """Return 2 for an answer, 1 for what was skipped, 0 for nothing."""
    return 2 if truth.get((unit, rater)) is not None else int((unit, rater) in truth)


def redcap_labels(truth):
    """Return the same in words."""
    head = ["Record ID", "Item", "Rater", *(f"Genres (choice={label})" for label in LABELS)]
    words = ["Incomplete", "Unverified", "Complete"]
    rows = [
        [f"{u}-{r}", u, r, *flags(truth.get((u, r)) or (), on="Checked", off="Unchecked"), status]
        for u in UNITS
        for r in RATERS
        for status in [words[redcap_status(truth, u, r)]]
    ]
    return table([[*head, "Complete?"], *rows])


def qualtrics(columns, texts, ids, cells, finished):
    """Return the three rows of the header and one row a rater."""
    fixed = ["StartDate", "Status", "Finished", "ResponseId", "ExternalReference"]
    imports = [json.dumps({"ImportId": name}) for name in fixed]
    rows = [["2024", "0", finished, f"R_{r}", r, *cells(r)] for r in RATERS]
    return table([[*fixed, *columns], [*fixed, *texts], [*imports, *map(json.dumps, ids)], *rows])


def qualtrics_joined(finished, spell):
    """Return a writer of one column a loop."""

    def write(truth):
        places = range(1, len(UNITS) + 1)
        return qualtrics(
            [f"{k}_Q1" for k in places],
            [f"Genres of a film - which? - {unit}" for unit in UNITS],
            [{"ImportId": f"{k}_QID1"} for k in places],
            lambda r: [",".join(map(spell, sorted(truth.get((u, r)) or ()))) for u in UNITS],
            finished,
        )

    return write


qualtrics_values = qualtrics_joined("1", lambda label: str(SIMPLE_LABELS.index(label) + 1))
qualtrics_labels = qualtrics_joined("True", str)


def qualtrics_split(truth, *, off="-99", marker=" - Selected Choice"):
    """Return one column a loop and choice; what was seen and not chosen is -99."""
    places = [(k, c) for k in range(1, 5) for c in range(1, 5)]

    def cells(rater):
        given = [truth.get((u, rater)) for u in UNITS]
        return [
            cell
            for labels in given
            for cell in (flags(labels, off=off) if labels is not None else [""] * 4)
        ]

    return qualtrics(
        [f"{k}_Q1_{c}" for k, c in places],
        [f"Genres - {UNITS[k - 1]}{marker} - {LABELS[c - 1]}" for k, c in places],
        [{"ImportId": f"{k}_QID1", "choiceId": str(c)} for k, c in places],
        cells,
        "1",
    )


def long(truth):
    """Return one row an annotation."""
    rows = [[u, r, ", ".join(sorted(labels))] for (u, r), labels in answered(truth).items()]
    return table([["item", "coder", "genres_x", "labels"], *([*r[:2], "x", r[2]] for r in rows)])


def wide(truth):
    """Return one column a rater, and NA where there is no annotation."""
    rows = [
        [
            u,
            *(
                "NA" if x is None else ", ".join(sorted(x))
                for x in (truth.get((u, r)) for r in RATERS)
            ),
        ]
        for u in UNITS
    ]
    return table([["item", *RATERS], *rows])


def onehot(truth):
    """Return one column a label."""
    rows = [[u, r, *flags(labels)] for (u, r), labels in answered(truth).items()]
    return table([["item", "coder", *LABELS], *rows])


def one_row_a_label(truth):
    """Return one row for each label of an annotation."""
    rows = [[u, r, x] for (u, r), labels in labelled(truth).items() for x in sorted(labels)]
    return table([["item", "coder", "tag"], *rows])


ROWS = "plain_row_per_label"

# name -> (writer, truth, what must be said, file name)
WRITERS = {
    "mturk_pipe": (mturk_pipe, TRUTH, {}),
    "mturk_checkboxes": (mturk_boxes, TRUTH, {}),
    "mturk_task_answers": (mturk_tasks, TRUTH, {}),
    "appen": (appen, TRUTH, {}),
    "toloka": (toloka, TRUTH, {}),
    "zooniverse": (zooniverse, TRUTH, {}),
    "label_studio_csv": (label_studio, TRUTH, {}),
    "atlasti": (atlasti, TRUTH, {}),
    "dedoose": (dedoose, TRUTH, {"roster": roster(TRUTH)}),
    "hf_onehot": (goemotions, TRUTH, {}),
    "google_forms_csv": (form_download, TRUTH, {"roster": roster(TRUTH)}),
    "google_forms_sheet": (form_sheet, SIMPLE, {"roster": roster(TRUTH)}),
    "redcap_raw": (redcap_raw, SIMPLE, {}),
    "redcap_labels": (redcap_labels, TRUTH, {}),
    "qualtrics_values": (qualtrics_values, SIMPLE, {"roster": roster(TRUTH)}),
    "qualtrics_labels": (qualtrics_labels, SIMPLE, {"roster": roster(TRUTH)}),
    "qualtrics_split": (qualtrics_split, TRUTH, {}),
    "plain_long": (long, SIMPLE, {"blank": "empty"}),
    "plain_wide": (wide, SIMPLE, {"roster": roster(TRUTH)}),
    "plain_onehot": (onehot, TRUTH, {}),
    "plain_row_per_label": (one_row_a_label, SIMPLE, {"format": ROWS, "roster": roster(TRUTH)}),
}


@pytest.fixture
def save(tmp_path):
    """Return a function that writes a text to a file."""

    def write(text, name="export.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def read(path, *, format="auto", **said):  # noqa: A002 - as in setagree.read
    """Return (unit, rater) -> labels of what a reader finds; None where it found no annotation."""
    found = detect(path, FORMATS) if format == "auto" else format_of_name(format, FORMATS)
    answers = found.read(path, Request(**said))
    lengths = {len(answers.units), len(answers.raters), len(answers.labels), len(answers.places)}
    assert len(lengths) == 1
    pairs = list(zip(answers.units, answers.raters, strict=True))
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, answers.labels, strict=True))


def given_answers(path, **said):
    """Return what a reader finds, without the pairs that have no annotation."""
    return answered(read(path, **said))


def spelled(name, truth):
    """Return the truth as a format that knows the labels by codes has it."""
    if name in {"qualtrics_values", "redcap_raw"}:
        return {p: {str(SIMPLE_LABELS.index(x) + 1) for x in s} for p, s in truth.items()}
    return truth


# ---- The truth comes back -----------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_the_truth_comes_back(name, save):
    """Every layout gives back the answers, the empty sets, and nothing for the rest."""
    writer, truth, said = WRITERS[name]
    found = given_answers(save(writer(truth)), **said)
    assert found == spelled(name, answered(truth))


@pytest.mark.parametrize("name", WRITERS)
def test_the_door_opens_every_layout(name, save):
    """`setagree.read` finds the format and gives the same annotations, without a warning."""
    writer, truth, said = WRITERS[name]
    study = sa.read(save(writer(truth)), **said).to_long()
    found = dict(zip(zip(study["unit"], study["rater"], strict=True), study["labels"], strict=True))
    assert found == spelled(name, answered(truth))


def test_repeated_annotations_are_found_and_settled(save):
    """Whoever annotated a unit twice is named with the lines; duplicates= settles it."""
    path = save(mturk_pipe(TRUTH) + mturk_pipe({("f1", "kim"): {"noir"}}).partition("\n")[2])
    with pytest.raises(DataError, match=r"line 2 and line 12"):
        sa.read(path)
    study = sa.read(path, duplicates="union").to_long().set_index(["unit", "rater"])
    assert study.loc[("f1", "kim"), "labels"] == {"drama", "noir"}


@pytest.mark.parametrize("name", WRITERS)
def test_each_layout_is_one_format(name, save):
    """No other format takes a layout for its own."""
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    found = [each.name for each in recognised(peek(path), FORMATS)]
    assert found == (["plain_long", ROWS] if name == ROWS else [name])


def test_every_format_is_tested():
    """A format without a writer here is refused, or a folder."""
    refused = {"nvivo_matrix", "nvivo_comparison"}
    tables = {each.name for each in FORMATS if each.shapes == {"table"}}
    assert tables == {*WRITERS} | refused
    assert len({each.name for each in FORMATS}) == len(FORMATS)


LABEL = st.text("abcé <>&'\"{}[]=%-:#.1", min_size=1, max_size=8).map(str.strip).filter(bool)


@pytest.mark.filterwarnings("ignore:.*in brackets")
@pytest.mark.filterwarnings("ignore::setagree.errors.SimilarLabelsWarning")
@pytest.mark.parametrize("name", ["mturk_pipe", "appen", "toloka", "zooniverse", "atlasti"])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sets=st.lists(st.sets(LABEL, max_size=3), min_size=11, max_size=11))
def test_hostile_labels_come_back(name, save, sets):
    """Labels of any letters but the separator come back as they are."""
    truth = dict(zip(TRUTH, sets, strict=True))
    assert given_answers(save(WRITERS[name][0](truth)), format=name) == truth


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_give_a_sentence(name, save):
    """A file that is cut off anywhere, or lacks a column, is read or refused in words."""
    writer, truth, said = WRITERS[name]
    text = writer(truth)
    cut = [text[:end] for end in range(1, len(text), max(1, len(text) // 40))]
    header, _, rest = text.partition("\n")
    mark = "\t" if name == "toloka" else ","
    names = header.split(mark)
    lacking = [
        mark.join([*names[:k], "x", *names[k + 1 :]]) + "\n" + rest for k in range(len(names))
    ]
    refused = 0
    for each in [*cut, *lacking]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(save(each), **{"format": name, **said})
            except SetagreeError:
                refused += 1
    assert refused


# ---- What a blank means -------------------------------------------------------------------------

ASK = ["google_forms_csv", "google_forms_sheet", "qualtrics_values", "qualtrics_labels"]
DEFAULT_EMPTY = ["mturk_pipe", "appen", "label_studio_csv", "atlasti"]


@pytest.mark.parametrize("name", ASK)
def test_an_open_answer_is_asked_for(name, save):
    """Where a blank may be either, the sentence counts, says why and what to say."""
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    # f2/lee skipped, f3/kim and f3/lee and f4/max empty, f4/lee absent
    with pytest.raises(
        DataError, match=r"has 5 blank answers \(first: line .*blank='empty'.*roster="
    ):
        read(path)
    with pytest.raises(DataError, match="blank='error' allows none"):
        read(path, blank="error")
    assert given_answers(path, blank="missing") == spelled(name, labelled(truth))
    empty = given_answers(path, blank="empty")
    assert len(empty) == 12
    assert empty["f4", "lee"] == set()


@pytest.mark.parametrize("name", DEFAULT_EMPTY)
def test_a_blank_answer_that_was_handed_in_is_empty(name, save):
    """Where what was not answered has no row, a blank is the empty set, unless it is denied."""
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    assert given_answers(path)["f3", "kim"] == set()
    assert given_answers(path, blank="missing") == labelled(truth)
    with pytest.raises(DataError, match=r"3 blank answers .*blank='error' allows none"):
        read(path, blank="error")


@pytest.mark.parametrize("name", ["dedoose", "plain_row_per_label"])
def test_what_has_no_row_needs_a_roster(name, save):
    """A layout that cannot write the empty set asks who answered, even if nothing is blank."""
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    for said in ({}, {"blank": "empty"}, {"blank": "error"}):
        with pytest.raises(DataError, match="Say roster="):
            read(path, format=name, **said)
    assert given_answers(path, format=name, blank="missing") == labelled(truth)


def test_several_rows_of_a_rater_are_asked_about(save):
    """One answer in several rows, or a second annotation: only the caller can tell."""
    path = save(
        "unit,rater,labels\nu1,ana,joy\nu1,ben,joy\nu2,ana,fear\nu2,ben,fear\nu2,ben,anger\n"
    )
    for said in ({}, {"blank": "missing"}, {"roster": roster(TRUTH)}):
        with pytest.raises(OptionError, match=r"several rows for one unit.*format='plain_row_per"):
            sa.read(path, **said)
    for policy, last in [("first", "fear"), ("last", "anger")]:
        for said in ({}, {"format": "plain_long"}):
            study = sa.read(path, duplicates=policy, **said).to_long().set_index(["unit", "rater"])
            assert study.loc[("u2", "ben"), "labels"] == {last}
        with pytest.raises(OptionError, match=rf"unites the rows .*duplicates='{policy}'"):
            sa.read(path, format=ROWS, duplicates=policy, blank="missing")
    for said in ({"duplicates": "union"}, {"format": ROWS, "blank": "missing"}):
        study = sa.read(path, **said).to_long().set_index(["unit", "rater"])
        assert study.loc[("u2", "ben"), "labels"] == {"fear", "anger"}


def test_a_path_asks_as_its_frame_does(save):
    """`setagree.agreement` takes a long table at its word, from a path and from a frame alike."""
    path = save(
        "unit,rater,labels\nu1,ana,joy\nu1,ben,joy\nu2,ana,fear\nu2,ben,fear\nu2,ben,anger\n"
    )
    for data in (path, pd.read_csv(path)):
        with pytest.raises(DataError, match="annotated more than once"):
            sa.agreement(data, blank="missing")
    first, last, both = (
        [
            sa.agreement(d, duplicates=policy)["fleiss_kappa", "masi"].estimate
            for d in (path, pd.read_csv(path))
        ]
        for policy in ("first", "last", "union")
    )
    assert first == [1.0, 1.0]
    assert last[0] == last[1] != both[0] == both[1]


def test_a_roster_may_be_a_file(save):
    """A roster is read from a CSV file as well, and wins over blank=."""
    file = save(roster(TRUTH).to_csv(index=False), "roster.csv")
    path = save(form_sheet(SIMPLE))
    for where in (file, str(file)):
        assert given_answers(path, roster=where, blank="missing") == answered(SIMPLE)


def test_a_roster_must_fit(save):
    """A roster that does not list an annotation, or is no table, is refused."""
    path = save(form_sheet(SIMPLE))
    with pytest.raises(DataError, match=r"7 annotations that the roster does not list .*unit 'f1'"):
        read(path, roster=pd.DataFrame({"unit": ["f9"], "rater": ["kim"]}))
    with pytest.raises(DataError, match=r"roster: .*'rater'"):
        read(path, roster=pd.DataFrame({"unit": ["f9"]}))
    with pytest.raises(DataError, match="roster: a list is no table"):
        read(path, roster=[1])
    with pytest.raises(OptionError, match="blank='none' is unknown"):
        read(path, blank="none")


def test_rosters_match_numbers_and_text(save):
    """A roster's unit 1 is the file's "1"."""
    path = save("item,coder,tag\n1,7,a\n1,7,b\n2,7,a\n")
    listed = pd.DataFrame({"unit": [1, 2, 3], "rater": [7, 7, 7]})
    assert read(path, format=ROWS, roster=listed) == {
        ("1", "7"): {"a", "b"},
        ("2", "7"): {"a"},
        ("3", "7"): set(),
    }


# ---- Questions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("mturk_pipe", "genres"),
        ("mturk_pipe", "Answer.genres"),
        ("mturk_task_answers", "genres"),
        ("appen", "genres"),
        ("toloka", "OUTPUT:genres"),
        ("zooniverse", "T0"),
        ("zooniverse", "Genres?"),
        ("label_studio_csv", "genres"),
        ("google_forms_csv", "Genres?"),
        ("redcap_labels", "Genres"),
        ("qualtrics_split", "Q1"),
        ("plain_long", "labels"),
    ],
)
def test_a_question_can_be_named(name, question, save):
    """Naming the only question changes nothing; naming another lists those there are."""
    writer, truth, said = WRITERS[name]
    path = save(writer(truth))
    assert given_answers(path, question=question, **said) == answered(truth)
    with pytest.raises(SetagreeError, match=r"'moods'"):
        read(path, question="moods", **said)


def test_another_separator_is_doubted(save):
    """Cells that hold another separator than the format's give a warning that names it."""
    rows = "".join(f"h{k},kim,a;b\n" for k in range(3))
    path = save("HITId,WorkerId,Answer.g\n" + rows)
    with pytest.warns(SeparatorWarning, match="did you mean sep=';'"):
        read(path)
    assert read(path, sep=";")["h0", "kim"] == {"a", "b"}
    text = form(";", "02.05.2024 09:20:00")(TRUTH).replace("sci-fi, hard", "sci-fi")
    with pytest.warns(SeparatorWarning, match="did you mean sep=';'"):
        read(save(text), format="google_forms_sheet", blank="empty")
    for name, (writer, truth, _) in WRITERS.items():
        if name in {*ASK[:2], "mturk_pipe", "appen", "atlasti"}:
            with pytest.raises(OptionError, match="sep='' cannot stand between labels"):
                read(save(writer(truth)), sep="")


def test_several_questions_are_asked_about(save):
    """Two questions: the sentence lists them; one that is named is read."""
    text = "HITId,WorkerId,Answer.genres,Answer.moods\nh1,kim,noir,sad|slow\nh1,lee,noir,sad\n"
    path = save(text)
    with pytest.raises(OptionError, match=r"2 questions, 'genres', 'moods'; say which.*question="):
        read(path)
    assert read(path, question="moods") == {("h1", "kim"): {"sad", "slow"}, ("h1", "lee"): {"sad"}}
    with pytest.raises(FileError, match="has no column of answers"):
        read(save("HITId,WorkerId,Reward\nh1,kim,1\n"), format="mturk_pipe")


# ---- Mechanical Turk ----------------------------------------------------------------------------


def test_the_same_input_is_the_same_unit(save):
    """Two batches give two HITs for one film; a name that is not unique is no unit."""
    text = (
        "HITId,WorkerId,Input.id,Input.title,Answer.g\n"
        "h1,kim,s,Up,a\nh2,lee,s,Up,b\nh3,kim,s,Heat,a\n"
    )
    assert set(read(save(text))) == {("h1", "kim"), ("h1", "lee"), ("h3", "kim")}
    own = text.replace(",s,Heat", ",t,Heat")
    assert set(read(save(own))) == {("s", "kim"), ("s", "lee"), ("t", "kim")}
    bare = "HITId,WorkerId,Answer.g\nh1,kim,a\nh2,kim,b\n"
    assert set(read(save(bare))) == {("h1", "kim"), ("h2", "kim")}


def test_rejected_assignments_are_left_out(save):
    """What the requester rejected is no annotation, and one warning counts it."""
    text = (
        "HITId,WorkerId,AssignmentStatus,Answer.g\nh1,kim,Approved,a\nh1,lee,Rejected,b\n"
        "h1,max,Submitted,\n"
    )
    with pytest.warns(SetagreeWarning, match=r"export.csv: 1 rejected assignment left out\."):
        found = read(save(text))
    assert found == {("h1", "kim"): {"a"}, ("h1", "lee"): None, ("h1", "max"): set()}


def test_checkboxes_of_one_question(save):
    """Names with a dot are a question and its label; cells are true or false, in any case."""
    text = "HITId,WorkerId,Answer.g.a.on,Answer.g.b.on,Answer.m.a.on\nh1,kim,TRUE,false,true\n"
    assert read(save(text), question="g") == {("h1", "kim"): {"a"}}
    assert read(save(text)) == {("h1", "kim"): {"g.a", "m.a"}}
    with pytest.raises(OptionError, match=r"question='x' is not in export.csv; it has 'g', 'm'"):
        read(save(text), question="x")
    with pytest.raises(FileError, match=r"no columns 'Answer.<label>.on'"):
        read(save("HITId,WorkerId\nh1,kim\n"), format="mturk_checkboxes")


def test_checkboxes_must_be_flags(save):
    """Another word, or a row that is blank in part, is an error with its line."""
    head = "HITId,WorkerId,Answer.a.on,Answer.b.on\nh1,kim,true,false\n"
    with pytest.raises(FileError, match=r"line 3, column 'Answer.b.on': 'x' is neither 'true' nor"):
        read(save(head + "h1,lee,true,x\n"))
    with pytest.raises(FileError, match=r"line 3, column 'Answer.a.on': the cell is blank, and"):
        read(save(head + "h1,lee,,true\n"))
    assert read(save(head + "h1,lee,,\n"))["h1", "lee"] == set()


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ({"g": {"a": True, "b": False}}, {"a"}),
        ({"g": {"labels": ["a", "b"]}}, {"a", "b"}),
        ({"g": {"label": "a"}}, {"a"}),
        ({"g": ["a"]}, {"a"}),
        ({"g": "a|b"}, {"a", "b"}),
        ({"g": ""}, set()),
        ({"a": {"on": True}, "b": {"on": False}}, {"a"}),
    ],
)
def test_forms_of_task_answers(answer, labels, save):
    """Checkbox groups, classifiers, lists, text with pipes, and single checkboxes."""
    for record in (answer, [answer]):
        text = table([["HITId", "WorkerId", "Answer.taskAnswers"], ["h", "k", json.dumps(record)]])
        assert read(save(text)) == {("h", "k"): labels}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('[{"g": {"a": tr', "is no JSON"),
        ('[{"g": 1}, {}]', "not one JSON object"),
        ('[{"g": 1}]', "no list of labels"),
        ('[{"g": {"x": 1}}]', "no list of labels"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_damaged_task_answers(cell, sentence, save):
    """What is no answer is an error with file, line and column."""
    text = table([["HITId", "WorkerId", "Answer.taskAnswers"], ["h", "k", cell]])
    with pytest.raises(
        FileError, match=f"export.csv, line 2, column 'Answer.taskAnswers': .*{sentence}"
    ):
        read(save(text))


def test_a_question_that_an_assignment_lacks_is_missing(save):
    """Whoever did not get the question has no annotation."""
    rows = [["h", "k", '[{"g": ["a"]}]'], ["h", "l", '[{"m": "x"}]'], ["h", "m", ""]]
    path = save(table([["HITId", "WorkerId", "Answer.taskAnswers"], *rows]))
    assert read(path, question="g") == {("h", "k"): {"a"}, ("h", "l"): None, ("h", "m"): set()}


# ---- Appen, Toloka, Zooniverse ------------------------------------------------------------------


def test_test_questions_and_tainted_judgments_are_left_out(save):
    """What Appen checks its workers with is no annotation; one warning counts each kind."""
    text = (
        "_unit_id,_golden,_tainted,_worker_id,g,g_gold\n"
        "1,false,false,kim,a,\n1,false,true,lee,a,\n2,true,false,kim,a,\n3,false,false,kim,a,b\n"
    )
    with pytest.warns(SetagreeWarning) as caught:
        found = read(save(text))
    assert [str(w.message) for w in caught] == [
        "export.csv: 1 tainted judgment left out.",
        "export.csv: 2 test-question judgments left out.",
    ]
    assert answered(found) == {("1", "kim"): {"a"}}


def test_appen_questions(save):
    """Without a column of test answers, any column may be the question, so it is asked for."""
    path = save("_unit_id,_worker_id,g,title\n1,kim,a,Up\n")
    with pytest.raises(OptionError, match="2 questions, 'g', 'title'"):
        read(path)
    assert read(path, question="g") == {("1", "kim"): {"a"}}


def test_toloka_states(save):
    """Only what was handed in and not rejected counts; an unknown state is an error."""
    head = "ASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\tASSIGNMENT:task_id"
    head += "\tASSIGNMENT:status\tOUTPUT:g\n"
    states = ["APPROVED", "SUBMITTED", "ACCEPTED", "SKIPPED", "EXPIRED", "REJECTED", "ACTIVE"]
    rows = [f"w{k}\ta{k}\tt1\t{state}\t" for k, state in enumerate(states)]
    path = save(head + "\n".join(row + '["a"]' for row in rows) + "\n", "x.tsv")
    with pytest.warns(SetagreeWarning, match=r"x\.tsv: 1 rejected answer left out\."):
        assert sorted(rater for _, rater in answered(read(path))) == ["w0", "w1", "w2"]
    bad = save(head + rows[0] + "[]\n" + rows[1].replace("SUBMITTED", "LOST") + "[]\n", "x.tsv")
    with pytest.raises(FileError, match=r"x.tsv, line 3, column 'ASSIGNMENT:status': 'LOST' is no"):
        read(bad)
    blank = save(head + rows[0] + "\n", "x.tsv")
    with pytest.raises(DataError, match=r"1 blank answer .*An empty list is written \[\]"):
        read(blank)


def test_toloka_cells_and_control_tasks(save):
    """Lists are JSON, other text needs sep=; tasks with a known answer are left out."""
    head = "INPUT:x\tOUTPUT:g\tGOLDEN:g\tASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\n"
    path = save(head + "1\ta;b\t\tkim\t1\n", "x.tsv")
    with pytest.raises(
        FileError, match=r"line 2, column 'OUTPUT:g': 'a;b' is no JSON list; say sep"
    ):
        read(path)
    assert read(path, sep=";") == {("1", "kim"): {"a", "b"}}
    broken = save(head + "1\t[1]\t\tkim\t1\n", "x.tsv")
    with pytest.raises(FileError, match="no list of labels"):
        read(broken)
    golden = save(head + '1\t["a"]\t["b"]\tkim\t1\n2\t["a"]\t\tkim\t1\n', "x.tsv")
    with pytest.warns(SetagreeWarning, match=r"x.tsv: 1 control-task answer left out\."):
        assert answered(read(golden)) == {("2", "kim"): {"a"}}


def zooniverse_rows(*annotations):
    """Return an export with one user a classification."""
    rows = [[k, f"w{k}", cell, 7] for k, cell in enumerate(annotations)]
    return table([["classification_id", "user_name", "annotations", "subject_ids"], *rows])


def test_zooniverse_values(save):
    """A list, one text, null, or no such task."""
    cells = ['[{"task": "T0", "value": "a"}]', '[{"task": "T0", "value": null}]']
    cells += ['[{"task": "T1", "value": ["b"]}]', '[{"task": "T0", "value": []}]']
    found = read(save(zooniverse_rows(*cells)), question="T0")
    assert list(found.values()) == [{"a"}, None, None, set()]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('[{"task": "T0", "val', "is no JSON"),
        ('{"task": "T0"}', "no list of tasks"),
        ('[{"task": "T0"}]', "without 'task' or 'value'"),
        ("[1]", "without 'task' or 'value'"),
        ('[{"task": "T0", "value": [{"x": 1}]}]', "no list of labels"),
    ],
)
def test_damaged_classifications(cell, sentence, save):
    """What is no classification is an error with file, line and column."""
    with pytest.raises(FileError, match=f"export.csv, line 2, column 'annotations': .*{sentence}"):
        read(save(zooniverse_rows(cell)))


# ---- Label Studio, ATLAS.ti, Dedoose, NVivo, flags ----------------------------------------------

STUDIO = "annotation_id,annotator,lead_time,id,g,title\n"


def test_label_studio_question_is_where_several_were_chosen(save):
    """With one label each, any column may be the question, so it is asked for."""
    path = save(STUDIO + "1,kim,1,5,a,Up\n2,lee,1,5,b,Up\n")
    with pytest.raises(DataError, match=r"any of 'g', 'title'; say question="):
        read(path)
    assert read(path, question="g") == {("5", "kim"): {"a"}, ("5", "lee"): {"b"}}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ('{"choices":["a"', "is no JSON"),
        ('{"choices":[1]}', "no list of labels"),
        ('[{"choices":["a"],"start":1}]', "export JSON if the choices belong to regions"),
    ],
)
def test_damaged_choices(cell, sentence, save):
    """Truncated JSON and choices of regions are refused with file and line."""
    text = STUDIO + table([[1, "kim", 1, 5, cell, "Up"]])
    with pytest.raises(FileError, match=f"export.csv, line 2, column 'g': .*{sentence}"):
        read(save(text), question="g")


def test_labels_that_look_like_code_are_labels(save):
    """A label that begins like a list or an object is text all the same."""
    text = STUDIO + table([[1, "kim", 1, 5, "[x", "Up"], [2, "lee", 1, 5, "{x}", "Up"]])
    assert list(read(save(text), question="g").values()) == [{"[x"}, {"{x}"}]


def test_an_annotation_without_an_annotator_is_kept_for_the_error(save):
    """A row without an annotator that holds an answer is not dropped in silence."""
    assert (None in {r for _, r in read(save(STUDIO + "1,,1,5,a,Up\n"), question="g")}) is True


def test_segments_are_units_where_a_document_has_several(save):
    """Quotations of one document are units by their reference, and a warning counts lone ones."""
    text = (
        "ID,Document,Codes,Reference,Created by\n"
        "1,d1,a,1 - 1,kim\n2,d1,b,1 - 1,lee\n3,d1,c,2 - 2,kim\n"
    )
    with pytest.warns(SetagreeWarning, match="1 segment of 2 marked by one rater only"):
        found = read(save(text))
    assert set(found) == {("d1 [1 - 1]", "kim"), ("d1 [1 - 1]", "lee"), ("d1 [2 - 2]", "kim")}
    both = text + "4,d1,c,2 - 2,lee\n"
    assert len(read(save(both))) == 4
    bare = "Document,Codes,Created by\nd1,a,kim\n"
    assert read(save(bare)) == {("d1", "kim"): {"a"}}


def test_dedoose_combined_codes(save):
    """Without the columns of the codes, the combined one is split at a comma and a space."""
    text = table(
        [
            ["Media Title", "Excerpt Creator", "Codes Applied Combined"],
            ["m1", "kim", "a, b"],
            ["m1", "lee", "a,b"],
        ]
    )
    found = read(save(text), blank="missing")
    assert found == {("m1", "kim"): {"a", "b"}, ("m1", "lee"): {"a,b"}}


@pytest.mark.parametrize(
    "text",
    [
        ",A : drama,B : noir\n1 : Files\\\\f1,3,0\n",
        "Code,File,File Folder,Kappa,Agreement (%)\nCodes\\\\drama,f1,Files,1,100\n",
    ],
)
def test_what_lost_its_raters_is_refused(text, save):
    """NVivo's tables are of all users together; the sentence says what to export instead."""
    with pytest.raises(DataError, match="matrix coding query for each user alone"):
        read(save(text))


def test_a_blank_row_of_flags_is_asked_about(save):
    """A row of flags that are all blank is no row of zeros."""
    text = "id,rater_id,example_very_unclear,a,b\n1,kim,False,,\n1,lee,False,0,0\n"
    with pytest.raises(DataError, match=r"1 blank answer .*All its labels are blank"):
        read(save(text))
    assert read(save(text), blank="missing") == {("1", "kim"): None, ("1", "lee"): set()}
    with pytest.raises(FileError, match="has no columns of labels"):
        read(save("id,rater_id,example_very_unclear\n1,kim,False\n"))


# ---- Forms, REDCap, Qualtrics -------------------------------------------------------------------


def test_a_form_for_one_unit_at_a_time(save):
    """Without a grid, a column names the unit, and the question is asked for."""
    text = 'Timestamp,Your name,Item,Genres,Moods\nt,kim,f1,"a, b",x\nt,lee,f1,a,x\n'
    path = save(text.replace("Your name", "Username"))
    assert read(path, question="Genres") == {("f1", "kim"): {"a", "b"}, ("f1", "lee"): {"a"}}
    with pytest.raises(OptionError, match="2 questions, 'Genres', 'Moods'"):
        read(path)
    with pytest.raises(DataError, match=r"no checkbox grid .*--from table --people-in-rows"):
        read(save("Timestamp,Email Address,Genres\nt,kim,a\n"))


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("2026/03/01 10:01:00 am GMT+1,kim,a", "google_forms_csv"),
        ("2026/03/01 10:01:00 AM EET,kim,a", "google_forms_csv"),
        ("2026/03/01 22:01:00 GMT+1,kim,a", "google_forms_csv"),
        ("01.03.2026 10:01:00,kim,a;b", "google_forms_csv"),
        ('3/1/2026 10:01:00,kim,"a, b"', "google_forms_sheet"),
        ('3/1/2026 10:01:00,kim,"a;b, c"', "google_forms_sheet"),
        ("2026/03/01 10:01:00 AM,kim,a", "google_forms_sheet"),
    ],
)
def test_a_form_is_told_by_zone_or_semicolon(save, row, name):
    """A download names the time zone, however am is spelled, or has semicolons between labels."""
    path = save(f"Timestamp,Email Address,Genres [f1]\n{row}\n")
    assert [each.name for each in recognised(peek(path), FORMATS)] == [name]


def test_an_anonymous_form_is_refused(save):
    """Without a name or an address nobody can tell two raters apart."""
    with pytest.raises(DataError, match=r"names the rater.*Let the form collect email addresses"):
        read(save("Timestamp,Genres [f1]\nt,a\n"))
    assert read(save("Timestamp,Rater,Genres [f1]\nt,kim,a\n")) == {("f1", "kim"): {"a"}}


def test_redcap_without_a_status(save):
    """No tick and no status: nobody can tell; ticks are answers."""
    text = "record_id,item,rater,g___1,g___2\n1,f1,kim,1,0\n2,f1,lee,0,0\n3,f1,max,,\n"
    path = save(text)
    with pytest.raises(DataError, match=r"1 blank answer \(first: line 3\).*<form>_complete"):
        read(path)
    found = read(path, blank="empty")
    assert found == {("f1", "kim"): {"1"}, ("f1", "lee"): set(), ("f1", "max"): None}


def test_redcap_ticks_in_forms_that_are_not_complete(save):
    """They are no annotations yet, and one warning counts them."""
    text = "record_id,item,rater,g___1,g____99,g_complete\n1,f1,kim,1,1,2\n2,f1,lee,1,0,1\n"
    with pytest.warns(SetagreeWarning, match="1 record with ticks left out, as 'g_complete'"):
        found = read(save(text))
    assert found == {("f1", "kim"): {"1", "-99"}, ("f1", "lee"): None}


def test_redcap_status_is_that_of_its_form(save):
    """The status to the right of a field is its own; an odd one is an error."""
    text = "record_id,item,rater,a_complete,g___1,g___2,g_complete,z_complete\n1,f1,kim,0,1,0,2,0\n"
    assert read(save(text)) == {("f1", "kim"): {"1"}}
    with pytest.raises(FileError, match=r"line 2, column 'g_complete': '7' is no status"):
        read(save(text.replace("1,0,2,0", "1,0,7,0")))
    with pytest.raises(DataError, match="which column names the rater"):
        read(save(text.replace(",rater,", ",x,")))


def test_redcap_records_are_units_where_nothing_else_is(save):
    """The record comes first and is the unit where no other column is called like one."""
    text = "record_id,rater,g___1,g_complete\nr1,kim,1,2\nr1,lee,0,2\n"
    assert read(save(text)) == {("r1", "kim"): {"1"}, ("r1", "lee"): set()}


def test_redcap_questions(save):
    """Two fields of checkboxes: one is named."""
    text = "record_id,item,rater,g___1,m___1,m___2,x_complete\n1,f1,kim,1,0,1,2\n"
    with pytest.raises(OptionError, match="2 questions, 'g', 'm'"):
        read(save(text))
    assert read(save(text), question="m") == {("f1", "kim"): {"2"}}


def test_qualtrics_split_without_recoding(save):
    """Without -99, an answer without a choice is blank like none, and asked about."""
    path = save(qualtrics_split(TRUTH, off=""))
    with pytest.raises(DataError, match=r"5 blank answers .*not recoded as -99"):
        read(path)
    assert given_answers(path, roster=roster(TRUTH)) == answered(TRUTH)


def test_qualtrics_split_without_marker(save):
    """The label is also found where no 'Selected Choice' stands before it."""
    assert given_answers(save(qualtrics_split(TRUTH, marker=""))) == answered(TRUTH)


def test_qualtrics_split_cells(save):
    """A choice is 1, its number, its text, -99 or blank."""
    text = qualtrics_split(TRUTH)
    with pytest.raises(FileError, match=r"column '1_Q1_2': '0' is neither 'drama', 1, -99 nor"):
        read(save(text.replace("kim,-99,1,", "kim,-99,0,")))
    assert given_answers(save(text.replace("kim,-99,1,", "kim,-99,Drama,"))) == answered(TRUTH)


def test_qualtrics_labels_with_commas_are_seen(save):
    """Qualtrics puts no space after its comma, so that a space shows a comma of the label."""
    path = save(qualtrics_labels(TRUTH))
    with pytest.raises(
        FileError, match=r"'1?2?_?.*a label seems to contain a comma itself; export"
    ):
        read(path, blank="missing")


def test_qualtrics_values_must_be_codes(save):
    """Text among codes is refused; the sentence names the format of texts."""
    path = save(qualtrics_values(SIMPLE).replace('"1,2"', '"1,x"'))
    assert given_answers(path, blank="missing", sep=",")["f1", "lee"] == {"1", "x"}
    with pytest.raises(FileError, match=r"'1,x' is no list of codes.*format='qualtrics_labels'"):
        read(path, blank="missing")
    path = save(qualtrics_values(SIMPLE).replace('"1,2"', "-99"))
    for sep in (None, ","):
        assert read(path, blank="missing", sep=sep)["f1", "lee"] == set()


def test_qualtrics_previews_are_left_out(save):
    """Previews and tests are no annotations; one warning counts them."""
    text = qualtrics_labels(SIMPLE).replace("2024,0,True,R_lee", "2024,Survey Preview,True,R_lee")
    with pytest.warns(SetagreeWarning, match=r"1 preview or test response left out\."):
        found = read(save(text), blank="missing")
    assert {rater for _, rater in found} == {"kim", "max"}


def test_qualtrics_raters_and_units_without_names(save):
    """References that are not one each give way to the response; texts alike, to the loop."""
    text = qualtrics_labels(SIMPLE).replace(",R_lee,lee,", ",R_lee,kim,")
    text = re.sub(r"which\? - f\d", "which? - it", text)
    found = read(save(text), blank="missing")
    assert {rater for _, rater in found} == {"R_kim", "R_lee", "R_max"}
    assert {unit for unit, _ in found} == {"1", "2", "3", "4"}


def test_qualtrics_headers(save):
    """Two of three header rows, broken import ids or no loop are refused."""
    lines = qualtrics_labels(SIMPLE).splitlines(keepends=True)
    with pytest.raises(FileError, match="line 3 holds no ImportId"):
        read(save("".join([lines[0], *lines[3:]])), format="qualtrics_labels")
    with pytest.raises(FileError, match=r"export.csv, line 3: .*is no JSON"):
        read(save("".join(lines).replace('""4_QID1""}', '""4_QID1')))
    with pytest.raises(DataError, match="no looped question"):
        read(save("".join(lines).replace("_Q1", "Q1")))
    assert read(save("".join(lines).replace('{""ImportId"": ""status""}', "3")), blank="missing")


def test_qualtrics_codes_are_told_from_texts_without_a_column_that_says(save):
    """Where 'Finished' was not exported, the answers themselves tell."""
    for writer, name in [(qualtrics_values, "values"), (qualtrics_labels, "labels")]:
        path = save(writer(SIMPLE).replace("Finished", "Done"))
        assert [f.name for f in recognised(peek(path), FORMATS)] == [f"qualtrics_{name}"]


def test_a_long_qualtrics_header_is_not_guessed_about(save):
    """Where the first response is beyond what is looked at, the layout has to be said."""
    text = qualtrics_labels(SIMPLE).replace("Genres of a film", 20_000 * "x")
    with pytest.raises(OptionError, match="could be 'qualtrics_values', 'qualtrics_labels', "):
        read(save(text))
    assert given_answers(save(text), format="qualtrics_labels", blank="missing") == labelled(SIMPLE)
    head = "".join(qualtrics_labels(SIMPLE).splitlines(keepends=True)[:3])
    assert len(recognised(peek(save(head)), FORMATS)) == 3
    assert recognised(peek(save("ResponseId,x\n1,a\n2,b\n3,c\n")), FORMATS) == []


# ---- Plain tables -------------------------------------------------------------------------------


def test_plain_tables_warn_as_elsewhere(save):
    """What a table leaves open is said in the warnings of `from_long` and `from_wide`."""
    with pytest.warns(BlankLabelsWarning, match="3 blank cells taken as missing"):
        assert given_answers(save(long(SIMPLE))) == labelled(SIMPLE)
    with pytest.warns(MissingMarkerWarning, match="2 cells that may mean 'missing'"):
        found = given_answers(save(wide(SIMPLE)), blank="empty")
    assert found["f4", "lee"] == {"NA"}
    semicolons = "unit,rater,labels\n" + "".join(f"u{k},kim,a;b\n" for k in range(4))
    with pytest.warns(SeparatorWarning, match="did you mean sep=';'"):
        read(save(semicolons))
    assert read(save(semicolons), sep=";")["u0", "kim"] == {"a", "b"}


def test_plain_cells_are_read_as_elsewhere(save):
    """Quotes, lists and trailing separators mean what they mean in `parse_labels`."""
    rows = [["u1", "kim", '"a, b", c'], ["u1", "lee", '["a, b"]'], ["u1", "max", "c, "]]
    found = read(save(table([["unit", "rater", "labels"], *rows])))
    assert list(found.values()) == [{"a, b", "c"}, {"a, b"}, {"c"}]
    with pytest.raises(FileError, match=r"line 2, column 'labels': .*quote"):
        read(save(table([["unit", "rater", "labels"], ["u1", "kim", 'a, "b']])))


def test_a_label_called_na_is_kept_by_the_roster(save):
    """On the roster, NA is a label; off it, no annotation."""
    path = save("unit,kim,lee\nu1,NA,a\nu2,a,NA\nu3,a,\n")
    listed = pd.DataFrame([("u1", "kim"), ("u1", "lee"), ("u2", "kim"), ("u3", "kim")])
    found = read(path, roster=listed.set_axis(["unit", "rater"], axis=1))
    assert found["u1", "kim"] == {"NA"}
    assert found["u2", "lee"] is None
    assert found["u3", "lee"] is None


def test_values_are_no_label_sets(save):
    """A column of scores is not read as labels unless it is asked for."""
    path = save("unit,rater,score\nu1,kim,3\nu1,lee,4\n")
    assert recognised(peek(path), FORMATS) == []
    with pytest.raises(DataError, match="'score' holds one value each"):
        read(path, format="plain_long")
    assert read(path, format="plain_long", question="score")["u1", "kim"] == {"3"}


def test_stray_columns_of_a_wide_table_are_refused(save):
    """A column that is no rater's is not taken for one."""
    with pytest.raises(DataError, match="'notes' does not sound like a rater"):
        read(save("unit,kim,lee,notes\nu1,a,b,hm\nu2,a,b,hm\n"))


def test_one_row_a_label_twice(save):
    """A row that stands twice says that the file does."""
    rows = "u1,kim,a\nu1,kim,b\n"
    with pytest.raises(
        DataError, match=r"line 4 says the same as line 2: is the file in there twice"
    ):
        read(save("unit,rater,tag\n" + 2 * rows), format="plain_row_per_label", blank="missing")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("unit,rater,labels\nu1,kim,a\nu1,lee,b\n", "plain_long"),
        ("unit,rater,labels\nu1,kim,a\nu1,kim,a\n", "plain_long"),
        ('unit,rater,labels\nu1,kim,"a, b"\nu1,kim,b\n', "plain_long"),
        ("unit,rater,a,b\nu1,kim,0,1\n", "plain_onehot"),
        ("unit,rater,a,b\nu1,kim,0,maybe\n", None),
        ("unit,rater,score\nu1,kim,1\n", None),
        ("unit,kim,lee\nu1,a,b\n", "plain_wide"),
        ("unit,kim\nu1,a\n", None),
        ("id,text,label\n1,Up,a\n", None),
        ("first,second,third\n1,Up,a\n", None),
        ("unit,rater,labels\n", None),
        ("just one column\nx\n", None),
    ],
)
def test_plain_layouts_are_told_apart(text, name, save):
    """One plain layout or none fits; a tool's table is none of them."""
    found = [each.name for each in recognised(peek(save(text)), FORMATS)]
    assert found == ([] if name is None else [name])


# ---- Sheets -------------------------------------------------------------------------------------


def test_lines_are_those_of_the_file(save):
    """Places count the lines inside quoted cells, so that an editor finds them."""
    text = '_unit_id,_worker_id,g,g_gold,"ti\ntle"\n1,kim,"a\nb",,x\n1,lee,c,,"y\nz"\n1,max,d,,x\n'
    answers = format_of_name("appen", FORMATS).read(save(text), Request())
    assert answers.places == ["line 3", "line 5", "line 7"]
    assert [text.split("\n")[line - 1][:3] for line in (3, 5, 7)] == ["1,k", "1,l", "1,m"]


def test_rows_are_counted_where_lines_would_be_wrong(save):
    """Blank lines, which a table does not show, or compressed bytes: rows are counted."""
    text = "unit,rater,labels\nu1,kim,a\n\nu1,lee,a\n"
    plain = format_of_name("plain_long", FORMATS)
    assert plain.read(save(text), Request()).places == ["row 1", "row 2"]
    assert plain.read(save(text.replace("\n\n", "\n")), Request()).places == ["line 2", "line 3"]
    assert plain.read(save(text.replace("\n\n", "\n").strip()), Request()).places[1] == "line 3"
    assert plain.read(save(text.strip()), Request()).places[1] == "row 2"
    path = save("", "x.csv.gz")
    path.write_bytes(gzip.compress(text.encode()))
    assert plain.read(path, Request()).places[1] == "row 2"


def test_tables_of_numbers_are_no_exports(save):
    """JSON keeps numbers and lists, which no reader of text expects."""
    path = save('[{"unit": 1, "rater": "kim", "labels": ["a"]}]', "x.json")
    with pytest.raises(FileError, match=r"x\.json is no table of text, .*'unit'"):
        read(path, format="plain_long")


def test_missing_columns_are_named(save):
    """A format that is named for another file says which column it lacks."""
    with pytest.raises(
        FileError, match=r"no column 'Created by'; the columns are 'Document', 'Codes'"
    ):
        read(save("Document,Codes\nd,a\n"), format="atlasti")
    with pytest.raises(FileError, match=r"no column 'Document'; .* Did you mean 'Documents'"):
        read(save("Documents,Codes,Reference,Created by\nd,a,1,kim\n"), format="atlasti")


def test_blank_names_are_left_for_the_assembly(save):
    """A row without a rater has none, which is refused where rows are counted."""
    assert list(read(save("HITId,WorkerId,Answer.g\nh1, ,a\n"))) == [("h1", None)]


def test_encodings(tmp_path):
    """The encoding that was named is used."""
    path = tmp_path / "x.csv"
    path.write_bytes("unit,rater,labels\nu1,kim,é\n".encode("latin-1"))
    found = format_of_name("plain_long", FORMATS).read(path, Request(encoding="latin-1"))
    assert found.labels == [{"é"}]


def test_many_rows_are_quick(save):
    """100,000 rows take no step in Python for each distinct cell again."""
    n = 100_000
    rows = [f"h{k // 3},w{k % 3},{'a|b' if k % 2 else 'a'}" for k in range(n)]
    path = save("HITId,WorkerId,Answer.g\n" + "\n".join(rows) + "\n")
    answers = format_of_name("mturk_pipe", FORMATS).read(path, Request())
    assert len({id(labels) for labels in answers.labels}) == 2
    assert len(answers.labels) == n


# ---- The samples that tools wrote ---------------------------------------------------------------

# How the samples call the units whose own names they hold only among the data.
WHAT = {
    **{str(499 + k): f"u{k}" for k in range(1, 6)},
    **{str(6999 + k): f"u{k}" for k in range(1, 6)},
    **{str(k): f"u{k}" for k in range(1, 6)},
}
CODES = {str(k): name for k, name in enumerate(("anger", "fear", "joy", "sadness", "surprise"), 1)}
WHO = {
    **{str(40000 + k): name for k, name in enumerate(("ana", "ben", "eva"), 1)},
    **{f"{k:032d}": name for k, name in enumerate(("ana", "ben", "eva"), 1)},
    **{str(k): name for k, name in enumerate(("ana", "ben", "eva"), 1)},
    "AANAX": "ana",
    "ABENX": "ben",
    "AEVAX": "eva",
    **{f"{name}@example.org": name for name in ("ana", "ben", "eva")},
}
# name of the sample -> what must be said: nothing, blank=, or a roster with raters spelled so
SAMPLES = {
    "mturk_pipe.csv": None,
    "mturk_checkbox_columns.csv": None,
    "mturk_task_answers.csv": None,
    "appen_full.csv": None,
    "toloka.tsv": None,
    "zooniverse.csv": None,
    "label_studio.csv": None,
    "atlasti_quotations.csv": None,
    "hf_onehot.csv": None,
    "redcap_raw.csv": None,
    "redcap_labels.csv": None,
    "qualtrics_split.csv": None,
    "plain_onehot_long.csv": None,
    "dedoose_excerpts.csv": "{}",
    "google_forms_csv_download.csv": "{}@example.org",
    "google_forms_sheet.csv": "{}@example.org",
    "qualtrics_values.csv": "{}",
    "qualtrics_labels.csv": "{}",
    "plain_wide.csv": "{}",
    "plain_one_row_per_label.csv": "{}",
    "plain_long.csv": "empty",
}


@pytest.fixture
def samples():
    """Return the folder of the samples and their truth."""
    data = os.environ.get("SETAGREE_DATA")
    folder = Path(data).parent / "exports" if data else Path()
    if not data or not folder.is_dir():
        pytest.skip("SETAGREE_DATA names no folder with samples of exports beside it")
    with (folder / "expected.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    truth = {
        (row["unit"], row["rater"]): frozenset(filter(None, row["labels"].split(", ")))
        for row in rows
        if row["state"] in {"rated", "empty"}
    }
    assert len(truth) == 13
    return folder, truth


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_give_their_truth(name, samples):
    """Every sample that can carry the truth gives it, with what it must be told."""
    folder, truth = samples
    said = sample_options(SAMPLES[name], truth)
    coded = name in {"redcap_raw.csv", "qualtrics_values.csv"}
    found = {
        (WHAT.get(unit, unit), WHO.get(rater, rater)): {CODES[x] for x in labels}
        if coded
        else labels
        for (unit, rater), labels in given_answers(folder / name, **named(name), **said).items()
    }
    assert found == truth


def named(sample):
    """Return the format of the sample that could have another one."""
    return {"format": ROWS} if sample == "plain_one_row_per_label.csv" else {}


def sample_options(said, truth):
    """Return the options for a sample."""
    if said is None or said == "empty":
        return {} if said is None else {"blank": said}
    listed = [(unit, said.format(rater)) for unit, rater in truth]
    return {"roster": pd.DataFrame(listed, columns=["unit", "rater"])}


@pytest.mark.parametrize(
    "name", [name for name, said in SAMPLES.items() if said not in {None, "empty"}]
)
def test_the_samples_that_cannot_tell_say_so(name, samples):
    """Without a roster, a sample that leaves something open gives the sentence, or a warning."""
    folder, _ = samples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name == "plain_wide.csv" else "error")
        if name == "plain_wide.csv":
            assert len(given_answers(folder / name)) == 12  # NA twice, three blanks
        else:
            with pytest.raises(DataError, match="roster="):
                read(folder / name, **named(name))


@pytest.mark.parametrize("name", ["nvivo_matrix_coding.csv", "nvivo_coding_comparison.csv"])
def test_the_samples_without_raters_are_refused(name, samples):
    """NVivo's samples hold no raters."""
    with pytest.raises(DataError, match="who gave which codes"):
        read(samples[0] / name)
