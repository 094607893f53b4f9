"""REFI-QDA projects: whole-document codes and coded passages."""

import zipfile

import pandas as pd
import pytest

import setagree as sa

NAMESPACE = 'xmlns="urn:QDA-XML:project:1.0"'


def coding(user, code):
    return f'<Coding guid="x" creatingUser="{user}"><CodeRef targetGUID="{code}"/></Coding>'


def passage(start, end, *codings):
    inside = "".join(codings)
    return (
        f'<PlainTextSelection guid="p" startPosition="{start}" endPosition="{end}">{inside}'
        "</PlainTextSelection>"
    )


def project(tmp_path, documents, head="", **changed):
    """Write a project; each document has codings, or passages. Some words of it are `changed`."""
    sources = "".join(
        f'<TextSource guid="{name}" name="{name}"><PlainTextContent>0123456789</PlainTextContent>'
        f"{''.join(inside)}</TextSource>"
        for name, inside in documents.items()
    )
    text = (
        f'<?xml version="1.0"?>{head}<Project {NAMESPACE} name="p"><Users>'
        '<User guid="U1" name="ann"/><User guid="U2" name="bob"/></Users><CodeBook><Codes>'
        '<Code guid="C1" name="joy" isCodable="true"><Code guid="C2" name="fear"/></Code>'
        f"</Codes></CodeBook><Sources>{sources}</Sources></Project>"
    )
    for old, new in changed.items():
        text = text.replace(old, new)
    path = tmp_path / "study.qdpx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", text)
    return path


WHOLE = {
    "d1": [coding("U1", "C1"), coding("U1", "C2"), coding("U2", "C1")],
    "d2": [coding("U2", "C2")],
}


def test_codes_of_whole_documents(tmp_path):
    path = project(tmp_path, WHOLE)
    with pytest.raises(sa.SetagreeError, match="does not list users without a code"):
        sa.read(path)
    study = sa.read(path, blank="missing")
    assert study.reading.tool == "refi_qda"
    assert {(r, u): set(a) for r, u, a in study.to_triples()} == {
        ("ann", "d1"): {"joy", "fear"},
        ("bob", "d1"): {"joy"},
        ("bob", "d2"): {"fear"},
    }


def test_codes_of_one_name_are_called_by_those_above_them(tmp_path):
    study = sa.read(project(tmp_path, WHOLE, fear="joy"), blank="missing")
    assert study.labels == ("joy", "joy > joy")


APART = {'isCodable="true">': "/>", "</Code>": ""}
TWICE = [
    ({'name="d2"': 'name="d1"'}, "documents called 'd1'"),
    ({'name="bob"': 'name="ann"'}, "users called 'ann'"),
    (APART | {'name="fear"': 'name="joy"'}, "codes called 'joy'"),
]


@pytest.mark.parametrize(("changed", "what"), TWICE)
def test_two_documents_users_or_codes_of_one_name_are_refused(changed, what, tmp_path):
    path = project(tmp_path, WHOLE, **changed)
    with pytest.raises(sa.SetagreeError, match=f"has two {what}; rename one"):
        sa.read(path, blank="missing")


def test_coded_passages(tmp_path):
    inside = [passage(0, 4, coding("U1", "C1")), passage(2, 4, coding("U2", "C1"))]
    path = project(tmp_path, {"d1": inside})
    with pytest.raises(sa.SetagreeError, match="no codes of whole documents, and 2 of passages"):
        sa.read(path, blank="missing")
    study = sa.read(path, spans=True)
    # Pieces 0-2, 2-4 and 4-10 of the ten characters.
    assert sorted(study.units) == ["d1:0-2", "d1:2-4", "d1:4-10"]


@pytest.mark.parametrize("start", ["", "x", "1.5"])
def test_offsets_that_are_not_integers_are_refused(tmp_path, start):
    path = project(tmp_path, {"d1": [passage(start, 4, coding("U1", "C1"))]})
    with pytest.raises(
        sa.SetagreeError, match=rf"qdpx', document 'd1', {start} to 4: offsets must"
    ):
        sa.read(path, spans=True)


def test_the_text_of_a_document_in_a_file_of_its_own(tmp_path):
    inside = [passage(0, 4, coding("U1", "C1")), passage(2, 4, coding("U2", "C1"))]
    path = project(tmp_path, {"d1": inside})
    with zipfile.ZipFile(path) as archive:
        text = archive.read("project.qde").decode()
    text = text.replace("<PlainTextContent>0123456789</PlainTextContent>", "")
    text = text.replace('name="d1">', 'name="d1" plainTextPath="internal://d1.txt">')
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", text)
    with pytest.raises(sa.SetagreeError, match="'d1' has no text and no length; one of them is"):
        sa.read(path, spans=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("sources/d1.txt", "0123456789")
    assert sorted(sa.read(path, spans=True).units) == ["d1:0-2", "d1:2-4", "d1:4-10"]


def test_hostile_projects(tmp_path):
    path = project(tmp_path, WHOLE, '<!DOCTYPE a [<!ENTITY b "c">]>')
    with pytest.raises(sa.SetagreeError, match="declares a document type"):
        sa.read(path, blank="missing")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(sa.SetagreeError):
        sa.read(path, tool="refi_qda", blank="missing")


def test_documents_without_passages_are_told_once(tmp_path):
    inside = [passage(0, 4, coding("U1", "C1")), passage(2, 4, coding("U2", "C1"))]
    path = project(tmp_path, {"d1": inside, "d2": [passage(0, 2, coding("U1", "C2"))]})
    message = r"qdpx': 1 pair of document and rater without a span \(first: document 'd2', .*'bob'"
    with pytest.warns(sa.SetagreeWarning, match=message) as caught:
        study = sa.read(path, spans=True)
    assert len(caught) == 1
    # 3 pieces of d1 by two coders, 2 pieces of d2 by one
    assert study.n_ratings == 8
    assert sa.read(path, spans=True, blank="missing").n_ratings == 8
    assert sa.read(path, spans=True, blank="empty").n_ratings == 10
    roster = pd.DataFrame([("d1", "ann"), ("d1", "bob"), ("d2", "ann"), ("d2", "bob")])
    roster.columns = ["unit", "rater"]
    assert sa.read(path, spans=True, roster=roster).n_ratings == 10


def test_projects_with_other_texts_are_refused(tmp_path):
    files = []
    for coder, digits in (("U1", "0123456789"), ("U2", "0123456780")):
        (tmp_path / coder).mkdir()
        path = project(tmp_path / coder, {"d1": [passage(0, 4, coding(coder, "C1"))]})
        with zipfile.ZipFile(path) as archive:
            text = archive.read("project.qde").decode()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("project.qde", text.replace("0123456789", digits))
        files.append(path)
    message = r"U2.study.qdpx': the text of document 'd1' differs from that in .*U1.study.qdpx'"
    with pytest.raises(sa.SetagreeError, match=message):
        sa.read(files, spans=True)
