"""Commands of inference: test, compare, check and plan, and the intervals of score."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

import setagree as sa
from setagree.cli import options as options
from setagree.cli.label_files import chosen_measures
from setagree.cli.options import (
    COLUMNS,
    INFERENCE,
    OUTPUT,
    ApartSpanReading,
    Count,
    Delivery,
    Group,
    Large,
    Measures,
    Number,
    PilotReading,
    Reading,
    Resampling,
    Text,
    Texts,
    member,
)
from setagree.cli.output import Deliverer, about, command
from setagree.cli.reading import Note, Rows, long_table, names, read_or_reduce
from setagree.cli.show import say
from setagree.diagnosis.grouping import named_rows
from setagree.errors import DataError, OptionError, check_choice, counted, spelling
from setagree.inference.panel_members import check_threshold
from setagree.lazy import pd
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.results import ABOUT
from setagree.scoring.scorer import main_distance
from setagree.scoring.table_notes import left_out
from setagree.study.assembly import code_ids, warn_names
from setagree.study.columns import note_guessed
from setagree.study.reading import Plan
from setagree.wording.gates import GATE_FORMS, Decision, exit_code
from setagree.wording.number_format import four
from setagree.wording.result_base import described, paragraphs, wrapped
from setagree.wording.sentences import visible
from setagree.wording.tables import TERMINAL, Column, TextTable

if TYPE_CHECKING:
    from setagree.inference.comparison import Comparison

ALPHA = "krippendorff_alpha"


def scored(
    files: Sequence[str],
    reading: Reading,
    *,
    large: Large,
    measures: Measures,
    note: Note = say,
    rows: Rows | None = None,
    **default: Any,
) -> sa.AgreementTable:
    """Return the agreement in files, which DuckDB reduces if requested or if they are very large.

    If `rows` of them have been read, these are scored instead. With a default coefficient, numbers
    are scored with one distance.
    """
    wanted = default | chosen_measures(measures, reading)
    in_memory = reading.exclude_raters is not None
    if large.passed and in_memory:
        raise OptionError(
            f"--exclude-raters is for files that are read into memory; omit it, or {large.passed}."
        )
    named = wanted.get("coefficient", [])
    several = [named] if isinstance(named, str) else named
    keep_raters = any(get_coefficient(one).needs_raters for one in several)
    if large.passed and large.memory_limit is None:
        note(f"The file is reduced in DuckDB, because of {large.passed}.")
    plan = Plan(
        **vars(large), keep_raters=keep_raters, in_memory=in_memory or reading.duplicates != "error"
    )
    study = read_or_reduce(files, reading, plan, note=note, rows=rows)
    if default.get("coefficient") and study.kind == "number":
        wanted = {"distance": main_distance(study)} | wanted
    return sa.agreement(study, **wanted)


def check_in_memory(large: Large, requiring: Mapping[str, bool]) -> None:
    """Raise an error if a file is reduced and a passed option requires its units and raters."""
    for option, is_passed in requiring.items():
        if large.passed and is_passed:
            raise OptionError(
                f"{option} is for files that are read into memory, because a reduced one has no "
                f"identifiers of units and raters; omit it, or {large.passed}."
            )


def seed_or_random(seed: int | None) -> int:
    """Return the seed, or if there is none a random one, which is printed with the result."""
    if seed is None:
        return secrets.randbits(32)
    if seed < 0:
        raise OptionError(f"--seed {seed} must be at least 0.")
    return seed


# ---- check --------------------------------------------------------------------------------------

CHECK_HELP = """[bold]setagree check study.csv --at-least 0.667[/bold]

[not dim]Test whether alpha is at least a required value, with 95% confidence.
Exit code: 0 if it is, 1 if that is not shown, 2 without a verdict. Also:[/]

