"""What engines do not share: pieces that fit in memory, and what they say where they stop."""

import pytest

from setagree.errors import DataError
from setagree.large import engines
from setagree.large.engines import DuckDB, Ibis, Polars, find_engine, stopped, wrapped

duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
pl = pytest.importorskip("polars", reason="Polars is not installed")
pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")


class Told(DuckDB):
    """DuckDB with a memory limit that is told; it writes nothing."""

    def __init__(self, limit):
        super().__init__(folder="nowhere")
        self.limit, self.written = limit, []

    def run(self, work):
        return [[self.limit]]

    def _write(self, native, columns, folder):
        self.written.append(columns)


class TestPieces:
    @pytest.mark.parametrize(
        ("limit", "n_bytes"),
        [
            ("700 bytes", 700),
            ("2.0 KiB", 2_048),
            ("476.8 MiB", 499_961_036),
            ("1.5 GiB", 1_610_612_736),
            ("1.0 TiB", 1_099_511_627_776),
        ],
    )
    def test_as_few_as_the_limit_asks_for(self, limit, n_bytes, tmp_path, monkeypatch):
        """A row takes 100 bytes where it is grouped."""
        monkeypatch.setattr(engines.tempfile, "TemporaryDirectory", lambda **_: Folder(tmp_path))
        for n_rows, wanted in (
            (0, []),
            (n_bytes // 100, []),
            (n_bytes // 100 + 1, ["*, hash(unit) % 3 AS piece"]),
            (3 * (n_bytes // 100), ["*, hash(unit) % 3 AS piece"]),
            (4 * (n_bytes // 100 + 1), ["*, hash(unit) % 5 AS piece"]),
        ):
            engine = Told(limit)
            with engine.pieces("rows", n_rows) as found:
                assert found == ([] if wanted else ["rows"])
            assert engine.written == wanted

    def test_one_where_nobody_set_a_limit(self):
        for engine in (DuckDB(), Polars(), Ibis()):
            with engine.pieces("rows", 10**12) as found:
                assert found == ["rows"]


class Folder:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("Error: gone\nat line 1", "Error: gone"),
        ("failed:\nTraceback\nOSError: disk\n", "failed: OSError: disk"),
        ("failed\nOSError: disk\n", "failed"),
        ("could not create a new thread.", "could not create a new thread. This computer allows"),
        ("Allocation failure", "Allocation failure. This computer allows the process no more"),
        ("x: No space left on device.", "device. Name a folder with room as temp_directory=."),
        ("Out of Memory", "Memory Raise memory_limit=, or name a folder with room as temp_dir"),
    ],
)
def test_what_an_engine_says(said, sentence):
    error = stopped("DuckDB", RuntimeError(said))
    assert str(error).startswith("DuckDB stopped, and there is no result: ")
    assert sentence in str(error)
    assert ("Raise" in str(error)) == ("Memory" in said)


def test_the_engine_of_a_frame():
    frame = pl.DataFrame({"a": [1]})
    assert isinstance(find_engine(wrapped(frame.lazy())), Polars)
    assert isinstance(find_engine(wrapped(duckdb.connect().sql("SELECT 1 AS a"))), DuckDB)
    assert [find_engine(other) for other in (wrapped(frame), frame, frame.lazy(), 5)] == [None] * 4


def test_lists_of_ibis():
    """Lists travel as their length and their labels, separated by U+001F."""
    read = Ibis().from_json
    assert [read(text) for text in ("0:", "1:", "1:a, b", "2:a\x1fb")] == [
        [],
        [""],
        ["a, b"],
        ["a", "b"],
    ]
    for text in ("1:a\x1fb", "2:a"):
        with pytest.raises(DataError, match="a label inside a list is missing, or holds"):
            read(text)
