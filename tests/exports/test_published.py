"""Layouts of published data sets: made-up files of each, and the answers that they hold."""

import json

import pytest

import setagree as sa

TRUTH = {
    ("t1", "Ann1"): {"1"},
    ("t1", "Ann2"): {"0"},
    ("t1", "Ann3"): {"1"},
    ("t2", "Ann1"): {"0"},
    ("t2", "Ann2"): {"0"},
}
UNITS = {"t1": {"Ann1": "1", "Ann2": "0", "Ann3": "1"}, "t2": {"Ann1": "0", "Ann2": "0"}}


def found(study):
    return {(str(unit), rater): set(labels) for rater, unit, labels in study.to_triples()}


def as_json(rows):
    return "\n".join(map(json.dumps, rows))


LEWIDI_2023 = json.dumps(
    {
        unit: {
            "text": "a, b", "task": "hate", "number of annotations": len(given),
            "annotators": ",".join(given), "annotations": ",".join(given.values()),
            "hard_label": "0", "soft_label": {"0": 0.5, "1": 0.5}, "split": "train",
        }
        for unit, given in UNITS.items()
    }
)  # fmt: skip
LEWIDI_2025 = json.dumps(
    {
        unit: {"text": "x", "annotators": ",".join(given), "annotations": given, "lang": "en"}
        for unit, given in UNITS.items()
    }
)
LISTS = [
    {"id": unit, "text": "x", "annotators": [*given], "labels": [*given.values()]}
    for unit, given in UNITS.items()
]
CELLS = "id,text,annotators,labels\n" + "\n".join(
    f'{unit},"a, b","{[*given]}","{[*given.values()]}"' for unit, given in UNITS.items()
)
ROLES = CELLS.replace("annotators", "raters")  # columns with the usual names of a long table
COMMAS = "id,text,annotators,annotations\n" + "\n".join(
    f'{unit},"a, b","{", ".join(given)}","{",".join(given.values())}"'
    for unit, given in UNITS.items()
)
PIPES = "id,text,annotators,annotations\n" + "\n".join(
    f"{unit},hi,{'|'.join(given)},{'|'.join(given.values())}" for unit, given in UNITS.items()
)
NUMBERS = as_json(row | {"labels": [int(x) for x in row["labels"]]} for row in LISTS)


@pytest.mark.parametrize(
    ("text", "name", "tool"),
    [
        (LEWIDI_2023, "hs_train.json", "lewidi"),
        (LEWIDI_2025, "csc_train.json", "lewidi"),
        (as_json(LISTS), "rows.jsonl", "parallel_lists"),
        (as_json(LISTS).replace('"x"', '"x, y"'), "rows.jsonl", "parallel_lists"),
        (NUMBERS, "rows.jsonl", "parallel_lists"),
        (json.dumps(LISTS), "rows.json", "parallel_lists"),
        (CELLS, "rows.csv", "parallel_lists"),
        (ROLES, "rows.csv", "parallel_lists"),
        (COMMAS, "rows.csv", "parallel_lists"),
        (PIPES, "rows.csv", "parallel_lists"),
    ],
)
def test_answers_of_each_annotator(text, name, tool, save):
    study = sa.read(save(text, name))
    assert study.reading.tool == tool
    assert found(study) == TRUTH


def test_label_sets_in_lists_and_in_text(save):
    rows = [{"id": "t1", "annotators": ["a", "b"], "labels": [["x", "y"], []]}]
    assert found(sa.read(save(as_json(rows), "r.jsonl"))) == {
        ("t1", "a"): {"x", "y"},
        ("t1", "b"): set(),
    }
    long = [{"id": "t1", "raters": who, "labels": "x, y"} for who in "ab"]
    assert found(sa.read(save(as_json(long), "l.jsonl")))["t1", "a"] == {"x", "y"}
    varierr = {"9": {"annotators": "A1,A2", "annotations": {"A1": "entailment,neutral", "A2": ""}}}
    file = save(json.dumps(varierr), "v.json")
    with pytest.raises(sa.SetagreeError, match=r"9.annotations.A2: blank; use blank='empty'"):
        sa.read(file)
    assert found(sa.read(file, blank="empty"))["9", "A2"] == set()


