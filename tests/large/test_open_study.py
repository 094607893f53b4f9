"""Whatever a person has is opened in one way, and how it was read is remembered."""

import dataclasses
import inspect
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.large.opening import open_study
from setagree.study.reading import OF_ENGINES, Plan, Reading

STUDY = sa.simulate(40, 4, rng=1)
TABLE = STUDY.to_long().assign(
    labels=lambda t: t["labels"].map(sa.format_labels).mask(lambda c: c == "", "other")
)
ROWS = [(f"u{k}", who, "joy" if k % 3 else "fear") for k in range(6) for who in ("ann", "bob")]
HALVES = {unit: k % 2 for k, unit in enumerate(STUDY.units)}

RNG = {"n_resamples": 19, "rng": 1}
PANELS = {"one": ["r1", "r2"], "two": ["r3", "r4"]}


def two_raters(data):
    """Return two raters of a study or a table; a path, or what is neither, as it is."""
    if isinstance(data, sa.Annotations):
        return sa.Annotations.from_long(two_raters(TABLE))
    kept = isinstance(data, pd.DataFrame) and "rater" in data
    return data[data["rater"].isin(["r1", "r2"])] if kept else data


def reported(data):
    with tempfile.TemporaryDirectory() as folder:
        return sa.report(data, Path(folder, "a.md"), title="x", **RNG).read_text(encoding="utf-8")


FUNCTIONS = {
    **{
        name: lambda data, name=name: getattr(sa, name)(data).interval()
        for name in sa.__all__
        if isinstance(getattr(sa, name), sa.Coefficient) and getattr(sa, name).raters != "two"
    },
    "cohen_kappa": lambda data: sa.cohen_kappa(two_raters(data)).interval(),
    "scott_pi": lambda data: sa.scott_pi(two_raters(data)).interval(),
    "agreement": lambda data: sa.agreement(data).to_frame(),
    "score": lambda data: sa.score(data, sa.fleiss_kappa).interval(),
    "weights": lambda data: sa.weights(data).to_frame(),
    "by_label": sa.by_label,
    "by_unit": sa.by_unit,
    "by_rater": sa.by_rater,
    "by_pair": sa.by_pair,
    "by_group": lambda data: sa.by_group(data, HALVES, rng=1),
    "over_time": lambda data: sa.over_time(data, HALVES, window=1),
    "by_depth": lambda data: sa.by_depth(data, parents={"l1": "x", "l2": "x"}),
    "confusions": sa.confusions,
    "what_if": sa.what_if,
    "plan": lambda data: sa.plan(data, sa.PlanGoals(half_width=0.05)).frame,
    "bootstrap": lambda data: sa.bootstrap(data, **RNG).to_frame(),
    "jackknife": lambda data: sa.jackknife(data, over="raters").to_frame(),
    "permutation_test": lambda data: sa.permutation_test(data, **RNG).to_frame(),
    "benchmark": lambda data: sa.benchmark(data).to_frame(),
    "compare": lambda data: sa.compare(data, sa.krippendorff_alpha(STUDY)).to_frame(),
    "alt_test": lambda data: sa.alt_test(data, model="r4", min_units=5).to_frame(),
    "consensus": lambda data: sa.consensus(data).to_frame(),
    "score_against_consensus": lambda data: sa.score_against_consensus(data).to_frame(),
    "crowdtruth": lambda data: sa.crowdtruth(data).to_frame(),
    "ks_statistic": lambda data: sa.ks_statistic(data, **RNG).to_frame(),
    "completion_bounds": lambda data: sa.completion_bounds(data).to_frame(),
    "score_against_panel": lambda data: sa.score_against_panel(data).to_frame(),
    "cross_replication": lambda data: sa.cross_replication(data, panels=PANELS, **RNG).to_frame(),
    "rater_map": lambda data: sa.rater_map(data, **RNG).to_frame(),
    "k_rater_reliability": lambda data: repr(sa.k_rater_reliability(data, k=2, rng=1)),
    "panel_scorer": lambda data: sa.panel_scorer(data).score(["u1", "u2"], ["l1", "l2"]),
    "at_least": lambda data: sa.at_least(data, 0.5).to_frame(),
    "monitor": lambda data: sa.monitor(data, batch=HALVES, threshold=0.5).to_frame(),
    "variance_components": lambda data: sa.variance_components(data).to_frame(),
    "next_ratings": lambda data: sa.next_ratings(data, budget=5).to_frame(),
    "soft_scores": lambda data: sa.soft_scores(data, model="r4", rng=1),
    "prevalence": lambda data: sa.prevalence(data, model="r4").to_frame(),
    "noninferiority_test": lambda data: sa.noninferiority_test(data, model="r4").to_frame(),
    "methods_text": sa.methods_text,
    "report": reported,
}
TAKES_A_STUDY = {"data", "study", "agreement", "agreements", "pilot", "result"}


