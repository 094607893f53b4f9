"""Commands of inference: test, compare, check and plan, and the intervals of score."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pandas as pd
import typer

import setagree as sa
from setagree.cli import options as options
from setagree.cli.label_files import wished
from setagree.cli.options import (
    RESULTS,
    ApartSpanReading,
    Asked,
    Costs,
    Delivery,
    Large,
    PilotReading,
    Reading,
    Resampling,
    Reshuffling,
    Text,
    grouped,
    member,
)
from setagree.cli.output import Deliverer, about, sentences
from setagree.cli.reading import Note, Rows, long_table, names, read_or_reduce
from setagree.cli.show import say
from setagree.errors import (
    DataError,
    OptionError,
    check_choice,
    counted,
    spelling,
)
from setagree.inference.panel_members import check_threshold
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.results import ABOUT
from setagree.scoring.scorer import main_distance
from setagree.scoring.table_notes import left_out
from setagree.study.assembly import code_ids, pick_column, warn_names
from setagree.study.columns import note_guessed, with_missing_ids
from setagree.study.reading import Plan
from setagree.wording.gates import GATE_FORMS, Decision, exit_code
from setagree.wording.number_format import four, level_text
from setagree.wording.result_base import described, paragraphs, wrapped
from setagree.wording.sentences import visible
from setagree.wording.tables import TERMINAL, Column, TextTable

if TYPE_CHECKING:
    from setagree.inference.comparison import Comparison


def scored(
    files: Sequence[str],
    reading: Reading,
    *,
    large: Large,
    asked: Asked,
    note: Note = say,
    rows: Rows | None = None,
    **default: Any,
) -> sa.AgreementTable:
    """Return the results of a file, which is reduced in DuckDB if asked for or very large.

    If some of its rows have been read, they are scored in its place. A command with a default
    coefficient is about one estimate, with its main distance.
    """
    wanted = default | wished(asked, reading)
    in_memory = reading.exclude_raters is not None
    if large.asked and in_memory:
        raise OptionError(
            f"--exclude-raters is for files that are read into memory; drop it, or {large.asked}."
        )
    named = wanted.get("coefficient", [])
    several = [named] if isinstance(named, str) else named
    keep_raters = any(get_coefficient(one).needs_raters for one in several)
    if large.asked and large.memory_limit is None:
        note(f"The file is reduced in DuckDB, because of {large.asked}.")
    plan = Plan(
        **vars(large), keep_raters=keep_raters, in_memory=in_memory or reading.duplicates != "error"
    )
    study = read_or_reduce(files, reading, plan, note=note, rows=rows)
    if default.get("coefficient") and study.kind == "number":
        wanted = {"distance": main_distance(study)} | wanted
    return sa.agreement(study, **wanted)


def check_where_large(large: Large, given: Mapping[str, bool]) -> None:
    """Raise an error for options that need to know who gave what to which unit."""
    for option, is_given in given.items():
        if large.asked and is_given:
            raise OptionError(
                f"{option} needs the file in memory, as a reduced one does not tell units and "
                f"raters apart; drop it, or {large.asked}."
            )


CHECK_HELP = """[bold]setagree check study.csv --at-least 0.667[/bold]

[not dim]Exit code 0 if alpha is at least that with 95% confidence, 1 if that is not shown,
2 if there is no verdict. Also:[/]

