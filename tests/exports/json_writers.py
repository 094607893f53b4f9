"""Small writers of exports in JSON, and the truth about birds that they write.

Where a layout is taken from a tool, its writer is the description of it that the reader was not
made from.
"""

import csv
import json
import os
from pathlib import Path

import pandas as pd
import pytest

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

SAMPLES = Path(os.environ.get("SETAGREE_DATA", "/nowhere")).parent / "exports"
needs_samples = pytest.mark.skipif(
    not (SAMPLES / "expected.csv").is_file(), reason="the sample exports are not here"
)


def by_unit(truth):
    """Return unit -> rater -> labels, in order."""
    units = {}
    for (unit, rater), labels in truth.items():
        units.setdefault(unit, {})[rater] = labels
    return units


def answered(truth):
    return {pair: labels for pair, labels in truth.items() if labels is not None}


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
    return json.dumps(records, indent=1)


def as_lines(records):
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


def put(folder, name, content):
    """Write text, or objects one a line, and return the path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str):
        content = "".join(json.dumps(each) + "\n" for each in content)
    path.write_text(content, encoding="utf-8")
    return path


def pairs(study):
    return {(str(unit), str(rater)): {*answer} for rater, unit, answer in study.to_triples()}
