"""No record, key, roster row or unanswered question of an export is dropped in silence."""

import csv
import io
import json
import os

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeWarning


def save(folder, name, content):
    """Write JSON, or text as it is, and return the path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def table(*rows):
    """Return rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def answers(study):
    """Return (unit, rater) -> labels."""
    return {(unit, rater): set(labels) for rater, unit, labels in study.to_triples()}


# ---- Several records where one is due -------------------------------------------------------


def lighttag(unit):
    """Return an export of one example that one person saw."""
    example = {"example_id": unit, "seen_by": [{"annotator": "ana"}], "classifications": []}
    return {"annotations_and_examples": [], "examples": [example]}


@pytest.mark.parametrize("spell", [json.dumps, lambda both: "\n".join(map(json.dumps, both))])
def test_two_lighttag_exports_in_one_file(tmp_path, spell):
    path = save(tmp_path, "export.json", spell([lighttag("e1"), lighttag("e2")]))
    with pytest.raises(FileError, match="expected one object; got 2"):
        sa.read(path)
    assert sa.read(save(tmp_path, "one.json", [lighttag("e1")])).n_ratings == 1


def test_two_responses_in_one_file_of_sagemaker(tmp_path):
    both = [
        {"answers": [{"workerId": who, "answerContent": {"c": {"labels": ["joy"]}}}]}
        for who in ("w1", "w2")
    ]
    save(tmp_path, "worker-response/iteration-1/0/x.json", both)
    with pytest.raises(FileError, match="expected one object; got 2"):
        sa.read(tmp_path / "worker-response")


def zooniverse(*tasks):
    """Return classifications of one subject by two people, who answer the same."""
    head = ["classification_id", "user_name", "subject_ids", "annotations"]
    return table(head, *([k, who, "s1", json.dumps(tasks)] for k, who in enumerate("ab")))


def task(name, title, *labels):
    return {"task": name, "task_label": title, "value": list(labels)}


def test_two_tasks_of_one_title(tmp_path):
    text = zooniverse(task("T0", "What?", "cat"), task("T1", "What?", "dog"))
    path = save(tmp_path, "zoo.csv", text)
    with pytest.raises(OptionError, match=r"2 tasks have the title 'What\?'; use .*'T0'.*T1"):
        sa.read(path, question="What?")
    assert answers(sa.read(path, question="T1"))["s1", "a"] == {"dog"}
    text = zooniverse(task("T0", "T1", "cat"), task("T1", "What?", "dog"))
    path = save(tmp_path, "zoo.csv", text)
    assert answers(sa.read(path, question="T1"))["s1", "a"] == {"dog"}
    assert answers(sa.read(path, question="What?"))["s1", "a"] == {"dog"}


def test_a_task_that_is_answered_twice(tmp_path):
    path = save(tmp_path, "zoo.csv", zooniverse(task("T0", "Q", "cat"), task("T0", "Q", "dog")))
    with pytest.raises(FileError, match=r"line 2.*two answers to a task"):
        sa.read(path)


# ---- Keys that stand twice ------------------------------------------------------------------

TWICE = '{"id": "u1", "annotator": "a", "labels": ["x"], "labels": []}'


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("lines.jsonl", f"{TWICE}\n{TWICE}\n", "an object has the key 'labels' twice"),
        ("list.json", f"[{TWICE}]", "an object has the key 'labels' twice"),
        (
            "studio.csv",
            table(
                ["id", "annotator", "annotation_id", "lead_time", "g"],
                [1, "a", 1, 1, '{"choices": ["x"], "choices": []}'.replace(" ", "")],
            ),
            "line 2, column 'g'.*: an object has the key 'choices' twice",
        ),
        (
            "zoo.csv",
            table(
                ["classification_id", "user_name", "subject_ids", "annotations"],
                [1, "a", "s", '[{"task": "T0", "value": "x", "value": "y"}]'],
            ),
            "line 2, column 'annotations'.*: an object has the key 'value' twice",
        ),
    ],
)
def test_a_key_that_stands_twice(tmp_path, name, text, place):
    with pytest.raises(FileError, match=place):
        sa.read(save(tmp_path, name, text))


# ---- Rosters --------------------------------------------------------------------------------

FORM = "unit,ana,ben\nu1,joy,\nu2,fear,joy\n"
"""A wide table in which ben's first answer is blank."""


def roster(*pairs):
    return pd.DataFrame(pairs, columns=["unit", "rater"])


FULL = [("u1", "ana"), ("u1", "ben"), ("u2", "ana"), ("u2", "ben")]


