"""doccano: folders with a file for each annotator, approved or not."""

import pandas as pd
import pytest
from exports.json_writers import TRUTH, answered, doccano, found

import setagree as sa
from setagree.errors import DataError, FileError


def test_doccano_approved_only(tmp_path):
    assert found(sa.read(doccano(tmp_path, TRUTH))) == answered(TRUTH)


def test_doccano_untouched_examples_need_an_answer(tmp_path):
    folder = doccano(tmp_path, TRUTH, approved_only=False)
    with pytest.raises(DataError, match=r"4 examples without labels .*only approved") as caught:
        sa.read(folder)
    assert "roster=" in str(caught.value)
    # p2/noa and p4/ola were no answers; p3/mia and p3/noa were.
    roster = pd.DataFrame([*answered(TRUTH)], columns=["unit", "rater"])
    assert found(sa.read(folder, roster=roster)) == answered(TRUTH)
    untouched = {("p2", "noa"): set(), ("p4", "ola"): set()}
    assert found(sa.read(folder, blank="empty")) == answered(TRUTH) | untouched
    with_labels = {pair: labels for pair, labels in TRUTH.items() if labels}
    assert found(sa.read(folder, blank="missing")) == with_labels


@pytest.mark.parametrize("approved_only", [True, False])
def test_doccano_a_roster_of_other_units(tmp_path, approved_only):
    folder = doccano(tmp_path, TRUTH, approved_only=approved_only)
    raters = dict.fromkeys(rater for _, rater in TRUTH)
    roster = pd.DataFrame([(f"x{k}", who) for k, who in enumerate(raters)])
    with pytest.raises(
        DataError, match=r"annotations that the roster does not list \(first: .*jso"
    ):
        sa.read(folder, roster=roster.set_axis(["unit", "rater"], axis=1))
    labelled = [pair for pair, labels in TRUTH.items() if labels]
    with pytest.raises(DataError, match="1 annotation that the roster does not list"):
        sa.read(folder, roster=pd.DataFrame(labelled[1:], columns=["unit", "rater"]))


def test_a_roster_of_nothing_in_the_file(tmp_path):
    folder = doccano(tmp_path, {(u, r): set() for u in ("p1", "p2") for r in ("mia", "noa")})
    roster = pd.DataFrame({"unit": ["P-1", "P-2"], "rater": ["mia", "noa"]})
    with pytest.raises(DataError, match="none of the 2 rows of the roster is in the file"):
        sa.read(folder, roster=roster)


def test_doccano_where_all_answered_all(tmp_path):
    truth = {(u, r): {"crow"} for u in ("p1", "p2") for r in ("mia", "noa")}
    assert found(sa.read(doccano(tmp_path, truth))) == truth


def test_doccano_csv(tmp_path):
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
    truth = {pair: x and {label.replace("#", "") for label in x} for pair, x in TRUTH.items()}
    doccano(tmp_path, truth, kind=kind)
    blank = {"jsonl": ["", "\n"], "csv": ["", "\n", '""\n', "id,text,label,Comments\n"]}[kind]
    for text in blank:
        (tmp_path / f"admin.{kind}").write_text(text, encoding="utf-8")
        (tmp_path / f".hidden.{kind}").touch()
        assert found(sa.read(tmp_path)) == answered(truth)


def test_doccano_without_raters_is_refused(tmp_path):
    doccano(tmp_path, {("p1", "all"): {"crow"}, ("p2", "all"): set()})
    for path in (tmp_path, tmp_path / "all.jsonl"):
        with pytest.raises(DataError, match=r"does not identify the rater: .* Pass that folder"):
            sa.read(path)
    (tmp_path / "all.csv").write_text("id,text,label,Comments\n1,a,crow,[]\n", encoding="utf-8")
    with pytest.raises(DataError, match="does not identify the rater"):
        sa.read(tmp_path / "all.csv")
    with pytest.raises(FileError, match=r"has no file \*\.csv"):
        sa.read(doccano_folder_without_csv(tmp_path), tool="doccano_csv")


def doccano_folder_without_csv(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_folder_with_other_files_is_not_recognised(tmp_path, kind):
    doccano(tmp_path, TRUTH, kind=kind)
    (tmp_path / ".DS_Store").touch()
    assert {*found(sa.read(tmp_path))} == {*answered(TRUTH)}
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileError, match="is a folder; name a file in it"):
        sa.read(tmp_path)