setagree check study.csv --at-least 0.8 -c fleiss_kappa -d jaccard --by batch
setagree check study.csv --at-least 0.667 -o agreement.xml --format junit
setagree check study.csv --at-least 0.667 --format github
"""

DECISION_FORMS = ["line", "json", *list(GATE_FORMS)[1:]]
"""The formats of decisions, the default first."""


class Requirement(Group, panel=INFERENCE):
    """The required value, and for which groups."""

    at_least: float = member("VALUE", "The required value, such as 0.667.", default=MISSING)
    by: Text = member("COLUMN", "Check each group of rows in this column.", panel=COLUMNS)
    level: float = member("SHARE", "One-sided confidence level (default: 0.95).", default=0.95)


class DecisionDelivery(Delivery, panel=OUTPUT):
    """Format and file of decisions."""

    form: Text = member("AS", "line (default), json, junit or github.", "--format", "-f")


@command
def check(
    files: options.Files,
    *,
    reading: ApartSpanReading,
    large: Large,
    measures: Measures,
    required: Requirement,
    delivery: DecisionDelivery,
) -> None:
    """Test whether an agreement is at least a required value."""
    deliver = Deliverer(delivery, [*files, *measures.paths], reading, forms=DECISION_FORMS)
    by, value, level = required.by, required.at_least, required.level
    check_in_memory(large, {"--by": by is not None})
    check_threshold(value, "at_least")
    all_rows: list[tuple[str | None, Rows | None]] = [(None, None)]
    groups = all_rows if by is None else groups_of_rows(files, reading, by, least=1)
    wanted: dict[str, Any] = {"large": large, "measures": measures, "coefficient": ALPHA}
    decisions, frames = [], []
    for group, rows in groups:
        with about(group) as note:
            table = scored(files, reading, note=note, rows=rows, **wanted)
            tests = [sa.at_least(row, value, level=level) for row in table]
            for sentence in left_out(table[0]):
                note(sentence)
        whose = ", ".join(Path(file).name for file in files) if group is None else group
        for test in tests:
            what = f"{test.agreement.coefficient} [{test.agreement.distance}]"
            low = f"Low end {four(test.low)}." if test.reason is None else ""
            holds = test.passes if test.reason is None else None
            basis = " ".join(filter(None, [low, test.verdict, test.remark]))
            decisions.append(Decision(f"{whose}: {what} at least {value:g}", holds, basis))
        frame = pd.concat([test.to_frame() for test in tests], ignore_index=True)
        frames.append(frame if by is None else frame.assign(group=group))
    decide(deliver, pd.concat(frames, ignore_index=True).drop(columns="passes"), decisions)


def decide(deliver: Deliverer, frame: pd.DataFrame, decisions: Sequence[Decision]) -> NoReturn:
    """Deliver decisions and exit with their code. JSON also has the row of the frame for each."""
    parts = [(each.name, each.holds, each.line) for each in decisions]
    decided = pd.DataFrame(parts, columns=["requirement", "holds", "line"], dtype=object)
    write = GATE_FORMS.get(deliver.form, GATE_FORMS["line"])
    deliver(pd.concat([decided, frame], axis=1), write(decisions))
    raise typer.Exit(exit_code(decisions))


# ---- plan ---------------------------------------------------------------------------------------

PLAN_HELP = """[bold]setagree plan pilot.csv --half-width 0.05[/bold]

[not dim]Number of units for an interval of alpha ± 0.05, from a pilot study. Also:[/]