setagree check study.csv --at-least 0.8 -c fleiss_kappa -d jaccard --by batch
setagree check study.csv --at-least 0.667 -o agreement.xml --format junit
setagree check study.csv --at-least 0.667 --format github
"""

DECISION_FORMS = ["line", "json", *list(GATE_FORMS)[1:]]
"""The formats of decisions, the default first."""


@dataclass(frozen=True, kw_only=True)
class DecisionDelivery(Delivery):
    """In what form decisions come, and where they go."""

    form: Text = member(RESULTS, "AS", "line, json, junit or github.", "--format", "-f")


@grouped
@sentences()
def check(
    files: options.Files,
    *,
    reading: ApartSpanReading,
    large: Large,
    asked: Asked,
    at_least: options.Required,
    by: options.CheckedGroups = None,
    level: options.OneSided = 0.95,
    delivery: DecisionDelivery,
) -> None:
    """Test an agreement against a required value."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading, forms=DECISION_FORMS)
    check_where_large(large, {"--by": by is not None})
    check_threshold(at_least, "at_least")
    whole: list[tuple[str | None, Rows | None]] = [(None, None)]
    parts = whole if by is None else rounds(files, reading, by, least=1)
    wanted: dict[str, Any] = {"asked": asked, "coefficient": "krippendorff_alpha"}
    decisions, frames = [], []
    named = ", ".join(Path(file).name for file in files)
    for group, rows in parts:
        with about(group) as note:
            table = scored(files, reading, large=large, note=note, rows=rows, **wanted)
            tests = [sa.at_least(row, at_least, level=level) for row in table]
            for sentence in left_out(table[0]):
                note(sentence)
        for test in tests:
            what = f"{test.agreement.coefficient} [{test.agreement.distance}]"
            name = f"{named if group is None else group}: {what} at least {at_least:g}"
            if test.reason is not None:
                decisions.append(Decision(name, None, test.verdict))
                continue
            basis = test.verdict
            if not test.passes and test.high >= at_least:
                estimate = four(test.agreement.estimate)
                sure = level_text(level)
                basis = f"The estimate of {estimate} does not show it with {sure} confidence."
            basis = f"Low end {four(test.low)}. {basis}"
            decisions.append(Decision(name, test.passes, basis))
        found = pd.concat([test.to_frame() for test in tests], ignore_index=True)
        frames.append(found if by is None else found.assign(group=group))
    decide(deliver, pd.concat(frames, ignore_index=True).drop(columns="passes"), decisions)


def decide(deliver: Deliverer, frame: pd.DataFrame, decisions: Sequence[Decision]) -> NoReturn:
    """Deliver decisions, and end with their exit code. JSON has a row of the frame for each."""
    parts = [(each.name, each.holds, each.line) for each in decisions]
    decided = pd.DataFrame(parts, columns=["requirement", "holds", "line"], dtype=object)
    write = GATE_FORMS.get(deliver.form, GATE_FORMS["line"])
    deliver(pd.concat([decided, frame], axis=1), write(decisions))
    raise typer.Exit(exit_code(decisions))


PLAN_HELP = """[bold]setagree plan pilot.csv --half-width 0.05[/bold]

[not dim]How many units give alpha ± 0.05, judging by a pilot study. Also:[/]

setagree plan pilot.csv --units 100,200,400 --ratings 2,3,5
setagree plan pilot.csv --at-least 0.2 --power 0.9
setagree plan pilot.csv --budget 1000 --cost-unit 1 --cost-rating 0.5
"""


