"""SQLite databases: the rows of a query, or of the only table, and nothing is ever written."""

import gzip
import io
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from cli_support import ok, refusal

import setagree as sa
from setagree import checks
from setagree.errors import CostError, FileError, OptionError
from setagree.exports.detection import peek
from setagree.files import sqlite
from setagree.files.streams import Source
from setagree.files.tables import read_table

ROWS = [
    (1, "ann", "joy, fear", 0.5),
    (1, "bob", "joy", None),
    (2, "ann", "fear", 9007199254740993),
    (2, "bob", None, 1),
    (3, "ann", "fear", 1),
    (3, "bob", "joy", 1),
]
RATINGS = "CREATE TABLE ratings (doc, who, tags, score)"
QUERY = "SELECT doc AS unit, who AS rater, tags AS labels FROM ratings WHERE tags IS NOT NULL"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def database(name="a.db", *statements, rows=ROWS):
    """Write a database of ratings, and whatever else is said; return its path."""
    connection = sqlite3.connect(name)
    connection.execute(RATINGS)
    connection.executemany("INSERT INTO ratings VALUES (?, ?, ?, ?)", rows)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return Path(name)


def usual():
    """Write a database whose columns have the usual names."""
    return database("usual.db", *(f"ALTER TABLE ratings RENAME {a} TO {b}" for a, b in USUAL))


USUAL = [("doc", "unit"), ("who", "rater"), ("tags", "labels")]


class TestReading:
    def test_the_only_table(self):
        frame = read_table(database("a.db", "CREATE INDEX i ON ratings (doc)"))
        assert list(frame) == ["doc", "who", "tags", "score"]
        assert frame["doc"].tolist() == [1, 1, 2, 2, 3, 3]
        assert frame["tags"].tolist()[:3] == ["joy, fear", "joy", "fear"]
        assert frame["tags"].isna().tolist() == [False, False, False, True, False, False]
        # Where pandas makes floats beside a null, 9007199254740993 becomes ...992.
        assert frame["score"].tolist()[2] == 9007199254740993

    def test_a_query(self):
        frame = read_table(database(), sql=QUERY + " ORDER BY who, doc")
        assert list(frame) == ["unit", "rater", "labels"]
        assert frame["unit"].tolist() == [1, 2, 3, 1, 3]

    def test_several_tables(self):
        path = database("a.db", 'CREATE TABLE "the ""raters" (x)', "CREATE VIEW v AS SELECT 1")
        with pytest.raises(FileError) as caught:
            read_table(path)
        assert str(caught.value) == (
            """'a.db' has 3 tables ('ratings', 'the "raters', 'v'); choose one with """
            """sql='SELECT * FROM "ratings"', or another query."""
        )
        assert len(read_table(path, sql="SELECT * FROM ratings")) == 6

    @pytest.mark.parametrize("name", ["a b#.db", "50%?.sqlite", "x.csv", "é.sqlite3"])
    def test_names_of_files(self, name):
        assert len(read_table(database(name))) == 6

    def test_full_text_tables(self):
        try:
            path = database(
                "a.db",
                "CREATE VIRTUAL TABLE f USING fts5 (tags)",
                "INSERT INTO f SELECT tags FROM ratings",
            )
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no full-text search")
        assert len(read_table(path, sql="SELECT * FROM f WHERE tags MATCH 'joy'")) == 3

    def test_every_road(self):
        path = database()
        frame = pd.DataFrame([*ROWS[:3], *ROWS[4:]], columns=["unit", "rater", "labels", "score"])
        study = sa.read(path, sql=QUERY)
        expected = sa.agreement(frame[["unit", "rater", "labels"]]).to_frame()
        assert expected["estimate"].notna().all()
        pd.testing.assert_frame_equal(sa.agreement(study).to_frame(), expected)
        usual()
        for read in (sa.read, sa.agreement):
            with pytest.warns(sa.errors.SetagreeWarning, match="1 null"):
                found = read("usual.db")
            table = sa.agreement(found) if read is sa.read else found
            pd.testing.assert_frame_equal(table.to_frame(), expected)
        score = ok("score", path, "--sql", QUERY, "-f", "csv")
        frame.drop(columns="score").to_csv("same.csv", index=False)
        assert score == ok("score", "same.csv", "-f", "csv")
        named = ["--unit", "doc", "--rater", "who", "--labels", "tags", "--blank", "missing"]
        assert ok("score", path, *named, "-f", "csv") == score

    def test_with_other_options(self):
        database("a.db")
        database("b.db", rows=[(9, "ann", "joy", 1), (9, "bob", "joy", 1)])
        with pytest.warns(sa.errors.SetagreeWarning, match="drops 5 of 7 rows"):
            study = sa.read(
                ["a.db", "b.db"], sql=QUERY, where="round == b.db", filename_column="round"
            )
        assert study.units.tolist() == [9]

    def test_what_a_tool_exported_is_seen(self):
        peeked = peek(usual())
        assert peeked.is_binary
        assert peeked.header == ("unit", "rater", "labels", "score")


