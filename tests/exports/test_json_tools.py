"""Readers of JSON exports: the truth comes back, and what cannot tell it says so.

The files are written here, by small writers of each layout, from one truth about birds seen on
photos; the reader must give that truth back. Where a layout is taken from a tool, its writer is
the description of it that the reader was not made from.
"""

from __future__ import annotations

import copy
import csv
import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import DataError, FileError, OptionError
from setagree.large.opening import seen_format

SKIPPED = None
LABELS = ["crow", "gull", "heron, grey", "wren|owl#"]
# p1: all alike; p2: noa skipped; p3: two empty sets; p4: ola was never asked.
TRUTH = {
    ("p1", "mia"): {"crow"},
    ("p1", "noa"): {"crow", "gull"},
    ("p1", "ola"): {"crow"},
    ("p2", "mia"): {"heron, grey", "wren|owl#"},
    ("p2", "noa"): SKIPPED,
    ("p2", "ola"): {"gull"},
    ("p3", "mia"): set(),
    ("p3", "noa"): set(),
    ("p3", "ola"): {"crow", "gull", "heron, grey"},
    ("p4", "mia"): {"gull"},
    ("p4", "noa"): {"gull"},
}


def by_unit(truth):
    """Return unit -> rater -> labels, in order."""
    units = {}
    for (unit, rater), labels in truth.items():
        units.setdefault(unit, {})[rater] = labels
    return units


def answered(truth):
    """Return the truth without what was skipped."""
    return {pair: labels for pair, labels in truth.items() if labels is not None}


# ---- Writers: truth -> records --------------------------------------------------------------


def label_studio(truth):
    """Tasks with their annotations; a skipped one is cancelled."""
    return [
        {
            "id": unit,
            "data": {"image": f"{unit}.jpg"},
            "predictions": [],
            "annotations": [
                {
                    "id": number,
                    "completed_by": {"id": number, "email": rater},
                    "was_cancelled": labels is None,
                    "result": [choices(labels)] if labels else [],
                }
                for number, (rater, labels) in enumerate(theirs.items())
            ],
        }
        for unit, theirs in by_unit(truth).items()
    ]


def choices(labels, name="birds"):
    """Return a result of Label Studio."""
    return {"from_name": name, "type": "choices", "value": {"choices": sorted(labels)}}


def label_studio_min(truth):
    """Rows without a key for no choice, text for one, an object for several."""
    rows = []
    for number, ((unit, rater), labels) in enumerate(answered(truth).items()):
        row = {"image": f"{unit}.jpg", "id": unit, "annotator": rater, "annotation_id": number}
        row |= {"lead_time": 2.5, "created_at": "", "updated_at": ""}
        if labels:
            row["birds"] = {"choices": sorted(labels)} if len(labels) > 1 else min(labels)
        rows.append(row)
    return rows


def prodigy(truth):
    """Choice tasks; a skipped one is ignored."""
    return [
        {
            "text": unit,
            "_input_hash": unit,
            "_task_hash": 7,
            "_session_id": rater,
            "_annotator_id": rater,
            "options": [{"id": label} for label in LABELS],
            "accept": sorted(labels or ()),
            "answer": "ignore" if labels is None else "accept",
        }
        for (unit, rater), labels in truth.items()
    ]


def argilla_flat(truth):
    """Three parallel lists a record; a discarded response holds labels nevertheless."""
    return [
        {
            "id": unit,
            "status": "pending",
            "birds.responses": [["crow"] if x is None else sorted(x) for x in theirs.values()],
            "birds.responses.users": list(theirs),
            "birds.responses.status": [
                "discarded" if x is None else "submitted" for x in theirs.values()
            ],
        }
        for unit, theirs in by_unit(truth).items()
    ]


def argilla_nested(truth):
    """Responses by question; nothing tells a discarded one."""
    return [
        {
            "id": unit,
            "fields": {"text": unit},
            "suggestions": {},
            "responses": {
                "birds": [
                    {"value": ["crow"] if x is None else sorted(x), "user_id": rater}
                    for rater, x in theirs.items()
                ]
            },
        }
        for unit, theirs in by_unit(truth).items()
    ]


def lighttag(truth):
    """One object; who saw and gave no class gave the empty set."""
    examples = []
    for unit, theirs in by_unit(answered(truth)).items():
        names = sorted(set().union(*theirs.values()))
        classes = [
            {
                "classname": name,
                "annotated_by": [{"annotator": r} for r, x in theirs.items() if name in x],
            }
            for name in names
        ]
        seen = [{"annotator": rater} for rater in theirs]
        examples.append({"example_id": unit, "classifications": classes, "seen_by": seen})
    return {"annotations_and_examples": None, "examples": examples}


def labelbox(truth):
    """Return a data row a line, the labels by project."""
    rows = []
    for unit, theirs in by_unit(truth).items():
        labels = [labelbox_label(rater, x) for rater, x in theirs.items()]
        project = {"name": "birds", "labels": labels}
        data = {"id": f"row-{unit}", "global_key": unit}
        rows.append({"data_row": data, "projects": {"project": project}})
    return rows


def labelbox_label(rater, labels):
    """Return what one person did."""
    ticked = [{"name": name, "value": name.upper()} for name in sorted(labels or ())]
    found = [{"name": "birds", "checklist_answers": ticked}] if labels else []
    return {
        "label_details": {"created_by": rater},
        "performance_details": {"skipped": labels is None},
        "annotations": {"objects": [], "classifications": found},
    }


def spacy_cats(truth):
    """All categories of each text as 1.0 or 0.0."""
    names = sorted(set().union(*answered(truth).values()))
    return [
        {
            "text": unit,
            "cats": {name: float(name in labels) for name in names},
            "meta": {"doc_id": unit, "annotator": rater},
        }
        for (unit, rater), labels in answered(truth).items()
    ]