@grouped
@sentences()
def plan(
    files: options.Files,
    *,
    reading: PilotReading,
    large: Large,
    asked: Asked,
    half_width: options.HalfWidth = None,
    n_units: options.HowManyUnits = None,
    n_ratings: options.HowManyRatings = None,
    n_together: options.HowManyTogether = None,
    level: options.Level = 0.95,
    assurance: options.Assurance = None,
    at_least: options.AtLeast = None,
    power: options.Power = None,
    costs: Costs,
    seed: options.Seed = None,
    delivery: Delivery,
) -> None:
    """Plan the number of units for a wanted interval."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    if not reading.wide and reading.raters and "".join(names(reading.raters)).isdecimal():
        said = "--raters names columns; numbers of ratings per unit are those of --ratings."
        raise OptionError(said)
    goals = sa.PlanGoals(
        half_width=half_width,
        n_units=_numbers("units", n_units),
        power=power,
        at_least=at_least,
        assurance=assurance,
        level=level,
    )
    price = _costs(costs)
    raters = _numbers("ratings", n_ratings)
    sizes = _numbers("units-per-cluster", n_together, least=1)
    drawn = seed_or_drawn(seed)
    by_raters = {"--ratings": n_ratings is not None}
    by_raters["--cost-rating"] = price is not None and n_units is None
    check_where_large(large, by_raters)
    table = scored(files, reading, large=large, asked=asked, coefficient=ALPHA, level=level)
    with spelling({"n_raters": "--ratings", "n_units": "--units"}):
        planned = sa.plan(
            table, goals, costs=price, n_raters=raters, units_per_cluster=sizes, rng=drawn
        )
    frame = planned.to_frame().assign(level=level)
    if any(by_raters.values()):
        frame["seed"] = drawn  # of the choice of raters who are left out, where there are many
    deliver(frame, paragraphs(counts(table), str(planned)), about=table[0].about, result=planned)


def _costs(costs: Costs) -> sa.PlanCosts | None:
    """Return the costs of the plan, or None if there are none."""
    if costs.cost_rating is not None:
        per_unit, budget = costs.cost_unit, costs.budget
        return sa.PlanCosts(per_rating=costs.cost_rating, per_unit=per_unit or 0, budget=budget)
    for name, cost in (("--cost-unit", costs.cost_unit), ("--budget", costs.budget)):
        if cost is not None:
            raise OptionError(f"{name} needs --cost-rating, the cost of a rating.")
    return None


def _numbers(name: str, given: Sequence[str] | None, *, least: int = 2) -> list[int] | None:
    """Return the whole numbers of an option."""
    if given is None:
        return None
    listed = names(given)
    numbers = [int(number) for number in listed if number.isdecimal()]
    if listed and len(numbers) == len(listed) and min(numbers) >= least:
        return numbers
    raise OptionError(
        f"--{name} {','.join(given)!r} must be whole numbers of {least} or more, such as 2,3,5."
    )


TEST_HELP = """[bold]setagree test study.csv[/bold]

[not dim]Could chance give such an alpha? Answers are reshuffled many times. In Python it is
called permutation_test. Also:[/]

setagree test study.csv -d masi,jaccard --resamples 99999 --seed 1
setagree test study.csv -c conger_kappa --scheme within_rater
"""

COMPARE_HELP = """[bold]setagree compare after.csv before.csv[/bold]

[not dim]Alpha of the first file minus alpha of the second, interval and p. Also:[/]

setagree compare rounds.csv --by round
setagree compare study.csv -d nominal,jaccard,masi --method bootstrap --seed 1
"""

ALPHA = "krippendorff_alpha"

_FEW = 200
_MOST_ROUNDS = 50
_BY_SIZE = ((9999, 100_000), (999, 1_000_000))
"""How many reshuffles studies of at most so many ratings get by default."""


@dataclass(frozen=True)
class Side:
    """One of the agreements that are compared, and its number in the table."""

    number: int
    file: str
    agreement: sa.Agreement

    def named(self, which: str) -> dict[str, Any]:
        """Return what identifies it, under names that begin with which side it is."""
        row = self.agreement
        return {
            f"{which}_file": self.file,
            f"{which}_coefficient": row.coefficient,
            f"{which}_distance": row.distance,
            f"{which}_estimate": row.estimate,
        }


@grouped
@sentences()
def permute(
    files: options.Files,
    *,
    reading: ApartSpanReading,
    large: Large,
    asked: Asked,
    scheme: options.Scheme = None,
    alternative: options.Alternative = "greater",
    resampling: Reshuffling,
    delivery: Delivery,
) -> None:
    """Test an agreement against chance by reshuffling."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    if scheme is not None:
        check_choice("scheme", scheme, ("pooled", "within_rater", "table", "within_cluster"))
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    seed = seed_or_drawn(resampling.seed)
    given: dict[str, Any] = {"scheme": scheme, "alternative": alternative, "rng": seed}
    check_where_large(large, {f"--scheme {scheme}": scheme not in {None, "pooled"}})
    table = scored(files, reading, large=large, asked=asked, coefficient=ALPHA)
    given["n_resamples"] = resamples_or(resampling.resamples, _in_a_minute(table))
    tested = sa.permutation_test(table, **given)
    text = paragraphs(counts(table), str(tested), f"Seed {seed}.")
    reasons = [row.interval_reason for row in table]
    deliver(tested.to_frame().assign(seed=seed), text, reasons=reasons, result=tested)


