"""The tables of the guide, made from the file of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TypeAlias, TypeVar

import numpy as np

from tests.benchmarks.coverage.record import AGAIN, Found
from tests.benchmarks.coverage.tables import Known, markdown, share
from tests.benchmarks.decisions import components, crowds, facets, looks, models, queues, thresholds
from tests.benchmarks.decisions.cells import Decisions
from tests.benchmarks.decisions.components import Repeats, Variances
from tests.benchmarks.decisions.crowds import Crowds
from tests.benchmarks.decisions.facets import Facets
from tests.benchmarks.decisions.looks import LastBatch, Looks, Stops
from tests.benchmarks.decisions.models import Models
from tests.benchmarks.decisions.queues import Adaptive, Gain
from tests.benchmarks.decisions.thresholds import Thresholds

COMPLETE = "mean, the model answers all"

OneOf = TypeVar("OneOf", bound=Decisions)
Pairs: TypeAlias = list[tuple[OneOf, Found]]


def tables(known: Known) -> dict[str, str]:
    """Return each table of the guide by name, as Markdown."""
    every = (model_table, threshold_table, look_table, stop_table, last_table, variance_table)
    more = (repeat_table, adaptive_table, gain_table, facet_table, crowd_table)
    found = {one.__name__.removesuffix("_table"): one(known) for one in (*every, *more)}
    return found | {"risk": risk_table()}


def results_of(kind: type[OneOf], cells: Iterable[Decisions], known: Known) -> Pairs[OneOf]:
    """Return the cells of a kind that were run, with the second run where there were two."""
    return [
        (cell, known.get(cell.name + AGAIN, known[cell.name]))
        for cell in cells
        if type(cell) is kind and cell.name in known
    ]


def _size(found: Sequence[Found], test: str) -> str:
    """Return the mean size at 0.05, and the largest with its Monte-Carlo error."""
    return _summary([(one.size(test, 0.05), one.n) for one in found if test in one.results], max)


def _coverage(found: Sequence[Found], method: str) -> str:
    """Return the mean coverage, and the lowest with its Monte-Carlo error."""
    there = [one for one in found if method in one.results]
    return _summary([(one.coverage(method), one.n) for one in there], min)


def _summary(shares: list[tuple[float, int]], worst: Callable[..., tuple[float, int]]) -> str:
    if not shares:
        return "-"
    p, n = worst(shares)
    mean = float(np.mean([one for one, _ in shares]))
    return f"{share(mean)} ({share(p)} ± {share(np.sqrt(p * (1 - p) / n))})"


def model_table(known: Known) -> str:
    """Return the size of each test of a model, by the number of units."""
    pairs = results_of(Models, models.model_cells(), known)
    rows = [["test", "missing", *(f"{n} units" for n in models.UNITS)]]
    kinds: list[tuple[str, str, Callable[[Models], bool]]] = [
        ("mean", models.MEAN, lambda c: c.units == "alike" and not c.complete),
        (COMPLETE, models.MEAN, lambda c: c.complete),
        ("mean, some units hard", models.MEAN, lambda c: c.units == "hard"),
        ("all, one human is better", models.ALL, lambda c: c.humans == "expert"),
        ("equivalence, model worse", models.SAME, lambda c: c.change < 0 and not c.complete),
        ("equivalence, model better", models.SAME, lambda c: c.change > 0),
        ("any of 3 models, Holm", models.ANY, lambda c: c.n_models > 1),
    ]
    for (title, test, belongs), missing in product(kinds, (0.0, models.MISSED)):
        of = [pair for pair in pairs if pair[0].missing == missing and belongs(pair[0])]
        if not of:
            continue
        by_n = ([one for cell, one in of if cell.n_units == n] for n in models.UNITS)
        shown = [_size(found, test) for found in by_n]
        first = title if not missing or title == COMPLETE else ""
        rows.append([first, f"{100 * missing:.0f}%", *shown])
    return markdown(rows, left=2)


def threshold_table(known: Known) -> str:
    """Return how often `at_least` errs where the truth is the threshold, both ways."""
    pairs = results_of(Thresholds, thresholds.threshold_cells(), known)
    rows = [["units", "interval", "conclusion", *(f"{n} units" for n in thresholds.UNITS)]]
    kinds: list[tuple[str, Callable[[Thresholds], bool]]] = [
        ("alike", lambda c: c.units == "alike" and not c.missing),
        ("alike, 30% missing", lambda c: c.missing > 0),
        ("known or guessed by all", lambda c: c.units == "hard"),
    ]
    for title, belongs in kinds:
        for method, says in product(("score", "t"), ("at least", "below")):
            of = [pair for pair in pairs if belongs(pair[0])]
            by_n = ([one for cell, one in of if cell.n_units == n] for n in thresholds.UNITS)
            test = method if says == "at least" else f"{method} below"
            first = (method, says) == ("score", "at least")
            shown = [_size(found, test) for found in by_n]
            rows.append([title if first else "", method if says != "below" else "", says, *shown])
    return markdown(rows, left=3)


def look_table(known: Known) -> str:
    """Return how often all intervals of a study hold the truth, by alpha and batches."""
    pairs = results_of(Looks, looks.look_cells(), known)
    rows = [["alpha", "interval", *(f"{k} looks, {n} a batch" for n, k in looks.BATCHES)]]
    rows[0].append("known or guessed")
    for alpha, method in product(looks.ALPHAS, (looks.ANY_TIME, looks.PLANNED, looks.EACH)):
        of = [pair for pair in pairs if pair[0].alpha == alpha]
        alike = [pair for pair in of if pair[0].units == "alike"]
        columns = [
            [one for c, one in alike if (c.batch, c.n_batches) == batches]
            for batches in looks.BATCHES
        ]
        columns.append([one for cell, one in of if cell.units == "hard"])
        first = f"{alpha:g}" if method == looks.ANY_TIME else ""
        rows.append([first, method, *(_coverage(found, method) for found in columns)])
    return markdown(rows, left=2)


def stop_table(known: Known) -> str:
    """Return the verdicts at a threshold of 0.667, and how many studies have stopped by when."""
    steps = (f"by {n}" for n in looks.STEPS)
    rows = [["answers", "alpha", looks.GOOD, looks.BAD, looks.ON, *steps]]
    for cell, one in results_of(Stops, looks.look_cells(), known):
        said = [share(one.size(name, 0.05)) for name in (looks.GOOD, looks.BAD, looks.ON)]
        by = [share(x) for x in one.results["stopped by"][3:]]
        rows.append([cell.distance, share(cell.alpha), *said, *by])
    return markdown(rows, left=1)


def last_table(known: Known) -> str:
    """Return how often the last batch is called far below the others, by how far it is."""
    pairs = results_of(LastBatch, looks.look_cells(), known)
    rows = [["lower by", *(f"batch {k} of {n} units" for n, k in looks.LAST)]]
    for drop in looks.DROPS:
        of = [
            [x for c, x in pairs if (c.drop, c.batch, c.n_batches) == (drop, *b)]
            for b in looks.LAST
        ]
        rows.append([f"{drop:g}", *(_size(found, looks.FAR) for found in of)])
    return markdown(rows, left=1)


def variance_table(known: Known) -> str:
    """Return the coverage of the intervals of components, by the number of raters."""
    pairs = results_of(Variances, components.component_cells(), known)
    rows = [["answers", "interval", *(f"{R} raters" for R in components.RATERS)]]
    kinds: list[tuple[str, Callable[[Variances], bool]]] = [
        ("label sets and labels, raters with habits", lambda c: _sets(c) and c.habits > 0),
        ("label sets, raters without habits", lambda c: _sets(c) and not c.habits),
        ("numbers, raters with habits", lambda c: not _sets(c) and c.habits > 0),
        ("numbers, raters without habits", lambda c: not _sets(c) and not c.habits),
    ]
    reliabilities = ("dependability", "dependability of 3", "generalizability")
    for title, belongs in kinds:
        for k, what in enumerate(("unit", "rater", "residual", *reliabilities)):
            of = [pair for pair in pairs if belongs(pair[0])]
            by_R = ([one for c, one in of if c.n_raters == R] for R in components.RATERS)
            few = what == "rater"  # which has no interval there
            shown = ["-" if few and not j else _coverage(x, what) for j, x in enumerate(by_R)]
            rows.append(["" if k else title, what, *shown])
    return markdown(rows, left=2)


def _sets(cell: Variances) -> bool:
    return cell.answers != "numbers"


def repeat_table(known: Known) -> str:
    """Return the coverage of intra-rater intervals, by the number of units rated again."""
    pairs = results_of(Repeats, components.component_cells(), known)
    rows = [["units", "rate again", "interval", *(f"{n} units" for n in components.UNITS)]]
    for units, R in dict.fromkeys((cell.units, cell.n_raters) for cell, _ in pairs):
        for method in ("pooled", "one rater") if R > 1 else ("pooled",):
            of = [one for one in pairs if (one[0].units, one[0].n_raters) == (units, R)]
            by_n = ([one for cell, one in of if cell.n_units == n] for n in components.UNITS)
            shown = [_coverage(found, method) for found in by_n]
            who = f"{R} rater" + "s" * (R > 1)
            title = "alike" if units == "alike" else "some harder"
            rows.append([title, who, method, *shown])
    return markdown(rows, left=3)


def adaptive_table(known: Known) -> str:
    """Return the bias of alpha caused by queues, and the coverage of its interval."""
    pairs = results_of(Adaptive, queues.queue_cells(), known)
    rows = [["ratings", "units alike: bias of alpha", "coverage"]]
    rows[0] += ["some hard: bias", "coverage", "known or guessed: bias", "coverage"]
    names = (queues.DESIGN, queues.FEWEST, queues.QUEUE, queues.DISAGREED, queues.UNTIL)
    for policy in names:
        cells = []
        for units in queues.UNITS:
            found = [one for cell, one in pairs if cell.units == units]
            off = [one.results[policy][4] for one in found if policy in one.results]
            cells += [f"{min(off):+.3f} to {max(off):+.3f}" if off else "-"]
            cells += [_coverage(found, policy)]
        rows.append([policy, *cells])
    return markdown(rows, left=1)


def gain_table(known: Known) -> str:
    """Return the share of units whose majority is right, and what queues gain over even ones."""
    n_at = len(queues.AT)
    head = (f"{what}, {n} per unit" for n in queues.AT for what in ("even", "at random", "queue"))
    rows = [["labels", "hard units", *head]]
    for cell, one in results_of(Gain, queues.queue_cells(), known):
        shown = []
        for k in range(n_at):
            shown.append(share(one.results[queues.FEWEST][3 + k]))
            for policy in (queues.RANDOM, queues.QUEUE):
                gain, square = (one.results[policy][3 + j * n_at + k] for j in (1, 2))
                error = np.sqrt(max(0.0, square - gain**2) / one.n)
                shown.append(f"{gain:+.3f} ± {share(error)}")
        rows.append([f"{cell.n_labels}", f"{100 * cell.hard:.0f}%", *shown])
    return markdown(rows)


def facet_table(known: Known) -> str:
    """Return the coverage of the agreement of pairs by their facets, by the number of units."""
    pairs = results_of(Facets, facets.facet_cells(), known)
    rows = [["units", "pairs", *(f"{n} units" for n in facets.UNITS)]]
    for units, title in (("alike", "alike"), ("hard", "half are easier")):
        for name in facets.EVERY:
            of = [pair for pair in pairs if pair[0].units == units]
            by_n = ([one for cell, one in of if cell.n_units == n] for n in facets.UNITS)
            first = title if name == facets.RUNS else ""
            rows.append([first, name, *(_coverage(found, name) for found in by_n)])
    return markdown(rows, left=2)


def crowd_table(known: Known) -> str:
    """Return how often consensus is right, in all units and where its confidence is high."""
    rows = [["classes", "crowd", "majority: right", "unanimous", "right there"]]
    rows[0] += [
        "Dawid-Skene: right",
        "above 0.95",
        "right there",
        "below 90%",
        "these warned",
        "others warned",
    ]
    for cell, one in results_of(Crowds, crowds.crowd_cells(), known):
        cells = []
        for method in crowds.METHODS:
            right, sure, both = one.results[method][3:]
            cells += [share(right), share(sure), share(both / sure)]
        bad, warned, other = one.results[crowds.METHODS[1]][:3]
        n_good = one.n - bad
        cells += [share(bad / one.n), share(warned / bad) if bad else "-", share(other / n_good)]
        rows.append([f"{cell.n_classes}", cell.crowd, *cells])
    return markdown(rows, left=2)


def risk_table() -> str:
    """Return plans of acceptance sampling with their risks, which are exact."""
    rows = [["acceptable", "rejectable", "n", "c", "refuses acceptable", "accepts rejectable"]]
    for plan, producer, consumer in thresholds.risks():
        rates = [f"{plan.acceptable_rate:g}", f"{plan.rejectable_rate:g}", f"{plan.n}", f"{plan.c}"]
        rows.append([*rates, f"{producer:.4f}", f"{consumer:.4f}"])
    return markdown(rows)