def test_numbers_are_labels_with_all_their_digits(save):
    given = [1000000, 1000001, 0.1234561, 0.1234562, 2.0, "skip", float("nan"), None]
    rows = [{"id": "t1", "annotators": [*"abcdefgh"], "labels": given}]
    lewidi = {"t1": {"annotators": "a,b", "annotations": dict(zip("abcdefgh", given, strict=True))}}
    texts = ["1000000", "1000001", "0.1234561", "0.1234562", "2", "skip"]
    expected = {("t1", rater): {text} for rater, text in zip("abcdef", texts, strict=True)}
    for text, name in ((as_json(rows), "rows.jsonl"), (json.dumps(lewidi), "units.json")):
        assert found(sa.read(save(text, name))) == expected


def test_lists_of_other_lengths_are_refused(save):
    text = LEWIDI_2023.replace('"1,0,1"', '"1,0"')
    with pytest.raises(sa.SetagreeError, match=r"t1\.annotations: 2 answers of 3 raters"):
        sa.read(save(text, "a.json"))


def test_names_and_label_sets_with_commas_are_not_lists(save):
    text = 'id,raters,labels\nt1,"Li, An","joy, fear"\nt1,Bo,joy\nt2,"Li, An",joy\nt2,Bo,fear\n'
    assert set(sa.read(save(text, "rows.csv")).raters) == {"Li, An", "Bo"}


def test_a_row_per_text_and_emotion(save):
    text = (
        "id,text,emotion,annotator_1,annotator_2,annotator_3\n"
        "t1,so good,joy,1,0,\nt1,so good,fear,0,0,\nt2,oh no,joy,0,1,0\nt2,oh no,fear,2,1,0\n"
    )
    study = sa.read(save(text, "individuals.csv"))
    assert study.reading.tool == "brighter_individuals"
    assert found(study) == {
        ("t1", "annotator_1"): {"joy"},
        ("t1", "annotator_2"): set(),
        ("t2", "annotator_1"): {"fear"},
        ("t2", "annotator_2"): {"joy", "fear"},
        ("t2", "annotator_3"): set(),
    }


def test_a_text_blank_for_some_emotions_is_refused(save):
    text = "id,emotion,annotator_1,annotator_2\nt1,joy,1,0\nt1,fear,0,\nt2,joy,,1\nt2,fear,,0\n"
    refused = "line 3, column 'annotator_2': the cell is blank, and other labels of that text are"
    with pytest.raises(sa.SetagreeError, match=refused):
        sa.read(save(text, "individuals.csv"))
    study = sa.read(save(text.replace("0,\n", "0,1\n"), "individuals.csv"))
    assert ("t2", "annotator_1") not in found(study)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("t1,joy,1,0\nt1,fear,0,1\nt2,joy,0,1\n", "text 't2' has no row for 'fear', as other"),
        ("t1,joy,1,0\nt1,joy,0,1\nt2,joy,0,1\n", "line 3, .*: another row of 't1' and 'joy'"),
    ],
)
def test_texts_without_a_row_per_emotion_are_refused(rows, sentence, save):
    with pytest.raises(sa.SetagreeError, match=sentence):
        sa.read(save(f"id,emotion,annotator_1,annotator_2\n{rows}", "individuals.csv"))


def test_potato_users(tmp_path):
    for user, given in {"alice": ["joy", "fear"], "bob": ["joy"]}.items():
        folder = tmp_path / "annotation_output" / user
        folder.mkdir(parents=True)
        pairs = [[{"schema": "emotion", "name": name}, name] for name in given]
        state = {"user_id": user, "instance_id_to_label_to_value": {"i0": pairs, "i1": pairs[:1]}}
        (folder / "user_state.json").write_text(json.dumps(state))
    study = sa.read(tmp_path / "annotation_output")
    assert study.reading.tool == "potato"
    assert found(study) == {
        ("i0", "alice"): {"joy", "fear"},
        ("i1", "alice"): {"joy"},
        ("i0", "bob"): {"joy"},
        ("i1", "bob"): {"joy"},
    }


def test_flags_with_a_column_of_annotators(save):
    """As ConvAbuse has them: the columns of flags are named."""
    text = "example_id,annotator_id,type.sexism,type.racism,note\ne1,A1,1,0,x\ne1,A2,1,1,\n"
    study = sa.read(
        save(text), unit="example_id", rater="annotator_id", labels=["type.sexism", "type.racism"]
    )
    assert found(study)["e1", "A2"] == {"type.sexism", "type.racism"}
