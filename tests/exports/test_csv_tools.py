"""Readers of exports that are tables: the truth comes back, and what cannot tell it says so."""

import csv
import os
import warnings
from pathlib import Path

import pandas as pd
import pytest
from exports.csv_writers import (
    ROWS,
    SIMPLE,
    TRUTH,
    WRITERS,
    answered,
    form,
    form_sheet,
    given_answers,
    labelled,
    mturk_pipe,
    read,
    roster,
    spelled,
)
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
from setagree.exports.detection import peek, recognised


@pytest.mark.parametrize("name", WRITERS)
def test_the_truth_comes_back(name, save):
    writer, truth, said = WRITERS[name]
    found = given_answers(save(writer(truth)), **said)
    assert found == spelled(name, answered(truth))


@pytest.mark.parametrize("name", WRITERS)
def test_the_door_opens_every_layout(name, save):
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
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    found = [each.name for each in recognised(peek(path), FORMATS)]
    assert found == ([] if name == ROWS else [name])


def test_every_format_is_tested():
    elsewhere = {"nvivo_matrix", "nvivo_comparison", "brighter_individuals", "sosci"}
    tables = {each.name for each in FORMATS if each.shapes == {"table"}}
    assert tables == {*WRITERS} | elsewhere
    assert len({each.name for each in FORMATS}) == len(FORMATS)


