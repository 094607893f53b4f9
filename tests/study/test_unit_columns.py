"""Columns that say one thing of each unit: read, kept, and named afterwards."""

import re
from decimal import Decimal

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError, SimilarLabelsWarning, UnknownOptionError
from setagree.large.joining import with_models
from setagree.large.opening import open_study
from setagree.study.reading import Plan

TABLE = pd.DataFrame(
    {
        "sentence": [1, 1, 2, 2, 3, 3, 4, 4],
        "document": ["x", "x", "x", None, "y", "y", "y", "y"],
        "day": [1, 1, 2, 2, 3, 3, 4, 4],
        "who": list("abababab"),
        "labels": ["p", "q", "p", "p", "q", "q", "p, q", "q"],
    }
)

COLUMNS = {"unit": "unit", "rater": "rater", "labels": "labels"}


def read(**options):
    return sa.read(TABLE, unit="sentence", rater="who", **options)


def test_read():
    study = read(unit_columns=["document", "day"])
    assert study.units_frame["document"].tolist() == ["x", "x", "y", "y"]
    assert study.units_frame["day"].tolist() == [1, 2, 3, 4]
    assert study.units_frame.index.tolist() == [1, 2, 3, 4]
    assert read().units_frame.columns.tolist() == []


def test_a_null_of_pandas():
    table = TABLE.astype({"document": "string"})
    study = sa.read(table, unit="sentence", rater="who", unit_columns=["document"])
    assert study.units_frame["document"].tolist() == ["x", "x", "y", "y"]


def test_a_copy():
    study = read(unit_columns=["day"])
    frame = study.units_frame
    frame["day"] = 0
    assert study.units_frame["day"].tolist() == [1, 2, 3, 4]


def test_they_survive():
    study = read(unit_columns=["day"], cluster="document")
    part = study.take(study.unit_codes > 1)
    assert part.units_frame.to_dict("list") == {"day": [3, 4], "document": ["y", "y"]}
    rest = study.exclude_raters(["a"])
    assert rest.units_frame["day"].tolist() == [1, 2, 3, 4]
    assert rest.sampling.cluster == "document"


def test_merged_with_a_model():
    study = read(unit_columns=["day"], cluster="document")
    model = pd.DataFrame({"unit": [1, 2, 3, 4], "labels": list("ppqq")})
    joined, _ = with_models(study, model)
    assert joined.n_raters == 3
    assert joined.units_frame.equals(study.units_frame)
    assert joined.sampling == study.sampling


def test_a_guess_leaves_them_out():
    study = sa.read(TABLE, cluster="document")
    assert study.units.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("engine", ["polars", "lazy", "arrow", "duckdb", "csv"])
def test_every_road(engine, tmp_path):
    expected = read(cluster="document").units_frame
    data = TABLE
    if engine in {"polars", "lazy"}:
        data = pytest.importorskip("polars").from_pandas(TABLE)
        data = data.lazy() if engine == "lazy" else data
    elif engine == "arrow":
        data = pytest.importorskip("pyarrow").Table.from_pandas(TABLE)
    elif engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        data = duckdb.from_df(TABLE)
    else:
        data = tmp_path / "table.csv"
        TABLE.to_csv(data, index=False)
    study = sa.read(data, unit="sentence", rater="who", cluster="document")
    assert study.units_frame["document"].tolist() == expected["document"].tolist()
    with pytest.warns(sa.SetagreeWarning, match="are missing, because 2 clusters"):
        table = sa.agreement(data, unit="sentence", rater="who", cluster="document")
    assert table[0].drawn == "2 clusters"


def test_wide():
    wide = TABLE.pivot(index=["sentence", "day"], columns="who", values="labels").reset_index()
    study = sa.read(wide, wide=True, unit="sentence", unit_columns=["day"])
    assert study.raters.tolist() == ["a", "b"]
    assert study.units_frame["day"].tolist() == [1, 2, 3, 4]


def test_where():
    table = pd.concat([TABLE, TABLE.assign(document="z", who="c", day=[9] * 8)])
    how = {"unit": "sentence", "rater": "who", "unit_columns": ["document"]}
    with pytest.warns(sa.SetagreeWarning, match="drops 8 of 16 rows"):
        study = sa.read(table, **how, where="who in [a, b]")
    assert study.units_frame["document"].tolist() == ["x", "x", "y", "y"]


def test_several_things():
    with pytest.raises(DataError, match=r"column 'who' has several values for unit 1: 'a', 'b'"):
        sa.read(TABLE.assign(by=TABLE["who"]), unit="sentence", rater="by", unit_columns=["who"])


def test_a_time_of_each_answer():
    times = pd.to_datetime("2026-03-02") + pd.to_timedelta(range(len(TABLE)), unit="h")
    table, how = TABLE.assign(time=times.astype(str)), {"unit": "sentence", "rater": "who"}
    with pytest.raises(DataError, match=r"unit 1: '2026-03-02 00:00:00'.*MAXIFS") as refused:
        sa.read(table, **how, unit_columns=["time"])
    made = re.search(r"table\.groupby\(\S+\)\S+\.transform\('max'\)", str(refused.value))[0]
    table["complete"] = eval(made, {"table": table})  # noqa: S307 - the line that the error gives
    study = sa.read(table, **how, unit_columns=["complete"])
    assert study.units_frame["complete"].tolist() == table["time"].iloc[1::2].tolist()
    with pytest.raises(DataError, match=r"must have one value per unit\.$"):
        sa.read(table.assign(batch=range(8)), **how, unit_columns=["batch"])