@grouped
@sentences()
def compare(
    files: options.Compared,
    *,
    reading: ApartSpanReading,
    large: Large,
    asked: Asked,
    group: options.Rounds = None,
    level: options.Level = 0.95,
    design: options.Design = None,
    method: options.Method = "linearised",
    resampling: Resampling,
    delivery: Delivery,
) -> None:
    """Compare files, coefficients or distances."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    check_choice("method", method, ("linearised", "bootstrap"))
    if design is not None:
        check_choice("design", design, ("same_units", "shared_units", "independent"))
    _check_placed(vars(resampling), "--method bootstrap", wanted=method == "bootstrap")
    given: dict[str, Any] = {"design": design, "method": method, "level": level}
    if method == "bootstrap":
        given["n_resamples"] = _enough(resampling.resamples)
        given["rng"] = seed_or_drawn(resampling.seed)
    check_where_large(large, {"--by": group is not None})
    apart = len(files) == 1 or design == "independent"
    if large.asked and not apart:
        raise OptionError(
            "files that are reduced do not tell their units apart: say --design independent, or "
            f"drop {large.asked}."
        )
    wanted: dict[str, Any] = {"asked": asked, "coefficient": ALPHA, "level": level}
    read = [(file, None) for file in files] if group is None else rounds(files, reading, group)
    called = [name for name, _ in read]
    tables_of_files = []
    for name, rows in read:
        with about(name if len(read) > 1 else None) as note, _in_every(files):
            found = scored([name], reading, large=large, note=note, rows=rows, **wanted)
            tables_of_files.append(found)
    families = _families(called, tables_of_files)
    compared = sa.compare(*tables_of_files, **given)
    if design == "shared_units":
        families = [_on_shared_units(family) for family in families]
    frame = _differences(families, compared)
    is_unlike = any((frame[f"first_{x}"] != frame[f"second_{x}"]).any() for x in _WHAT)
    notes = [_UNLIKE] if is_unlike else []
    if method == "bootstrap":
        frame = frame.assign(n_resamples=given["n_resamples"], seed=given["rng"])
        notes.append(f"{given['n_resamples']:,} resamples, seed {given['rng']}.")
    head = [counts(tables_of_files[0])] if len(read) == 1 else []
    text = paragraphs(*head, *_compared(families, compared), *map(wrapped, notes))
    deliver(
        frame,
        text,
        reasons=compared.reasons,
        remarks=compared.remarks,
        about=ABOUT["units"],
        result=compared,
    )


def counts(table: sa.AgreementTable) -> str:
    """Return the line that counts units, raters and ratings."""
    return str(table).partition("\n\n")[0]


def other_interval(
    interval: str | None, method: str | None, over: str | None, resampling: Resampling
) -> Callable[[sa.AgreementTable], sa.AgreementTable]:
    """Return the function that gives a table the intervals that are asked for."""
    if interval is not None:
        check_choice("interval", interval, ("score", "t", "bootstrap"))
    wanted = interval == "bootstrap"
    if over == "both" and interval in {None, "t"}:
        _check_placed({"interval-method": method, **vars(resampling)}, "--interval bootstrap")
        return sa.AgreementTable.two_way
    if over == "both" and interval == "score":
        raise OptionError("--interval 'score' is about these raters; omit --over 'both'.")
    placed = {"interval-method": method, "over": over, **vars(resampling)}
    _check_placed(placed, "--interval bootstrap", wanted=wanted)
    if not wanted:
        return lambda table: table
    named: Any = "BCa" if method in {"bca", "BCA"} else method
    if named is not None:
        check_choice("interval_method", named, ("percentile", "basic", "BCa"))
    check_choice("over", over or "units", ("units", "raters", "both"))
    drawing = {"over": over or "units", "n_resamples": _enough(resampling.resamples)}
    seed = seed_or_drawn(resampling.seed)

    def resampled(table: sa.AgreementTable) -> sa.AgreementTable:
        found = sa.bootstrap(table, **cast(Any, drawing), rng=seed)
        with spelling({"method": "--interval-method"}):
            return found.in_table(table, method=named, seed=seed)

    return resampled


def rounds(
    files: Sequence[str], reading: Reading, group: str, *, least: int = 2
) -> list[tuple[str, Rows | None]]:
    """Return the groups of rows in a column of the files, with their names."""
    for name in ("strata", "population_size"):
        if getattr(reading, name) is not None:
            raise OptionError(
                f"--{name.replace('_', '-')} is about the whole sample, of which a group is a part "
                f"of random size; use setagree diagnose FILE --by {group!r} with the same "
                "options."
            )
    table, how, _ = long_table(files, reading, besides=group, option="--by", is_first=True)
    cells = pick_column(with_missing_ids(table, [group]), group)
    has_group = cells.notna().to_numpy()
    table, (codes, named) = table[has_group], code_ids(cells[has_group], "group")
    warn_names("Groups", named)
    if len(named) < least:
        raise DataError(f"--by {group!r}: {counted(len(named), 'group')}; two are compared.")
    if len(named) > _MOST_ROUNDS:
        raise DataError(
            f"--by {group!r}: {len(named):,} groups; at most {_MOST_ROUNDS} are compared, each "
            "with each. If these are times, add a column that names the round, or follow them with "
            f"setagree diagnose FILE --time {group!r}."
        )
    note_guessed(replace(how, **{name: getattr(reading, name) for name in how.columns}), how, say)
    if n := int((~has_group).sum()):
        say(f"{counted(n, 'row')} with nothing in column {group!r} left out.")
    counted_from = f"Rows are counted within this group (--by {group!r})."
    how = replace(how, where=None)
    return [(str(one), Rows(table[codes == k], how, counted_from)) for k, one in enumerate(named)]


def _families(files: Sequence[str], scored: Sequence[sa.AgreementTable]) -> list[list[Side]]:
    """Return what is compared pair by pair: all rows of one file, or a row in all files."""
    if len(files) == 1:
        if len(scored[0]) < 2:
            raise OptionError(
                "one file is compared with itself by two distances or coefficients, such as "
                "-d masi,nominal, or by the rounds in a column (--by COLUMN); or name a second "
                "file."
            )
        return [[Side(k + 1, files[0], row) for k, row in enumerate(scored[0])]]
    keys = list(scored[0].by_name)
    if any(list(table.by_name) != keys for table in scored):
        raise OptionError(
            "the files hold different kinds of answers, so the default distances are not the "
            "same; say which with --distance."
        )
    return [
        [Side(k * len(files) + f + 1, file, scored[f][key]) for f, file in enumerate(files)]
        for k, key in enumerate(keys)
    ]


def _on_shared_units(family: Sequence[Side]) -> list[Side]:
    """Return the same sides, scored anew on the units that all of them have."""
    from setagree.inference.comparison import on_shared_units

    scored = on_shared_units([side.agreement for side in family])
    return [replace(side, agreement=one) for side, one in zip(family, scored, strict=True)]


@contextmanager
def _in_every(files: Sequence[str]) -> Iterator[None]:
    """Say, where one of several files lacks a column, that all of them need it."""
    try:
        yield
    except DataError as error:
        if len(files) == 1 or "there is no column" not in str(error).casefold():
            raise
        hint = "rename it there, or name no column where every file has usual names."
        raise DataError(f"{error} A column that is named must be in all files: {hint}") from error


def _differences(families: Sequence[Sequence[Side]], compared: Comparison) -> pd.DataFrame:
    """Return a row per pair: what is compared, and the difference."""
    pairs = [pair for family in families for pair in combinations(family, 2)]
    sides = pd.DataFrame([{**a.named("first"), **b.named("second")} for a, b in pairs])
    found = compared.to_frame().drop(columns=["first", "second"])
    return described(pd.concat([sides, found], axis=1), [compared])


_WHAT = ("coefficient", "distance")
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


def _compared(families: Sequence[Sequence[Side]], compared: Comparison) -> tuple[str, str]:
    """Return a table of the agreements, and the comparison with short names of its pairs."""
    files = _file_names([side.file for family in families for side in family])
    sides = pd.concat(
        [
            side.agreement.to_frame().assign(number=side.number, file=files[side.file])
            for family in families
            for side in family
        ]
    )
    sides = sides if len(files) > 1 else sides.drop(columns="file")
    shown = ""
    for short in (_names(families, files), {}):
        pairs = [
            (short.get(one.number, str(one.number)), short.get(two.number, str(two.number)))
            for family in families
            for one, two in combinations(family, 2)
        ]
        shown = str(replace(compared, names=tuple(pairs)))
        if max(map(len, shown.splitlines())) <= TERMINAL:
            break
    return str(TextTable.of(sides, _SIDES, compared.level)), shown


def _names(families: Sequence[Sequence[Side]], files: Mapping[str, str]) -> dict[int, str]:
    """Return a name per side, its file or what tells it apart in one; none for several families."""
    sides = families[0]
    if len(families) > 1:
        return {}
    if len(files) > 1:
        return {side.number: files[side.file] for side in sides}
    for alike, differing in (_WHAT, _WHAT[::-1]):
        if len({getattr(side.agreement, alike) for side in sides}) == 1:
            return {side.number: getattr(side.agreement, differing) for side in sides}
    return {}


def _file_names(files: Iterable[str]) -> dict[str, str]:
    """Return the names of files, or their paths if two have the same name."""
    names = {file: visible(Path(file).name) for file in files}
    distinct = len(set(names.values())) == len(names)
    return names if distinct else {file: visible(file) for file in names}


def _check_placed(given: Mapping[str, Any], where: str, *, wanted: bool = False) -> None:
    """Raise an error for options that would have no effect."""
    for name, value in given.items():
        if value is not None and not wanted:
            raise OptionError(f"--{name} makes sense only with {where}.")


def resamples_or(resamples: int | None, default: int) -> int:
    """Return how many resamples are asked for, or the default."""
    return default if resamples is None else resamples


def _in_a_minute(table: sa.AgreementTable) -> int:
    """Return how often a study is reshuffled by default: less often where it is large."""
    n_ratings = max(row.n_ratings for row in table)
    times = next((n for n, most in _BY_SIZE if n_ratings <= most), _FEW - 1)
    if times < _BY_SIZE[0][0]:
        say(f"{times:,} reshuffles of {n_ratings:,} ratings; --resamples asks for more.")
    return times


def _enough(resamples: int | None) -> int:
    """Return how many resamples are wanted; say where they are few for the ends of an interval."""
    if resamples is not None and 0 < resamples < _FEW:
        say(
            f"Warning: {counted(resamples, 'resample')} are few for an interval, which will differ "
            "much from seed to seed; 1,000 or more are usual."
        )
    return resamples_or(resamples, 2000)


def seed_or_drawn(given: int | None) -> int:
    """Return the seed that is given, or one that is drawn so that it can be printed."""
    if given is None:
        return secrets.randbits(32)
    if given < 0:
        raise OptionError(f"--seed {given} must be 0 or more.")
    return given