def test_every_function_that_takes_a_study_is_here():
    takes = {
        name
        for name in sa.__all__
        if inspect.isroutine(getattr(sa, name)) or isinstance(getattr(sa, name), sa.Coefficient)
        if next(iter(inspect.signature(getattr(sa, name)).parameters), None) in TAKES_A_STUDY
    }
    # Several questions are no study; a tally is what a study may be; repeats stop all others;
    # columns of raters are none of a usual name; no answer is empty: they have their own tests.
    others = {"tally", "intra_rater_agreement", "facet_agreement", "by_question", "by_presence"}
    assert takes - others == {*FUNCTIONS}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("open") / "ratings.csv"
    TABLE.to_csv(file, index=False)
    return file


def made(name, data):
    """Return what a function gives, as text of all digits."""
    with pd.option_context("display.precision", 17, "display.max_rows", None):
        found = FUNCTIONS[name](data)
        return found.to_csv() if isinstance(found, pd.DataFrame) else str(found)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_table_and_a_path_go_for_the_study(name, path):
    study = sa.Annotations.from_long(TABLE)
    assert made(name, TABLE) == made(name, study)
    if name not in {"cohen_kappa", "scott_pi"}:  # the file has four raters
        assert made(name, path) == made(name, study)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"agreement"}))
def test_other_names_of_columns(name):
    table = TABLE.rename(columns={"unit": "what", "rater": "by whom"})
    with pytest.raises(DataError) as caught:
        FUNCTIONS[name](table)
    assert str(caught.value) == (
        "No column has a usual name for the unit or the rater; name the column with unit='...' and "
        "rater='...'. The columns are 'what', 'by whom', 'labels'. If each rater has a "
        "column, use wide=True."
    )
    study = sa.Annotations.from_long(table, unit="what", rater="by whom", labels="labels")
    assert made(name, study)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_with_another_use_is_named(library):
    frame = pytest.importorskip(library).DataFrame(TABLE)
    with pytest.raises(DataError) as caught:
        sa.agreement(frame, cluster="unit")
    assert str(caught.value).endswith(
        " Column 'unit' is that of cluster='unit'; if it is the unit, too, use unit='unit'."
    )
    assert sa.agreement(frame, unit="unit", cluster="unit")[0].drawn == "40 clusters"


def test_all_columns_that_are_missing_are_named_at_once():
    table = pd.DataFrame({"what": [1], "comment": ["x"]})
    with pytest.raises(DataError) as caught:
        sa.by_label(table)
    assert str(caught.value) == (
        "No column has a usual name for the unit, the rater or the labels; name the column with "
        "unit='...', rater='...' and labels='...' (value='...' for numbers). The columns are "
        "'what', 'comment'. If each rater has a column, use wide=True."
    )
    with pytest.raises(
        DataError, match=r"for the rater or the labels; name the column with rater='...' and"
    ):
        sa.agreement(table, unit="what")
    with pytest.raises(DataError, match=r"could each be the unit; .* No column .* the labels"):
        sa.agreement(pd.DataFrame({"doc": [1], "task": [1], "rater": ["a"]}))


def test_a_result_is_no_study():
    table = sa.agreement(TABLE)
    for wrong, kind in ((table, "an AgreementTable"), (table[0], "an Agreement")):
        words = f"^Expected annotations, got {kind}; pass the study that it was computed from.$"
        for call in (sa.agreement, sa.by_label, sa.fleiss_kappa, sa.read):
            with pytest.raises(DataError, match=words):
                call(wrong)