def hf_sequence(truth):
    """Return a row a rating with a list of names."""
    return [
        {"text": "", "id": unit, "annotator": rater, "labels": sorted(labels)}
        for (unit, rater), labels in answered(truth).items()
    ]


def hf_nested(truth):
    """Return a row a unit with parallel lists."""
    return [
        {
            "id": unit,
            "annotators": {
                "annotator_id": list(theirs),
                "labels": [sorted(labels) for labels in theirs.values()],
            },
        }
        for unit, theirs in by_unit(answered(truth)).items()
    ]


def as_json(records):
    """Return a JSON text."""
    return json.dumps(records, indent=1)


def as_lines(records):
    """Return one JSON object a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


WRITERS = {
    "label_studio_json": (label_studio, as_json),
    "label_studio_json_min": (label_studio_min, as_json),
    "prodigy": (prodigy, as_lines),
    "argilla_flat": (argilla_flat, as_json),
    "argilla_nested": (argilla_nested, as_json),
    "lighttag": (lighttag, as_json),
    "labelbox": (labelbox, as_lines),
    "spacy_cats": (spacy_cats, as_lines),
    "hf_sequence": (hf_sequence, as_lines),
    "hf_nested": (hf_nested, as_lines),
}
# The nested layout of Argilla needs to be told who submitted.
OPTIONS = {
    "argilla_nested": {"roster": pd.DataFrame([*answered(TRUTH)], columns=["unit", "rater"])}
}


def write(folder, name, records=None):
    """Write the truth, or changed records, in a layout."""
    make, spell = WRITERS[name]
    path = folder / f"{name}.json"
    path.write_text(spell(make(TRUTH) if records is None else records), encoding="utf-8")
    return path


def doccano(folder, truth, *, approved_only=True, kind="jsonl"):
    """Write a folder with a file for each annotator."""
    raters = {rater for _, rater in truth}
    units = list(by_unit(truth))
    for rater in raters:
        mine = {unit: truth.get((unit, rater)) for unit in units}
        rows = [
            {"id": unit, "text": "", "label": sorted(labels or ()), "Comments": []}
            for unit, labels in mine.items()
            if labels is not None or not approved_only
        ]
        if kind == "csv":
            with (folder / f"{rater}.csv").open("w", newline="", encoding="utf-8") as file:
                out = csv.writer(file)
                out.writerow(["id", "text", "label", "Comments"])
                out.writerows([r["id"], "", "#".join(r["label"]), "[]"] for r in rows)
        else:
            (folder / f"{rater}.jsonl").write_text(as_lines(rows), encoding="utf-8")
    return folder


def sagemaker(folder, truth):
    """Write a folder with a file for each unit; the unit is its place in the manifest."""
    for number, theirs in enumerate(by_unit(answered(truth)).values()):
        answers = [
            {"workerId": rater, "answerContent": {"birds": {"labels": sorted(labels)}}}
            for rater, labels in theirs.items()
        ]
        file = folder / f"worker-response/iteration-1/{number}/2024-05-02.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"answers": answers}), encoding="utf-8")
    return folder


def found(study):
    """Return the annotations of a study as the truth is written."""
    frame = study.to_long()
    rows = zip(frame["unit"], frame["rater"], frame["labels"], strict=True)
    return {(unit, rater): set(labels) for unit, rater, labels in rows}


# ---- The truth comes back -------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_the_truth_comes_back(tmp_path, name):
    """Every layout is recognised and gives the ratings that were written; nothing is invented."""
    study = sa.read(write(tmp_path, name), **OPTIONS.get(name, {}))
    assert found(study) == answered(TRUTH)


@pytest.mark.parametrize("name", ["label_studio_json", "prodigy", "argilla_flat", "labelbox"])
def test_what_is_skipped_is_counted_as_missing(tmp_path, name):
    """Layouts that show a skipped answer count it as missing: the one of noa."""
    assert sa.read(write(tmp_path, name)).n_missing == 1


@pytest.mark.parametrize("name", WRITERS)
def test_named_formats_and_other_containers(tmp_path, name):
    """By its name a layout is read as a JSON list, as lines, and with a byte order mark."""
    make, _ = WRITERS[name]
    records = make(TRUTH)
    texts = [as_json(records), "\ufeff" + as_json(records)]
    texts += [as_lines(records) + "\n"] if isinstance(records, list) else []
    for text in texts:
        path = tmp_path / "export"
        path.write_text(text, encoding="utf-8")
        study = sa.read(path, format=name, **OPTIONS.get(name, {}))
        assert found(study) == answered(TRUTH)


label_texts = st.text(min_size=1, max_size=12).map(lambda text: f"x{text}y")
truths = st.dictionaries(
    st.tuples(st.sampled_from(["p1", "p2", "p3"]), st.sampled_from(["mia", "noa", "ola"])),
    st.sets(label_texts, max_size=3),
    min_size=1,
)


@pytest.mark.filterwarnings("ignore::setagree.errors.SimilarLabelsWarning")
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in OPTIONS])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(truth=truths)
def test_hostile_labels_come_back(tmp_path, name, truth):
    """Any text as a label comes back as setagree spells it elsewhere (NFC)."""
    make, spell = WRITERS[name]
    path = tmp_path / "export.json"
    path.write_text(spell(make(truth)), encoding="utf-8")
    options = {"question": "birds"} if name == "label_studio_json_min" else {}
    if not any(truth.values()) and name == "label_studio_json_min":
        return  # no key, no question
    expected = sa.Annotations.from_triples((r, u, labels) for (u, r), labels in truth.items())
    study = sa.read(path, format=name, **options)
    assert found(study) == found(expected)


def test_doccano_approved_only(tmp_path):
    """In a folder of approved examples, an empty list is the empty set."""
    assert found(sa.read(doccano(tmp_path, TRUTH))) == answered(TRUTH)


def test_doccano_untouched_examples_need_an_answer(tmp_path):
    """With all examples in all files, empty lists are answers only where somebody says so."""
    folder = doccano(tmp_path, TRUTH, approved_only=False)
    with pytest.raises(DataError, match=r"4 answers without labels .* Export approved") as caught:
        sa.read(folder)
    assert "roster=" in str(caught.value)
    # p2/noa and p4/ola were no answers; p3/mia and p3/noa were.
    roster = pd.DataFrame([*answered(TRUTH)], columns=["unit", "rater"])
    assert found(sa.read(folder, roster=roster)) == answered(TRUTH)
    untouched = {("p2", "noa"): set(), ("p4", "ola"): set()}
    assert found(sa.read(folder, blank="empty")) == answered(TRUTH) | untouched
    with_labels = {pair: labels for pair, labels in TRUTH.items() if labels}
    assert found(sa.read(folder, blank="missing")) == with_labels


def test_doccano_where_all_answered_all(tmp_path):
    """Equal files without an empty list leave nothing open."""
    truth = {(u, r): {"crow"} for u in ("p1", "p2") for r in ("mia", "noa")}
    assert found(sa.read(doccano(tmp_path, truth))) == truth


def test_doccano_csv(tmp_path):
    """CSV joins labels with #; a roster may be a file."""
    truth = {pair: x and {label.replace("#", "") for label in x} for pair, x in TRUTH.items()}
    roster = tmp_path / "roster.csv"
    pd.DataFrame([*answered(TRUTH)], columns=["unit", "rater"]).to_csv(roster, index=False)
    for name, approved_only in (("approved", True), ("all", False)):
        folder = tmp_path / name
        folder.mkdir()
        doccano(folder, truth, approved_only=approved_only, kind="csv")
        assert found(sa.read(folder, roster=roster)) == answered(truth)
    (tmp_path / "approved" / "zoe.csv").write_text("id,text\n1,a\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"zoe\.csv' has no column 'label'"):
        sa.read(tmp_path / "approved")


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_doccano_members_who_annotated_nothing(tmp_path, kind):
    """An empty file is a member without approved examples: no rater, and no doubt of the others."""
    truth = {pair: x and {label.replace("#", "") for label in x} for pair, x in TRUTH.items()}
    doccano(tmp_path, truth, kind=kind)
    blank = {"jsonl": ["", "\n"], "csv": ["", "\n", '""\n', "id,text,label,Comments\n"]}[kind]
    for text in blank:
        (tmp_path / f"admin.{kind}").write_text(text, encoding="utf-8")
        (tmp_path / f".hidden.{kind}").touch()
        assert found(sa.read(tmp_path)) == answered(truth)


def test_doccano_without_raters_is_refused(tmp_path):
    """One file for all, or one file of a folder, has no raters to read."""
    doccano(tmp_path, {("p1", "all"): {"crow"}, ("p2", "all"): set()})
    for path in (tmp_path, tmp_path / "all.jsonl"):
        with pytest.raises(DataError, match=r"does not tell who annotated: .* Name that folder"):
            sa.read(path)
    (tmp_path / "all.csv").write_text("id,text,label,Comments\n1,a,crow,[]\n", encoding="utf-8")
    with pytest.raises(DataError, match="does not tell who annotated"):
        sa.read(tmp_path / "all.csv")
    with pytest.raises(FileError, match=r"has no file \*\.csv"):
        sa.read(doccano_folder_without_csv(tmp_path), format="doccano_csv")


def doccano_folder_without_csv(folder):
    """Return an empty folder."""
    (folder / "empty").mkdir()
    return folder / "empty"


def test_sagemaker(tmp_path):
    """The units are the numbers of the folders, from whichever folder is named."""
    sagemaker(tmp_path, TRUTH)
    units = {unit: number for number, unit in enumerate(by_unit(answered(TRUTH)))}
    truth = {(units[unit], rater): labels for (unit, rater), labels in answered(TRUTH).items()}
    for folder in (
        tmp_path,
        tmp_path / "worker-response",
        tmp_path / "worker-response/iteration-1",
    ):
        assert found(sa.read(folder)) == truth


def test_sagemaker_other_answers(tmp_path):
    """A classifier gives one label; a question that was not answered is missing."""
    file = tmp_path / "worker-response/iteration-1/0/a.json"
    file.parent.mkdir(parents=True)
    contents = [{"kind": {"label": "crow"}}, {"kind": {"label": "gull"}, "age": {"labels": []}}]
    contents.append({"age": {"labels": ["old"]}})
    workers = [{"workerId": f"w{k}", "answerContent": c} for k, c in enumerate(contents)]
    file.write_text(json.dumps({"answers": workers}), encoding="utf-8")
    study = sa.read(tmp_path, question="kind")
    assert found(study) == {(0, "w0"): {"crow"}, (0, "w1"): {"gull"}}
    assert study.n_missing == 1
    with pytest.raises(OptionError, match="answers to 2 questions, 'kind', 'age'"):
        sa.read(tmp_path)
    file.write_text(json.dumps({"answers": [{"answerContent": {}}]}), encoding="utf-8")
    with pytest.raises(FileError, match=r"iteration-1/0/a\.json, answers\[0\]: no 'workerId'"):
        sa.read(tmp_path)


def test_sagemaker_manifest_is_refused(tmp_path):
    """The consolidated output has no workers: the sentence names the folder that has them."""
    path = tmp_path / "output.manifest"
    row = {"source": "p1", "birds": [1], "birds-metadata": {"human-annotated": "yes"}}
    path.write_text(as_lines([row]), encoding="utf-8")
    with pytest.raises(DataError, match=r"no workers; name the folder annotations/worker-response"):
        sa.read(path)


# ---- Malformed files ------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_cut_off_is_said_to_be(tmp_path, name):
    """Cut anywhere inside its last record, a file gives a sentence with file and line."""
    path = write(tmp_path, name)
    text = path.read_text(encoding="utf-8").rstrip()
    for share in (0.3, 0.6, 0.9, 0.97):
        cut = text[: int(len(text) * share)].rstrip("}\n ")
        path.write_text(cut, encoding="utf-8")
        with pytest.raises(FileError, match=rf"'.*{name}\.json', line \d+.*: "):
            sa.read(path, **OPTIONS.get(name, {}))


NEEDED = {
    "label_studio_json": [
        ("[1].id", "tasks[1]: no 'id'"),
        ("[1].annotations", "tasks[1]: no 'annotations'"),
        ("[1].annotations[0].completed_by", "tasks[1].annotations[0]: no 'completed_by'"),
        ("[1].annotations[0].completed_by.email+id", "tasks[1].annotations[0].completed_by: no"),
        ("[1].annotations[0].result", "tasks[1].annotations[0]: no 'result'"),
        ("[1].annotations[0].result[0].from_name", "annotations[0].result[0]: no 'from_name'"),
        ("[1].annotations[0].result[0].value", "annotations[0].result[0]: no 'value'"),
        ("[1].annotations[0].result[0].value.choices", "result[0].value: no 'choices'"),
    ],
    "label_studio_json_min": [("[2].annotator", "rows[2]: no 'annotator'"), ("[2].id", "rows[2]")],
    "prodigy": [
        ("[2].answer", "line 3: no 'answer'"),
        ("[2]._input_hash", "line 3: no '_input_hash'"),
        ("[2]._annotator_id+_session_id", "line 3: no '_annotator_id' and no '_session_id'"),
        ("[2].accept+options", "line 3: no 'accept' and no 'options'"),
    ],
    "argilla_flat": [
        ("[1].id", "records[1]: no 'id'"),
        ("[1].birds.responses.status", "records[1]: no 'birds.responses.status'"),
    ],
    "argilla_nested": [
        ("[1].id", "records[1]: no 'id'"),
        ("[1].responses.birds[0].user_id", "records[1].responses.birds[0]: no 'user_id'"),
        ("[1].responses.birds[0].value", "records[1].responses.birds[0]: no 'value'"),
    ],
    "lighttag": [
        ("examples[1].example_id", "examples[1]: no 'example_id'"),
        ("examples[1].seen_by", "examples[1]: no 'seen_by'"),
        ("examples[1].classifications[0].classname", "classifications[0]: no 'classname'"),
        ("examples[1].classifications[0].annotated_by[0].annotator", "annotated_by[0]: no"),
    ],
    "labelbox": [
        ("[1].data_row", "line 2: no 'data_row'"),
        ("[1].data_row.id+global_key", "line 2, data_row: no 'id'"),
        ("[1].projects.project.labels", "line 2, projects.project: no 'labels'"),
        ("[1].projects.project.labels[0].label_details.created_by", "no 'created_by'"),
        ("[1].projects.project.labels[0].annotations.classifications", "no 'classifications'"),
        ("[1].projects.project.labels[0].performance_details", "no 'performance_details'"),
    ],
    "spacy_cats": [
        ("[1].cats", "line 2: no 'cats'"),
        ("[1].cats.crow", "line 2, cats: no 'crow', which is unknown then, not 0"),
        ("[1].meta", "line 2: no 'meta'"),
        ("[1].meta.annotator", "line 2, meta: no 'annotator'"),
    ],
    "hf_sequence": [("[1].id", "line 2: no 'id'"), ("[1].annotator", "line 2: no 'annotator'")],
    "hf_nested": [
        ("[1].id", "line 2: no 'id'"),
        ("[1].annotators", "line 2: no 'annotators'"),
        ("[1].annotators.labels", "line 2, annotators: no 'labels'"),
    ],
}


def without(records, path):
    """Return the records without a key, or without several with + between them."""
    changed = copy.deepcopy(records)
    names = re.findall(r"\[(\d+)\]|([^.\[]+)", path)
    if "responses." in path and path.endswith(("status", "users")):
        names = [names[0], ("", "birds.responses." + path.rpartition(".")[2])]
    inside = changed
    for number, name in names[:-1]:
        inside = inside[int(number)] if number else inside[name]
    for name in names[-1][1].split("+"):
        del inside[name]
    return changed


@pytest.mark.parametrize(
    ("name", "path", "sentence"),
    [(name, path, sentence) for name, cases in NEEDED.items() for path, sentence in cases],
)
def test_a_missing_key_is_named_where_it_is_missing(tmp_path, name, path, sentence):
    """Each key that a reader needs is asked for with file and place."""
    make, _ = WRITERS[name]
    file = write(tmp_path, name, without(make(TRUTH), path))
    with pytest.raises(FileError, match=re.escape(sentence)) as caught:
        sa.read(file, format=name, **OPTIONS.get(name, {}))
    assert str(caught.value).startswith(repr(str(file)))


WRONG = [None, True, 3.5, "", [], {}, [None], [3.5], [[]], [""], {"x": 1}]


def places(value, path=()):
    """Yield the path of every value inside a JSON value."""
    yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*path, key))


