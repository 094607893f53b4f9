"""Readers of folders: CVAT and brat give the truth back, and say what they cannot tell.

The folders are written here from one truth about trees seen on photos.
"""

from __future__ import annotations

import csv
import os
import warnings
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, OptionError, SetagreeWarning
from setagree.exports import FORMATS
from setagree.exports.detection import format_of_name, peek, recognised, the_one
from setagree.exports.format import Request

SKIPPED = None
TRUTH = {
    ("p1", "ida"): {"ash"},
    ("p1", "jon"): {"ash", "oak_old"},
    ("p2", "ida"): {"ash", "yew"},
    ("p2", "jon"): SKIPPED,
    ("p3", "ida"): set(),
    ("p3", "jon"): {"yew"},
    ("p4", "ida"): {"oak_old"},
}
RATERS = ["ida", "jon"]


def answered(truth):
    return {pair: labels for pair, labels in truth.items() if labels is not None}


def labelled(truth):
    return {pair: labels for pair, labels in truth.items() if labels}


def roster(truth=TRUTH):
    return pd.DataFrame(list(answered(truth)), columns=["unit", "rater"])


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def job(rater, images):
    """Return the XML of one job: an image for whatever was opened."""
    assignee = f"<assignee><username>{rater}</username></assignee>" if rater is not None else ""
    shown = "".join(
        f"<image id='0' name={quoteattr(name)}>{inside}</image>\n" for name, inside in images
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n'
        f"<meta><job><id>1</id>{assignee}</job></meta>\n{shown}</annotations>\n"
    )


def tags(labels):
    return "".join(
        f"<tag label={quoteattr(label)} source='manual'></tag>" for label in labels or ()
    )


def cvat(truth):
    return {
        f"job_{r}/annotations.xml": job(
            r, [(u, tags(labels)) for (u, who), labels in truth.items() if who == r]
        )
        for r in RATERS
    }


def brat(truth):
    """Return one folder for each rater, a file for each document."""
    files = {"annotation.conf": "[attributes]\n"}
    for (unit, rater), labels in truth.items():
        lines = ["T1\tPhoto 0 5\ta tree", "#1\tAnnotatorNotes T1\thm"] if labels else []
        lines += [f"A{k}\t{label} T1" for k, label in enumerate(sorted(labels or ()))]
        files[f"{rater}/{unit}.ann"] = "".join(line + "\n" for line in lines)
        files[f"{rater}/{unit}.txt"] = "a tree"
    return files


WRITERS = {"cvat": cvat, "brat": brat}


def read(path, **said):
    """Return (unit, rater) -> labels of what a reader finds; None where it found no annotation."""
    answers = the_one(recognised(peek(path), FORMATS), path).read(path, Request(**said))
    pairs = list(zip(answers.units, answers.raters, strict=True))
    assert len(set(pairs)) == len(pairs) == len(answers.places)
    return dict(zip(pairs, answers.labels, strict=True))


@pytest.mark.parametrize("name", WRITERS)
def test_the_truth_comes_back(name, tmp_path):
    folder = put(tmp_path, WRITERS[name](TRUTH))
    assert [each.name for each in recognised(peek(folder), FORMATS)] == [name]
    assert answered(read(folder, roster=roster())) == answered(TRUTH)


@pytest.mark.parametrize("name", WRITERS)
def test_an_open_answer_is_asked_for(name, tmp_path):
    folder = put(tmp_path, WRITERS[name](TRUTH))
    with pytest.raises(DataError, match=r"2 blank answers .*annotated.*Use blank='empty'"):
        read(folder)
    with pytest.raises(DataError, match="blank='error' permits none"):
        read(folder, blank="error")
    assert answered(read(folder, blank="missing")) == labelled(TRUTH)
    assert answered(read(folder, blank="empty")) == {p: x or set() for p, x in TRUTH.items()}


def test_nothing_is_asked_where_every_answer_has_labels(tmp_path):
    folder = put(tmp_path, cvat(labelled(TRUTH)))
    assert read(folder) == labelled(TRUTH)


# ---- CVAT ---------------------------------------------------------------------------------------


def test_a_single_job(tmp_path):
    images = [("a b.jpg", tags({"<b>", 'é"', "a, b"}))]
    put(tmp_path, {"annotations.xml": job("ida", images)})
    found = {("a b.jpg", "ida"): {"<b>", 'é"', "a, b"}}
    assert read(tmp_path / "annotations.xml") == read(tmp_path) == found


@pytest.mark.parametrize("rater", [None, "", " "])
def test_a_job_without_an_assignee_is_refused(rater, tmp_path):
    put(tmp_path, {"annotations.xml": job(rater, [("p1", tags({"ash"}))])})
    with pytest.raises(DataError, match=r"annotations.xml does not identify .*jobs one by one"):
        read(tmp_path)


def test_shapes_are_no_label_sets(tmp_path):
    box = "<box label='ash' xtl='1'></box>"
    put(tmp_path, {"annotations.xml": job("ida", [("p1", box)])})
    with pytest.raises(DataError, match="has shapes and no tags"):
        read(tmp_path)
    put(tmp_path, {"annotations.xml": job("ida", [("p1", box + tags({"yew"}))])})
    assert read(tmp_path) == {("p1", "ida"): {"yew"}}