@pytest.mark.parametrize(("option", "value"), [("question", "q"), ("predictions", True)])
def test_options_of_exports(option, value):
    """They are refused for frames and objects; a model may be named for any data."""
    for data in (TABLE, [["a", "b"], ["a", "b"]]):
        with pytest.raises(OptionError, match=rf"^{option}= is for the export of a tool; see set"):
            open_study(data, Reading(**{option: value}))
    assert open_study(TABLE, Reading(predictions=["gpt"])).n_ratings == STUDY.n_ratings


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_numbers_may_have_raters_or_labels(library):
    frame = pd.DataFrame({"unit": ["u0", "u1"], "ann": [1, 2], "bob": [2, 2]})
    if library == "polars":
        frame = pytest.importorskip("polars", reason="Polars is not installed").from_pandas(frame)
    with pytest.raises(DataError, match="have only numbers, so that each may be a rater or a lab"):
        sa.read(frame)


def test_wide_objects():
    """The rows of a list are units then; the keys of a dict stay raters."""
    rows = [["a", "b"], ["a", "a"], ["b", "b"]]
    n_raters = [open_study(rows, Reading(wide=wide)).n_raters for wide in (False, True)]
    assert n_raters == [3, 2]
    by_rater = {"ann": ["a", "b", "b"], "bob": ["a", "a", "b"]}
    assert open_study(by_rater, Reading(wide=True)).raters.tolist() == ["ann", "bob"]


def test_kinds_of_objects():
    """Numbers are values on a scale, unless another kind is passed."""
    answers = [[[1, 2], [2, 2]], [["a", "b"], ["b", "b"]]]
    kinds = [open_study(x, Reading(kind=k)).kind for k in (None, "category") for x in answers]
    assert kinds == ["number", "labels", "category", "category"]


def test_data_by_name_and_twice():
    assert sa.krippendorff_alpha(study=STUDY) == sa.krippendorff_alpha(STUDY)
    with pytest.raises(TypeError, match="multiple values for argument 'study'"):
        sa.by_label(STUDY, study=STUDY)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'study'"):
        sa.by_label()


SCORED = {
    *("bootstrap", "jackknife", "permutation_test", "benchmark", "compare", "plan"),
    "at_least",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_nothing_to_open(name):
    """What is no study, table or path is refused in one sentence everywhere.

    What takes a coefficient, too, names that first.
    """
    words = r"^Expected a table, got an int; pass a DataFrame \(.*\), Annotations, Tally or path\.$"
    if name in SCORED:
        words = r"^Expected an agreement, got an int; pass what krippendorff_alpha, \.\.\. returned"
    with pytest.raises(DataError, match=words):
        FUNCTIONS[name](7)


def test_repeats_are_settled_where_a_study_is_built():
    table = pd.concat([TABLE, TABLE.head(1)])
    for function in (sa.by_label, sa.agreement):
        with pytest.raises(
            DataError, match=r"use duplicates='last' \(corrections\), .* themselves\.$"
        ):
            function(table)
    reading = sa.Reading(duplicates="first")
    pd.testing.assert_frame_equal(sa.by_label(table, reading=reading), sa.by_label(TABLE))
    study = sa.read(table, duplicates="first")
    pd.testing.assert_frame_equal(sa.by_label(study), sa.by_label(TABLE))


def test_two_columns_that_could_be_the_unit():
    table = TABLE.rename(columns={"unit": "item"}).assign(doc=TABLE["unit"])
    with pytest.raises(DataError, match=r"^Columns 'item', 'doc' could each be the unit; name one"):
        sa.by_label(table)
    made_by_item = sa.bootstrap(table, unit="item", n_resamples=20, rng=1)
    assert repr(made_by_item) == repr(sa.bootstrap(TABLE, n_resamples=20, rng=1))


class TestReading:
    def test_columns_and_cells(self):
        rows = TABLE.rename(columns={"unit": "doc"}).assign(labels=TABLE["labels"] + ";")
        how = {"label_sep": ";", "blank": "empty", "case": "lower", "na_values": ["NA"]}
        with pytest.warns(sa.SetagreeWarning):
            study = sa.Annotations.from_long(rows, unit="doc", duplicates="first", **how)
        reading = study.take(np.arange(5)).exclude_raters(["r1"]).reading
        assert {name: getattr(reading, name) for name in how} == how
        assert (reading.unit, reading.duplicates, reading.answers) == ("doc", "first", "labels")

    def test_built_from_arrays(self):
        assert sa.Annotations.from_indicators([[[1, 0]], [[1, 1]]]).reading is None
        assert sa.simulate(3, 2, rng=1).reading is None

    def test_methods_say_it(self):
        rows = [("ann", 1, "a"), ("bob", 1, ""), ("bob", 1, "a"), ("ann", 2, "NA"), ("bob", 2, "b")]
        rows += [("ann", 3, "b"), ("bob", 3, "b")]
        study = sa.Annotations.from_triples(
            rows, blank="empty", na_values=["NA"], duplicates="union", case="lower"
        )
        said = sa.methods_text(sa.krippendorff_alpha(study))
        for words in ("merged into the union", "the answer “NA” counts as missing", "lower"):
            assert words in said
        assert "repeated" not in sa.methods_text(STUDY)

    def test_groups_are_read_as_the_study(self):
        table = TABLE.rename(columns={"unit": "what"}).assign(half=TABLE["unit"].map(HALVES))
        study = sa.Annotations.from_long(table, unit="what", blank="empty")
        found = sa.by_group(table, "half", reading=study.reading, rng=1)
        pd.testing.assert_frame_equal(found, sa.by_group(study, HALVES, rng=1))

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"labels": "a", "value": "b"}, "not both"),
            ({"kind": "both"}, "kind='both' is unknown"),
            ({"blank": ""}, "blank='' is unknown"),
            ({"case": "upper"}, "case='upper' is unknown"),
            ({"duplicates": "all"}, "duplicates='all' is unknown"),
            ({"na_values": "NA"}, "na_values='NA' must be a list"),
            ({"value": "x", "codebook": ["a"]}, "single values have none"),
        ],
    )
    def test_checked_once(self, options, words):
        with pytest.raises(OptionError, match=words):
            sa.Reading(**options)

    def test_of_a_study_that_is_built(self):
        with pytest.raises(
            OptionError, match=r"already built; omit unit=, label_sep=, codebook=\.$"
        ):
            open_study(STUDY, sa.Reading(unit="doc", label_sep=";", codebook=["a"]))
        assert open_study(STUDY, sa.Reading(label_sep=",", case="keep", tool="auto")) is STUDY