def test_no_such_column():
    with pytest.raises(DataError, match="there is no column 'nope'"):
        read(cluster="nope")


@pytest.mark.parametrize("option", [{"cluster": "document"}, {"unit_columns": ["day"]}])
def test_what_is_reduced(option, tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    how = sa.Reading(unit="sentence", rater="who", **option)
    with pytest.raises(OptionError, match="is for files that are read into memory"):
        open_study(path, how, Plan(memory_limit="1GB"))
    assert next(iter(option)) in "".join(how.in_memory_only)


def test_groups_and_times_by_name():
    study = read(unit_columns=["document", "day"])
    groups = sa.by_group(study, "document")
    assert groups["group"].tolist() == ["x", "y"]
    assert sa.over_time(study, "day", window=2)["n_units"].tolist() == [2, 2]


def test_mappings():
    study = read()
    series = pd.Series(["x", "y"], index=[1, 2])
    frame = study.with_units({"doc": series, "batch": {3: "late"}}).units_frame
    assert frame["doc"].tolist() == ["x", "y", None, None]
    assert frame["batch"].tolist() == [None, None, "late", None]
    assert study.with_units(frame).units_frame.equals(frame)
    with pytest.raises(DataError, match="doc: the units 1 have several entries"):
        study.with_units({"doc": pd.Series(["x", "y"], index=[1, 1])})
    with pytest.raises(OptionError, match="a mapping or Series from unit"):
        study.with_units({"doc": ["x", "y"]})


def test_where_to_say_it():
    with pytest.raises(UnknownOptionError, match=r"study\.sampled\(cluster=\.\.\.\)"):
        sa.krippendorff_alpha(read(), cluster="document")
    with pytest.raises(UnknownOptionError, match="clusters= is called cluster="):
        sa.agreement(TABLE, clusters="document")


class TestNamesOfGroups:
    STUDY = sa.simulate(24, 3, rng=1)
    NAMES = (1, "1", "A", "a", "b", "c")

    def named(self, *names):
        return {unit: names[k % len(names)] for k, unit in enumerate(self.STUDY.units)}

    @pytest.mark.parametrize(("role", "said"), [("cluster", "Clusters"), ("strata", "Strata")])
    def test_look_alikes(self, role, said):
        words = f"{said} that look alike are kept apart: 1 and '1', 'A' and 'a'. If they are one"
        with pytest.warns(SimilarLabelsWarning, match=words):
            study = self.STUDY.sampled(**{role: self.named(*self.NAMES)})
        assert study.units_frame[role].nunique() == 6

    def test_said_once(self, recwarn):
        frame = self.STUDY.to_long()
        frame["doc"] = frame["unit"].map(self.named(*self.NAMES))
        sa.agreement(frame, unit="unit", rater="rater", labels="labels", cluster="doc")
        said = [str(one.message) for one in recwarn if one.category is SimilarLabelsWarning]
        assert len(said) == 1
        assert said[0].startswith("Clusters that look alike are kept apart: 1 and '1', 'A' and")

    @pytest.mark.parametrize("road", ["mapping", "frame", "csv"])
    def test_merged(self, road, tmp_path):
        names = self.named("a ", "a", "b", "c")
        frame = self.STUDY.to_long().assign(labels=lambda table: [*map(sorted, table["labels"])])
        frame["doc"] = frame["unit"].map(names)
        data, how = frame, {**COLUMNS, "strata": "doc"}
        if road == "csv":
            frame["labels"] = ["; ".join(labels) or "[]" for labels in frame["labels"]]
            data, how["label_sep"] = tmp_path / "table.csv", ";"
            frame.to_csv(data, index=False)
        elif road == "mapping":
            data, how = self.STUDY, {"strata": names}
        with pytest.warns(SimilarLabelsWarning, match="1 group is spelled in two ways and read"):
            assert sa.agreement(data, **how)[0].drawn == "3 strata"

    def test_groups(self):
        with pytest.warns(SimilarLabelsWarning, match="Groups that look alike .* 'A' and 'a'"):
            sa.by_group(self.STUDY, self.named("A", "a"))
        raters = dict(zip(self.STUDY.raters, ["x", "X", "x"], strict=True))
        with pytest.warns(SimilarLabelsWarning, match="Groups that look alike"):
            sa.by_group(self.STUDY, raters, rng=1)

    @pytest.mark.parametrize("cell", [["x"], {"x": 1}, ("x", ["y"]), Decimal("sNaN")])
    def test_no_name(self, cell):
        frame = self.STUDY.to_long()
        frame["doc"] = pd.Series([cell] * len(frame), dtype=object)
        known = self.STUDY.with_units({"doc": dict.fromkeys(self.STUDY.units, cell)})
        words = "each unit must have text, a number or a date, not "
        with pytest.raises(DataError, match=words):
            self.STUDY.sampled(cluster=dict.fromkeys(self.STUDY.units, cell))
        with pytest.raises(DataError, match=words):
            known.sampled(cluster="doc")
        with pytest.raises(DataError, match=words):
            sa.read(frame, unit="unit", rater="rater", labels="labels", unit_columns=["doc"])
