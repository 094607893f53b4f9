"""Clusters, and raters as a sample, on the command line."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("typer")

from cli_support import invoke, ok, refusal, rows
from reporting_support import by_id, gathered

import setagree as sa
from setagree.reporting.headline import counts_line


@pytest.fixture(name="study", scope="module")
def clustered_study():
    """Return 48 units in 12 documents, rated by four raters."""
    study = sa.simulate(48, 4, missing=0.15, rng=4)
    return study.sampled(cluster={unit: f"d{k // 4}" for k, unit in enumerate(study.units)})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, study):
    """Work in a fresh folder with the study as a table that has its documents."""
    monkeypatch.chdir(tmp_path)
    frame = study.to_long()
    frame["document"] = study.units_frame["cluster"].loc[frame["unit"]].to_numpy()
    frame["part"] = np.where(frame["document"].isin(["d1", "d2", "d3"]), "news, old", "blog")
    frame["code"] = np.where(frame["part"] == "blog", 1, 2)
    frame["stands_for"] = np.where(frame["part"] == "blog", 3.0, 1.0)
    frame["half"] = [int(str(unit)[1:]) % 2 for unit in frame["unit"]]
    frame["labels"] = [json.dumps(sorted(labels)) for labels in frame["labels"]]
    frame.to_csv("study.csv", index=False)
    return tmp_path


CLUSTERED = ("study.csv", "--cluster", "document")


def test_score(study):
    row, expected = rows("score", *CLUSTERED)[0], sa.krippendorff_alpha(study)
    assert row["standard_error"] == pytest.approx(expected.standard_error, rel=1e-12)
    assert [row["low"], row["high"]] == pytest.approx(expected.interval(), rel=1e-12)
    assert "are clustered by document: 12 clusters, " in ok("score", *CLUSTERED)
    score = " ".join(ok("score", *CLUSTERED, "--interval", "score").split())
    assert "The interval and p are those of the score." in score
    row = rows("score", *CLUSTERED, "--interval", "score")[0]
    assert [row["low"], row["high"]] == pytest.approx(expected.interval(method="score"), rel=1e-12)


@pytest.mark.parametrize(
    "words", [CLUSTERED, ("study.csv", "--sampling-weight", "stands_for", "--strata", "code")]
)
def test_two_way_intervals_say_their_own_degrees_of_freedom(words):
    said = " ".join(ok("score", *words, "--over", "both").split())
    assert said.count("degrees of freedom") == 1
    assert "added up, t with 3 degrees of freedom." in said
    assert "are clustered by document: 12 clusters, the largest with" in said or (
        "Units are weighted by stands_for, drawn from 2 strata (code)." in said
    )


def test_two_raters_are_no_sample():
    words = ("study.csv", "--exclude-raters", "r1", "--exclude-raters", "r2", "--over", "both")
    said = " ".join(ok("score", *words).split())
    assert "2 raters cannot show how other raters would agree; three could." in said
    assert "degrees of freedom" not in said


def test_a_plan_says_whom_it_is_about():
    assert "Intervals are about these raters." in ok("plan", "study.csv")
    assert rows("plan", "study.csv")[0]["about"] == "these raters"


def test_rounds_that_share_clusters(study):
    words = ("compare", *CLUSTERED, "--by", "half")
    result = invoke(*words)
    assert "12 clusters have units in more than one of them" in result.stderr
    assert "use --design 'same_units' if clusters of one name are the same" in result.stderr
    half = {unit: int(str(unit)[1:]) % 2 for unit in study.units}
    frame = sa.by_group(study, half)
    row = rows(*words, "--design", "same_units")[0]
    assert abs(row["difference"]) == pytest.approx(abs(frame["difference"][0]), abs=1e-12)
    assert row["standard_error"] == pytest.approx(frame["difference_standard_error"][0], rel=1e-9)
    said = ok(*words, "--design", "same_units")
    assert "No unit is shared; clusters are matched" in said


def test_few_clusters_are_doubted():
    result = invoke("score", "study.csv", "--cluster", "half")
    assert result.exit_code == 0
    assert "Warning: intervals and p-values clustered by half are missing" in result.stderr


def test_bootstrap():
    words = ("score", *CLUSTERED, "--interval", "bootstrap", "--resamples", "200", "--seed", "1")
    assert "200 resamples of the 12 clusters" in " ".join(ok(*words).split())


def test_compare_and_test():
    words = ok("compare", *CLUSTERED, "-d", "masi,nominal")
    assert "linearisation, 12 clusters" in " ".join(words.split())
    words = ("test", *CLUSTERED, "--resamples", "99", "--seed", "1")
    assert "The reshuffles ignore 12 clusters: agreement is called" in " ".join(ok(*words).split())
    inside = " ".join(ok(*words, "--scheme", "within_cluster").split())
    assert "the answers of each cluster over its own units and raters." in inside


def test_plan():
    frame = rows("plan", *CLUSTERED, "--half-width", "0.05", "--units-per-cluster", "2,8")
    assert [row["units_per_cluster"] for row in frame] == [2, 8]
    assert all(row["clusters"] == -(-row["n_units"] // row["units_per_cluster"]) for row in frame)
    assert "units per cluster" in ok("plan", *CLUSTERED, "--units", "60")
    few = ("--units", "10,60", "--units-per-cluster", "10")
    assert [row["half_width"] is None for row in rows("plan", *CLUSTERED, *few)] == [True, False]
    shown = " ".join(ok("plan", *CLUSTERED, *few).split())
    assert "10 units in 1 cluster leave fewer than 2 degrees of freedom" in shown
    assert "nan" not in shown
    assert "whole numbers of at least 1" in refusal("plan", *CLUSTERED, "--units-per-cluster", "0")


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_pages(command, folder):
    name = "out.md" if command == "report" else "out.txt"
    words = (command, *CLUSTERED, "--by", "half", "--output", name, "--seed", "1")
    ok(*words)
    written = " ".join((folder / name).read_text(encoding="utf-8").split())
    assert "; 12 clusters)" in written


def test_what_is_reduced():
    said = refusal("score", *CLUSTERED, "--memory-limit", "1GB")
    assert "--cluster is for files that are read into memory" in said


def test_raters_like_these(study):
    row = rows("score", "study.csv", "--over", "both")[0]
    plain = sa.Annotations.from_triples(study.to_triples())
    expected = sa.krippendorff_alpha(plain).interval(over="both")
    assert [row["low"], row["high"]] == pytest.approx(expected, rel=1e-12)
    assert "raters like these" in ok("score", "study.csv", "--over", "both")
    assert row["about"] == "raters like these"
    few = ok("score", "study.csv", "--over", "both", "--interval", "bootstrap", "--seed", "1")
    assert "covered the true value in 80-88% of studies" in " ".join(few.split())
    said = refusal("score", "study.csv", "--over", "both", "--seed", "1")
    assert "--seed makes sense only with --interval bootstrap" in said
    only = rows("score", "study.csv", "--over", "both", "-c", "mv_alpha")[0]
    assert only["low"] is None or np.isnan(only["low"])


class TestWeights:
    @pytest.fixture(name="parts")
    def parts_of_the_population(self, study):
        """Return the stratum of each unit of a study without clusters, and that study."""
        documents = study.units_frame["cluster"]
        parts = {
            unit: "news, old" if d in {"d1", "d2", "d3"} else "blog"
            for unit, d in documents.items()
        }
        return sa.Annotations.from_triples(study.to_triples()), parts

    def test_weights(self, parts):
        """The column of the weights gives the table of the library, and the table says so."""
        study, where = parts
        weights = {unit: 3 if part == "blog" else 1 for unit, part in where.items()}
        expected = sa.krippendorff_alpha(study.sampled(sampling_weight=weights))
        words = ("score", "study.csv", "--sampling-weight", "stands_for")
        row = rows(*words)[0]
        assert row["estimate"] == pytest.approx(expected.estimate, rel=1e-12)
        assert [row["low"], row["high"]] == pytest.approx(expected.interval(), rel=1e-12)
        assert "Units are weighted by stands_for; " in ok(*words)
        row = rows(*words, "--interval", "score")[0]
        found = expected.interval(method="score")
        assert [row["low"], row["high"]] == pytest.approx(found, rel=1e-12)

    @pytest.mark.parametrize(
        "words",
        [
            ["--strata", "part", "--population-size", "sizes.csv"],
            ["--strata", "code", "--population-size", "1=300,2=50"],
            ["--strata", "code", "--population-size", "1=300", "--population-size", "2=50"],
        ],
    )
    def test_sizes(self, words, parts, folder):
        """The sizes of strata come as pairs, or as a file where names have commas."""
        (folder / "sizes.csv").write_text('Stratum,size\nblog,300\n"news, old",50\n')
        study, where = parts
        drawn = study.sampled(strata=where, population_size={"blog": 300, "news, old": 50})
        expected, row = sa.krippendorff_alpha(drawn), rows("score", "study.csv", *words)[0]
        assert row["estimate"] == pytest.approx(expected.estimate, rel=1e-12)
        assert row["standard_error"] == pytest.approx(expected.standard_error, rel=1e-12)

    def test_a_whole_population(self, parts):
        expected = sa.krippendorff_alpha(parts[0].sampled(population_size=60))
        row = rows("score", "study.csv", "--population-size", "60")[0]
        assert row["standard_error"] == pytest.approx(expected.standard_error, rel=1e-12)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("--strata code --population-size 1=300", "lacks the strata '2'"),
            (
                "--strata code --population-size 1=300,2=50,x=5",
                "stratum 'x', of which the study",
            ),
            ("--strata code --population-size 1=300,1=50", "has stratum '1' twice"),
            ("--strata code --population-size 1=300,2=b", "'2=b' is not a size: use a=90,b=40"),
            (
                "--strata code --population-size 1=4,2=50",
                "--population-size 4 of stratum '1' must be at least",
            ),
            ("--population-size 1=300,2=50", "of strata requires --strata"),
            ("--population-size none.csv --strata code", "none.csv: There is no file"),
            (
                "--population-size study.csv --strata code",
                "stratum and size are required",
            ),
            ("--population-size 90 --memory-limit 1GB", "files that are read into memory"),
            ("--sampling-weight part", "a sampling weight is a finite number above 0"),
            (
                "--strata code --interval bootstrap",
                "bootstrap is not defined for strata, which",
            ),
            ("--strata code --interval score", "were drawn from strata; use the t interval"),
        ],
    )
    def test_refusals(self, words, said):
        assert said in refusal("score", "study.csv", *words.split())

    def test_a_plan(self):
        """A plan refuses weights; its help does not offer them."""
        assert "A plan is not defined" in refusal("plan", "study.csv", "--strata", "code")
        assert "--strata" not in ok("plan", "--help")

    def test_the_sizes_are_an_input(self, folder):
        (folder / "sizes.csv").write_text("stratum,size\n1,300\n2,50\n")
        words = ("--strata", "code", "--population-size", "sizes.csv", "-o", "sizes.csv")
        assert "the file of --population-size" in refusal("score", "study.csv", *words)


def test_groups_and_windows_know_the_population(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = sa.simulate(60, 3, rng=4)
    part = {unit: "ab"[k % 3 == 0] for k, unit in enumerate(study.units)}
    half = {unit: k % 2 for k, unit in enumerate(study.units)}
    table = study.to_long()
    table["labels"] = [", ".join(sorted(x)) or "[]" for x in table["labels"]]
    table = table.assign(part=table["unit"].map(part), half=table["unit"].map(half))
    table.to_csv("s.csv", index=False)
    sized = study.sampled(strata=part, population_size={"a": 400, "b": 90})
    expected = sa.by_group(sized, half, n_resamples=99, rng=1)["estimate"]
    given = ("--strata", "part", "--population-size", "a=400,b=90", "--seed", 1)
    shown = ok("diagnose", "--tables", "s.csv", *given, "--by", "half")
    assert all(f"{x:.3f}" in shown for x in expected)
    windows = sa.over_time(sized, half, window=1)["estimate"]
    shown = ok("diagnose", "--tables", "s.csv", *given, "--time", "half", "--window", 1)
    assert all(f"{x:.4f}" in shown for x in windows)


def records(*words):
    """Return what the command gives as JSON, and as CSV and Markdown, a dictionary a row."""
    table = csv.DictReader(io.StringIO(ok(*words, "-f", "csv")))
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in ok(*words, "-f", "markdown").splitlines()
    ]
    return rows(*words), [*table], [dict(zip(lines[0], one, strict=True)) for one in lines[2:]]


DESIGNS = pytest.mark.parametrize(
    ("words", "design"),
    [
        ((), {}),
        (CLUSTERED[1:], {"cluster": "document", "n_clusters": 12}),
        (("--sampling-weight", "stands_for"), {"sampling_weight": "stands_for"}),
        (("--population-size", "90"), {"population_size": 90}),
        (
            ("--strata", "code", "--population-size", "1=300,2=50"),
            {
                "sampling_weight": "population per unit",
                "strata": "code",
                "n_strata": 2,
                "population_size": 350,
            },
        ),
    ],
)
"""What is said of how units were drawn, and what results say of it."""


@DESIGNS
def test_what_differences_rest_on(words, design):
    words = ("compare", "study.csv", "-d", "masi,jaccard", *words)
    for found in records(*words):
        row = {name: str(cell) for name, cell in found[0].items()}
        known = [row.get("drawn", ""), row["design"], row["about"]]
        assert known == [drawn_in_words(design), "same_units", "these raters"]
        half = float(row["high"]) - float(row["difference"])
        t = stats.t.ppf(0.975, float(row["degrees_of_freedom"]))
        assert half == pytest.approx(t * float(row["standard_error"]), rel=2e-2)


def drawn_in_words(design):
    """Return how units were drawn, as headlines say it."""
    said = ["weighted"] if "sampling_weight" in design else []
    said += [
        f"{design[f'n_{one}']} {one}" for one in ("clusters", "strata") if f"n_{one}" in design
    ]
    sizes = design.get("population_size", 0) if not said else 0
    return ", ".join([*said, f"a population of {sizes}"] if sizes else said)


@DESIGNS
def test_what_intervals_rest_on(words, design):
    """JSON, CSV and Markdown say the degrees of freedom, the design, and what intervals are about.

    So do the table's own JSON and Markdown.
    """
    words = ("score", "study.csv", "-c", "alpha", *words)
    by_form = records(*words)
    for found in by_form:
        row = {name: str(cell) for name, cell in found[0].items()}
        assert row["about"] == "these raters"
        assert {name: row[name] for name in design} == {n: str(x) for n, x in design.items()}
        known = {"cluster", "n_clusters", "sampling_weight", "strata", "n_strata"}
        assert not (known | {"population_size"}) - {*design} & {*row}
        assert row["interval_method"] == ("t" if design.keys() & BY_T else "score")
        # By t on request; by default the low end of the score interval is not above it.
    for found in records(*words, "--interval", "t"):
        row = {name: str(cell) for name, cell in found[0].items()}
        half = float(row["high"]) - float(row["estimate"])
        t = stats.t.ppf(0.975, float(row["degrees_of_freedom"]))
        assert half == pytest.approx(t * float(row["standard_error"]), rel=5e-3)


BY_T = {"cluster", "population_size"}
"""Designs with t intervals."""


def test_two_way_and_resampled_degrees_of_freedom():
    for found in records("score", *CLUSTERED, "-c", "alpha", "--over", "both"):
        assert float(found[0]["degrees_of_freedom"]) == 3
        assert found[0]["about"] == "raters like these"
    resampled = ("--interval", "bootstrap", "--resamples", "200", "--seed", "1")
    for found in records("score", *CLUSTERED, "-c", "alpha", *resampled):
        assert found[0]["degrees_of_freedom"] in {None, "", "-"}
        assert str(found[0]["n_clusters"]) == "12"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--interval", "score"),
        ("--over", "both"),
        ("--interval", "bootstrap", "--resamples", "200", "--seed", "1"),
        ("--memory-limit", "1GB"),
    ],
)
def test_percent_agreement_has_no_p(words):
    """Chance alone gives a percent agreement above 0, so that no way to score it has a p-value.

    Alpha has one, unless the interval is not the one that the p-value belongs to.
    """
    has_p = words[-1:] in {(), ("score",), ("1GB",)}
    words = ("score", "study.csv", "-c", "percent_agreement,alpha", *words)
    for found in records(*words):
        assert [any("p_value" in name for name in row) for row in found] == [has_p] * 2
        if has_p:
            assert found[0]["p_value"] in {None, "", "-"}
            assert found[1]["p_value"] not in {None, "", "-"}


@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
def test_clusters_that_count(study):
    """A row counts the clusters of its own units: alpha's have two ratings, kappa's one or more.

    A bootstrap redraws all of them.
    """
    lone = study.units_frame["cluster"] == "d3"
    kept = (study.rater_codes == 0) | ~lone.to_numpy()[study.unit_codes]
    table = sa.agreement(study.take(kept), coefficient=["alpha", "fleiss_kappa"])
    assert [row.drawn for row in table] == ["11 clusters", "12 clusters"]
    assert [row.degrees_of_freedom for row in table] == pytest.approx([10, 11], abs=0.5)
    said = "12 clusters (fleiss_kappa)"
    assert f"11 clusters (krippendorff_alpha), {said}, " in str(table)
    assert "11 clusters (Krippendorff's alpha), 12 clusters (" in sa.methods_text(table)
    found = sa.bootstrap(table, n_resamples=20, rng=1)
    assert [row.drawn for row in found] == ["12 clusters"] * 2
    assert json.loads(table.to_json())[1]["n_clusters"] == 12
    whole = gathered(study.take(kept))
    assert counts_line(whole).endswith("12 clusters")
    note = by_id(whole)["choices"].note
    assert "11 clusters (Krippendorff's alpha), 12 clusters (" in note
    shown = by_id(gathered(study.take(kept), coefficient="fleiss_kappa"))
    assert "95% interval (12 clusters) for each rater" in shown["raters"].note
    assert "(11 clusters), which is too narrow for rare labels" in shown["labels"].note


@pytest.mark.parametrize(
    "option", [["--strata", "part"], ["--population-size", "90"]], ids=lambda words: words[0]
)
def test_groups_of_a_sample_are_compared_by_diagnose(option):
    said = refusal("compare", "study.csv", "--by", "half", *option)
    assert f"{option[0]} applies to the whole sample" in said
    assert "use setagree diagnose FILE --by 'half'" in said
    assert "GROUPS" in ok(
        "diagnose", "--tables", "study.csv", "--by", "half", *option, "--resamples", 19
    )


def test_rows_without_a_group_are_left_out_by_both_commands(folder):
    lines = (folder / "study.csv").read_text().splitlines()
    at = lines[0].split(",").index("half")
    cells = list(csv.reader(lines))
    for row in cells[1:4]:
        row[at] = " "
    with (folder / "gaps.csv").open("w", newline="") as file:
        csv.writer(file).writerows(cells)
    for words in (("compare",), ("diagnose", "--resamples", "19")):
        result = invoke(words[0], "gaps.csv", "--by", "half", *words[1:])
        assert result.exit_code == 0
        assert "3 rows with nothing in column 'half' left out." in result.stderr