setagree plan pilot.csv --units 100,200,400 --ratings 2,3,5
setagree plan pilot.csv --at-least 0.2 --power 0.9
setagree plan pilot.csv --budget 1000 --cost-unit 1 --cost-rating 0.5
"""


class Planned(Group, panel=INFERENCE):
    """Goals of a plan, the designs to try, and their costs."""

    half_width: Number = member("WIDTH", "Half width of the interval (default: 0.05).")
    units: Texts = member("N,N", "Units to try, instead of a half width.")
    ratings: Texts = member("N,N", "Ratings per unit to try (default: as now).")
    units_per_cluster: Texts = member("N,N", "Units per cluster to try (default: as now).")
    level: options.Level = 0.95
    assurance: Number = member("SHARE", "Share of studies that reach it (default: half).")
    at_least: Number = member("VALUE", "Plan a test that alpha exceeds this value.")
    power: Number = member("SHARE", "Power of that test (default: 0.8).")
    cost_unit: Number = member("COST", "Cost of a unit without ratings (default: 0).")
    cost_rating: Number = member("COST", "Cost of a rating, for the cheapest design.")
    budget: Number = member("COST", "Total cost, for the narrowest interval.")
    seed: options.Seed = None


@command
def plan(
    files: options.Files,
    *,
    reading: PilotReading,
    large: Large,
    measures: Measures,
    planned: Planned,
    delivery: Delivery,
) -> None:
    """Plan the number of units for a wanted interval."""
    deliver = Deliverer(delivery, [*files, *measures.paths], reading)
    if not reading.wide and reading.raters and "".join(names(reading.raters)).isdecimal():
        raise OptionError("--raters names columns; for numbers of ratings per unit, use --ratings.")
    goals = sa.PlanGoals(
        half_width=planned.half_width,
        n_units=whole_numbers("units", planned.units),
        power=planned.power,
        at_least=planned.at_least,
        assurance=planned.assurance,
        level=planned.level,
    )
    costs = _costs(planned)
    n_raters = whole_numbers("ratings", planned.ratings)
    sizes = whole_numbers("units-per-cluster", planned.units_per_cluster, least=1)
    seed = seed_or_random(planned.seed)
    by_raters = {
        "--ratings": n_raters is not None,
        "--cost-rating": costs is not None and planned.units is None,
    }
    check_in_memory(large, by_raters)
    table = scored(
        files, reading, large=large, measures=measures, coefficient=ALPHA, level=planned.level
    )
    with spelling({"n_raters": "--ratings", "n_units": "--units"}):
        found = sa.plan(
            table, goals, costs=costs, n_raters=n_raters, units_per_cluster=sizes, rng=seed
        )
    frame = found.to_frame().assign(level=planned.level)
    if any(by_raters.values()):
        frame["seed"] = seed  # of the random choice of raters to leave out, if there are many
    text = paragraphs(table.heading, str(found))
    deliver(frame, text, about=table[0].about, result=found)


def _costs(planned: Planned) -> sa.PlanCosts | None:
    """Return the costs of a plan, or None if there are none."""
    per_unit, per_rating, budget = planned.cost_unit, planned.cost_rating, planned.budget
    if per_rating is not None:
        return sa.PlanCosts(per_rating=per_rating, per_unit=per_unit or 0, budget=budget)
    for name, cost in (("--cost-unit", per_unit), ("--budget", budget)):
        if cost is not None:
            raise OptionError(f"{name} requires --cost-rating, the cost of a rating.")
    return None


def whole_numbers(name: str, texts: Sequence[str] | None, *, least: int = 2) -> list[int] | None:
    """Return the whole numbers of an option."""
    if texts is None:
        return None
    listed = names(texts)
    numbers = [int(number) for number in listed if number.isdecimal()]
    if listed and len(numbers) == len(listed) and min(numbers) >= least:
        return numbers
    raise OptionError(
        f"--{name} {','.join(texts)!r} must be whole numbers of at least {least}, such as 2,3,5."
    )


# ---- test ---------------------------------------------------------------------------------------

TEST_HELP = """[bold]setagree test study.csv[/bold]

[not dim]Test whether alpha is larger than chance gives, by reshuffling the answers.
In Python: permutation_test. Also:[/]

