"""Files that are too much for the memory limit: written once as pieces of whole units."""

import os
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from reduction_support import HOSTILE, generated, in_whole_units, patterns, quiet

import setagree as sa
from setagree.errors import DataError, RepeatsError
from setagree.large import engines
from setagree.large import steps as program

pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb", reason="the extra 'files' is not installed")

LIMIT = {"memory_limit": "500MB"}
COEFFICIENTS = {"coefficient": ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"]}


@pytest.fixture
def n_pieces(monkeypatch):
    """Let each row be a great part of the memory limit; hold how many pieces each table has."""
    found, find_patterns = [], program.find_patterns

    def counting(pieces, *given):
        found.append(len(pieces))
        return find_patterns(pieces, *given)

    monkeypatch.setattr(program, "find_patterns", counting)
    monkeypatch.setattr(engines, "_BYTES_PER_ROW", 5e8 / 200)
    return found


@pytest.fixture
def tiny(monkeypatch, n_pieces):
    """Take even a few rows in pieces."""
    monkeypatch.setattr(engines, "_BYTES_PER_ROW", 5e8 / 2)


def write(path, data):
    pq.write_table(pa.table(data), path)
    return path


def check_as_in_memory(folder, data, **options):
    """Compare all that `agreement` says of a table in pieces with what it says of it in memory."""
    table = pd.DataFrame(data)
    expected = quiet(sa.agreement, table, **COEFFICIENTS, **options)
    path = write(folder / "ratings.parquet", pa.Table.from_pandas(table))
    found = quiet(sa.agreement, path, **COEFFICIENTS, **options, **LIMIT)
    assert next(iter(found)).study is None
    tight = {"check_exact": False, "rtol": 0, "atol": 1e-12}
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), **tight)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("blank", ["missing", "empty"])
def test_hostile_text(tmp_path, n_pieces, blank):
    check_as_in_memory(tmp_path, HOSTILE, blank=blank)
    assert n_pieces[0] > 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_missing_answers(tmp_path, n_pieces, share):
    table = generated()
    table.loc[table.sample(frac=share, random_state=2).index, "labels"] = None
    check_as_in_memory(tmp_path, table, blank="missing")
    assert n_pieces[0] > 2


def test_a_condition(tmp_path, n_pieces):
    table = generated()
    table["round"] = [k % 3 for k in range(len(table))]
    check_as_in_memory(tmp_path, table, blank="empty", where="round < 2")
    assert n_pieces[0] > 2


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "name",
    [
        lambda k: k - 3,
        lambda k: k / 2,
        lambda k: -0.0 if k % 2 else k / 4,
        lambda k: date(2024, 1, 1) + timedelta(k),
        lambda k: k % 2 == 0,
        lambda k: bytes([k]),
    ],
    ids=["whole numbers", "numbers", "two zeros", "dates", "flags", "bytes"],
)
def test_units_that_are_no_text(tmp_path, n_pieces, name):
    study = {"unit": [], "rater": [], "labels": []}
    for k, rater in [(0, "a"), (0, "b"), (3, "a"), (3, "c"), (4, "b"), (4, "c"), (5, "d")]:
        study["unit"].append(name(k))
        study["rater"].append(f"{rater}{k}")
        study["labels"].append("x" if k % 3 else "x, y")
    expected = sa.Tally.from_annotations(sa.Annotations.from_long(pd.DataFrame(study)))
    found = sa.tally(write(tmp_path / "ratings.parquet", study), **LIMIT)
    assert n_pieces[0] >= 1
    assert patterns(found) == patterns(expected)


@pytest.mark.slow
@pytest.mark.parametrize(("hashed", "keep_raters"), [("0", False), ("length(unit)", True)])
def test_units_of_one_hash(tmp_path, n_pieces, monkeypatch, hashed, keep_raters):
    table = generated()
    path = write(tmp_path / "ratings.parquet", pa.Table.from_pandas(table))
    how = {"blank": "empty", "keep_raters": keep_raters, **LIMIT}
    spread = sa.tally(path, **how)
    monkeypatch.setattr(engines, "_HASH", hashed)
    together = sa.tally(path, **how)
    assert n_pieces[0] > n_pieces[1]
    assert patterns(together) == patterns(spread)
    assert together.n_units == table["unit"].nunique()


