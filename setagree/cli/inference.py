"""The commands that say how sure: test, compare, and the bootstrap of score."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias, cast

import pandas as pd

import setagree as sa
from setagree.cli import options as options
from setagree.cli import tables as tables
from setagree.cli.grouping import grouped
from setagree.cli.large import refuse_where_large, scored
from setagree.cli.options import (
    Asked,
    Delivery,
    Large,
    Reading,
    Resampling,
    Reshuffling,
)
from setagree.cli.output import Deliverer, about, say, sentences
from setagree.cli.reading import Rows, long_table
from setagree.cli.tables import Side, reason_of
from setagree.errors import (
    DataError,
    OptionError,
    check_choice,
    counted,
    spelling,
)
from setagree.large.opening import say_guessed
from setagree.scoring.results import ABOUT, why_no_score
from setagree.study.assembly import code_ids, doubt_names, pick_column
from setagree.study.columns import with_missing_ids
from setagree.wording.result_base import described

TEST_HELP = """[bold]setagree test study.csv[/bold]

[not dim]Could chance give such an alpha? Answers are reshuffled many times. In Python it is
called permutation_test. Also:[/]

setagree test study.csv -d masi,jaccard --resamples 99999 --seed 1
setagree test study.csv -c conger_kappa --scheme within_rater
"""

COMPARE_HELP = """[bold]setagree compare after.csv before.csv[/bold]

[not dim]Alpha of the first file minus alpha of the second, interval and p. Also:[/]

