"""Small writers of exports that are tables, and the truth about genres of films that they write."""

import csv
import io
import json

import pandas as pd

from setagree.exports import FORMATS
from setagree.exports.detection import format_of_name, peek, recognised, the_one
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
    return {pair: labels for pair, labels in truth.items() if labels is not None}


def labelled(truth):
    return {pair: labels for pair, labels in truth.items() if labels}


def roster(truth):
    return pd.DataFrame(list(answered(truth)), columns=["unit", "rater"])


def table(rows, *, delimiter=","):
    """Return rows of cells, the header first, as text."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def flags(labels, names=LABELS, *, on=1, off=0):
    return [on if name in labels else off for name in names]


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
    return {"task": "T0", "task_label": "Genres?", "value": sorted(labels)}


def label_studio(truth):
    """Return one row per annotation, and one for a task that nobody annotated."""
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


def form(label_sep, time):
    """Return the responses to a checkbox grid, one row per rater."""

    def write(truth):
        head = ["Timestamp", "Email Address", *(f"Genres? [{unit}]" for unit in UNITS)]
        rows = [
            [time, r, *(label_sep.join(sorted(truth.get((u, r)) or ())) for u in UNITS)]
            for r in RATERS
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
    """Return the three rows of the header and one row per rater."""
    fixed = ["StartDate", "Status", "Finished", "ResponseId", "ExternalReference"]
    imports = [json.dumps({"ImportId": name}) for name in fixed]
    rows = [["2024", "0", finished, f"R_{r}", r, *cells(r)] for r in RATERS]
    return table([[*fixed, *columns], [*fixed, *texts], [*imports, *map(json.dumps, ids)], *rows])


def qualtrics_joined(finished, spell):
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
    rows = [[u, r, ", ".join(sorted(labels))] for (u, r), labels in answered(truth).items()]
    return table([["item", "coder", "genres_x", "labels"], *([*r[:2], "x", r[2]] for r in rows)])


def wide(truth):
    """Return one column per rater, and NA where there is no annotation."""
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


def one_row_a_label(truth):
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
    "plain_row_per_label": (one_row_a_label, SIMPLE, {"tool": ROWS, "roster": roster(TRUTH)}),
}


def read(path, *, tool="auto", **said):
    """Return (unit, rater) -> labels of what a reader finds; None where it found no annotation."""
    found = (
        the_one(recognised(peek(path), FORMATS), path)
        if tool == "auto"
        else format_of_name(tool, FORMATS)
    )
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
