"""A number that a page gives twice is the same number: in text, table, picture and command."""

import html
import re

import numpy as np
import pytest
from cli_support import ok
from reporting_support import by_id

import setagree as sa
from setagree.reporting.findings import correct, gather, main_findings
from setagree.reporting.report import rendered
from setagree.reporting.sections import changes
from setagree.wording.number_format import number
from setagree.wording.sentences import Name, plain

pytest.importorskip("typer", reason="the command needs the cli extra")

pytestmark = pytest.mark.usefixtures("few_draws")

FEW = {"n_resamples": 99, "rng": 1}
STUDIES = {
    "complete": {"n_units": 120, "n_raters": 4},
    "unequal": {"n_units": 140, "n_raters": 6, "missing": 0.4},
    "three raters": {"n_units": 90, "n_raters": 3, "skill": [0.9, 0.8, 0.3]},
    "crowd": {"n_units": 100, "n_raters": 25, "missing": 0.75},
}
"""What `simulate` is given; ratings of a unit differ in number where some are missing."""


@pytest.fixture(scope="module", params=STUDIES)
def found(request):
    return gather(sa.simulate(**STUDIES[request.param], rng=7), **FEW)


@pytest.fixture
def written(found, tmp_path):
    """Return the study of the findings as a file."""
    frame = found.study.to_long()
    path = tmp_path / "study.csv"
    frame.assign(labels=[sa.format_labels(x) or "[]" for x in frame["labels"]]).to_csv(
        path, index=False
    )
    return path


def section(f, name):
    return by_id(f)[name]


def drawn(one):
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib").Figure
    ax = figure(figsize=(7.2, one.picture.height), layout="constrained").add_subplot()
    one.picture.draw(ax=ax)
    return "\n".join(text.get_text() for each in ax.figure.axes for text in each.texts)


def told(f):
    """Return the main findings as plain text, by what they are about."""
    return {one.about: plain(one.sentence, quoted=False) for one in main_findings(f)}


def squeezed(text):
    """Return text with each run of white space as one space."""
    return " ".join(text.split())


def test_half_of_the_disagreement_lies_in_as_many_units(found):
    said, picture = told(found)["Units"], drawn(section(found, "units"))
    (n,) = re.findall(r"of the disagreement lies in (\d+) of", said)
    assert f"of the disagreement lies in the first {n} (" in picture
    shares = np.sort(found.results["units"]["share_of_disagreement"])[::-1]
    assert shares[: int(n) - 1].sum() < 0.5 <= shares[: int(n)].sum() + 1e-12


def test_the_bound_of_chance_is_one_number(found):
    (said,) = re.findall(r"is at most (\S+)", told(found)["Chance"])
    assert f"95% are at most {said}" in drawn(section(found, "chance"))
    test = found.results["chance"]
    assert said == number(test.quantile(0.95)) == number(test.to_frame()["null_95"].item())
    assert (test.defined <= test.quantile(0.95)).mean() >= 0.95


def test_the_gain_is_that_of_the_table(found):
    said = told(found).get("Change", "")
    if " tried, alpha " not in said:
        assert said == "" or "raise" in said
        return
    rows = section(found, "changes").table.rows[1:]
    estimate, difference = re.search(r": (\S+) instead of \S+ \((\S+);", said).groups()
    shown = [(number(row[1][0]), number(row[2], signed=True), row[2]) for row in rows]
    named = next(one for one in shown if one[:2] == (estimate, difference))
    if "largest significant rise" not in said.partition(" if you ")[0]:
        assert named[2] == max(one[2] for one in shown)


def test_the_range_of_pairs_is_that_of_the_table(found):
    pairs = by_id(found)["pairs"]
    said = plain(pairs.lead)
    frame = found.results["pairs"]
    known = frame[frame["estimate"].notna()]
    enough = known[known["n_shared_units"] >= 10]
    values = np.sort((enough if len(enough) else known)["estimate"])
    part = f" (of {len(frame)} that share units)" if len(values) < len(frame) else ""
    assert f"of {len(values)} pairs of raters{part} is {number(np.median(values))}" in said
    if len(values) < 10:
        assert said.endswith(f", from {number(values[0])} to {number(values[-1])}.")
    else:
        n, low, high = re.search(r"; (\d+) of them lie between (\S+) and (\S+)\.$", said).groups()
        inside = (values >= np.quantile(values, 0.1)) & (values <= np.quantile(values, 0.9))
        assert int(n) == inside.sum() >= 0.8 * len(values) - 2
        assert [low, high] == [number(np.quantile(values, q)) for q in (0.1, 0.9)]


