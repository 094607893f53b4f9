"""Datasets that the library of Hugging Face saved: classes by their names, splits, damage.

The folder saved_dataset beside this file was written by datasets 5.2.0: flat is
``Dataset.from_dict(rows, features=features).save_to_disk("flat", num_shards=2)``, with labels
``List(ClassLabel)``; nested is a ``DatasetDict`` of one split, with annotators
``List({"annotator_id": Value("string"), "labels": List(ClassLabel)})``.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest
from cli_support import ok, refusal

import setagree as sa
from setagree.errors import FileError, MissingDependencyError, OptionError
from setagree.files.tables import read_table

pa = pytest.importorskip("pyarrow", reason="it reads Arrow")

WRITTEN = Path(__file__).parent / "saved_dataset"
TRUTH = {
    ("p1", "mia"): {"crow"},
    ("p1", "noa"): {"crow", "gull"},
    ("p2", "mia"): {"heron, grey", "wren|owl#"},
    ("p2", "noa"): {"gull"},
    ("p3", "mia"): set(),
    ("p3", "noa"): set(),
}
NAMES = ["crow", "gull", "heron, grey", "wren|owl#"]
CLASSES = {"names": NAMES, "_type": "ClassLabel"}


def found(study):
    """Return the annotations of a study as the truth is written."""
    return {(unit, rater): set(labels) for rater, unit, labels in study.to_triples()}


@pytest.fixture
def flat(tmp_path):
    return Path(shutil.copytree(WRITTEN / "flat", tmp_path / "flat"))


def save(folder, table, features):
    """Write a table as `save_to_disk` does."""
    folder.mkdir(parents=True)
    name = "data-00000-of-00001.arrow"
    with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    state = {"_data_files": [{"filename": name}], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    return folder


class TestReading:
    def test_an_empty_first_batch_is_no_empty_dataset(self, tmp_path):
        table = pa.table({"unit": [1, 1], "rater": ["mia", "noa"], "labels": ["crow", "gull"]})
        folder = save(tmp_path / "d", table, {})
        with (
            pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as out,
        ):
            for batch in (table.slice(0, 0), table):
                for each in batch.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
                    out.write_batch(each)
        assert "1,noa,gull" in ok("convert", folder)

    @pytest.mark.parametrize("name", ["flat", "nested", "nested/train"])
    def test_what_the_library_wrote(self, name):
        path = WRITTEN / name
        assert found(sa.read(path)) == TRUTH
        triples = [(rater, unit, labels) for (unit, rater), labels in TRUTH.items()]
        expected = sa.agreement(sa.Annotations.from_triples(triples))
        assert sa.agreement(path).to_frame().equals(expected.to_frame())
        assert '"n_ratings": 6' in ok("score", path, "-f", "json")

    def test_classes_have_their_names(self):
        """A class is its name in every column; -1, which stands for none, is null.

        The name is one label: outside lists it is quoted where a separator would make it several.
        """
        frame = read_table(WRITTEN / "flat")
        assert frame["annotator"].tolist() == ["mia", "noa"] * 3
        assert frame["main"].tolist()[:3] == ["crow", "crow", '"heron, grey"']
        assert frame["main"].isna().tolist() == [False] * 4 + [True] * 2
        with pytest.warns(sa.errors.SetagreeWarning, match="2 nulls"):
            named = sa.read(WRITTEN / "flat", unit="id", rater="annotator", labels="main")
        assert found(named)["p2", "noa"] == {"gull"}
        assert found(named)["p2", "mia"] == {"heron, grey"}
        assert named.n_missing == 2

    @pytest.mark.parametrize(
        ("kind", "feature"),
        [
            (pa.list_(pa.int64()), {"feature": CLASSES, "_type": "Sequence"}),
            (pa.large_list(pa.int64()), {"feature": CLASSES, "_type": "LargeList"}),
            (pa.list_(pa.int64(), 2), {"feature": CLASSES, "length": 2, "_type": "List"}),
            (pa.list_(pa.int8()), [CLASSES]),
        ],
    )
    def test_every_list_of_classes(self, tmp_path, kind, feature):
        labels = pa.array([[0, 3], None, [1, 2]], kind)
        table = pa.table({"unit": ["a", "b", "b"], "rater": ["x", "x", "y"], "labels": labels})
        study = sa.read(save(tmp_path / "all", table, {"labels": feature}))
        assert found(study) == {("a", "x"): {NAMES[0], NAMES[3]}, ("b", "y"): {NAMES[1], NAMES[2]}}

    def test_objects_of_lists(self, tmp_path):
        kind = pa.struct({"rater": pa.list_(pa.string()), "labels": pa.list_(pa.list_(pa.int64()))})
        raters = pa.array([{"rater": ["x", "y"], "labels": [[0], [1, 2]]}], kind)
        features = {
            "raters": {
                "feature": {
                    "rater": {"dtype": "string", "_type": "Value"},
                    "labels": {"feature": CLASSES, "_type": "Sequence"},
                },
                "_type": "Sequence",
            }
        }
        folder = save(tmp_path / "old", pa.table({"id": ["a"], "raters": raters}), features)
        assert found(sa.read(folder)) == {("a", "x"): {"crow"}, ("a", "y"): {"gull", NAMES[2]}}

    def test_pictures(self, tmp_path):
        pictures = pa.array([{"bytes": b"x" * 1000, "path": None}] * 2)
        columns = {"unit": [1, 1], "rater": ["a", "b"], "labels": [["x"], []], "image": pictures}
        features = {"image": {"_type": "Image"}}
        folder = save(tmp_path / "pictures", pa.table(columns), features)
        assert str(read_table(folder)["image"].dtype).startswith("struct")
        assert found(sa.read(folder)) == {(1, "a"): {"x"}, (1, "b"): set()}
        with pytest.raises(sa.errors.SetagreeError, match="Unit 1, rater 'a': "):
            sa.read(folder, labels="image")

    def test_splits(self, flat):
        both = flat.parent / "both"
        for name in ("train", "test"):
            shutil.copytree(flat, both / name)
        (both / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
        said = r"both' is a dataset with 2 splits \('train', 'test'\); name the folder of one, such"
        for read in (sa.read, sa.agreement, read_table):
            with pytest.raises(FileError, match=said):
                read(both)
        assert "with 2 splits" in refusal("score", both)
        assert found(sa.read(both / "train")) == TRUTH
        joined = [both / "train", both / "test"]
        with pytest.warns(sa.errors.SetagreeWarning, match="drops 6 of 12 rows"):
            assert sa.read(joined, filename_column="split", where="split == test").n_ratings == 6

    def test_other_folders(self, tmp_path):
        (tmp_path / "dataset_info.json").write_text("{}")
        for function in (sa.read, read_table):
            with pytest.raises(FileError, match="is a folder; name a file in it"):
                function(tmp_path)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "content", "sentence"),
        [
            ("state.json", "{", r"state\.json' cannot be read: "),
            ("state.json", "[]", r"state\.json' is not a JSON object"),
            ("state.json", "{}", r"state\.json' does not name the files of the rows"),
            ("state.json", '{"_data_files": 7}', "does not name the files of the rows"),
            ("state.json", '{"_data_files": [{"filename": "../b.arrow"}]}', "does not name the fi"),
            ("state.json", '{"_data_files": [{"filename": "b.arrow"}]}', r"no file '.*b\.arrow'"),
            (
                "state.json",
                '{"_data_files": [{"filename": "dataset_info.json"}]}',
                "flat' cannot be read as a dataset: ",
            ),
            (
                "state.json",
                '{"_data_files": [{"filename": "x"}], "_indices_data_files": [{"filename": "y"}]}',
                "with a list of selected rows, as old versions of datasets do",
            ),
            ("dataset_info.json", "[" * 100_000, r"dataset_info\.json' cannot be read"),
            (
                "dataset_info.json",
                '{"features": {"annotator": {"_type": "ClassLabel", "names": [1]}}}',
                "the class names of 'annotator' must be a list of text",
            ),
            (
                "dataset_info.json",
                '{"features": {"annotator": {"_type": "ClassLabel", "names": ["mia"]}}}',
                "flat', column 'annotator': 1 is not the number of a class; there are 0 to 0",
            ),
            ("dataset_dict.json", '{"splits": ["../flat"]}', "does not list the splits"),
            ("dataset_dict.json", '{"splits": []}', "does not list the splits"),
            ("dataset_dict.json", '{"splits": ["gone"]}', r"no file '.*gone/"),
        ],
    )
    def test_damaged(self, flat, name, content, sentence):
        (flat / name).write_text(content)
        for read in (sa.read, sa.agreement, read_table):
            with pytest.raises(FileError, match=sentence):
                read(flat)

    def test_cut_off(self, flat):
        data = flat / "data-00001-of-00002.arrow"
        whole = data.read_bytes()
        data.write_bytes(whole.replace(b"annotator", b"annotat\xb0r"))
        with pytest.raises(FileError, match="flat' cannot be read as a dataset"):
            sa.read(flat)
        data.write_bytes(b"\xff\xff\xff\xff" + b"\x07" * 200)
        with pytest.raises(FileError, match=r"flat' cannot be read as a dataset: .*[^.]\.$"):
            sa.read(flat)
        data.write_bytes(whole[:700])
        with pytest.raises(FileError, match="flat' cannot be read as a dataset"):
            sa.read(flat)

    def test_without_rows(self, tmp_path):
        table = pa.table({"unit": pa.array([], pa.string())})
        with pytest.raises(FileError, match="has columns and no rows"):
            sa.agreement(save(tmp_path / "none", table, {}))

    def test_options_of_other_files(self, flat):
        with pytest.raises(OptionError, match="sql='SELECT 1' is for SQLite databases"):
            sa.read(flat, sql="SELECT 1")
        with pytest.raises(OptionError, match="sheet=1 is for Excel workbooks"):
            sa.read(flat, sheet=1)
        assert "is read into memory as a whole" in refusal("score", flat, "--memory-limit", "1GB")

    def test_without_pyarrow(self, flat, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingDependencyError, match=r'pip install "setagree\[files\]"'):
            read_table(flat)


def test_numbers_in_parquet(tmp_path):
    table = pa.table({"unit": [1, 1], "rater": ["a", "b"], "labels": [["x"], ["x", "y"]]})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "a.parquet")
    study = sa.read(tmp_path / "a.parquet")
    assert found(study) == {(1, "a"): {"x"}, (1, "b"): {"x", "y"}}