IN_MEMORY = {
    "labels": ["joy", "fear"], "tool": "label_studio_json", "wide": True, "raters_in_rows": True,
    "predictions": True, "duplicates": "first", "sheet": "two", "header_row": 2,
    "sql": "SELECT * FROM t", "delimiter": ";", "question": "q", "roster": "people.csv",
    "filename_column": "file", "order_by": "at", "unit_columns": ["doc"], "rater_columns": ["run"],
    "status": "status", "queued": "queued", "degree": "degree", "cluster": "doc",
    "sampling_weight": "w", "strata": "part", "model": "gpt", "spans": True,
}  # fmt: skip


class TestOptionsOfEngines:
    def test_every_option_is_here(self):
        names = {field.name for field in dataclasses.fields(Reading)} - {"raters", "tokens"}
        assert names == OF_ENGINES | {*IN_MEMORY}

    @pytest.mark.parametrize("name", IN_MEMORY)
    def test_refused(self, name, tmp_path):
        pytest.importorskip("duckdb")
        frame = pytest.importorskip("dask.dataframe").from_pandas(TABLE, npartitions=2)
        reading = Reading(**{name: IN_MEMORY[name]})
        with pytest.raises(OptionError, match=rf"^{name}=.* is for "):
            open_study(frame, reading)
        TABLE.to_csv(tmp_path / "a.csv", index=False)
        with pytest.raises(OptionError, match=rf"^{name}=.* is for files that are read into"):
            open_study(tmp_path / "a.csv", reading, Plan(memory_limit="1GB"))

    @pytest.mark.parametrize("make", ["polars", "duckdb"])
    def test_read_into_memory(self, make):
        pl = pytest.importorskip("polars", reason="Polars is not installed")
        duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
        rows = {"doc": [1, 2], "ann": ["joy", "fear"], "bob": ["joy", "joy"]}
        frame = pl.DataFrame(rows)
        lazy = frame.lazy() if make == "polars" else duckdb.from_arrow(frame.to_arrow())
        assert open_study(lazy, Reading(wide=True)).raters.tolist() == ["ann", "bob"]

    def test_repeats(self):
        rows = {"unit": ["u", "u", "u"], "rater": ["ann", "ann", "bob"], "labels": ["a", "b", "b"]}
        lazy = pytest.importorskip("polars").LazyFrame(rows)
        study = open_study(lazy, Reading(duplicates="last"))
        assert study.to_long().equals(sa.read(lazy, duplicates="last").to_long())