@pytest.mark.filterwarnings("ignore:.*rows? of the roster without a counterpart")
@pytest.mark.filterwarnings("ignore:.*with several ._task_hash.")
@pytest.mark.parametrize("name", WRITERS)
def test_wrong_types_never_end_in_a_traceback(tmp_path, name):
    """Any one value replaced by one of another type: a study, or an error of setagree."""
    make, _ = WRITERS[name]
    small = {pair: TRUTH[pair] for pair in list(TRUTH)[:5]}
    records = make(small)
    n_refused = 0
    for path in places(records):
        for wrong in WRONG if path else WRONG[:3]:
            changed = wrong if not path else copy.deepcopy(records)
            if path:
                inside = changed
                for key in path[:-1]:
                    inside = inside[key]
                inside[path[-1]] = wrong
            file = tmp_path / "export.json"
            file.write_text(json.dumps(changed), encoding="utf-8")
            try:
                sa.read(file, format=name, **OPTIONS.get(name, {}))
            except sa.SetagreeError:
                n_refused += 1
    assert n_refused > 20


def test_values_that_are_no_labels_are_named(tmp_path):
    """A span, a blank, a null among labels is refused with its place."""
    for wrong, seen in [([0, 5, "B"], "a list"), ("", "text ('')"), (None, "null"), (1.5, "a num")]:
        records = hf_sequence(TRUTH)
        records[2]["labels"] = ["crow", wrong]
        with pytest.raises(FileError, match=r"line 3, labels\[1\]: " + re.escape(seen)):
            sa.read(write(tmp_path, "hf_sequence", records))