setagree test study.csv -d masi,jaccard --resamples 99999 --seed 1
setagree test study.csv -c conger_kappa --scheme within_rater
"""

_RESHUFFLES = ((9999, 100_000), (999, 1_000_000))
"""Default number of reshuffles, and the number of ratings up to which it applies."""

_FEW = 200
"""Numbers of resamples below this are too few for an interval."""


class Reshuffling(Group, panel=INFERENCE):
    """What is reshuffled, and how often."""

    scheme: Text = member(
        "NAME", "pooled, within_rater, within_cluster or table (default: by the design)."
    )
    alternative: str = member("SIDE", "greater (default), less or two-sided.", default="greater")
    resamples: Count = member("N", "Number of reshuffles (default: 9999; fewer for large files).")
    seed: options.Seed = None


@command
def permute(
    files: options.Files,
    *,
    reading: ApartSpanReading,
    large: Large,
    measures: Measures,
    reshuffling: Reshuffling,
    delivery: Delivery,
) -> None:
    """Test an agreement against chance by reshuffling."""
    deliver = Deliverer(delivery, [*files, *measures.paths], reading)
    scheme, n_resamples = reshuffling.scheme, reshuffling.resamples
    if scheme is not None:
        check_choice("scheme", scheme, ("pooled", "within_rater", "table", "within_cluster"))
    check_choice("alternative", reshuffling.alternative, ("greater", "less", "two-sided"))
    seed = seed_or_random(reshuffling.seed)
    check_in_memory(large, {f"--scheme {scheme}": scheme not in {None, "pooled"}})
    table = scored(files, reading, large=large, measures=measures, coefficient=ALPHA)
    tested = sa.permutation_test(
        table,
        scheme=cast(Any, scheme),
        alternative=cast(Any, reshuffling.alternative),
        n_resamples=_default_reshuffles(table) if n_resamples is None else n_resamples,
        rng=seed,
    )
    text = paragraphs(table.heading, str(tested), f"Seed {seed}.")
    reasons = [row.interval_reason for row in table]
    deliver(tested.to_frame().assign(seed=seed), text, reasons=reasons, result=tested)


def _default_reshuffles(table: sa.AgreementTable) -> int:
    """Return the default number of reshuffles, which take at most about a minute."""
    n_ratings = max(row.n_ratings for row in table)
    times = next((n for n, most in _RESHUFFLES if n_ratings <= most), 199)
    if times < _RESHUFFLES[0][0]:
        say(f"{times:,} reshuffles of {n_ratings:,} ratings; for more, use --resamples.")
    return times


# ---- compare ------------------------------------------------------------------------------------

COMPARE_HELP = """[bold]setagree compare after.csv before.csv[/bold]

[not dim]Alpha of the first file minus alpha of the second, interval and p. Also:[/]