class TestRefusals:
    @pytest.mark.parametrize(
        "query",
        [
            "DELETE FROM ratings",
            "UPDATE ratings SET who = 'x' RETURNING who",
            "CREATE TABLE x (y)",
            "DROP TABLE ratings",
            "ATTACH 'other.db' AS o",
            "VACUUM INTO 'other.db'",
            "VACUUM",
            "PRAGMA journal_mode = wal",
            "SELECT load_extension('x')",
        ],
    )
    def test_more_than_reading(self, query):
        path = database()
        before = path.read_bytes()
        with pytest.raises(OptionError, match=r"sql=.* does more than read .*: write one SELECT"):
            read_table(path, sql=query)
        assert path.read_bytes() == before
        assert list(map(str, Path().iterdir())) == ["a.db"]

    @pytest.mark.parametrize(
        ("query", "sentence"),
        [
            ("SELECT * FROM rating", "no such table: rating; 'a.db' has the tables 'ratings'"),
            ("SELECT x FROM ratings", "no such column: x"),
            ("ratings", 'near "ratings": syntax error'),
            ("SELECT 1; SELECT 2", "You can only execute one statement at a time"),
            ("SELECT * FROM ratings WHERE doc = ?", "Incorrect number of bindings"),
            ("SELECT '\0'", "null character"),
            ("SELECT '\ud800'", "surrogates not allowed"),
            (
                "SELECT doc, who AS doc FROM ratings",
                "returns two columns 'doc'; rename one of them",
            ),
            ("-- nothing", "returns no table; begin the query with SELECT"),
            ("CREATE TEMP TABLE x AS SELECT 1", "returns no table; begin the query with SELECT"),
        ],
    )
    def test_wrong_queries(self, query, sentence):
        with pytest.raises(OptionError, match="sql=") as caught:
            read_table(database(), sql=query)
        assert sentence in str(caught.value)

    def test_no_query(self):
        for number, sql in enumerate(("", " ", 3, ["SELECT 1"])):
            with pytest.raises(OptionError, match="sql="):
                sa.read(database(f"{number}.db"), sql=sql)
        with pytest.raises(OptionError, match=r"sql= is for tables: use tool='table', or omit"):
            sa.read("0.db", sql=QUERY, tool="prodigy")

    def test_other_files(self):
        Path("a.csv").write_text("unit,rater,labels\nu1,ann,joy\n")
        pd.DataFrame(ROWS).rename(columns=str).to_parquet("a.parquet")
        for name in ("a.csv", "a.parquet"):
            with pytest.raises(OptionError, match=rf"sql=.* is for SQLite databases; '{name}' is"):
                sa.read(name, sql=QUERY)
        with pytest.raises(OptionError, match="sheet='1' is for Excel workbooks"):
            sa.read(database(), sheet="1")

    def test_packed(self, monkeypatch):
        content = database().read_bytes()
        Path("a.db.gz").write_bytes(gzip.compress(content))
        with pytest.raises(FileError, match=r"'a\.db\.gz' is an SQLite database that is comp"):
            read_table("a.db.gz")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(FileError, match="database that came through standard input"):
            read_table("-")

    def test_damaged(self):
        Path("cut.db").write_bytes(database().read_bytes()[:3000])
        Path("head.db").write_bytes(b"SQLite format 3\0")
        for name in ("cut.db", "head.db"):
            with pytest.raises(FileError, match=rf"'{name}' cannot be read as an SQLite database"):
                read_table(name)
        schema = (
            Path("a.db").read_bytes().replace(b"CREATE TABLE ratings", b"CREATE TABL\xde ratings")
        )
        Path("schema.db").write_bytes(schema)
        with pytest.raises(FileError, match=r"'schema\.db' cannot be read as an SQLite database"):
            read_table("schema.db")
        sqlite3.connect("none.db").execute("PRAGMA user_version = 1").connection.close()
        with pytest.raises(FileError, match=r"'none\.db' is an SQLite database without a table"):
            read_table("none.db")
        with pytest.raises(FileError, match=r"has columns and no rows: .* returns none"):
            read_table("a.db", sql="SELECT * FROM ratings WHERE 0")
        odd = database("odd.db", "INSERT INTO ratings VALUES (1, 2, CAST(x'ff41' AS TEXT), 3)")
        with pytest.raises(FileError, match=r"'odd\.db' cannot be read .*Could not decode"):
            read_table(odd)

    def test_larger_than_memory(self, monkeypatch):
        endless = "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) SELECT n"
        monkeypatch.setattr(checks, "MOST_BYTES", 2_000_000)
        path = database()
        with pytest.raises(CostError, match=r"Reading .* rows of 'a\.db'.*GB of memory; the"):
            read_table(path, sql=f"{endless} FROM c")
        pictures = "SELECT zeroblob(1000000) FROM ratings CROSS JOIN ratings AS others"
        with pytest.raises(CostError, match=r"Reading \d+ or more rows of 'a\.db' would"):
            read_table(path, sql=pictures)
        assert "--sql is for files that are read" in refusal(
            "score", path, "--sql", QUERY, "--memory-limit", "1GB"
        )
        assert "is read into memory as a whole" in refusal("score", path, "--memory-limit", "1GB")

    @pytest.mark.usefixtures("ctrl_c_is_heard")
    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are not sent here")
    def test_interrupt(self):
        """Ctrl-C stops a query that gives no row for a long time."""
        endless = "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) "
        path = database()
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            read_table(path, sql=f"{endless} SELECT count(*) FROM c")  # noqa: S608
        timer.join()


class TestNothingIsWritten:
    def test_write_ahead_log(self):
        path = database()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("INSERT INTO ratings VALUES (4, 'ann', 'joy', 1)")
        connection.commit()
        assert len(read_table(path)) == 7
        connection.close()
        assert list(map(str, Path().iterdir())) == ["a.db"]
        assert len(read_table(path)) == 7
        assert list(map(str, Path().iterdir())) == ["a.db"]

    def test_limit(self):
        assert len(sqlite.read_sqlite(Source(database()), limit=2)) == 2