@pytest.mark.parametrize("keep_raters", [False, True])
def test_order_of_patterns(tmp_path, n_pieces, monkeypatch, keep_raters):
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    path = write(tmp_path / "ratings.parquet", pa.Table.from_pandas(generated()))
    how = {"blank": "empty", "keep_raters": keep_raters}
    expected = sa.tally(pl.scan_parquet(path), **how)  # groups by fingerprints
    in_pieces = sa.tally(path, **how, **LIMIT)
    assert n_pieces[1] > 2
    # With pieces, patterns are merged, in an order that does not depend on the engine's threads.
    assert patterns(in_pieces) == patterns(expected)
    assert str(in_pieces) == str(sa.tally(path, **how, **LIMIT))
    monkeypatch.setattr(engines, "_BYTES_PER_ROW", 1)
    one = sa.tally(path, **how, **LIMIT)
    for name in ("indptr", "indices", "counts", "multiplicity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(expected, name))


@pytest.mark.slow
@pytest.mark.parametrize("keep_raters", [False, True])
@pytest.mark.parametrize("n_raters", [4, 60])
def test_repeats(tmp_path, n_pieces, keep_raters, n_raters):
    table = generated()
    if n_raters > 4:
        places = range(len(table))
        table["rater"] = [f"{who}{k % 15}" for who, k in zip(table["rater"], places, strict=True)]
    how = {"blank": "empty", "keep_raters": keep_raters, **LIMIT}
    tally = sa.tally(write(tmp_path / "a.parquet", pa.Table.from_pandas(table)), **how)
    assert (n_pieces[0] > 2, tally.n_raters) == (True, n_raters)
    for places in ([0], [*range(0, 200, 20)]):
        more = pa.Table.from_pandas(pd.concat([table, table.iloc[places]]), preserve_index=False)
        with pytest.raises(RepeatsError, match=f"^{len(places)} pair"):
            sa.tally(write(tmp_path / "b.parquet", more), **how)


@pytest.mark.slow
def test_parts(tmp_path, n_pieces):
    table = generated()
    for place, part in enumerate(in_whole_units(table, 2)):
        write(tmp_path / f"{place}.parquet", pa.Table.from_pandas(part))
    found = sa.tally(tmp_path / "*.parquet", blank="empty", partitioned_by_unit=True, **LIMIT)
    assert len(n_pieces) == 2
    assert min(n_pieces) > 2
    study = sa.Annotations.from_long(table, blank="empty")
    assert patterns(found) == patterns(sa.Tally.from_annotations(study))


@pytest.mark.slow
def test_nothing_is_left(tmp_path, n_pieces):
    temp_directory, table = tmp_path / "temp_directory", generated()
    temp_directory.mkdir()
    path = write(tmp_path / "ratings.parquet", pa.Table.from_pandas(table))
    how = {"blank": "empty", "temp_directory": temp_directory, **LIMIT}
    sa.tally(path, **how)
    assert [*temp_directory.iterdir()] == []
    write(path, pa.Table.from_pandas(pd.concat([table, table[:1]]), preserve_index=False))
    with pytest.raises(RepeatsError):
        sa.tally(path, **how)
    assert n_pieces[0] > 2
    assert [*temp_directory.iterdir()] == []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of the sizes of files")
def test_a_full_disk(tmp_path, n_pieces):
    import resource

    path = write(tmp_path / "ratings.parquet", pa.Table.from_pandas(generated()))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(
            DataError, match=r"no result: .*Name a folder with room as temp_directory=\.$"
        ):
            sa.tally(path, blank="empty", temp_directory=tmp_path, **LIMIT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert n_pieces == []
    assert [one.name for one in tmp_path.iterdir()] == ["ratings.parquet"]