def test_rows_that_are_no_objects(tmp_path):
    """Lines and items that are something else than objects are named."""
    path = tmp_path / "export.jsonl"
    path.write_text(as_lines(hf_sequence(TRUTH)) + "3\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"line 11: a number \(3\) where an object is due"):
        sa.read(path)
    path.write_text('[{"id": 1}, 3]', encoding="utf-8")
    with pytest.raises(FileError, match=r"tasks\[1\]: a number \(3\) where an object is due"):
        sa.read(path, format="label_studio_json")
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(FileError, match="is an empty list"):
        sa.read(path)
    path.write_text('"text"', encoding="utf-8")
    with pytest.raises(FileError, match=r"text \('text'\) where a list is due"):
        sa.read(path, format="prodigy")
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="the JSON cannot be read"):
        sa.read(path)
    path.write_text('{"a": 1}\n' + '{"a":' * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="line 2: no whole JSON object"):
        sa.read(path, format="prodigy")


# ---- Layout by layout -----------------------------------------------------------------------


def test_label_studio_raters_by_number(tmp_path):
    """Where the export has only a number of the annotator, that is the rater."""
    records = label_studio(TRUTH)
    for task in records:
        for each in task["annotations"]:
            each["completed_by"] = each["completed_by"]["id"]
    assert sa.read(write(tmp_path, "label_studio_json", records)).raters.tolist() == [0, 1, 2]
    records[0]["annotations"][0]["completed_by"] = {"id": 0, "email": ""}
    assert sa.read(write(tmp_path, "label_studio_json", records)).raters.tolist() == [0, 1, 2]