LABEL = st.text("abcé <>&'\"{}[]=%-:#.1", min_size=1, max_size=8).map(str.strip).filter(bool)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*in brackets")
@pytest.mark.filterwarnings("ignore::setagree.errors.SimilarLabelsWarning")
@pytest.mark.parametrize("name", ["mturk_pipe", "appen", "toloka", "zooniverse", "atlasti"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets=st.lists(st.sets(LABEL, max_size=3), min_size=11, max_size=11))
def test_hostile_labels_come_back(name, save, sets):
    truth = dict(zip(TRUTH, sets, strict=True))
    assert given_answers(save(WRITERS[name][0](truth)), tool=name) == truth


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_give_a_sentence(name, save):
    writer, truth, said = WRITERS[name]
    text = writer(truth)
    cut = [text[:end] for end in range(1, len(text), max(1, len(text) // 10))]
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
                read(save(each), **{"tool": name, **said})
            except SetagreeError:
                refused += 1
    assert refused


ASK = ["google_forms_csv", "google_forms_sheet", "qualtrics_values", "qualtrics_labels"]
DEFAULT_EMPTY = ["mturk_pipe", "appen", "label_studio_csv", "atlasti"]


@pytest.mark.parametrize("name", ASK)
def test_an_open_answer_is_asked_for(name, save):
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    # f2/lee skipped, f3/kim and f3/lee and f4/max empty, f4/lee absent
    with pytest.raises(
        DataError, match=r"has 5 blank answers \(first: line .*blank='empty'.*roster="
    ):
        read(path)
    with pytest.raises(DataError, match="blank='error' permits none"):
        read(path, blank="error")
    assert given_answers(path, blank="missing") == spelled(name, labelled(truth))
    empty = given_answers(path, blank="empty")
    assert len(empty) == 12
    assert empty["f4", "lee"] == set()


@pytest.mark.parametrize("name", DEFAULT_EMPTY)
def test_a_blank_answer_that_was_handed_in_is_empty(name, save):
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    assert given_answers(path)["f3", "kim"] == set()
    assert given_answers(path, blank="missing") == labelled(truth)
    with pytest.raises(DataError, match=r"3 blank answers .*blank='error' permits none"):
        read(path, blank="error")


@pytest.mark.parametrize("name", ["dedoose", "plain_row_per_label"])
def test_what_has_no_row_needs_a_roster(name, save):
    writer, truth, _ = WRITERS[name]
    path = save(writer(truth))
    for said in ({}, {"blank": "empty"}, {"blank": "error"}):
        with pytest.raises(DataError, match="Use roster="):
            read(path, tool=name, **said)
    assert given_answers(path, tool=name, blank="missing") == labelled(truth)


def test_several_rows_of_a_rater_are_asked_about(save):
    path = save(
        "unit,rater,labels\nu1,ana,joy\nu1,ben,joy\nu2,ana,fear\nu2,ben,fear\nu2,ben,anger\n"
    )
    for said in ({}, {"blank": "missing"}):
        with pytest.raises(DataError, match=r"more than once .*tool='plain_row_per_label'"):
            sa.read(path, **said)
    for policy, last in [("first", "fear"), ("last", "anger")]:
        study = sa.read(path, duplicates=policy).to_long().set_index(["unit", "rater"])
        assert study.loc[("u2", "ben"), "labels"] == {last}
        with pytest.raises(OptionError, match=rf"unites the rows .*duplicates='{policy}'"):
            sa.read(path, tool=ROWS, duplicates=policy, blank="missing")
    for said in ({"duplicates": "union"}, {"tool": ROWS, "blank": "missing"}):
        study = sa.read(path, **said).to_long().set_index(["unit", "rater"])
        assert study.loc[("u2", "ben"), "labels"] == {"fear", "anger"}


def test_a_path_asks_as_its_frame_does(save):
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
    file = save(roster(TRUTH).to_csv(index=False), "roster.csv")
    path = save(form_sheet(SIMPLE))
    for where in (file, str(file)):
        assert given_answers(path, roster=where, blank="missing") == answered(SIMPLE)


def test_a_roster_must_fit(save):
    path = save(form_sheet(SIMPLE))
    with pytest.raises(DataError, match=r"7 annotations that the roster does not list .*unit 'f1'"):
        read(path, roster=pd.DataFrame({"unit": ["f9"], "rater": ["kim"]}))
    with pytest.raises(DataError, match=r"roster: .*'rater'"):
        read(path, roster=pd.DataFrame({"unit": ["f9"]}))
    with pytest.raises(DataError, match="roster: Expected a table, got a list"):
        read(path, roster=[1])
    with pytest.raises(OptionError, match="blank='none' is unknown"):
        read(path, blank="none")


def test_rosters_match_numbers_and_text(save):
    path = save("item,coder,tag\n1,7,a\n1,7,b\n2,7,a\n")
    listed = pd.DataFrame({"unit": [1, 2, 3], "rater": [7, 7, 7]})
    assert read(path, tool=ROWS, roster=listed) == {
        ("1", "7"): {"a", "b"},
        ("2", "7"): {"a"},
        ("3", "7"): set(),
    }


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
    ],
)
def test_a_question_can_be_named(name, question, save):
    writer, truth, said = WRITERS[name]
    path = save(writer(truth))
    assert given_answers(path, question=question, **said) == answered(truth)
    with pytest.raises(SetagreeError, match=r"'moods'"):
        read(path, question="moods", **said)


def test_another_separator_is_doubted(save):
    rows = "".join(f"h{k},kim,a;b\n" for k in range(3))
    path = save("HITId,WorkerId,Answer.g\n" + rows)
    with pytest.warns(SeparatorWarning, match="did you mean label_sep=';'"):
        read(path)
    assert read(path, label_sep=";")["h0", "kim"] == {"a", "b"}
    text = form(";", "02.05.2024 09:20:00")(TRUTH).replace("sci-fi, hard", "sci-fi")
    with pytest.warns(SeparatorWarning, match="did you mean label_sep=';'"):
        read(save(text), tool="google_forms_sheet", blank="empty")
    for name, (writer, truth, _) in WRITERS.items():
        if name in {*ASK[:2], "mturk_pipe", "appen", "atlasti"}:
            with pytest.raises(OptionError, match="label_sep='' must be text of one character"):
                read(save(writer(truth)), label_sep="")


def test_several_questions_are_asked_about(save):
    text = "HITId,WorkerId,Answer.genres,Answer.moods\nh1,kim,noir,sad|slow\nh1,lee,noir,sad\n"
    path = save(text)
    with pytest.raises(OptionError, match=r"'genres', 'moods'; choose one with question="):
        read(path)
    assert read(path, question="moods") == {("h1", "kim"): {"sad", "slow"}, ("h1", "lee"): {"sad"}}
    with pytest.raises(FileError, match="has no column of answers"):
        read(save("HITId,WorkerId,Reward\nh1,kim,1\n"), tool="mturk_pipe")


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
    "dedoose_excerpts.csv": "{}",
    "google_forms_csv_download.csv": "{}@example.org",
    "google_forms_sheet.csv": "{}@example.org",
    "qualtrics_values.csv": "{}",
    "qualtrics_labels.csv": "{}",
    "plain_one_row_per_label.csv": "{}",
}


@pytest.fixture
def samples():
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
    return {"tool": ROWS} if sample == "plain_one_row_per_label.csv" else {}


def sample_options(said, truth):
    if said is None:
        return {}
    listed = [(unit, said.format(rater)) for unit, rater in truth]
    return {"roster": pd.DataFrame(listed, columns=["unit", "rater"])}


@pytest.mark.parametrize("name", [name for name, said in SAMPLES.items() if said is not None])
def test_the_samples_that_cannot_tell_say_so(name, samples):
    folder, _ = samples
    with pytest.raises(DataError, match="roster="):
        read(folder / name, **named(name))


def test_the_samples_of_plain_tables(samples):
    """With a roster, or a policy for blank cells, they have the truth; else NA is a label."""
    folder, truth = samples
    listed = pd.DataFrame([*truth], columns=["unit", "rater"])
    wide = sa.read(folder / "plain_wide.csv", wide=True, roster=listed)
    long = sa.read(folder / "plain_long.csv", blank="empty")
    with pytest.warns(SetagreeWarning, match="table of flags: anger, fear, joy"):
        flags = sa.read(folder / "plain_onehot_long.csv")
    for study in (wide, long, flags):
        assert {(unit, rater): x for rater, unit, x in study.to_triples()} == truth
    with pytest.warns(MissingMarkerWarning), pytest.warns(BlankLabelsWarning):
        assert sa.read(folder / "plain_wide.csv", wide=True).n_ratings == 12  # NA twice


@pytest.mark.parametrize("name", ["nvivo_matrix_coding.csv", "nvivo_coding_comparison.csv"])
def test_the_samples_without_raters_are_refused(name, samples):
    with pytest.raises(DataError, match="does not contain the codes of each user"):
        read(samples[0] / name)