setagree compare rounds.csv --group round
setagree compare study.csv -d nominal,jaccard,masi --method bootstrap --seed 1
"""

ALPHA = "krippendorff_alpha"

_FEW = 200
_MOST_ROUNDS = 50
_BY_SIZE = ((9999, 100_000), (999, 1_000_000))
"""How many reshuffles studies of at most so many ratings get by default."""

Result: TypeAlias = tuple[pd.DataFrame, str]
"""The frame that programs read, and the table that people read."""


@grouped
@sentences()
def permute(
    files: options.Files,
    *,
    reading: Reading,
    large: Large,
    asked: Asked,
    scheme: options.Scheme = "pooled",
    alternative: options.Alternative = "greater",
    resampling: Reshuffling,
    delivery: Delivery,
) -> None:
    """Test an agreement against chance by reshuffling."""
    deliver = Deliverer(delivery, [*files, *asked.paths], reading)
    check_choice("scheme", scheme, ("pooled", "within_rater", "table", "within_cluster"))
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    seed = seed_or_drawn(resampling.seed)
    given: dict[str, Any] = {"scheme": scheme, "alternative": alternative, "rng": seed}
    refuse_where_large(large, {f"--scheme {scheme}": scheme != "pooled"})
    table = scored(files, reading, large=large, asked=asked, coefficient=ALPHA)
    given["n_resamples"] = resamples_or(resampling.resamples, _in_a_minute(table))
    tested = sa.permutation_test(table, **given)
    frame = tested.to_frame().assign(seed=seed)
    deliver(frame, tables.tests(table, tested.rows, frame), reasons=map(reason_of, table))


@grouped
@sentences()
def compare(
    files: options.Compared,
    *,
    reading: Reading,
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
    refuse_where_large(large, {"--group": group is not None})
    for name in ("strata", "population_size"):
        if group is not None and getattr(reading, name) is not None:
            raise OptionError(
                f"--{name.replace('_', '-')} is about the whole sample, of which a group is a part "
                f"of random size; use setagree diagnose FILE --group {group!r} with the same "
                "options."
            )
    apart = len(files) == 1 or design == "independent"
    if large.asked and not apart:
        raise OptionError(
            "files that are reduced do not tell their units apart: say --design independent, or "
            f"drop {large.asked}."
        )
    wanted: dict[str, Any] = {"asked": asked, "coefficient": ALPHA, "level": level}
    read = [(file, None) for file in files] if group is None else _rounds(files, reading, group)
    called = [name for name, _ in read]
    tables_of_files = []
    for name, rows in read:
        with about(name if len(read) > 1 else None) as note, _in_every(files):
            found = scored([name], reading, large=large, note=note, rows=rows, **wanted)
            tables_of_files.append(found)
    families = _families(called, tables_of_files)
    if design == "shared_units":
        families = [_on_shared_units(family) for family in families]
    frame, reasons = _differences(families, given)
    text = tables.comparison(tables_of_files, families, frame, reasons)
    deliver(frame, text, reasons=reasons, about=ABOUT["units"])


def _with_bootstrap_intervals(
    table: sa.AgreementTable,
    *,
    method: Literal["percentile", "basic", "BCa"] | None,
    over: Literal["units", "raters", "both"],
    n_resamples: int,
    seed: int,
) -> Result:
    """Return the table with the standard errors and intervals of the bootstrap."""
    rows = sa.bootstrap(table, over=over, n_resamples=n_resamples, rng=seed).rows
    with spelling({"method": "--interval-method"}):
        ends = [row.interval(table.level, method=method) for row in rows]
    frame = described(table.to_frame(), table).assign(
        standard_error=[row.standard_error for row in rows],
        degrees_of_freedom=float("nan"),  # there is no t
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
        interval_method=f"bootstrap {method or rows[0].default_method}",
        over=over,
        n_resamples=n_resamples,
        n_undefined=[row.n_undefined for row in rows],
        seed=seed,
    )
    # It comes from the analytic standard error, which is not in the table now.
    frame = frame.rename(columns={"p_value": "analytic_p_value"})
    return frame, tables.bootstrapped(table, frame, rows[0].drawn)


def _with_score_intervals(table: sa.AgreementTable) -> Result:
    """Return the table with the score intervals, for small studies, in place of the t intervals."""
    for row in table:
        if (why := why_no_score(row)) is not None:
            raise OptionError(f"--interval 'score' {why}.")
    ends = [row.interval(table.level, method="score") for row in table]
    frame = described(table.to_frame(), table).assign(
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
        interval_method="score",
    )
    return frame, tables.with_score_intervals(table, frame)


def _with_two_way_intervals(table: sa.AgreementTable) -> Result:
    """Return the table with the standard errors and intervals of units and raters."""
    ends = [row.interval(table.level, over="both") for row in table]
    frame = described(table.to_frame(), table).assign(
        standard_error=[row.two_way.standard_error for row in table],
        degrees_of_freedom=[row.two_way.degrees_of_freedom for row in table],
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
        interval_method="two-way jackknife",
        over="both",
    )
    frame = frame.rename(columns={"p_value": "analytic_p_value"})
    return frame, tables.two_way(table, frame)


def other_interval(
    interval: str, method: str | None, over: str | None, resampling: Resampling
) -> Callable[[sa.AgreementTable], Result] | None:
    """Return what gives a table the intervals that are asked for; None for the analytic ones."""
    check_choice("interval", interval, ("analytic", "score", "bootstrap"))
    wanted = interval == "bootstrap"
    if interval == "analytic" and over == "both":
        _check_placed({"interval-method": method, **vars(resampling)}, "--interval bootstrap")
        return _with_two_way_intervals
    if interval == "score" and over == "both":
        raise OptionError("--interval 'score' is about these raters; drop --over 'both'.")
    placed = {"interval-method": method, "over": over, **vars(resampling)}
    _check_placed(placed, "--interval bootstrap", wanted=wanted)
    if not wanted:
        return _with_score_intervals if interval == "score" else None
    named = "BCa" if method in {"bca", "BCA"} else method
    if named is not None:
        check_choice("interval_method", named, ("percentile", "basic", "BCa"))
    check_choice("over", over or "units", ("units", "raters", "both"))
    return partial(
        _with_bootstrap_intervals,
        method=cast(Any, named),
        over=cast(Any, over or "units"),
        n_resamples=_enough(resampling.resamples),
        seed=seed_or_drawn(resampling.seed),
    )


def _rounds(files: Sequence[str], reading: Reading, group: str) -> list[tuple[str, Rows | None]]:
    """Return the groups of rows in a column of the files, with their names."""
    table, how, _ = long_table(files, reading, besides=group, option="--group", is_first=True)
    cells = pick_column(with_missing_ids(table, [group]), group)
    has_group = cells.notna().to_numpy()
    table, (codes, rounds) = table[has_group], code_ids(cells[has_group], "group")
    doubt_names("Groups", rounds)
    if len(rounds) < 2:
        raise DataError(f"--group {group!r}: {counted(len(rounds), 'group')}; two are compared.")
    if len(rounds) > _MOST_ROUNDS:
        raise DataError(
            f"--group {group!r}: {len(rounds):,} groups; at most {_MOST_ROUNDS} are compared, each "
            "with each. If these are times, add a column that names the round, or follow them with "
            f"setagree diagnose FILE --over-time {group!r}."
        )
    say_guessed(replace(how, **{name: getattr(reading, name) for name in how.columns}), how, say)
    if n := int((~has_group).sum()):
        say(f"{counted(n, 'row')} with nothing in column {group!r} left out.")
    counted_from = f"Rows are counted within this group (--group {group!r})."
    how = replace(how, where=None)
    return [(str(one), Rows(table[codes == k], how, counted_from)) for k, one in enumerate(rounds)]


def _families(files: Sequence[str], scored: Sequence[sa.AgreementTable]) -> list[list[Side]]:
    """Return what is compared pair by pair: all rows of one file, or a row in all files."""
    if len(files) == 1:
        if len(scored[0]) < 2:
            raise OptionError(
                "one file is compared with itself by two distances or coefficients, such as "
                "-d masi,nominal, or by the rounds in a column (--group COLUMN); or name a second "
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


def _differences(
    families: Sequence[Sequence[Side]], given: dict[str, Any]
) -> tuple[pd.DataFrame, list[str | None]]:
    """Return a row for each pair of each family, and why it has no p, if it has none.

    p is corrected over all of them (Holm).
    """
    parts: list[pd.DataFrame] = []
    reasons: list[str | None] = []
    for family in families:
        compared = sa.compare(*(side.agreement for side in family), **given)
        pairs = combinations(family, 2)
        sides = pd.DataFrame([{**a.named("first"), **b.named("second")} for a, b in pairs])
        found = compared.to_frame().drop(columns=["first", "second"])
        parts.append(described(pd.concat([sides, found], axis=1), [compared]))
        reasons += compared.reasons
    from setagree.inference.comparison import holm  # not loaded by the commands that need none

    frame = pd.concat(parts, ignore_index=True)
    frame["p_holm"] = holm(frame["p_value"].to_numpy())
    drawn = {"n_resamples": given.get("n_resamples"), "seed": given.get("rng")}
    drawn = {name: value for name, value in drawn.items() if value is not None}
    return frame.assign(**drawn), reasons


def _check_placed(given: Mapping[str, Any], where: str, *, wanted: bool = False) -> None:
    """Refuse options that would have no effect."""
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