def test_a_video_is_refused(tmp_path):
    track = "<track id='0' label='ash'><box frame='0' xtl='1'></box></track></annotations>"
    for images in ([], [("p1", tags({"ash"}))]):
        text = job("ida", images).replace("</annotations>", track)
        put(tmp_path, {"job_1/annotations.xml": text})
        with pytest.raises(DataError, match=r"job_1/annotations\.xml has tracks through the fra"):
            read(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            job("ida", [("p1", "<tag label='ash'>")])[:150],
            r"line \d+, column \d+: the XML is not well",
        ),
        (job("ida", [("", "")]), r"image\[0\]: <image> has no 'name'"),
        (job("ida", [("p0", ""), ("p1", "<tag></tag>")]), r"image\[1\]: <tag> has no 'label'"),
        (
            '<!DOCTYPE annotations [<!ENTITY a "a">]><annotations><meta>&a;</meta></annotations>',
            "it declares a document type",
        ),
        (
            '<?xml version="1.0" encoding="utf-99"?><annotations><meta></meta></annotations>',
            "is not well-formed XML: unknown encoding: utf-99",
        ),
    ],
)
def test_damaged_jobs(text, sentence, tmp_path):
    put(tmp_path, {"job_1/annotations.xml": text})
    with pytest.raises(FileError, match=rf"job_1/annotations\.xml.*{sentence}"):
        read(tmp_path)


def test_a_folder_without_jobs(tmp_path):
    with pytest.raises(FileError, match=r"has no file annotations\.xml"):
        format_of_name("cvat", FORMATS).read(tmp_path, Request())
    with pytest.raises(FileError, match=r"has no \.ann files"):
        format_of_name("brat", FORMATS).read(tmp_path, Request())
    with pytest.raises(FileError, match=r"There is no file .*gone\.xml"):
        format_of_name("cvat", FORMATS).read(tmp_path / "gone.xml", Request())


def test_tags_of_a_model(tmp_path):
    """Tags that no person set, with source="auto", are counted."""
    job = (
        "<annotations><meta><job><assignee><username>{}</username></assignee></job></meta>"
        '<image name="u1"><tag label="joy" source="{}"/></image></annotations>'
    )
    jobs = {"1": ("ann", "auto"), "2": ("bob", "manual")}
    put(tmp_path, {f"{n}/annotations.xml": job.format(*said) for n, said in jobs.items()})
    with pytest.warns(SetagreeWarning, match=r"1/annotations\.xml: 1 tag set by a model, not by"):
        assert sa.read(tmp_path).n_ratings == 2


# ---- brat ---------------------------------------------------------------------------------------


def test_values_of_an_attribute_are_labels(tmp_path):
    files = {
        "ida/p1.ann": "T1\tDoc 0 1\ta\nA1\tTree T1 ash\nA2\tTree T1 old oak\nA3\tLight T1 dim\n",
        "jon/sub/p1.ann": "T1\tDoc 0 1\ta\nA1\tTree T1 ash\n",
    }
    folder = put(tmp_path, files)
    with pytest.raises(OptionError, match=r"2 questions, 'Light', 'Tree'"):
        read(folder)
    trees = {("p1", "ida"): {"ash", "old oak"}, ("sub/p1", "jon"): {"ash"}}
    assert read(folder, question="Tree") == trees
    mixed = put(tmp_path, {"jon/sub/p1.ann": "T1\tDoc 0 1\ta\nA1\tyew T1\n"})
    with pytest.raises(DataError, match=r"with a value \(Light, Tree\) and without \(yew\)"):
        read(mixed)


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("A1 ash T1\n", FileError, r"ida/p1.ann, line 1: .*is not an attribute"),
        ("T1\tDoc 0 1\ta\nA1\tash\n", FileError, r"ida/p1.ann, line 2: .*is not an attribute"),
        ("A1\tash T1\nA2\tyew T2\n", DataError, r"ida/p1.ann has attributes on 2 spans"),
    ],
)
def test_damaged_documents(text, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence):
        read(put(tmp_path, {"ida/p1.ann": text}))


def test_documents_without_a_rater(tmp_path):
    with pytest.raises(DataError, match="their raters are unknown"):
        read(put(tmp_path, {"p1.ann": "A1\tash T1\n"}))


def test_encodings(tmp_path):
    """Text in another encoding is an error that names the file, and read where it is said."""
    file = put(tmp_path, {"ida/p1.ann": ""}) / "ida" / "p1.ann"
    file.write_bytes("A1\tchêne T1\n".encode("latin-1"))
    with pytest.raises(FileError, match=r"ida/p1.ann is not utf-8: .*set encoding="):
        read(tmp_path)
    assert read(tmp_path, encoding="latin-1") == {("p1", "ida"): {"chêne"}}
    file.write_text("\ufeffA1\tash T1\r\n", encoding="utf-8")
    assert read(tmp_path) == {("p1", "ida"): {"ash"}}


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "ida" / "p1.ann").mkdir(parents=True)
    with pytest.raises(FileError, match=r"ida/p1\.ann' is a folder"):
        format_of_name("brat", FORMATS).read(tmp_path, Request())


# ---- The samples --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "ending"), [("cvat", ".jpg"), ("brat", "")])
def test_the_samples_give_their_truth(name, ending):
    data = os.environ.get("SETAGREE_DATA")
    samples = Path(data).parent / "exports" if data else Path()
    if not data or not samples.is_dir():
        pytest.skip("SETAGREE_DATA names no folder with samples of exports beside it")
    with (samples / "expected.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["state"] in {"rated", "empty"}]
    truth = {
        (row["unit"] + ending, row["rater"]): set(filter(None, row["labels"].split(", ")))
        for row in rows
    }
    with pytest.raises(DataError, match="4 blank answers"):
        read(samples / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answered(read(samples / name, roster=roster(truth))) == truth
