"""A number has one interval and one p-value: every output of ten small studies shows the same."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import ok, rows

import setagree as sa

NUMBER = r"[-−]?\d+\.\d+"
SHOWN = re.compile(rf"^[^0-9|\n]*?(?:95%[^0-9|\n]*?)?({NUMBER})(?: to |, )({NUMBER})")
"""What follows an estimate that is shown with its interval."""


def table_of(units, raters, answer):
    """Return a long table: the documents have two units each, later ones a larger weight."""
    frame = pd.DataFrame([(u, r, answer(u, r)) for u in range(units) for r in range(raters)])
    frame.columns = ["unit", "rater", "labels"]
    frame = frame.dropna()
    frame["rater"] = "r" + frame["rater"].astype(str)
    return frame.assign(
        doc=frame["unit"] // 2, weight=1.0 + (frame["unit"] % 5), part=frame["unit"] % 2
    )


def mixed(unit, rater):
    """Return an answer of raters who agree in about half of the units."""
    return "abc"[(unit + (unit * rater % 3 if unit % 4 < 2 else 0)) % 3]


def rare(unit, rater):
    return "b" if unit == 3 and rater else "a"


MIXED = table_of(24, 3, mixed)
STUDIES = {
    "plain": (MIXED, {}, []),
    "two raters below chance": (table_of(30, 2, lambda u, r: "abc"[(u + r) % 3]), {}, []),
    "full agreement": (table_of(10, 2, lambda u, _: "aaabbbcccd"[u]), {}, []),
    "rare answers": (table_of(40, 5, rare), {}, []),
    "missing answers": (table_of(24, 4, lambda u, r: mixed(u, r) if (u + r) % 3 else None), {}, []),
    "clusters": (MIXED, {"cluster": "doc"}, ["--cluster", "doc"]),
    "weights": (MIXED, {"sampling_weight": "weight"}, ["--sampling-weight", "weight"]),
    "clusters and weights": (
        MIXED,
        {"cluster": "doc", "sampling_weight": "weight"},
        ["--cluster", "doc", "--sampling-weight", "weight"],
    ),
    "strata": (MIXED, {"strata": "part"}, ["--strata", "part"]),
    "a known population": (MIXED, {"population_size": 90}, ["--population-size", "90"]),
}

# A standard error of 0, few clusters: what is shown then is the matter here.
pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")


@pytest.fixture(params=[*STUDIES], name="case")
def written_study(request, tmp_path, monkeypatch):
    """Write a study into the folder of the command; return its table and the options."""
    monkeypatch.chdir(tmp_path)
    frame, options, words = STUDIES[request.param]
    frame.to_csv("study.csv", index=False)
    asked = {"coefficient": ["alpha", "percent_agreement"], "distance": "nominal"}
    return sa.agreement(frame, **asked, **options), ["-d", "nominal", *words]


def ends_after(text, estimate):
    found = set()
    numbers = rf"(?<![\d.])(?:{estimate:.4f}|{estimate:.3f})(?!\d)".replace("-", "[-−]")
    for match in re.finditer(numbers, text):
        if shown := SHOWN.match(text[match.end() :]):
            found.add(tuple(float(end.replace("−", "-")) for end in shown.groups()))
    return found


def assert_shown(text, row):
    """Every interval behind the estimate is that of the row, and there is one if it has one."""
    found = ends_after(text, row.estimate)
    assert bool(found) == np.isfinite(row.interval()[0]), text
    for ends in found:
        assert ends == pytest.approx(row.interval(), abs=5.1e-4), text


def same(found, row):
    """Return whether low, high and p of a record are those of a row; missing is missing."""
    cells = [found[name] for name in ("low", "high", "p_value")]
    numbers = [float("nan") if cell in {None, ""} else float(cell) for cell in cells]
    return numbers == pytest.approx([*row.interval(), row.p_value], abs=1e-12, nan_ok=True)


def printed_p(row):
    return "-" if np.isnan(row.p_value) else f"{row.p_value:.4f}".replace("0.0000", "<0.0001")


def test_p_agrees_with_the_interval(case):
    """P is at most 0.05 exactly if 0 lies outside the 95% interval, and missing with it.

    It is missing, too, if all units disagree alike (STATISTICS 10.14).
    """
    alpha = case[0][0]
    low, high = alpha.interval()
    if alpha.standard_error_reason == "All units disagree alike":
        assert np.isnan(alpha.p_value)
    else:
        assert np.isnan(low) == np.isnan(alpha.p_value)
        assert (alpha.p_value <= 0.05) == (low > 0 or high < 0)


def test_tables(case):
    """The text, HTML, LaTeX, repr, values, JSON and Markdown of the table, and the frame."""
    table, words = case
    for k, row in enumerate(table):
        line = next(x for x in str(table).splitlines() if x.startswith(row.coefficient))
        ends = ", ".join(f"{end:.4f}" for end in row.interval())
        shown = "-" if np.isnan(row.interval()[0]) else ends
        assert line.endswith(printed_p(row))
        assert shown in line
        assert_shown(re.sub(r"\(se [\d.]+,? ?", "(", repr(row)), row)
        for text in (table._repr_html_(), table.to_latex()):
            text = html.unescape(text).replace("{,}", ",").replace("$", "")
            assert shown in text
            assert printed_p(row).removeprefix("<") in text
        head, *lines = (line.strip("| ").split(" | ") for line in table.to_markdown().splitlines())
        cells = dict(zip(map(str.strip, head), map(str.strip, lines[k + 1]), strict=True))
        expected = [f"{end:.4f}" if np.isfinite(end) else "" for end in row.interval()]
        assert [cells["low"].strip("-"), cells["high"].strip("-")] == [
            end.strip("-") for end in expected
        ]
        values = {name: column[k] for name, column in table.to_dict().items()}
        json_rows = json.loads(table.to_json())
        csv_rows = [*csv.DictReader(io.StringIO(ok("score", "study.csv", *words, "-f", "csv")))]
        for found in (values, json_rows[k], table.to_frame().iloc[k]):
            assert same(found, row)
            assert found["interval_method"] == row.interval_method
        if row.coefficient == "krippendorff_alpha":
            assert same(rows("score", "study.csv", *words)[0], row)
            assert same(csv_rows[0], row)


def test_command(case):
    table, words = case
    text = ok("score", "study.csv", "-c", "alpha,percent_agreement", *words)
    shown = [line for line in str(table).splitlines() if line.startswith(("kripp", "percent"))]
    assert [line for line in text.splitlines() if line.startswith(("kripp", "percent"))] == shown


def test_methods_text(case):
    """The paragraph for the paper has the interval of the table and no other."""
    alpha = case[0][0]
    assert_shown(sa.methods_text(alpha), alpha)


def test_report(case):
    """The headline, the tables and the paragraph of the report show one interval of alpha.

    Its one p-value is that of the reshuffles, everywhere.
    """
    table, words = case
    ok("report", "study.csv", "-o", "page.md", "--seed", "1", "--resamples", "99", *words)
    text = Path("page.md").read_text(encoding="utf-8")
    head, *others = re.split(r"^## ", text, flags=re.MULTILINE)
    sections = {part.partition("\n")[0]: part for part in others}
    assert_shown(head, table[0])
    choices = sections["Other coefficients and distances"]
    names, *lines = [line.split(" | ") for line in choices.splitlines() if line.startswith("|")]
    nominal = next(line for line in lines if line[0] == "| nominal")
    for row, name in zip(table, ("Krippendorff's alpha", "Percent agreement"), strict=True):
        cell = nominal[[one.strip("| ") for one in names].index(name)]
        assert_shown(cell, row)
    changes = sections.get("Effects of possible changes", "")
    if as_it_is := [line for line in changes.splitlines() if line.startswith("| As it is")]:
        assert_shown(as_it_is[0], table[0])
    methods = sections["Methods paragraph"].partition("\n\n- ")[0]
    assert_shown(methods, table[0])
    chance = sections.get("Agreement expected by chance", "")
    p = re.compile(r"(?:reshuffled studies|permutation test).*?\bp (?:=|<) (\d\.\d+)")
    said = (sections.get("Main findings", ""), chance, methods)
    assert len({one for text in said for one in p.findall(text)}) == 1


@pytest.mark.parametrize("name", ["two raters below chance", "full agreement"])
def test_two_raters_are_their_pair(name):
    alpha = sa.agreement(STUDIES[name][0], distance="nominal")["alpha"]
    (pair,) = sa.by_pair(STUDIES[name][0], distance="nominal").to_dict("records")
    assert (pair["low"], pair["high"]) == alpha.interval()
    assert (pair["interval_method"], pair["reason"]) == ("score", alpha.interval_reason)


def test_many_pairs():
    """More than 200 pairs have t intervals, and none where answers are rare."""
    frame = table_of(40, 21, lambda u, r: mixed(u, r) if r < 3 else rare(u, r))
    pairs = sa.by_pair(frame, distance="nominal").set_index(["rater_a", "rater_b"])
    two = sa.agreement(frame[frame["rater"].isin(["r1", "r2"])], distance="nominal", interval="t")
    assert pairs.loc[("r1", "r2"), ["low", "high"]].to_list() == pytest.approx(
        two["alpha"].interval(), abs=1e-12
    )
    assert pairs.loc[("r1", "r2"), "interval_method"] == "t"
    same_unit = pairs.loc[("r3", "r4")]
    assert same_unit[["low", "high", "interval_method"]].isna().all()
    # The two give one of 40 units another answer: 40 (1 - 78 / 80) units.
    assert "as much as 1.0 unit, fewer than 4" in same_unit["reason"]


NUMBERS = sa.Annotations.from_triples(
    [(r, u, float((u + (r == "z") * (u % 3)) % 7)) for u in range(40) for r in "wxyz"], kind="value"
)


@pytest.mark.parametrize(
    "made",
    [
        lambda: sa.at_least(NUMBERS, 0.5).agreement.distance,
        lambda: sa.permutation_test(NUMBERS, n_resamples=9, rng=1).agreement.distance,
        lambda: sa.bootstrap(NUMBERS, n_resamples=9, rng=1).agreement.distance,
        lambda: sa.by_pair(NUMBERS)["distance"].iloc[0],
        lambda: sa.alt_test(NUMBERS, model="x", min_units=5).rows[0].distance,
        lambda: sa.panel_scorer(NUMBERS).distance.name,
        lambda: sa.variance_components(NUMBERS).distance,
        lambda: sa.ks_statistic(NUMBERS, n_resamples=9, rng=1).distance,
    ],
)
def test_one_estimate_of_numbers_has_the_interval_distance(made):
    assert made() == "interval"
    # A coefficient that is called by itself is nominal, as in scikit-learn.
    assert sa.fleiss_kappa(NUMBERS).distance == "nominal"
