"""What every result can do, whatever made it; and how every public function is called."""

import copy
import inspect
import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from results_support import spoil

import setagree as sa
from examples.guide.schemas import json_schema
from setagree.errors import OptionError
from setagree.wording.result_base import Result
from setagree.wording.result_frames import ResultFrame
from setagree.wording.tables import Column

pytestmark = pytest.mark.usefixtures("few_draws")

STUDY = sa.simulate(60, 5, missing=0.1, rng=1)
TABLE = sa.agreement(STUDY, distance=["masi", "nominal"])
ALPHA = TABLE["krippendorff_alpha", "masi"]
PANELS = {"one": ["r1", "r2"], "two": ["r3", "r4", "r5"]}

HALVES = {unit: k // 30 for k, unit in enumerate(STUDY.units)}
TWICE = sa.Annotations.from_long(
    pd.concat([STUDY.to_long(), STUDY.to_long().head(50)]), duplicates="repeats"
)

PREVALENCE = sa.prevalence(STUDY, model=sa.simulate(90, 1, rng=2).to_long().drop(columns="rater"))
MADE = {
    "Agreement": ALPHA,
    "AgreementTable": TABLE,
    "IntervalTable": TABLE.two_way(),
    "Bootstrap": sa.bootstrap(ALPHA, n_resamples=30, rng=1),
    "BootstrapTable": sa.bootstrap(TABLE, n_resamples=30, rng=1),
    "ResultTable": sa.jackknife(TABLE),
    "Jackknife": sa.jackknife(ALPHA, over="raters"),
    "PermutationTest": sa.permutation_test(ALPHA, n_resamples=19, rng=1),
    "Benchmark": sa.benchmark(ALPHA),
    "Plan": sa.plan(ALPHA),
    "DifferencePlan": sa.plan(sa.compare(TABLE), sa.PlanGoals(n_units=[100])),
    "Comparison": sa.compare(TABLE),
    "AltTest": sa.alt_test(STUDY, model="r5")["r5"],
    "AltTestTable": sa.alt_test(STUDY, model=["r4", "r5"]),
    "QuestionTable": sa.by_question(
        STUDY.to_long().assign(other=lambda frame: frame["labels"]), ["labels", "other"]
    ),
    "Consensus": sa.consensus(STUDY),
    "CompletionBounds": sa.completion_bounds(STUDY),
    "PanelScores": sa.score_against_panel(STUDY),
    "ConsensusScores": sa.score_against_consensus(STUDY),
    "KRaterReliability": sa.k_rater_reliability(STUDY, k=2, n_splits=20, rng=1),
    "CrossReplication": sa.cross_replication(STUDY, panels=PANELS, n_resamples=30, rng=1),
    "CrowdTruth": sa.crowdtruth(STUDY),
    "KSStatistic": sa.ks_statistic(STUDY, n_resamples=19, rng=1),
    "RaterMap": sa.rater_map(STUDY, n_resamples=9, rng=1),
    "AtLeast": sa.at_least(ALPHA, 0.5),
    "Monitor": sa.monitor(STUDY, batch=HALVES, threshold=0.5),
    "AcceptancePlan": sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.1),
    "AcceptanceTest": sa.acceptance_test(
        sa.acceptance_plan(acceptable_rate=0.02, rejectable_rate=0.1), n_errors=2, n_checked=65
    ),
    "PrevalenceTable": PREVALENCE,
    "PrevalencePlan": sa.plan(PREVALENCE, sa.PlanGoals(n_units=[80, 90])),
    "Queue": sa.next_ratings(STUDY, budget=9),
    "VarianceComponents": sa.variance_components(STUDY),
    "FacetAgreement": sa.facet_agreement(
        STUDY.with_raters({"model": {"r4": "gpt", "r5": "gpt"}}), facets=["model"]
    ),
    "IntraRater": sa.intra_rater_agreement(TWICE),
    "Replacement": sa.noninferiority_test(STUDY, model="r5", margin=0.1)["r5"],
    "ReplacementTable": sa.noninferiority_test(STUDY, model=["r4", "r5"], margin=0.1),
}


def kinds(kind=Result):
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


BASES = {"_OfGoals", "Resampled", "ResultRows", "ResultPerModel"}


def test_every_result_is_here():
    ours = {each.__name__ for each in kinds() if each.__module__.startswith("setagree.")}
    assert ours - BASES == set(MADE)
    assert all(type(result).__name__ == name for name, result in MADE.items())