def test_label_studio_with_two_questions(tmp_path):
    """The question is asked for; an unanswered one among several may not have been shown."""
    records = label_studio(TRUTH)
    for task in records:
        for each in task["annotations"]:
            if not each["was_cancelled"]:
                each["result"].append(choices({"yes"}, name="sharp"))
    path = write(tmp_path, "label_studio_json", records)
    with pytest.raises(OptionError, match=r"answers to 2 questions, 'birds', 'sharp'; say which"):
        sa.read(path)
    with pytest.raises(OptionError, match=r"no question='bird'; it has .* Did you mean 'birds'"):
        sa.read(path, question="bird")
    for blank in (None, "error"):
        with pytest.raises(DataError, match=r"tasks\[2\]\.annotations\[0\]: no answer to 'birds'"):
            sa.read(path, question="birds", blank=blank)
    assert found(sa.read(path, question="birds", blank="empty")) == answered(TRUTH)
    theirs = {pair: labels for pair, labels in TRUTH.items() if labels}
    assert found(sa.read(path, question="birds", blank="missing")) == theirs


def test_label_studio_other_results(tmp_path):
    """Regions and spans are no label sets of a unit; beside choices they are left alone."""
    records = label_studio(TRUTH)
    records[0]["annotations"][0]["result"].append({"type": "labels", "value": {"labels": ["x"]}})
    assert found(sa.read(write(tmp_path, "label_studio_json", records))) == answered(TRUTH)
    records[0]["annotations"][1]["result"] *= 2
    with pytest.raises(FileError, match=r"annotations\[1\]: 2 answers to 'birds': they belong to"):
        sa.read(write(tmp_path, "label_studio_json", records))
    for task in records:
        for each in task["annotations"]:
            each["result"] = [{"type": "labels"}]
    with pytest.raises(DataError, match="results of type 'labels' and no choices"):
        sa.read(write(tmp_path, "label_studio_json", records))
    for task in records:
        for each in task["annotations"]:
            each["result"] = []
    assert set(
        map(frozenset, found(sa.read(write(tmp_path, "label_studio_json", records))).values())
    ) == {frozenset()}


def test_label_studio_min_question(tmp_path):
    """A task without annotations is no rating; questions cannot be told from data by one choice."""
    records = label_studio_min(TRUTH)
    bare = {"image": "p9.jpg", "id": "p9", "annotator": None, "annotation_id": None}
    records.insert(0, bare | {"lead_time": None})
    assert found(sa.read(write(tmp_path, "label_studio_json_min", records))) == answered(TRUTH)
    single = {pair: {min(labels)} if labels else set() for pair, labels in answered(TRUTH).items()}
    path = write(tmp_path, "label_studio_json_min", label_studio_min(single))
    with pytest.raises(DataError, match=r"say which of 'image', 'birds' it is with question="):
        sa.read(path)
    assert found(sa.read(path, question="birds")) == single
    with pytest.raises(OptionError, match="no question='birdz'"):
        sa.read(path, question="birdz")


def test_prodigy_rejects_are_asked_about(tmp_path):
    """A rejected example is an answer of some kind; which, the caller says."""
    records = prodigy(TRUTH)
    records[0] |= {"answer": "reject", "accept": []}
    path = write(tmp_path, "prodigy", records)
    with pytest.raises(DataError, match=r"line 1: rejected, .* say blank='empty' or blank='missi"):
        sa.read(path)
    assert found(sa.read(path, blank="empty"))["p1", "mia"] == set()
    assert ("p1", "mia") not in found(sa.read(path, blank="missing"))
    records[0]["answer"] = "perhaps"
    with pytest.raises(FileError, match="line 1, answer: 'perhaps' is not accept, reject or ign"):
        sa.read(write(tmp_path, "prodigy", records))