setagree compare rounds.csv --by round
setagree compare study.csv -d nominal,jaccard,masi --method bootstrap --seed 1
"""

_MAX_GROUPS = 50


class Compared(Resampling, panel=INFERENCE):
    """What is compared, and by which method."""

    by: Text = member("COLUMN", "Compare the groups of rows in this column.", panel=COLUMNS)
    level: options.Level = 0.95
    design: Text = member(
        "NAME",
        "Units of the files: same_units, shared_units or independent (default: by their names).",
    )
    method: str = member("NAME", "linearised (default) or bootstrap.", default="linearised")


@command
def compare(
    files: options.Compared,
    *,
    reading: ApartSpanReading,
    large: Large,
    measures: Measures,
    compared: Compared,
    delivery: Delivery,
) -> None:
    """Compare files, coefficients or distances."""
    deliver = Deliverer(delivery, [*files, *measures.paths], reading)
    design, by, is_bootstrap = compared.design, compared.by, compared.method == "bootstrap"
    check_choice("method", compared.method, ("linearised", "bootstrap"))
    if design is not None:
        check_choice("design", design, ("same_units", "shared_units", "independent"))
    drawn = {"resamples": compared.resamples, "seed": compared.seed}
    _check_effect(drawn, "--method bootstrap", is_passed=is_bootstrap)
    how: dict[str, Any] = {"design": design, "method": compared.method, "level": compared.level}
    if is_bootstrap:
        how["n_resamples"] = _checked_resamples(compared.resamples)
        how["rng"] = seed_or_random(compared.seed)
    check_in_memory(large, {"--by": by is not None})
    if large.passed and len(files) > 1 and design != "independent":
        raise OptionError(
            "files that are reduced have no identifiers of units: use --design independent, or "
            f"omit {large.passed}."
        )
    parts = [(file, None) for file in files] if by is None else groups_of_rows(files, reading, by)
    wanted: dict[str, Any] = {"measures": measures, "coefficient": ALPHA, "level": compared.level}
    tables = []
    for name, rows in parts:
        with about(name if len(parts) > 1 else None) as note, _naming_all(files):
            tables.append(scored([name], reading, large=large, note=note, rows=rows, **wanted))
    _check_comparable(tables)
    found = sa.compare(*tables, **how)
    sides = pd.concat([one.to_frame() for one in chain(*found.families)], ignore_index=True)
    sides["file"] = [parts[k % len(parts)][0] for k in sides.index]
    size = len(found.families[0])
    starts = range(0, len(sides), size)
    pairs = [pair for k in starts for pair in combinations(range(k, k + size), 2)]
    frame = _differences(sides, pairs, found)
    is_unlike = any((frame[f"first_{x}"] != frame[f"second_{x}"]).any() for x in _MEASURE)
    notes = [_UNLIKE] if is_unlike else []
    if is_bootstrap:
        frame = frame.assign(n_resamples=how["n_resamples"], seed=how["rng"])
        notes.append(f"{how['n_resamples']:,} resamples, seed {how['rng']}.")
    head = [tables[0].heading] if len(parts) == 1 else []
    shown = _printed(sides, pairs, found)
    deliver(
        frame,
        paragraphs(*head, *shown, *map(wrapped, notes)),
        reasons=found.reasons,
        remarks=found.remarks,
        about=ABOUT["units"],
        result=found,
    )


def groups_of_rows(
    files: Sequence[str], reading: Reading, by: str, *, least: int = 2
) -> list[tuple[str, Rows | None]]:
    """Return the groups of rows in a column of the files, with their names."""
    for name in ("strata", "population_size"):
        if getattr(reading, name) is not None:
            raise OptionError(
                f"--{name.replace('_', '-')} applies to the whole sample, of which a group is a "
                f"part of random size; use setagree diagnose FILE --by {by!r} with the same "
                "options."
            )
    table, how, _ = long_table(files, reading, besides=by, option="--by", is_first=True)
    table, cells = named_rows(table, by)
    codes, groups = code_ids(cells, "group")
    warn_names("Groups", groups)
    if len(groups) < least:
        raise DataError(f"--by {by!r}: {counted(len(groups), 'group')}; two are compared.")
    if len(groups) > _MAX_GROUPS:
        raise DataError(
            f"--by {by!r}: {len(groups):,} groups; at most {_MAX_GROUPS} are compared, each with "
            "each. If these are times, add a column with the round, or use setagree diagnose FILE "
            f"--time {by!r}."
        )
    note_guessed(replace(how, **{name: getattr(reading, name) for name in how.columns}), how, say)
    return [(str(one), (table[codes == k], how)) for k, one in enumerate(groups)]


def _check_comparable(tables: Sequence[sa.AgreementTable]) -> None:
    """Raise an error if the agreements of files cannot be compared in pairs."""
    if len(tables) == 1 and len(tables[0]) < 2:
        raise OptionError(
            "a single file is compared by its distances, coefficients or groups: use "
            "-d masi,nominal, or --by COLUMN; or name a second file."
        )
    if any([*table.by_name] != [*tables[0].by_name] for table in tables):
        raise OptionError(
            "the files have different kinds of answers, so that their default distances differ; "
            "name one with --distance."
        )


@contextmanager
def _naming_all(files: Sequence[str]) -> Iterator[None]:
    """Add to the error of a missing column that all of several files must have it."""
    try:
        yield
    except DataError as error:
        if len(files) == 1 or "there is no column" not in str(error).casefold():
            raise
        raise DataError(
            f"{error} A named column must be in all files: rename it there, or omit the option if "
            "every file has usual names."
        ) from error


def _differences(
    sides: pd.DataFrame, pairs: Sequence[tuple[int, int]], compared: Comparison
) -> pd.DataFrame:
    """Return one row per pair: the file and the measure of both, and their difference."""
    compared_columns = sides[["file", *_MEASURE, "estimate"]]
    both = [
        compared_columns.iloc[list(positions)].add_prefix(which).reset_index(drop=True)
        for which, positions in zip(("first_", "second_"), zip(*pairs, strict=True), strict=True)
    ]
    found = compared.to_frame().drop(columns=["first", "second"])
    return described(pd.concat([*both, found], axis=1), [compared])


_MEASURE = ["coefficient", "distance"]
_UNLIKE = (
    "Different distances (or coefficients) measure different things: a higher value does not mean "
    "better agreement."
)
_SIDES = (
    Column("number", "text", " "),
    Column("file", "text"),
    Column("coefficient", "text"),
    Column("distance", "text"),
    Column("n_units", "count", "units"),
    Column("estimate"),
    Column("standard_error", head="se"),
)


def _printed(
    sides: pd.DataFrame, pairs: Sequence[tuple[int, int]], compared: Comparison
) -> tuple[str, str]:
    """Return a table of the agreements, and the comparison with pairs of short names or numbers."""
    files = {file: visible(Path(file).name) for file in sides["file"]}
    if len({*files.values()}) < len(files):
        files = {file: visible(file) for file in files}
    sides = sides.assign(number=[str(k + 1) for k in sides.index], file=sides["file"].map(files))
    is_same = {name: sides[name].nunique() == 1 for name in _MEASURE}
    short = "number"
    if len(compared.families) == 1 and len(files) > 1:
        short = "file"
    elif len(compared.families) == 1 and any(is_same.values()):
        short = "distance" if is_same["coefficient"] else "coefficient"
    for name in (short, "number"):
        pair_names = tuple((sides[name].iloc[i], sides[name].iloc[j]) for i, j in pairs)
        shown = str(replace(compared, names=pair_names))
        if max(map(len, shown.splitlines())) <= TERMINAL:
            break
    columns = _SIDES if len(files) > 1 else [each for each in _SIDES if each.source != "file"]
    return str(TextTable.of(sides, columns, compared.level)), shown


# ---- The intervals of score ---------------------------------------------------------------------


class Intervals(Resampling, panel=INFERENCE):
    """The intervals of a table of agreements."""

    level: options.Level = 0.95
    interval: Text = member("KIND", "Interval: score (default), t or bootstrap.")
    interval_method: Text = member("NAME", "Bootstrap: BCa (default), percentile, basic.")
    over: Text = member("WHAT", "Sampled: units (default), raters or both.")


def interval_function(intervals: Intervals) -> Callable[[sa.AgreementTable], sa.AgreementTable]:
    """Return the function that gives a table the requested intervals."""
    kind, over = intervals.interval, intervals.over
    if kind is not None:
        check_choice("interval", kind, ("score", "t", "bootstrap"))
    drawn = {
        "interval-method": intervals.interval_method,
        "resamples": intervals.resamples,
        "seed": intervals.seed,
    }
    if over == "both" and kind in {None, "t"}:
        _check_effect(drawn, "--interval bootstrap")
        return sa.AgreementTable.two_way
    if over == "both" and kind == "score":
        raise OptionError("--interval 'score' is about these raters; omit --over 'both'.")
    _check_effect(drawn | {"over": over}, "--interval bootstrap", is_passed=kind == "bootstrap")
    if kind != "bootstrap":
        return lambda table: table
    method: Any = intervals.interval_method
    method = "BCa" if method in {"bca", "BCA"} else method
    if method is not None:
        check_choice("interval_method", method, ("percentile", "basic", "BCa"))
    check_choice("over", over or "units", ("units", "raters", "both"))
    n_resamples = _checked_resamples(intervals.resamples)
    seed = seed_or_random(intervals.seed)

    def resampled(table: sa.AgreementTable) -> sa.AgreementTable:
        found = sa.bootstrap(
            table, over=cast(Any, over or "units"), n_resamples=n_resamples, rng=seed
        )
        with spelling({"method": "--interval-method"}):
            return found.in_table(table, method=method, seed=seed)

    return resampled


def _check_effect(values: Mapping[str, Any], where: str, *, is_passed: bool = False) -> None:
    """Raise an error for options that have an effect only with another one."""
    for name, value in values.items():
        if value is not None and not is_passed:
            raise OptionError(f"--{name} makes sense only with {where}.")


def _checked_resamples(resamples: int | None) -> int:
    """Return the number of resamples; warn if they are too few for the ends of an interval."""
    if resamples is not None and 0 < resamples < _FEW:
        say(
            f"Warning: an interval of {counted(resamples, 'resample')} depends much on the seed. "
            "Use at least 1,000."
        )
    return 2000 if resamples is None else resamples