@pytest.mark.parametrize(
    "frame",
    [
        sa.by_label(STUDY),
        sa.by_rater(STUDY, n_resamples=19, rng=1),
        sa.by_group(STUDY, HALVES, n_resamples=19, rng=1),
        sa.by_presence(STUDY),
        sa.what_if(STUDY),
        sa.by_pair(STUDY),
        sa.by_unit(STUDY),
        sa.confusions(STUDY, n_resamples=19, rng=1),
    ],
)
def test_latex_of_frames_fits_a_page(frame):
    first, _, head, *_ = frame.to_latex().splitlines()
    assert len(re.split(r"(?<!\\)&", head)) == len(first) - len("\\begin{tabular}{}") <= 8


def test_latex_escapes():
    frame = pd.DataFrame({"label": ["[x]", "*", "a_b-1 & -c"], "low": [-0.5, 0.25, -1.0]})
    columns = [Column("label", "name"), Column(("low", "low"), "interval")]
    assert ResultFrame.of(frame, columns).to_latex().splitlines()[4:7] == [
        r"{}[x] & $-$0.5000, $-$0.5000 \\",
        r"{}* & 0.2500, 0.2500 \\",
        r"a\_b-1 \& -c & $-$1.0000, $-$1.0000 \\",
    ]


@pytest.mark.parametrize("result", MADE.values(), ids=MADE)
class TestEveryResult:
    def test_the_frame_is_a_copy(self, result):
        before = result.to_frame().copy()
        said = repr(result)
        spoil(result.to_frame())
        pd.testing.assert_frame_equal(result.to_frame(), before)
        assert repr(result) == said

    def test_it_is_frozen(self, result):
        with pytest.raises(AttributeError):
            result.rows = ()

    def test_plain_values(self, result):
        plain, frame = result.to_dict(), result.to_frame()
        names = [*frame.columns] if frame.index.name is None else [frame.index.name, *frame.columns]
        assert [*plain] == names
        assert {len(cells) for cells in plain.values()} == {len(frame)}
        json.dumps(plain, default=sorted)  # label sets are lists there

    def test_markdown(self, result):
        """A table with as many rows, none of which a label breaks."""
        lines = result.to_markdown().splitlines()
        assert len(lines) == len(result.to_frame()) + 2
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)

    def test_notebook(self, result):
        """A notebook shows a table, of a long one its ends."""
        page = result._repr_html_()
        assert "<table" in page
        assert page.count("<tr") < 30
        assert "NaN" not in page
        assert "e-" not in re.sub(r"<p>.*?</p>|style=.*?>", "", page)
        assert not page.startswith("<p>&lt;")

    def test_latex(self, result):
        """LaTeX has the rows that are printed, and no character with a meaning of its own."""
        first, _, head, *rows = result.to_latex().splitlines()
        assert first.startswith("\\begin{tabular}{")
        n_columns = len(first) - len("\\begin{tabular}{}")
        assert n_columns <= 8
        body = rows[1:-2]
        assert len(body) == min(len(result.to_frame()), result.max_rows)
        assert {len(re.split(r"(?<!\\)&", line)) for line in [head, *body]} == {n_columns}
        assert not any(re.search(r"(?<!\\)[_%#]", line) for line in [head, *body])

    def test_json(self, result):
        """`to_json` is strict JSON with the rows of the frame, whose null has a reason.

        It adds what intervals rest on: degrees of freedom, and of comparisons how they were made.
        """
        rows = json.loads(result.to_json(), parse_constant=pytest.fail)
        plain = result.to_dict()
        assert len(rows) == len(result.to_frame())
        for name, cells in plain.items():
            for row, cell in zip(rows, cells, strict=True):
                if isinstance(cell, float) and not math.isfinite(cell):
                    assert row[name] is None
                else:
                    assert row[name] == (sorted(cell) if isinstance(cell, frozenset) else cell)
        added = {"reason", "remark", "about", "degrees_of_freedom", "design", "method", "level"}
        assert {*rows[0]} - {*plain} <= added

    def test_interval(self, result):
        """Where there is an interval, it is had at any level: a wider one at a higher level."""
        if not hasattr(result, "interval"):
            assert "low" not in result.to_frame() or len(result.to_frame()) > 1
            return
        (low, high), (lower, higher) = result.interval(0.8), result.interval(level=0.99)
        assert lower < low < high < higher
        with pytest.raises(OptionError, match="level=1 must lie between 0 and 1"):
            result.interval(1)


@pytest.mark.parametrize("name", sorted(set(MADE) - {"AgreementTable", "IntervalTable"}))
def test_one_line(name):
    """The repr is one line between angle brackets; a table of agreements prints as a table."""
    said = repr(MADE[name])
    assert said[0] == "<"
    assert said[-1] == ">"
    assert "\n" not in said