def test_prodigy_sessions_and_no_accept(tmp_path):
    """Without an annotator the session is the rater; options and no accept are the empty set."""
    records = prodigy(TRUTH)
    for record in records:
        del record["_annotator_id"]
        if not record["accept"]:
            del record["accept"]
    assert found(sa.read(write(tmp_path, "prodigy", records))) == answered(TRUTH)


def test_argilla_flat_questions_and_gaps(tmp_path):
    """Records without responses are no ratings; a one-label question gives sets of one."""
    records = argilla_flat(TRUTH)
    records.append({"id": "p9", "birds.responses": None})
    assert found(sa.read(write(tmp_path, "argilla_flat", records))) == answered(TRUTH)
    kind = {
        f"kind.responses{end}": value
        for end, value in zip(
            ("", ".users", ".status"), (["big"], ["mia"], ["submitted"]), strict=True
        )
    }
    records[0] |= kind
    path = write(tmp_path, "argilla_flat", records)
    assert found(sa.read(path, question="kind")) == {("p1", "mia"): {"big"}}
    with pytest.raises(OptionError, match="'birds', 'kind'"):
        sa.read(path)
    records[0]["birds.responses.users"].pop()
    with pytest.raises(FileError, match=r"as many, not 3, 2, 3"):
        sa.read(write(tmp_path, "argilla_flat", records), question="birds")


def test_argilla_nested_refuses_without_a_roster(tmp_path):
    """The nested layout lost the status: the sentence says what to export instead."""
    path = write(tmp_path, "argilla_nested")
    with pytest.raises(
        DataError, match=r"drops their status\. Export records\.to_list\(flatten=Tr"
    ):
        sa.read(path)
    with pytest.raises(DataError, match="roster: there is no column 'unit'; the columns are"):
        sa.read(path, roster=pd.DataFrame({"who": ["mia"]}))
    with pytest.raises(DataError, match=r"roster: an int is no table.*'unit' and 'rater'"):
        sa.read(path, roster=3)
    records = argilla_nested(TRUTH)
    records.append({"id": "p9", "responses": {}})
    study = sa.read(write(tmp_path, "argilla_nested", records), **OPTIONS["argilla_nested"])
    assert found(study) == answered(TRUTH)


def test_lighttag_who_is_not_in_seen_by(tmp_path):
    """Who gave a class has answered, even where seen_by leaves the name out."""
    root = lighttag(TRUTH)
    root["examples"][0]["seen_by"] = []
    assert found(sa.read(write(tmp_path, "lighttag", root))) == answered(TRUTH)


def test_labelbox_questions_radio_and_keys(tmp_path):
    """Radio answers are sets of one; without a global key the row's own id is the unit."""
    rows = labelbox(TRUTH)
    rows[0]["data_row"]["global_key"] = None
    first = rows[0]["projects"]["project"]["labels"][0]["annotations"]["classifications"]
    first.append({"name": "age", "radio_answer": {"name": "old"}})
    path = write(tmp_path, "labelbox", rows)
    with pytest.raises(OptionError, match="answers to 2 questions, 'birds', 'age'"):
        sa.read(path)
    assert found(sa.read(path, question="age", blank="missing")) == {("row-p1", "mia"): {"old"}}
    with pytest.raises(DataError, match=r"labels\[1\]: no answer to 'age'"):
        sa.read(path, question="age")


def test_spacy_needs_meta(tmp_path):
    """Unit and rater come from meta alone, and a score is no answer."""
    records = spacy_cats(TRUTH)
    records[1]["cats"]["crow"] = 0.7
    with pytest.raises(FileError, match=r"line 2, cats\.crow: 0\.7 is neither 0 nor 1"):
        sa.read(write(tmp_path, "spacy_cats", records))
    for record in records:
        record["meta"] = {"source": "x"}
    with pytest.raises(DataError, match=r"'meta' has 'source'; give each record meta"):
        sa.read(write(tmp_path, "spacy_cats", records))
    del records[0]["meta"]
    with pytest.raises(DataError, match=r"there is no 'meta'"):
        sa.read(write(tmp_path, "spacy_cats", records))


FEATURES = {
    "labels": {"feature": {"names": LABELS, "_type": "ClassLabel"}, "_type": "Sequence"},
    "id": {"dtype": "string", "_type": "Value"},
}


@pytest.mark.parametrize(
    ("beside", "features"),
    [
        ("birds.features.json", FEATURES),
        ("dataset_info.json", {"features": FEATURES}),
        ("dataset_info.json", {"features": {"annotators": {"feature": FEATURES}}}),
    ],
)
def test_class_labels_get_their_names(tmp_path, beside, features):
    """Integers are named by the features beside the file, of flat and of nested rows."""
    (tmp_path / beside).write_text(json.dumps(features), encoding="utf-8")
    codes = {pair: {LABELS.index(x) for x in labels} for pair, labels in answered(TRUTH).items()}
    for make in (hf_sequence, hf_nested):
        path = tmp_path / "birds.jsonl"
        path.write_text(as_lines(make(codes)), encoding="utf-8")
        assert found(sa.read(path)) == answered(TRUTH)
        assert seen_format(path) is not None  # the names count wherever a path is taken
        path.write_text(as_lines(make(TRUTH)), encoding="utf-8")  # names stay names
        assert found(sa.read(path)) == answered(TRUTH)


def test_class_labels_without_names_stay_numbers(tmp_path):
    """Integers are labels; agreement does not need their names."""
    path = write(tmp_path, "hf_sequence", hf_sequence({("p1", "mia"): {2, 0}, ("p1", "noa"): {2}}))
    (tmp_path / "dataset_info.json").write_text('{"features": {"labels": 3}}', encoding="utf-8")
    assert found(sa.read(path)) == {("p1", "mia"): {0, 2}, ("p1", "noa"): {2}}


