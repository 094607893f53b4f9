"""The tables that people read: 80 columns, four decimals, and what they mean in a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import setagree as sa
from setagree.errors import counted
from setagree.scoring.results import ABOUT
from setagree.scoring.table_notes import drawn_beside, how_drawn
from setagree.wording.number_format import count, four, four_interval, level_text, p_four
from setagree.wording.sentences import visible
from setagree.wording.tables import TERMINAL, aligned

if TYPE_CHECKING:
    from setagree.inference.permutation import PermutationTest

_LEFT = {
    *("coefficient", "distance", "file", "basis", "pair"),
    *("model", "human", "unit", "agreed", "why"),
}


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


def reason_of(row: sa.Agreement) -> str | None:
    """Return why the estimate of an agreement is nan, or its interval alone."""
    return row.interval_reason


def with_score_intervals(table: sa.AgreementTable, frame: pd.DataFrame) -> str:
    """Return a table of agreements with score intervals."""
    shown = _agreements(table, frame) | {"p": map(p_four, frame["p_value"])}
    note = (
        "interval: score, made for few units, high agreement and rare labels; se and p: analytic, "
        f"as without --interval. About {ABOUT['units']}.{_score_freedom(table)}"
    )
    said = [*_alike(table), *_drawn(table), wrapped(note)]
    return paragraphs(counts(table), table_text(shown), *said)


def _score_freedom(table: sa.AgreementTable) -> str:
    """Return the degrees of freedom of score intervals over clusters, which are not those of t."""
    dfs = {one.spread.clusters.n - 1 for one in table if one.spread.clusters}
    listed = " or ".join(f"{df:,}" for df in sorted(dfs))
    return f" The interval takes {listed} degrees of freedom: the clusters less one." if dfs else ""


def _agreements(table: sa.AgreementTable, frame: pd.DataFrame) -> dict[str, Iterable[str]]:
    return {
        "coefficient": frame["coefficient"],
        "distance": frame["distance"],
        "pa": map(four, frame["observed_agreement"]),
        "pe": map(four, frame["expected_agreement"]),
        "estimate": map(four, frame["estimate"]),
        "se": map(four, frame["standard_error"]),
        f"{level_text(table.level, gap='')} interval": intervals(frame),
    }


def two_way(table: sa.AgreementTable, frame: pd.DataFrame) -> str:
    """Return a table of agreements with intervals about raters like these."""
    defined = (row.two_way for row in table if row.two_way.reason is None)
    dfs = dict.fromkeys(f"{one.degrees_of_freedom:.3g}" for one in defined)
    freedom = f", t with {' or '.join(dfs)} degrees of freedom" if dfs else ""
    note = (
        f"se and interval: {ABOUT['both']}, by the two-way jackknife: the variance over units and "
        f"that over raters added up{freedom}."
    )
    whys = dict.fromkeys(f"{why}." for row in table if (why := row.two_way.reason))
    said = [*map(wrapped, whys), *_drawn(table, over_units=False), wrapped(note)]
    return paragraphs(counts(table), table_text(_agreements(table, frame)), *said)


def bootstrapped(table: sa.AgreementTable, frame: pd.DataFrame, drawn: str) -> str:
    """Return a table of agreements with bootstrap intervals."""
    one = frame.iloc[0]
    method = one["interval_method"].removeprefix("bootstrap ")
    over = {"both": "units and raters"}.get(drawn, drawn)
    about, R = ABOUT[one["over"]], table[0].n_raters
    if one["over"] == "both" and R is not None and R <= 5:  # as few as were simulated
        about += f", of whom {R} are few: such intervals held the truth in 80-88 % of studies"
    note = (
        f"se and interval: bootstrap ({method}), {counted(one['n_resamples'], 'resample')} of the "
        f"{over}, seed {one['seed']}. About {about}. {_undefined(frame, 'resamples')}"
    )
    shown = _agreements(table, frame)
    return paragraphs(counts(table), table_text(shown), *_alike(table), wrapped(note))


def tests(table: sa.AgreementTable, tested: Sequence[PermutationTest], frame: pd.DataFrame) -> str:
    """Return a table of permutation tests."""
    shown = {
        "coefficient": frame["coefficient"],
        "distance": frame["distance"],
        "estimate": map(four, frame["estimate"]),
        "by chance": map(four, frame["null_mean"]),
        "expected": map(four, frame["exact_mean"]),
        "95th percentile": map(four, frame["null_95"]),
        "p": map(p_four, frame["p_value"]),
    }
    note = f"{_meaning_of_p(frame, tested[0].over)} {_undefined(frame, 'reshuffles')}"
    said = [*_beside_chance(tested), *_alike(table)]
    return paragraphs(counts(table), table_text(shown), *said, wrapped(note))


def _beside_chance(tested: Sequence[PermutationTest]) -> Iterator[str]:
    """Yield which agreements one tail of the test tells from chance, and how far."""
    for said, tail in (("more than chance", "upper tail"), ("below chance", "lower tail")):
        named = [
            f"{test.agreement.coefficient} [{test.agreement.distance}] "
            f"({tail}: p {p_four(test.tail('greater' if tail == 'upper tail' else 'less'))})"
            for test in tested
            if test.beside_chance == said
        ]
        if named:
            yield wrapped(f"{said.capitalize()}: {', '.join(named)}.")


def _alike(agreements: Iterable[sa.Agreement]) -> Iterator[str]:
    """Yield why agreements have no interval though their standard error is 0."""
    whys = dict.fromkeys(row.interval_reason for row in agreements if row.standard_error == 0)
    yield from (f"{why}." for why in whys)


def _drawn(table: sa.AgreementTable, *, over_units: bool = True) -> list[str]:
    """Return how the units were drawn, where that is said."""
    said = how_drawn(table.rows, over_units=over_units)
    return [wrapped(said)] if said else []


def comparison(
    scored: Sequence[sa.AgreementTable],
    families: Sequence[Sequence[Side]],
    frame: pd.DataFrame,
    reasons: Sequence[str | None],
) -> str:
    """Return the agreements with numbers, and a row for each pair: the first less the second."""
    pairs = [pair for family in families for pair in combinations(family, 2)]
    found: dict[str, Iterable[str]] = {
        "difference": [*map(four, frame["difference"])],
        "se": [*map(four, frame["standard_error"])],
        f"{level_text(scored[0].level, gap='')} interval": intervals(frame),
        "p": [*map(p_four, frame["p_value"])],
    }
    if len(frame) > 1:
        found["p (Holm)"] = [*map(p_four, frame["p_holm"])]
    shown = table_text({**_pairs(families, pairs), **found})
    if max(map(len, shown.splitlines())) > TERMINAL:
        numbers = [f"{one.number} - {two.number}" for one, two in pairs]
        shown = table_text({"pair": numbers, **found})
    head = [counts(scored[0])] if len(scored) == 1 else []
    sides = [side for family in families for side in family]
    whys = [wrapped(f"{why}.") for why in dict.fromkeys(reasons) if why]
    return paragraphs(
        *head, table_text(_sides(sides)), shown, *whys, wrapped(_how_compared(frame, sides))
    )


def of_rows(said: Sequence[str], names: Iterable[str]) -> str:
    """Return what is said of all rows once, or each with the names of the rows it is said of."""
    rows: dict[str, dict[str, None]] = {}
    for text, name in zip(said, names, strict=True):
        rows.setdefault(text, {})[name] = None
    if len(rows) == 1:
        return said[0]
    return " or ".join(f"{text} ({', '.join(named)})" for text, named in rows.items())


_MOVED = {
    "pooled": "all answers over all raters and units",
    "within_rater": "each rater's answers over the units of that rater",
    "table": "all cells of the table, the missing ones too",
    "within_cluster": "the answers of each cluster over its own units and raters",
}
_REACHED = {"greater": "at least as high", "less": "at least as low", "two-sided": "as far out"}


def _meaning_of_p(frame: pd.DataFrame, over: str) -> str:
    """Return what was reshuffled how often, and what counts."""
    one = frame.iloc[0]
    often = of_rows(
        [
            f"all {row['n_resamples']:,} arrangements"
            if row["exact"]
            else f"{row['n_resamples']:,} reshuffles (seed {row['seed']}) and the study itself"
            for row in frame.to_dict("records")
        ],
        frame["coefficient"],
    )
    tail = " (twice the smaller side)" if one["alternative"] == "two-sided" else ""
    return (
        f"p: the share of {often} that come out {_REACHED[one['alternative']]} as the "
        f"estimate{tail}. Reshuffled: {_MOVED[one['scheme']]}{over}. by chance: their mean; "
        "expected: that of all reshuffles, where it is known; 95th percentile: of the reshuffles."
    )


def _how_compared(frame: pd.DataFrame, sides: Sequence[Side]) -> str:
    """Return the design and where the standard errors come from."""
    one = frame.iloc[0]
    rows = [side.agreement for side in sides]
    drawn = drawn_beside(rows, independent=one["design"] == "independent")
    if one["method"] == "linearised":
        how = f"standard errors by linearisation{drawn and f', {drawn}'}. About {ABOUT['units']}."
    else:
        n_undefined = int(frame["n_undefined"].max())
        left_out = f"{n_undefined:,} undefined at most, left out" if n_undefined else "no undefined"
        how = (
            f"{one['n_resamples']:,} resamples of the {drawn or 'units'}, {left_out}, expanded "
            f"percentile interval, seed {one['seed']}. About {ABOUT['units']}."
        )
    n = int(frame["p_value"].notna().sum())
    holm = f" Holm: p corrected for {n} comparisons." if n > 1 else ""
    unlike = any((frame[f"first_{x}"] != frame[f"second_{x}"]).any() for x in _WHAT)
    meaning = _UNLIKE if unlike else ""
    return f"difference: the first minus the second. {_design(frame)}; {how}{holm}{meaning}"


_WHAT = ("coefficient", "distance")
_UNLIKE = (
    " Different distances (or coefficients) measure different things: a higher value does not "
    "mean better agreement."
)


def _design(frame: pd.DataFrame) -> str:
    """Return which units the agreements stand on, and how many of them are shared."""
    design = frame["design"].iloc[0]
    if design == "independent":
        return "Independent studies"
    if (frame["first_file"] == frame["second_file"]).all():
        return "The same units"
    few, many = int(frame["n_shared"].min()), int(frame["n_shared"].max())
    if not many:
        return "No unit is shared; clusters are matched by their names"
    number = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    if design == "shared_units":
        return f"Only the {number} units that all files share, scored anew"
    return f"The same units, matched by their names ({number} shared)"


def _pairs(
    families: Sequence[Sequence[Side]], pairs: Sequence[tuple[Side, Side]]
) -> dict[str, Iterable[str]]:
    """Return the columns that say what is subtracted from what, and under which distance."""
    names = _names([side for family in families for side in family])
    said = [f"{names[one.number]} - {names[two.number]}" for one, two in pairs]
    shown: dict[str, Iterable[str]] = {"pair": said}
    for column in _WHAT if len(families) > 1 else ():
        each = [getattr(one.agreement, column) for one, _ in pairs]
        if len(set(each)) > 1:
            shown[column] = each
    return shown


def _names(sides: Sequence[Side]) -> dict[int, str]:
    """Return what each side is called: its file, or what tells it apart in one, or its number."""
    if len({side.file for side in sides}) > 1:
        files = _file_names([side.file for side in sides])
        return {side.number: files[side.file] for side in sides}
    for alike, differing in (_WHAT, _WHAT[::-1]):
        if len({getattr(side.agreement, alike) for side in sides}) == 1:
            return {side.number: getattr(side.agreement, differing) for side in sides}
    return {side.number: str(side.number) for side in sides}


def _file_names(files: Iterable[str]) -> dict[str, str]:
    """Return the names of files, or their paths where two have the same name."""
    names = {file: Path(file).name for file in files}
    distinct = len(set(names.values())) == len(names)
    return names if distinct else {file: file for file in names}


def _sides(sides: Sequence[Side]) -> dict[str, Iterable[str]]:
    """Return the columns of the agreements that are compared."""
    names, rows = _file_names([side.file for side in sides]), [side.agreement for side in sides]
    files = {"file": [names[side.file] for side in sides]} if len(names) > 1 else {}
    return {
        "": [str(side.number) for side in sides],
        **files,
        "coefficient": [row.coefficient for row in rows],
        "distance": [row.distance for row in rows],
        "units": [f"{row.n_units:,}" for row in rows],
        "estimate": [four(row.estimate) for row in rows],
        "se": [four(row.standard_error) for row in rows],
    }


def _undefined(frame: pd.DataFrame, what: str) -> str:
    """Return how many resamples left which row undefined."""
    rows = [row for row in frame.to_dict("records") if row["n_undefined"]]
    if not rows:
        return f"No undefined {what}."
    listed = ", ".join(
        f"{row['n_undefined']:,} of {row['coefficient']} [{row['distance']}]" for row in rows
    )
    return f"Undefined {what}, left out: {listed}."


def counts(table: sa.AgreementTable) -> str:
    """Return the line that counts units, raters and ratings."""
    return str(table).partition("\n\n")[0]


def intervals(frame: pd.DataFrame) -> list[str]:
    """Return the interval of each row."""
    return [*map(four_interval, frame["low"], frame["high"])]


def table_text(shown: Mapping[str, Iterable[Any]]) -> str:
    """Return columns as lines: names to the left, numbers to the right."""
    cells = [[name, *(visible(str(cell)) for cell in column)] for name, column in shown.items()]
    return "\n".join(aligned(cells, left=[name in _LEFT for name in shown]))


def paragraphs(*parts: str) -> str:
    """Return parts with a blank line between them."""
    return "\n\n".join(parts)


def wrapped(text: str) -> str:
    """Return a note in lines that fit the terminal."""
    return textwrap.fill(text, TERMINAL, break_on_hyphens=False)


def whole(number: Any) -> str:
    """Return a count, a dash where there is none."""
    return count(number, plain=True)
