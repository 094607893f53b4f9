"""Hugging Face rows: numbers of classes, flags, and raters inside a unit."""

import json

import pytest
from exports.csv_writers import read
from exports.json_writers import (
    LABELS,
    TRUTH,
    answered,
    as_lines,
    by_unit,
    found,
    hf_nested,
    hf_sequence,
    pairs,
    put,
    write,
)

import setagree as sa
from setagree.errors import DataError, FileError, LabelError


def test_a_blank_row_of_flags_is_asked_about(save):
    text = "id,rater_id,example_very_unclear,a,b\n1,kim,False,,\n1,lee,False,0,0\n"
    with pytest.raises(DataError, match=r"1 blank answer .*All its labels are blank"):
        read(save(text))
    assert read(save(text), blank="missing") == {("1", "kim"): None, ("1", "lee"): set()}
    with pytest.raises(FileError, match="has no columns of labels"):
        read(save("id,rater_id,example_very_unclear\n1,kim,False\n"))


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
    (tmp_path / beside).write_text(json.dumps(features), encoding="utf-8")
    codes = {pair: {LABELS.index(x) for x in labels} for pair, labels in answered(TRUTH).items()}
    for make in (hf_sequence, hf_nested):
        path = tmp_path / "birds.jsonl"
        path.write_text(as_lines(make(codes)), encoding="utf-8")
        assert found(sa.read(path)) == answered(TRUTH)
        path.write_text(as_lines(make(TRUTH)), encoding="utf-8")  # names stay names
        assert found(sa.read(path)) == answered(TRUTH)
    path.write_text(as_lines(hf_sequence(codes)), encoding="utf-8")
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    tally = sa.tally(path, memory_limit="300MB")
    assert {*tally.values} == {frozenset(labels) for labels in answered(TRUTH).values()}


def rows_in(folder, records):
    path = folder / "rows.jsonl"
    path.write_text(as_lines(records), encoding="utf-8")
    return path


def test_class_labels_without_names_stay_numbers(tmp_path):
    path = rows_in(tmp_path, hf_sequence({("p1", "mia"): {2, 0}, ("p1", "noa"): {2}}))
    (tmp_path / "dataset_info.json").write_text('{"features": {"labels": 3}}', encoding="utf-8")
    assert found(sa.read(path)) == {("p1", "mia"): {0, 2}, ("p1", "noa"): {2}}


def test_class_labels_that_do_not_fit(tmp_path):
    path = rows_in(tmp_path, hf_sequence({("p1", "mia"): {0}, ("p1", "noa"): {4}}))
    beside = tmp_path / "dataset_info.json"
    beside.write_text(json.dumps(FEATURES), encoding="utf-8")
    with pytest.raises(FileError, match=r"'labels': 4 is not the number of a class, .* 0 to 3"):
        sa.read(path)
    bad = {"labels": {"names": [1, 2], "_type": "ClassLabel"}}
    beside.write_text(json.dumps(bad), encoding="utf-8")
    with pytest.raises(FileError, match="the names of a ClassLabel must be a list of text"):
        sa.read(path)


def test_rows_of_lists_are_a_table(tmp_path):
    """A null list is missing; labels= names another list."""
    records = hf_sequence(TRUTH)
    records[0] |= {"labels": None, "topics": ["x"]}
    for record in records[1:]:
        record["topics"] = []
    path = rows_in(tmp_path, records[::-1])
    assert found(sa.read(path)) == {p: x for p, x in answered(TRUTH).items() if p != ("p1", "mia")}
    assert found(sa.read(path, labels="topics"))["p1", "mia"] == {"x"}


def test_nested_rows(tmp_path):
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
    with pytest.raises(FileError, match=r"line 2, annotators\.labels: 1 answer of 2 raters"):
        sa.read(write(tmp_path, "hf_nested", parallel))
    odd = write(tmp_path, "hf_nested", [{"id": 1, "labels": ["x"]}])
    with pytest.raises(DataError, match="no key with raters"):
        sa.read(odd, tool="hf_nested")
    for record in records:
        record["q"] = record.pop("id")
    with pytest.raises(DataError, match=r"usual name for the unit among 'q'; rename it to unit"):
        sa.read(write(tmp_path, "hf_nested", records))


class TestHuggingFace:
    def test_flags_in_rows(self, tmp_path):
        """[1, 0] and [0, 1] would both be the set of 0 and 1."""
        rows = [
            {"id": unit, "annotator": who, "labels": flags}
            for unit, who, flags in [("u1", "a", [1, 0, 0]), ("u1", "b", [0, 0, 1])]
        ]
        with pytest.raises(
            LabelError, match=r"every cell is a list of 3 zeros and ones, such as \[1, 0, 0\]"
        ):
            sa.read(put(tmp_path, "rows.jsonl", rows))

    def test_flags_of_nested_raters(self, tmp_path):
        rows = [{"id": "u1", "given": {"annotator": [*"abc"], "labels": [[1, 0], [], [0, 1]]}}]
        with pytest.raises(FileError, match=r"given.labels\[0\]: .* 2 zeros and ones"):
            sa.read(put(tmp_path, "rows.jsonl", rows))

    @pytest.mark.parametrize("labels", [[[0], [1]], [[0, 1], [0]], [[0, 2], [0, 1]], [[], []]])
    def test_numbers_of_classes(self, tmp_path, labels):
        rows = [{"id": "u", "annotator": who, "labels": labels[k]} for k, who in enumerate("ab")]
        study = sa.read(put(tmp_path, "rows.jsonl", rows))
        assert pairs(study) == {("u", "a"): {*labels[0]}, ("u", "b"): {*labels[1]}}


class TestGoEmotions:
    HEAD = "text,id,rater_id,example_very_unclear"

    def test_labels_to_the_left(self, tmp_path):
        text = "text,id,rater_id,joy,example_very_unclear,fear\nt,u,1,1,False,0\nt,u,2,0,False,1\n"
        with pytest.raises(DataError, match="column 'joy' has 0 and 1 and is to the left"):
            sa.read(put(tmp_path, "flags.csv", text))

    @pytest.mark.parametrize("word", ["yes", "maybe", "2"])
    def test_unclear_is_true_or_false(self, tmp_path, word):
        text = f"{self.HEAD},joy\nt,u,1,{word},1\nt,u,2,FALSE,1\n"
        with pytest.raises(FileError, match=f"column 'example_very_unclear': '{word}' is neither"):
            sa.read(put(tmp_path, "flags.csv", text))

    def test_unclear_examples(self, tmp_path):
        """True leaves out, False and blank do not."""
        text = f"{self.HEAD},joy\nt,u,1,TRUE,1\nt,u,2,,1\nt,u,3,false,0\n"
        assert pairs(sa.read(put(tmp_path, "flags.csv", text))) == {
            ("u", "2"): {"joy"},
            ("u", "3"): set(),
        }