def test_label_sets_are_said_in_words():
    study = sa.Annotations.from_triples([("a", 1, ["<b>", "x|y"]), ("b", 1, ["<b>", "x|y"])])
    found = sa.consensus(study)
    assert found.to_dict()["labels"] == [frozenset({"<b>", "x|y"})]
    assert r"&lt;b&gt;, x\|y" in found.to_markdown()
    assert "&lt;b&gt;, x|y" in found._repr_html_()
    assert "frozenset" not in found._repr_html_() + found.to_markdown()


def test_small_p_values_are_said_to_be_small():
    assert "| <0.0001 |" in TABLE.to_markdown()
    assert all(isinstance(p, float) and 0 < p < 1e-4 for p in TABLE.to_dict()["p_value"])
    assert not any(isinstance(x, np.generic) for cells in TABLE.to_dict().values() for x in cells)


ONE_VALUE = [(who, k, "x") for k in range(9) for who in ("ann", "bob", "cy", "eva")]
UNDEFINED = sa.Annotations.from_triples(ONE_VALUE)


@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
@pytest.mark.parametrize(
    "made",
    [
        sa.krippendorff_alpha,
        lambda study: sa.agreement(study, distance=["masi", "nominal"]),
        lambda study: sa.bootstrap(study, n_resamples=9, rng=1),
        lambda study: sa.bootstrap(sa.agreement(study), n_resamples=9, rng=1),
        sa.jackknife,
        lambda study: sa.jackknife(sa.agreement(study)),
        lambda study: sa.permutation_test(study, n_resamples=9, rng=1),
        sa.benchmark,
        lambda study: sa.compare(study, sa.fleiss_kappa(study)),
        lambda study: sa.alt_test(study, model="bob"),
        lambda study: sa.k_rater_reliability(study, k=1, n_splits=9, rng=1),
    ],
)
def test_null_has_its_reason(made):
    rows = json.loads(made(UNDEFINED).to_json())
    assert rows
    for row in rows:
        assert None in row.values()
        assert isinstance(row["reason"], str)
        assert len(row["reason"]) > 10


def test_json_of_the_function_and_of_the_command(tmp_path):
    typing = pytest.importorskip("typer.testing")
    from setagree.cli.app import app

    path = tmp_path / "study.csv"
    table = STUDY.to_long().assign(labels=lambda t: t["labels"].map(sa.format_labels))
    table[table["labels"] != ""].to_csv(path, index=False)
    done = typing.CliRunner().invoke(app, ["score", str(path), "--format", "json"])
    theirs, ours = json.loads(done.stdout), json.loads(sa.agreement(path).to_json())
    assert ours == [row for row in theirs if row["distance"] == "masi"][: len(ours)]


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (STUDY, ["<p>Annotations: 273 ratings, ", "Shown: 10 units, 5 raters.</p>", ">u10<"]),
        (UNDEFINED.take(UNDEFINED.unit_codes < 3), ["1 distinct label set.</p>", ">ann<", ">x<"]),
        (sa.weights(UNDEFINED), ["DenseWeights of 1 values</p>", ">1.0000<"]),
        (sa.weights(STUDY), ["DenseWeights of 29 values</p>", "to_frame() returns the matrix"]),
    ],
)
def test_notebook_of_what_is_no_result(study, said):
    page = study._repr_html_()
    assert all(words in page for words in said), page
    assert page.count("<tr") < 25


def test_hostile_names_in_a_notebook():
    rows = [("unit", "<u>", "<b>"), ("<script>", "<u>", "<b>"), ("unit", "value", "value")]
    study = sa.Annotations.from_triples(rows)
    for shown in (study, sa.weights(study), sa.by_label(study), sa.consensus(study)):
        page = shown._repr_html_()
        assert "<script>" not in page
        assert "<b>" not in page


class TestEquality:
    def test_alike(self):
        """The same coefficient, distance, numbers and counts are equal, also undefined ones."""
        again = sa.agreement(sa.simulate(60, 5, missing=0.1, rng=1))["alpha"]
        assert again == ALPHA
        assert hash(again) == hash(ALPHA)
        assert len({again, ALPHA, copy.deepcopy(ALPHA)}) == 1
        with pytest.warns(sa.UndefinedAgreementWarning):
            one, two = sa.krippendorff_alpha(UNDEFINED), sa.krippendorff_alpha(UNDEFINED)
        assert one == two
        assert hash(one) == hash(two)

    def test_apart(self):
        """Another distance, coefficient or study is another agreement; a number is none."""
        others = [*[*TABLE][1:], sa.krippendorff_alpha(sa.simulate(60, 5, missing=0.1, rng=2))]
        assert all(other != ALPHA for other in others)
        assert ALPHA.estimate != ALPHA
        assert len({ALPHA, *others}) == 5

    def test_as_a_number(self):
        assert round(ALPHA, 3) == round(ALPHA.estimate, 3) == 0.294
        assert round(ALPHA) == 0
        assert float(ALPHA) == ALPHA.estimate