def test_the_command_has_the_sentences_of_the_report(found, written):
    printed = squeezed(ok("diagnose", "--tables", written, "--seed", "1", "--resamples", "99"))
    page = rendered(found, Name("study"), "markdown").replace("\\", "")
    page = squeezed(html.unescape(page))
    for sentence in told(found).values():
        assert squeezed(sentence) in printed
        assert squeezed(sentence) in page


def test_a_pool_of_raters_is_not_these_raters(found):
    line = rendered(found, Name("study"), "markdown")
    most = np.bincount(found.study.rater_codes).max()
    pool = f"this pool of {found.study.n_raters} raters)"
    assert (pool in line) == (2 * most < found.study.n_units)
    assert (", for these raters)" in line) == (2 * most >= found.study.n_units)


@pytest.mark.parametrize(
    ("difference", "p", "said"),
    [
        ([0.027, 0.017, 0.01], [0.4, 0.001, 0.3], "alpha has its largest significant rise if you "),
        ([0.027, 0.017, 0.01], [0.001, 0.002, 0.3], "alpha rises most if you"),
        ([0.027, 0.017, 0.01], [0.4, np.nan, 0.3], "None of 2 changes of labels"),
        ([0.027, 0.017, 0.01], [np.nan, 0.001, 0.3], "alpha rises most (no test is possible) "),
    ],
)
def test_only_the_largest_gain_is_called_that(difference, p, said):
    f = gather(sa.simulate(60, 3, rng=1), **FEW)
    table = f.results["changes"].iloc[[0, 1, 1, 1]].reset_index(drop=True)
    table.loc[1:, "action"], table.loc[1:, "target"] = "drop label", ["x", "y", "z"]
    table.loc[1:, "difference"], table.loc[1:, "p_value"] = difference, p
    table.loc[1:, "estimate"] = f.main.estimate + np.array(difference)
    f.results["changes"] = table
    correct(f)
    sentence = plain(changes.summary(f, table))
    assert said in sentence
    if " if you " in sentence:
        named = re.search(r"label “(.)”", sentence)[1]
        assert ("largest significant rise" in sentence) == (named != "x")


def test_models_have_one_verdict(tmp_path):
    study = sa.simulate(120, 6, skill=[0.9, 0.9, 0.9, 0.9, 0.98, 0.2], rng=2)
    frame = study.to_long()
    path = tmp_path / "models.csv"
    frame.assign(labels=[sa.format_labels(x) or "[]" for x in frame["labels"]]).to_csv(
        path, index=False
    )
    said = told(gather(study, model=["r5", "r6"], margin=0.1, **FEW))
    assert said["Models"].startswith("1 of 2 models may replace a human: r5; r6 may not. The best")
    printed = squeezed(ok("panel", "--tables", path, "-m", "r5,r6", "--margin", "0.1"))
    assert "'r5' may replace a human: it " in printed
    assert "'r6' may not replace a human: it " in printed
    (best,) = re.findall(r"The best, r5, (wins over .*?\))\.", said["Models"])
    assert f"'r5' may replace a human: it {best}." in printed
    for test in sa.noninferiority_test(study, model=["r5", "r6"], margin=0.1):
        assert f"{test.model} in the place of a human " in said["Decisions"]
        assert squeezed(test.verdict) in printed
        verb = "does not lower" if test.passes else "lowers"
        assert f"{test.model} in the place of a human {verb} agreement" in said["Decisions"]
        for human, row in test.to_frame().iterrows():
            cells = [f"{x:.4f}" for x in row[["alpha", "alpha_with_model"]]]
            line = f"{human} 120 {' '.join(cells)} {row['scale']:.4f} {row['difference']:.4f}"
            assert line in printed
            eye = float(f"{row['scale']:.3f}") * (float(cells[1]) - float(cells[0]))
            assert eye == pytest.approx(row["difference"], abs=1e-3)
            assert row["scale"] == 2  # one over twice a quarter of the ratings