def test_a_roster_of_any_library(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    path = save(tmp_path, "wide.csv", FORM)
    listed = roster(*FULL)
    spaced = roster(*((unit, f" {rater} ") for unit, rater in FULL))
    file = save(tmp_path, "roster.csv", listed.to_csv(index=False))
    for given in (listed, spaced, pl.from_pandas(listed), file, str(file)):
        assert answers(sa.read(path, wide=True, roster=given))["u1", "ben"] == set()


def doccano(folder):
    """Write a folder of two annotators whose files have all examples."""
    for who, labels in (("ana", ["x"]), ("ben", [])):
        line = {"id": 1, "text": "t", "label": labels, "Comments": []}
        save(folder, f"{who}.jsonl", json.dumps(line) + "\n")
    return folder


def argilla(folder):
    """Write a record of the nested layout, with responses of two people to two questions."""
    responses = [{"value": ["x"], "user_id": who} for who in ("ana", "ben")]
    record = {"id": 1, "fields": {}, "suggestions": {}}
    both = {"labels": responses[:1], "mood": responses}
    return save(folder, "argilla.json", [{**record, "responses": both}])


def wide(folder):
    """Write a table with one column per rater."""
    return save(folder, "w.csv", FORM)


@pytest.mark.parametrize("write", [doccano, argilla, wide])
def test_a_rater_who_is_nowhere(tmp_path, write):
    path = write(tmp_path)
    pairs = [(u, r) for u in ("u1", "u2", 1) for r in ("ana", "ben", "Ana")]
    said = {argilla: {"question": "labels"}, wide: {"wide": True}}.get(write, {})
    with pytest.raises(DataError, match=r"lists 'Ana', who is not in the file.*Did you mean 'ana'"):
        sa.read(path, roster=roster(*pairs), **said)


@pytest.mark.parametrize("write", [doccano, argilla, wide])
def test_rows_of_a_roster_that_match_nothing(tmp_path, write):
    path = write(tmp_path)
    pairs = [*FULL, (1, "ana"), (1, "ben"), ("U7", "ana")]
    n = 3 if path.name == "w.csv" else 5
    said = {argilla: {"question": "labels"}, wide: {"wide": True}}.get(write, {})
    with pytest.warns(SetagreeWarning, match=f"ignored {n} rows of the roster that the file lacks"):
        sa.read(path, roster=roster(*pairs), **said)


def test_a_roster_answers_for_doccano(tmp_path):
    study = sa.read(doccano(tmp_path), roster=roster((1, " ana"), ("1", "ben ")))
    assert answers(study) == {(1, "ana"): {"x"}, (1, "ben"): set()}


def test_a_rater_without_labels(tmp_path):
    rows = "unit,rater,tag\nu1,ana,a\nu1,ana,b\nu1,ben,a\n"
    path = save(tmp_path, "rows.csv", rows)
    listed = roster(("u1", "ana"), ("u1", "ben"), ("u1", "cy"))
    with pytest.warns(SetagreeWarning, match="lists 'cy', who is not in the file; spell"):
        study = sa.read(path, tool="plain_row_per_label", roster=listed)
    assert answers(study)["u1", "cy"] == set()


@pytest.mark.parametrize("bad", [None, " "])
def test_a_roster_row_without_a_name(tmp_path, bad):
    with pytest.raises(DataError, match=r"roster: 1 row without a rater \(first: row 2, counted"):
        sa.read(save(tmp_path, "w.csv", FORM), wide=True, roster=roster(("u1", "ana"), ("u2", bad)))


# ---- Unanswered questions of Label Studio ---------------------------------------------------

FLAT = {"id": 1, "lead_time": 1, "created_at": "t"}
BOTH = {"choices": ["a", "b"]}


def flat(*answered):
    """Return the annotations of one task, each with the keys that it answered."""
    return [{**FLAT, "annotation_id": k, "annotator": k, **each} for k, each in enumerate(answered)]


def as_csv(rows):
    """Return rows of the flat layout as the CSV export has them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name, "") for name in names] for row in rows]
    spelled = [
        [json.dumps(c, separators=(",", ":")) if isinstance(c, dict) else c for c in row]
        for row in cells
    ]
    return table(names, *spelled)


SPELL = {"min.json": json.dumps, "studio.csv": as_csv}


@pytest.mark.parametrize("name", SPELL)
@pytest.mark.parametrize("second", ["p", {"choices": ["p", "q"]}])
def test_a_question_among_several(tmp_path, name, second):
    rows = flat({"emo": BOTH, "tone": second}, {"tone": "q"})
    path = save(tmp_path, name, SPELL[name](rows))
    units = {"1"} if name == "studio.csv" else {1}
    for blank in (None, "error"):
        with pytest.raises(DataError, match="blank="):
            sa.read(path, question="emo", blank=blank)
    empty = answers(sa.read(path, question="emo", blank="empty"))
    assert sorted(map(len, empty.values())) == [0, 2]
    assert {unit for unit, _ in empty} == units
    assert len(answers(sa.read(path, question="emo", blank="missing"))) == 1


@pytest.mark.parametrize("name", SPELL)
def test_one_question_alone(tmp_path, name):
    rows = flat({"emo": BOTH, "text": "Hi"}, {"text": "Hi"})
    path = save(tmp_path, name, SPELL[name](rows))
    assert sorted(map(len, answers(sa.read(path)).values())) == [0, 2]
    with pytest.raises(DataError, match="blank="):
        sa.read(path, blank="error")


# ---- Pipes ----------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("ben.jsonl", "doccano_jsonl"),
        ("ben.csv", "doccano_csv"),
        ("j/annotations.xml", "cvat"),
        ("ben/d1.ann", "brat"),
    ],
)
def test_a_pipe_in_a_folder(tmp_path, name, format_name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(FileError, match="is a pipe or a device"):
        sa.read(tmp_path, tool=format_name)