def test_class_labels_that_do_not_fit(tmp_path):
    """A number beyond the classes, or names that are no text, are refused."""
    path = write(tmp_path, "hf_sequence", hf_sequence({("p1", "mia"): {0}, ("p1", "noa"): {4}}))
    beside = tmp_path / "dataset_info.json"
    beside.write_text(json.dumps(FEATURES), encoding="utf-8")
    with pytest.raises(FileError, match=r"labels\[0\]: 4 is no number of a class; .* 0 to 3"):
        sa.read(path)
    bad = {"labels": {"names": [1, 2], "_type": "ClassLabel"}}
    beside.write_text(json.dumps(bad), encoding="utf-8")
    with pytest.raises(FileError, match="the names of a ClassLabel must be a list of text"):
        sa.read(path)


def test_sequence_rows(tmp_path):
    """A null list is missing; question= names another list; odd keys are said."""
    records = hf_sequence(TRUTH)
    records[0] |= {"labels": None, "topics": ["x"]}
    for record in records[1:]:
        record["topics"] = []
    path = write(tmp_path, "hf_sequence", records[::-1])
    assert found(sa.read(path)) == {p: x for p, x in answered(TRUTH).items() if p != ("p1", "mia")}
    assert found(sa.read(path, question="topics"))["p1", "mia"] == {"x"}
    with pytest.raises(OptionError, match="no question='topic'"):
        sa.read(path, question="topic")
    odd = write(tmp_path, "hf_sequence", [{"q": 1, "labels": ["x"]}])
    with pytest.raises(DataError, match=r"among 'q', 'labels'; call them unit, rater and labels"):
        sa.read(odd, format="hf_sequence")


def test_nested_rows(tmp_path):
    """A list of objects is as good as parallel lists; lists of other lengths are refused."""
    records = [
        {
            "id": unit,
            "kind": {"x": 1},
            "answers_by": [{"rater": r, "labels": sorted(x)} for r, x in theirs.items()],
        }
        for unit, theirs in by_unit(answered(TRUTH)).items()
    ]
    path = write(tmp_path, "hf_nested", records)
    assert found(sa.read(path)) == answered(TRUTH)
    nulls = hf_nested(TRUTH)
    nulls[0]["annotators"]["labels"][0] = None
    study = sa.read(write(tmp_path, "hf_nested", nulls))
    assert (study.n_missing, study.n_ratings) == (1, 9)
    parallel = hf_nested(TRUTH)
    parallel[1]["annotators"]["labels"].pop()
    with pytest.raises(FileError, match="line 2, annotators: 2 under 'annotator_id' and 1 under"):
        sa.read(write(tmp_path, "hf_nested", parallel))
    odd = write(tmp_path, "hf_nested", [{"id": 1, "labels": ["x"]}])
    with pytest.raises(DataError, match="no key that holds raters"):
        sa.read(odd, format="hf_nested")
    for record in records:
        record["q"] = record.pop("id")
    with pytest.raises(DataError, match=r"usual name for the unit among 'q'; call it unit"):
        sa.read(write(tmp_path, "hf_nested", records))


# ---- The door -------------------------------------------------------------------------------


def test_the_same_file_twice(tmp_path):
    """Lines appended to themselves are repeats, with their places, unless duplicates= settles."""
    path = tmp_path / "twice.jsonl"
    path.write_text(as_lines(prodigy(TRUTH)) * 2, encoding="utf-8")
    with pytest.raises(DataError, match=r"Every pair stands twice.*stand in line 1 and line 12\."):
        sa.read(path)
    assert found(sa.read(path, duplicates="first")) == answered(TRUTH)
    path.write_text(as_json(label_studio(TRUTH)) * 2, encoding="utf-8")
    with pytest.raises(FileError, match=r"line \d+, column 2: this is no JSON \(Extra data\)"):
        sa.read(path)


def test_options_of_labels(tmp_path):
    """case= and codebook= are those of the other doors; errors name the file."""
    path = write(tmp_path, "prodigy")
    assert sa.read(path, codebook=LABELS).labels == tuple(sorted(LABELS))
    with pytest.raises(sa.SetagreeError, match=r"prodigy\.json': .*'gull' is not in the codebook"):
        sa.read(path, codebook=["crow", "heron, grey", "wren|owl#"])
    records = hf_sequence({("p1", "mia"): {"Crow"}, ("p1", "noa"): {"crow"}})
    assert sa.read(write(tmp_path, "hf_sequence", records), case="lower").n_values == 1
    with pytest.raises(OptionError, match="blank='emtpy' is unknown"):
        sa.read(path, blank="emtpy")


def test_agreement_takes_the_path_of_an_export(tmp_path):
    """`agreement` reads what `read` recognises; where a column is named, the file is a table."""
    path = write(tmp_path, "prodigy")
    expected = sa.agreement(sa.read(path)).to_frame()
    pd.testing.assert_frame_equal(sa.agreement(path).to_frame(), expected, check_exact=True)
    table = sa.agreement(path, unit="_input_hash", rater="_annotator_id", labels="answer")
    assert table["krippendorff_alpha", "masi"].n_ratings == len(TRUTH)
    (tmp_path / "csv").mkdir()
    truth = {("1", "mia"): {"a;b"}, ("1", "noa"): {"a"}, ("2", "mia"): {"a"}, ("2", "noa"): {"a"}}
    folder = doccano(tmp_path / "csv", truth, kind="csv")
    assert sa.agreement(folder, sep=";")["krippendorff_alpha", "masi"].n_values == 2
    rows = write(tmp_path, "hf_sequence")  # a table of JSON lines, as good for the one as the other
    assert sa.agreement(rows).to_frame().equals(sa.agreement(sa.read(rows)).to_frame())
    with pytest.raises(DataError, match="drops their status"):
        sa.agreement(write(tmp_path, "argilla_nested"))