class TestLookup:
    ONE = sa.agreement(STUDY)

    @pytest.mark.parametrize("table", [TABLE, sa.jackknife(TABLE), MADE["BootstrapTable"]])
    def test_names_and_numbers(self, table):
        rows = [*table]
        assert table["krippendorff_alpha", "nominal"] is table["alpha", "nominal"] is rows[1]
        assert table["Fleiss", "masi"] is rows[2] is table[2] is table[-2] is table[np.int64(2)]
        with pytest.raises(IndexError, match="row 4 does not exist; the table has 4 rows, from 0"):
            table[4]
        for wrong in ("beta", ("alpha", "dice"), (), ("alpha", "masi", 1), True, None, ["alpha"]):
            with pytest.raises(KeyError, match=r"no row .*; the rows are"):
                table[wrong]

    def test_a_coefficient_of_one_row(self):
        assert self.ONE["alpha"] is self.ONE["krippendorff_alpha", "masi"] is self.ONE[0]

    def test_a_coefficient_of_several_rows(self):
        with pytest.raises(KeyError) as refused:
            TABLE["alpha"]
        assert refused.value.args[0] == (
            "'alpha' matches 2 rows; name one: table['krippendorff_alpha', 'masi'], "
            "table['krippendorff_alpha', 'nominal']."
        )


FUNCTIONS = [name for name in sa.__all__ if inspect.isroutine(getattr(sa, name))] + [
    name for name in sa.__all__ if isinstance(getattr(sa, name), sa.Coefficient)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_positionals_at_most(name):
    parameters = inspect.signature(getattr(sa, name)).parameters.values()
    positional = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 2
    assert not any(isinstance(one.default, bool) for one in positional)


def test_functions_are_found():
    assert {"agreement", "compare", "weights", "krippendorff_alpha", "simulate"} <= {*FUNCTIONS}


@pytest.mark.parametrize(
    "made",
    [
        lambda: sa.by_label(STUDY),
        lambda: sa.by_rater(STUDY),
        lambda: sa.by_group(STUDY, HALVES),
        lambda: sa.what_if(STUDY, exclude_raters=["r1"]),
        lambda: sa.by_pair(STUDY),
        lambda: sa.by_unit(STUDY),
        lambda: sa.confusions(STUDY),
    ],
)
def test_frames_show_their_main_columns(made):
    frame = made()
    html = frame._repr_html_()
    assert html.partition("</thead>")[0].count("<th ") <= 12
    assert re.search(r"\d\.\d{5}|\de-\d", html) is None
    assert f"{frame.shape[1]}" not in html or "more columns in the frame." in html
    assert frame.to_latex().startswith("\\begin{tabular}")
    # What is computed from it is a frame of pandas like any other.
    assert type(frame.head()) is pd.DataFrame
    assert copy.deepcopy(frame).equals(frame)


@pytest.mark.parametrize(
    "made",
    [
        lambda: TABLE,
        lambda: sa.agreement(sa.Annotations.from_triples([("a", 1, "x"), ("b", 1, "x")])),
        lambda: sa.agreement(sa.Tally.from_annotations(STUDY), interval="t"),
        lambda: sa.agreement(
            STUDY.sampled(cluster={unit: k // 5 for k, unit in enumerate(STUDY.units)})
        ),
    ],
    ids=["plain", "undefined", "tally", "clusters"],
)
@pytest.mark.filterwarnings("ignore::setagree.SetagreeWarning")
def test_scores_fit_their_schema(made):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema comes with the dev extra")
    schema = json_schema("scores", type(TABLE).columns)
    jsonschema.validate(json.loads(made().to_json()), schema)


def test_a_frame_with_main_columns_is_pickled():
    frame = sa.by_label(sa.simulate(20, 2, rng=1))
    restored = pickle.loads(pickle.dumps(frame))  # noqa: S301 - made in the line above
    pd.testing.assert_frame_equal(restored, frame)
    assert restored._repr_html_() == frame._repr_html_()