class TestTheRoad:
    @staticmethod
    def ran(work):
        """Return the modules of which a function runs on a second identical call."""
        seen = set()

        def note(frame, event, _):
            name = str(frame.f_globals.get("__name__"))
            if event == "call" and name.startswith("setagree."):
                seen.add(name.removeprefix("setagree."))

        work()
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(before)
        return seen

    def test_a_table(self):
        """A table in memory needs no reader of files, no format, and one module for what is large.

        The columns are found by their usual names.
        """
        frame = pd.DataFrame(ROWS, columns=["item", "annotator", "tags"])
        ran = self.ran(lambda: sa.agreement(frame))
        assert not {name for name in ran if name.startswith(("files", "exports"))}
        assert {name for name in ran if name.startswith("large")} == {"large.opening"}

    def test_a_csv(self, tmp_path):
        path = tmp_path / "study.csv"
        pd.DataFrame(ROWS, columns=["item", "annotator", "tags"]).to_csv(path, index=False)
        ran = self.ran(lambda: sa.agreement(path))
        assert len(ran) <= 33, ran
        rooms = ("exports", "files", "large")
        assert {name for name in ran if name.startswith(rooms)} == {
            *("exports.detection", "exports.format", "large.opening", "large.recognition"),
            *("files.streams", "files.tables", "files.delimited"),
        }
        opened, right = [], io.open
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(io, "open", lambda *a, **k: opened.append(a[0]) or right(*a, **k))
            sa.agreement(path)
        assert opened.count(path) == 2

    @pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "jsonl"])
    def test_a_file_is_opened_twice(self, ending, tmp_path, monkeypatch):
        pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}.get(ending, "pandas"))
        path, opened, own = tmp_path / f"a.{ending}", [], Path.open
        if ending == "jsonl":
            TABLE.to_json(path, orient="records", lines=True)
        else:
            options = {} if ending == "parquet" else {"index": False}
            getattr(TABLE, {"xlsx": "to_excel"}.get(ending, f"to_{ending}"))(path, **options)
        monkeypatch.setattr(
            Path, "open", lambda self, *a, **k: opened.append(self) or own(self, *a, **k)
        )
        assert open_study(path).n_ratings == STUDY.n_ratings
        assert [file for file in opened if file.parent == tmp_path] == [path] * 2

    def test_other_layouts(self, tmp_path):
        path = tmp_path / "study.csv"
        path.write_text("item,ann,bob\nu1,joy,joy\nu2,fear,joy\n", encoding="utf-8")
        said = []
        wide = open_study(path, sa.Reading(wide=True), note=said.append)
        assert said == ["Columns guessed: unit = item, raters = ann, bob"]
        path.write_text("who,u1,u2\nann,joy,fear\nbob,joy,joy\n", encoding="utf-8")
        people = open_study(path, sa.Reading(raters_in_rows=True), note=said.append)
        assert said[1] == "Columns: rater = who, 2 units = u1, u2"
        for study in (wide, people):
            rows = [[*row[:2], sorted(row[2])] for row in study.to_long().to_numpy().tolist()]
            assert sorted(rows) == [
                ["u1", "ann", ["joy"]],
                ["u1", "bob", ["joy"]],
                ["u2", "ann", ["fear"]],
                ["u2", "bob", ["joy"]],
            ]

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"raters": ["a"]}, "raters= makes sense only with wide="),
            ({"wide": True, "rater": "a"}, "rater= makes sense only without wide="),
            ({"raters_in_rows": True, "wide": True}, "wide= makes sense only without raters_in"),
            (
                {"tool": "prodigy", "rater": "a"},
                "rater= is for tables: use tool='table', or omit",
            ),
        ],
    )
    def test_options_of_one_layout(self, options, sentence):
        with pytest.raises(OptionError, match=sentence):
            sa.Reading(**options)


def test_columns_of_one_name_in_two_unicode_forms_are_one_rater(tmp_path):
    path = tmp_path / "forms.csv"
    path.write_text("unit,\u00e9,e\u0301\nu1,joy,joy\nu2,fear,joy\n", "utf-8")
    with pytest.warns(sa.SetagreeWarning, match="1 rater is spelled in two ways"):
        study = sa.read(path, wide=True, raters=["\u00e9", "e\u0301"], duplicates="union")
    assert study.to_triples() == [("\u00e9", "u1", {"joy"}), ("\u00e9", "u2", {"fear", "joy"})]