def test_lists_by_column_are_no_rows(tmp_path):
    """A JSON object of columns is a table; no reader of rows takes it."""
    path = tmp_path / "columns.json"
    columns = {"unit": [1, 1, 2, 2], "rater": ["mia", "noa"] * 2, "labels": ["a", "b", "a", "a"]}
    path.write_text(json.dumps(columns), encoding="utf-8")
    assert sa.agreement(path)["krippendorff_alpha", "masi"].n_ratings == 4


@pytest.mark.parametrize("name", WRITERS)
def test_options_without_use_are_refused(tmp_path, name):
    """A roster or a question that would change nothing is refused; no option is passed over."""
    path = write(tmp_path, name)
    if name not in OPTIONS:
        with pytest.raises(OptionError, match=r"tells by itself who answered; drop roster=\."):
            sa.read(path, roster="roster.csv")
    with pytest.raises(OptionError, match=r"has one question alone; drop q|no question='colour'"):
        sa.read(path, question="colour", **OPTIONS.get(name, {}))


def test_options_without_use_are_refused_for_folders(tmp_path):
    """So are they for folders."""
    (tmp_path / "a").mkdir()
    with pytest.raises(OptionError, match="has one question alone"):
        sa.read(doccano(tmp_path / "a", TRUTH), question="colour")
    with pytest.raises(OptionError, match="tells by itself who answered"):
        sa.read(sagemaker(tmp_path / "b", TRUTH), roster="roster.csv")


def test_nothing_to_score(tmp_path):
    """An export without an annotation, or of skipped ones only, is said to have none."""
    path = write(tmp_path, "label_studio_json", [{"id": 1, "data": {}, "annotations": []}])
    with pytest.raises(DataError, match="has no annotations"):
        sa.read(path)
    path = write(tmp_path, "prodigy", prodigy({("p1", "mia"): None}))
    with pytest.raises(DataError, match="all 1 cell are missing"):
        sa.read(path)


# ---- One toy project in every format --------------------------------------------------------

SAMPLES = Path(os.environ.get("SETAGREE_DATA", "/nowhere")).parent / "exports"
needs_samples = pytest.mark.skipif(
    not (SAMPLES / "expected.csv").is_file(), reason="the sample exports are not here"
)
CARRIES = [
    *("label_studio.json", "label_studio_min.json", "prodigy.jsonl", "doccano_approved_only"),
    *("doccano_csv_approved_only", "argilla_flat.json", "lighttag.json", "sagemaker"),
    *("labelbox.ndjson", "spacy_cats.jsonl", "hf_classlabel_sequence.jsonl"),
]
TOLD = ["doccano", "argilla_nested.json"]
WITHOUT_NAMES = "hf_nested_annotators.jsonl"
NAMES = ["anger", "fear", "joy", "sadness", "surprise"]


def expected():
    """Return the ratings of the toy project."""
    frame = pd.read_csv(SAMPLES / "expected.csv", dtype=str, keep_default_na=False)
    rated = frame[frame["state"].isin(["rated", "empty"])]
    rows = zip(rated["unit"], rated["rater"], rated["labels"], strict=True)
    return {(unit, rater): set(filter(None, labels.split(", "))) for unit, rater, labels in rows}


def by_order(study, truth):
    """Return a study's ratings with its units and raters called as in the truth.

    The tools have their own identifiers, which all sort as the truth's names do, or come in their
    order; only the right order can give the truth.
    """
    units = sorted({unit for unit, _ in truth})
    raters = {"ana": "ana", "ben": "ben", "eva": "eva"}
    raters |= {"1": "ana", "2": "ben", "3": "eva", "649307c1": "ana", "628a2cfa": "ben"}
    raters["0cdb5811"] = "eva"

    def who(name):
        text = re.sub(r"^(emotions-|private\.us-east-1\.)|@.*$", "", str(name))
        return raters[text.split("-")[0]]

    place = {unit: units[k] for k, unit in enumerate(dict.fromkeys(study.units.tolist()))}
    return {(place[unit], who(rater)): labels for (unit, rater), labels in found(study).items()}


@needs_samples
@pytest.mark.parametrize("name", CARRIES)
def test_samples_that_carry_the_truth(name):
    """Recognised by itself, each sample gives the ratings of the toy project exactly."""
    truth = expected()
    assert len(truth) == 13
    assert by_order(sa.read(SAMPLES / name), truth) == truth


@needs_samples
@pytest.mark.parametrize("name", TOLD)
def test_samples_that_need_a_roster(name):
    """What cannot tell answers from none refuses; told who answered, it gives the truth."""
    truth = expected()
    with pytest.raises(DataError, match="roster="):
        sa.read(SAMPLES / name)
    users = {"ana": "649307c1-54d3-5acf-bc75-7b0e039d2021"}
    users |= {"ben": "628a2cfa-a40c-5509-9aff-8fced0174f42"}
    users |= {"eva": "0cdb5811-659a-5c14-8453-64a575500046"}
    pairs = [
        (unit, users[rater]) if name != "doccano" else (unit[1:], rater) for unit, rater in truth
    ]
    roster = pd.DataFrame(pairs, columns=["unit", "rater"])
    assert by_order(sa.read(SAMPLES / name, roster=roster), truth) == truth


@needs_samples
def test_sample_of_numbers():
    """Nested rows without the features beside them give numbers in the place of names."""
    truth = {pair: {NAMES.index(x) for x in labels} for pair, labels in expected().items()}
    assert by_order(sa.read(SAMPLES / WITHOUT_NAMES), truth) == truth


@needs_samples
def test_sample_of_consolidated_answers():
    """The manifest of SageMaker has no workers and is refused."""
    with pytest.raises(DataError, match="no workers"):
        sa.read(SAMPLES / "sagemaker/manifests/output/output.manifest")
