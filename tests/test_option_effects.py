"""Every option of reading and sampling does something, or is refused, or is ignored with a warning.

The tables hold one letter per function or command and option:

c  counts: the result differs from the result without the option
r  refused: `SetagreeError`, or exit code 2 and one sentence
w  warned: the result is the same, and a warning names the option
t  takes: the result is the same, and a warning states that the marked ratings count
"""

import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from cli_support import invoke

import setagree as sa
from setagree.cli.app import COMMANDS

pytestmark = pytest.mark.usefixtures("few_draws")

SAMPLING = ("cluster", "sampling_weight", "strata", "population_size")
READING = (
    *("where", "duplicates", "order_by", "blank", "case", "na_values", "status", "codebook"),
    *("exclude_raters", "queued", "predictions"),
)


def table(*, repeated=False):
    """Return 60 units by four raters, in which every option changes what is read."""
    rng, rows = np.random.default_rng(3), []
    for k in range(60):
        truth = ("joy", "fear", "anger")[k % 3]
        for j, rater in enumerate(("ann", "ben", "cem", "dia")):
            if j and (k + j) % 7 == 0:
                continue
            answer = truth if rng.random() < 0.7 else rng.choice(["joy", "fear", "joy, fear"])
            changed = {0: "", 1: "Joy", 2: "dunno"}.get((k + 2 * j) % 12, answer)
            state = "refused" if (k + j) % 11 == 4 else "observed"
            row = {"unit": f"u{k}", "rater": rater, "labels": changed, "doc": f"d{k // 5}"}
            row |= {"weight": 1.0 + 4 * (k % 2), "part": "st"[k % 3 == 0], "batch": k // 30}
            row |= {"age": "old" if k % 10 == 0 else "new", "state": state, "turn": 1}
            row |= {"model": "mn"[j % 2], "late": "yes" if (k + 3 * j) % 13 == 5 else "no"}
            rows.append(row)
            if repeated and k % 4 == 0:
                other = {"labels": "joy" if answer != "joy" else "anger", "turn": 0}
                rows.append(rows[-1] | other | {"state": "observed"})
    return pd.DataFrame(rows)


GIVEN = {
    "cluster": "doc",
    "sampling_weight": "weight",
    "strata": "part",
    "population_size": 90,
    "where": "age == 'new'",
    "duplicates": "last",
    "order_by": "turn",
    "blank": "empty",
    "case": "lower",
    "na_values": ["dunno"],
    "status": "state",
    "codebook": ["joy", "fear"],  # and not anger
    "exclude_raters": ["ann"],
    "queued": "late",
    "predictions": True,
}
OF_REPEATS = ("duplicates", "order_by")


def plain(answer):
    """Return an answer as text that shows all of its numbers."""
    if isinstance(answer, sa.Annotations):
        return plain(answer.to_long()) + plain(answer.units_frame)
    if isinstance(answer, sa.Tally):
        return plain(sa.agreement(answer, coefficient=["krippendorff_alpha", "gwet_ac"]))
    frame = answer.to_frame() if hasattr(answer, "to_frame") else answer
    if isinstance(frame, pd.DataFrame):
        return f"{answer!r}{answer}{frame.to_csv()}"
    return f"{answer!r}{answer}"


def outcome(call, given, base):
    """Return the letter of a call, or what it printed if nothing came of the option."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = plain(call())
        except sa.SetagreeError:
            return "r"
    if found != base:
        return "c"
    texts = [str(one.message) for one in caught]
    return "w" if any(f"{given}=" in text and "ignored" in text for text in texts) else texts


# ---- Functions ----------------------------------------------------------------------------------

STUDY = sa.Annotations.from_long(
    table().query("labels not in ['', 'dunno', 'Joy']"),
    labels="labels",
    unit_columns=["doc", "weight", "part", "batch"],
    rater_columns=["model"],
)
BATCH = STUDY.units_frame["batch"].to_dict()
FEW = {"n_resamples": 39, "rng": 1}
COEFFICIENTS = (
    *("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac", "brennan_prediger"),
    *("percent_agreement",),
)


def partly_empty(study):
    """Return the study with the empty set in the place of its first value."""
    return dataclasses.replace(study, values=(frozenset(), *study.values[1:]))


def two(study):
    return study.exclude_raters(["cem", "dia"])


def with_dia(study):
    units = study.unit_codes[study.rater_codes == study.raters.tolist().index("dia")]
    return study.take(np.isin(study.unit_codes, units))


def repeats(study):
    rows = study.to_long()
    more = rows.iloc[::3].assign(labels=[frozenset({"joy"})] * len(rows.iloc[::3]))
    twice = sa.Annotations.from_long(
        pd.concat([rows, more]), labels="labels", duplicates="repeats"
    ).with_units({name: study.units_frame[name].to_dict() for name in study.units_frame})
    how = study.sampling
    return twice if how is None else twice.sampled(**drawn_as(study))


def drawn_as(study):
    return {name: x for name in SAMPLING if (x := getattr(study.sampling, name)) is not None}


def numbers(study):
    rows = study.to_long()
    rows["labels"] = rows["labels"].map(lambda labels: sum(map(len, labels)))
    of_units = {name: study.units_frame[name].to_dict() for name in study.units_frame}
    counts = sa.Annotations.from_long(rows, value="labels").with_units(of_units)
    return counts if study.sampling is None else counts.sampled(**drawn_as(study))


def written(study, tmp_path):
    """Return the text of a report, without its citation of the seed."""
    path = tmp_path / "report.md"
    sa.report(study, path, n_resamples=39, rng=1)
    return path.read_text("utf-8")


CALLS = {
    **{name: lambda s, _, name=name: getattr(sa, name)(s) for name in COEFFICIENTS},
    "agreement": lambda s, _: sa.agreement(s),
    "alt_test": lambda s, _: sa.alt_test(s, model="dia", min_units=2),
    "at_least": lambda s, _: sa.at_least(s, 0.3),
    "benchmark": lambda s, _: sa.benchmark(s),
    "bootstrap": lambda s, _: sa.bootstrap(s, **FEW),
    "by_depth": lambda s, _: sa.by_depth(s, parents={"fear": "bad", "anger": "bad"}),
    "by_group": lambda s, _: sa.by_group(s, BATCH, **FEW),
    "by_label": lambda s, _: sa.by_label(s),
    "by_pair": lambda s, _: sa.by_pair(s),
    "by_presence": lambda s, _: sa.by_presence(partly_empty(s)),
    "by_rater": lambda s, _: sa.by_rater(s),
    "by_unit": lambda s, _: sa.by_unit(s),
    "cohen_kappa": lambda s, _: sa.cohen_kappa(two(s)),
    "compare": lambda s, _: sa.compare(sa.fleiss_kappa(s), sa.gwet_ac(s)),
    "completion_bounds": lambda s, _: sa.completion_bounds(s),
    "confusions": lambda s, _: sa.confusions(s),
    "consensus": lambda s, _: sa.consensus(s),
    "cross_replication": lambda s, _: sa.cross_replication(
        s, panels={"one": ["ann", "ben"], "two": ["cem", "dia"]}, **FEW
    ),
    "crowdtruth": lambda s, _: sa.crowdtruth(s),
    "facet_agreement": lambda s, _: sa.facet_agreement(s, facets=["model"]),
    "intra_rater_agreement": lambda s, _: sa.intra_rater_agreement(repeats(s)),
    "jackknife": lambda s, _: sa.jackknife(s),
    "k_rater_reliability": lambda s, _: sa.k_rater_reliability(s, k=1, n_splits=5, rng=1),
    "ks_statistic": lambda s, _: sa.ks_statistic(s, **FEW),
    "methods_text": lambda s, _: sa.methods_text(s),
    "mv_alpha": lambda s, _: sa.bootstrap(sa.mv_alpha(s), **FEW),  # it has no other interval
    "monitor": lambda s, _: sa.monitor(s, batch=BATCH, threshold=0.2),
    "next_ratings": lambda s, _: sa.next_ratings(s, budget=20),
    "noninferiority_test": lambda s, _: sa.noninferiority_test(s, model="dia", margin=0.1),
    "over_time": lambda s, _: sa.over_time(s, BATCH, window=1),
    "panel_scorer": lambda s, _: sa.panel_scorer(s).score(s.units, ["joy"] * s.n_units),
    "permutation_test": lambda s, _: sa.permutation_test(s, **FEW).distribution.tolist(),
    "plan": lambda s, _: sa.plan(s, sa.PlanGoals(half_width=0.05)),
    "prevalence": lambda s, _: sa.prevalence(with_dia(s), model="dia"),
    "rater_map": lambda s, _: sa.rater_map(s, **FEW),
    "report": written,
    "score": lambda s, _: sa.score(s, sa.krippendorff_alpha),
    "score_against_consensus": lambda s, _: sa.score_against_consensus(s),
    "score_against_panel": lambda s, _: sa.score_against_panel(s),
    "scott_pi": lambda s, _: sa.scott_pi(two(s)),
    "soft_scores": lambda s, _: sa.soft_scores(s, model="dia", rng=1),
    "variance_components": lambda s, _: sa.variance_components(s),
    "weights": lambda s, _: sa.weights(numbers(s), "ordinal").to_frame(),
    "what_if": lambda s, _: sa.what_if(s),
}

OF_STUDIES = """
krippendorff_alpha        c c c c
fleiss_kappa              c c c c
conger_kappa              c c c c
gwet_ac                   c c c c
brennan_prediger          c c c c
percent_agreement         c c c c
agreement                 c c c c
alt_test                  w w w w
at_least                  c c c c
benchmark                 c c c c
bootstrap                 c r r r
by_depth                  c c c c
by_group                  c c c c
by_label                  c c c c
by_pair                   c c c c
by_presence               c c c c
by_rater                  c c c c
by_unit                   w c w w
cohen_kappa               c c c c
compare                   c c c c
completion_bounds         w w w w
confusions                w w w w
consensus                 w w w w
cross_replication         w w w w
crowdtruth                w w w w
facet_agreement           w w w w
intra_rater_agreement     c w w w
jackknife                 c r r r
k_rater_reliability       w w w w
ks_statistic              w w w w
methods_text              c c c c
mv_alpha                  c r r r
monitor                   w w w w
next_ratings              w w w w
noninferiority_test       w w w w
over_time                 c c c c
panel_scorer              w w w w
permutation_test          w c w w
plan                      c r r r
prevalence                c c w w
rater_map                 w w w w
report                    c c c c
score                     c c c c
score_against_consensus   w w w w
score_against_panel       w w w w
scott_pi                  c c c c
soft_scores               w w w w
variance_components       w w w w
weights                   w c w w
what_if                   c c c c
"""
"""Rows: functions of a study; columns: what the study holds of how its units were drawn."""


def as_reading(given):
    """Return `reading=` with the options that a `Reading` has, and the others as they are."""
    known = {name: value for name, value in given.items() if name in READS}
    others = {name: value for name, value in given.items() if name not in READS}
    return {"reading": sa.Reading(**known), **others}


READS = inspect.signature(sa.Reading).parameters
ON_TABLES = {
    "agreement": sa.agreement,
    "read": sa.read,
    "tally": sa.tally,
    "by_group": lambda data, **how: sa.by_group(data, "batch", **FEW, **as_reading(how)),
    "by_question": lambda data, **how: sa.by_question(data, ["labels"], **as_reading(how)),
    "over_time": lambda data, **how: sa.over_time(data, "batch", window=1, **as_reading(how)),
}
OF_TABLES = """
agreement                 c c c c c c r c c c r r r r r
read                      c c c r c c c c c c c r r c r
tally                     r r r r c r r c c c r r r r r
by_group                  c c c r c c c c c c c r r c r
by_question               c c c r c c c c c c c r r c r
over_time                 c c c r c c c c c c c r r c r
"""
"""Rows: functions that read tables; columns: options given with the table."""

NO_DATA = {
    *("acceptance_plan", "acceptance_test", "coefficient", "distance_matrix", "format_labels"),
    *("formats", "pair_matrix", "parse_labels", "simulate"),
}


def cells(text, columns):
    """Return the cells of a table as parameters: row, column, letter."""
    rows = [line.split() for line in text.strip().splitlines()]
    assert all(len(row) == 1 + len(columns) for row in rows)
    return [(row[0], *cell) for row in rows for cell in zip(columns, row[1:], strict=True)]


def names(text):
    return {line.split()[0] for line in text.strip().splitlines()}


def test_every_function_has_a_row():
    public = {name for name in sa.__all__ if inspect.isroutine(getattr(sa, name))}
    public |= {name for name in sa.__all__ if isinstance(getattr(sa, name), sa.Coefficient)}
    assert names(OF_STUDIES) == set(CALLS)
    assert names(OF_TABLES) == set(ON_TABLES)
    assert public == set(CALLS) | set(ON_TABLES) | NO_DATA
    assert not (set(CALLS) | set(ON_TABLES)) & NO_DATA


@pytest.fixture(name="bases", scope="module")
def results_without_options():
    """Return a place to keep the results without options, each computed once."""
    return {}


@pytest.mark.parametrize(("name", "given", "letter"), cells(OF_STUDIES, SAMPLING))
def test_studies(name, given, letter, bases, tmp_path):
    """What a study holds of its sampling has the effect that the table has."""
    if name not in bases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bases[name] = plain(CALLS[name](STUDY, tmp_path))
    drawn = STUDY.sampled(**{given: GIVEN[given]})
    assert outcome(lambda: CALLS[name](drawn, tmp_path), given, bases[name]) == letter


@pytest.mark.parametrize(("name", "given", "letter"), cells(OF_TABLES, (*SAMPLING, *READING)))
def test_tables(name, given, letter):
    repeated = given in OF_REPEATS and name != "tally"  # which refuses both, and any repeats
    data, always = table(repeated=repeated), {"duplicates": "first"} if repeated else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = plain(ON_TABLES[name](data, **always))
    how = {**always, given: GIVEN[given]}
    assert outcome(lambda: ON_TABLES[name](data, **how), given, base) == letter


@pytest.mark.parametrize("name", sorted(CALLS))
def test_options_that_a_function_does_not_have(name):
    function = getattr(sa, name)
    known = inspect.signature(function).parameters
    for given in (*SAMPLING, *READING):
        if given not in known:
            with pytest.raises(sa.SetagreeError, match=f"{given}="):
                function(STUDY, **{given: GIVEN[given]})


# ---- Commands -----------------------------------------------------------------------------------

WORDS = {
    "score": (),
    "test": ("--resamples", "39", "--seed", "1", "-f", "json"),
    "compare": ("-d", "masi,nominal"),
    "plan": ("--half-width", "0.05", "--seed", "1"),
    "diagnose": ("--tables", "--resamples", "39", "--seed", "1"),
    "report": ("--resamples", "39", "--seed", "1", "-o", "report.md"),
    "check": ("--at-least", "-0.9", "-f", "json"),
    "panel": ("--tables", "--model", "dia", "--min-units", "2"),
    "prevalence": ("--model", "model.csv", "-f", "csv"),
    "consensus": ("-f", "csv"),
    "next": ("--budget", "30", "-f", "csv"),
    "monitor": ("--batch", "batch", "--threshold", "0.2"),
    "components": (),
    "repeats": (),
    "convert": ("-f", "csv"),
}
OF_COMMANDS = """
score                     c c c c c c c c c c c r c c r
test                      w c w w c c c c c c c r c c r
compare                   c c c c c c c c c c c r c c r
plan                      c r r r c c c c c c c r c c r
diagnose                  c c c c c c c c c c c r c c r
report                    c c c c c c c c c c c r c c r
check                     c c c c c c c c c c c r c c r
panel                     w w w w c c c c c c c r r c r
prevalence                c c w w c c c c c c c r c c r
consensus                 w w w w c c c c c c c r c t r
next                      w w w w c c c c c c c r c t r
monitor                   w w w w c c c c c c c r c c r
components                w w w w c c c c c c c r c c r
repeats                   c w w w c r c c c c c r c c r
convert                   c c c r c c c c c c c r c c r
"""
"""Rows: commands that read a study; columns: the options that they share."""

NO_STUDY = {"accept", "page", "formats", "cite", "distances", "coefficients"}


def test_every_command_has_a_row():
    assert names(OF_COMMANDS) == set(WORDS) == set(COMMANDS) - NO_STUDY


@pytest.fixture(name="folder", scope="module")
def folder_of_tables(tmp_path_factory):
    """Return a folder with the table, and with one that has repeated ratings."""
    folder = tmp_path_factory.mktemp("tables")
    for repeated in (False, True):
        frame = table(repeated=repeated)
        frame.to_csv(folder / f"{'repeated' if repeated else 'study'}.csv", index=False)
    answers = [("joy", "fear", "anger")[k % 3] for k in range(99)]
    model = pd.DataFrame({"unit": [f"u{k}" for k in range(99)], "labels": answers})
    model.to_csv(folder / "model.csv", index=False)
    return folder


def run(folder, command, *words):
    """Return the exit code of a command, what it printed or wrote, and its lines on stderr."""
    report = folder / "report.md"
    report.unlink(missing_ok=True)
    result = invoke(command, *words)
    text = report.read_text("utf-8") if report.exists() else ""
    return result.exit_code, result.stdout + text, result.stderr.splitlines()


# These take the longest, and read as all commands do: a few options stand for the rest.
LONG = {"diagnose", "report", "panel"}
OF_ALL = [
    (command, given, letter)
    for command, given, letter in cells(OF_COMMANDS, (*SAMPLING, *READING))
    if command not in LONG or given in {"cluster", "where", "duplicates"} or letter != "c"
]


@pytest.mark.parametrize(("command", "given", "letter"), OF_ALL)
def test_commands(command, given, letter, folder, bases, monkeypatch):
    monkeypatch.chdir(folder)
    repeated = command == "repeats" or given in OF_REPEATS
    words = ["repeated.csv" if repeated else "study.csv", *WORDS[command]]
    if given in OF_REPEATS and command != "repeats":
        words += ["--duplicates", "first"]
    key = (command, *words)
    if key not in bases:
        bases[key] = run(folder, command, *words)
    code, base, before = bases[key]
    assert code == 0, before
    value = GIVEN[given]
    name = f"--{given.replace('_', '-')}"
    option = [name, ",".join(value) if isinstance(value, list) else str(value)]
    if value is True:
        option = [name]
    rest = words[: words.index(name)] if name in words else words
    code, found, after = run(folder, command, *rest, *option)
    if code == 2:
        assert letter == "r", after
    elif found != base:
        assert (code, letter) == (0, "c"), after
    else:
        new = [line for line in after if line not in before]
        words = {"w": (name, "ignored"), "t": ("(column 'late')", "the consensus uses them")}
        assert letter in words, new
        assert any(all(word in line for word in words[letter]) for line in new), new


IN_DUCKDB = {
    "temp_directory": ["--temp-directory", "."],
    "assume_unique": ["--assume-unique"],
    "partitioned_by_unit": ["--partitioned-by-unit"],
}
REDUCING = ("score", "test", "check", "plan")
"""Commands that reduce one file in DuckDB."""


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (command, given)
        for k, command in enumerate(one for one in WORDS if one != "compare")
        for l, given in enumerate(IN_DUCKDB)
        if command == "score" or (k + l) % 3 == 0
    ],
)
def test_options_of_reduced_files(command, given, folder, monkeypatch):
    pytest.importorskip("duckdb", reason="DuckDB reduces files")
    monkeypatch.chdir(folder)
    code, _, lines = run(folder, command, "study.csv", *WORDS[command], *IN_DUCKDB[given])
    name = f"--{given.replace('_', '-')}"
    if command in REDUCING:
        assert code == 0
        assert f"The file is reduced in DuckDB, because of {name}." in lines
    else:
        assert code == 2
        assert any(name in line for line in lines)


@pytest.mark.parametrize("command", sorted({*WORDS} - {"check", "convert", "diagnose", "report"}))
def test_escape_needs_a_form_for_programs(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    file = "repeated.csv" if command == "repeats" else "study.csv"
    words = [word for word in WORDS[command] if word not in {"-f", "csv", "json"}]
    code, _, lines = run(folder, command, file, *words, "-f", "table", "--escape")
    assert code == 2
    assert any("--escape makes sense only with --format json, csv, markdown" in x for x in lines)
