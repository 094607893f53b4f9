"""Sections about raters against raters: models beside humans, two panels, the map."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from setagree.errors import counted
from setagree.panels.alt_results import AltTest
from setagree.reporting.findings import Findings
from setagree.reporting.panel_words import (
    consensus_words,
    map_words,
    models_finding,
    replication_finding,
    test_words,
)
from setagree.reporting.tables import Column, Section, Table, table_of
from setagree.scoring.names import distance_name
from setagree.wording.words import Name, number

MOST_ROWS = 40
"""Rows of a table; the functions that are named below it return them all."""

MOST_MODELS = 5
"""Models that have a section of their own."""

_EPSILONS = (0.1, 0.15, 0.2)

_AGREED = {
    "label_majority": "every label that more than half of the humans gave",
    "medoid": "the answer that is nearest to all of them",
}


def model_sections(f: Findings) -> Iterator[Section]:
    """Yield what is asked about models: their tests, and how near they come to the consensus."""
    tests = f.panels.tests
    if not f.panels.models:
        return
    title = "May a model replace a human?"
    if not tests:
        yield Section("models", title, models_finding(f))
    elif len(tests) == 1:
        yield _test_section(tests[0], "models", title, 1)
    else:
        yield Section("models", title, models_finding(f), _ranking(f), None, _advice())
        for place, test in enumerate(tests[:MOST_MODELS], start=1):
            yield _test_section(test, f"model-{place}", f"Model {place} beside each human", place)
    yield _consensus_section(f)


def _ranking(f: Findings) -> Table:
    """Return the models, the best first."""
    rows = []
    for test in f.panels.tests:
        rates = test.by_epsilon(_EPSILONS)["winning_rate"].tolist()
        may = "not tested" if test.reason is not None else "yes" if test.passes else "no"
        advantage = test.average_advantage_probability
        rows.append((test.model, advantage, may, *rates, len(test.humans), test.n_units))
    columns = (
        Column("Model", "name"),
        Column("Average advantage", "number"),
        Column("May replace", "text"),
        *(Column(f"Winning rate, epsilon {epsilon:g}", "number") for epsilon in _EPSILONS),
        Column("Humans", "count"),
        Column("Units", "count"),
    )
    return Table("Models, the largest average advantage first", columns, tuple(rows))


def _test_section(test: AltTest, id_: str, title: str, place: int) -> Section:
    """Return the humans that a model is compared with."""
    if test.reason is not None:
        return Section(id_, title, test_words(test), None, None, _skipped(test))
    frame = test.humans.sort_values("difference", ascending=False, kind="stable").reset_index()
    frame["wins"] = ["yes" if won else "no" for won in frame["rejected"]]
    columns = [
        Column("Human", "name", "human"),
        Column("Model as near", "estimate", ("advantage", "low", "high")),
        Column("Human as near", "number", "human_advantage"),
        Column("Human less model", "signed", "difference"),
        Column("Human with the others", "signed", "agreement"),
        Column("p, corrected", "p", "p_adjusted"),
        Column("Model wins", "text", "wins"),
        Column("Units", "count", "n_units"),
    ]
    caption = "Model and human, each beside the other humans, the human who is best first"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="alt_test")
    note = f"{_reading(test)} {_skipped(test)}"
    if id_ == "models":
        rates = test.by_epsilon(_EPSILONS)["winning_rate"]
        said = ", ".join(f"{number(rate)} at {epsilon:g}" for epsilon, rate in rates.items())
        note = f"{note} Winning rate {said}. {_advice()}"
    return Section(id_, title, test_words(test), table, f"model-{place}", " ".join(note.split()))


def _reading(test: AltTest) -> str:
    return (
        "As near: the share of the units where the answer is at least as near to the other humans "
        f"({distance_name(test.distance)}); ties count for both. The model wins where a human who "
        f"is better by {test.epsilon:g} or more is rejected (t-test; p corrected by Benjamini and "
        "Yekutieli)."
    )


def _skipped(test: AltTest) -> str:
    n = len(test.skipped)
    return f"Left out for fewer than 30 shared units: {counted(n, 'human')}." if n else ""


def _advice() -> str:
    return (
        "A model must win over half of the humans or more. The authors of the test advise epsilon "
        "0.2 where the humans are experts, 0.15 where they are skilled, 0.1 where they are a "
        "crowd: choose before you look. In all other sections a model counts as a rater like any "
        "other."
    )


def _consensus_section(f: Findings) -> Section:
    """Return models and humans against the agreed answer of the humans."""
    frame, labels = f.panels.score_table, f.study.kind == "labels"
    columns = [
        Column("Rater", "name", "rater"),
        Column("Who", "text", "who"),
        Column("Same answer", "share", "exact"),
        *([Column("Jaccard", "number", "jaccard")] if labels else []),
        *([Column("Micro F1", "number", "micro_f1")] if labels else []),
        Column("Macro F1", "number", "macro_f1"),
        Column("Units", "count", "n_units"),
        Column("Without agreed answer", "count", "n_left_out"),
    ]
    caption = "Models, then humans, against the agreed answer of the humans"
    table = table_of(frame, columns, caption, limit=MOST_ROWS, function="score_against_consensus")
    assert f.panels.scores is not None  # noqa: S101 - who has models has their scores
    note = (
        f"The agreed answer is {_AGREED[f.panels.scores.method]}. A human never counts in the "
        "consensus that he or she is compared with."
    )
    title = "Against the consensus of the humans"
    return Section("consensus", title, consensus_words(f), table, None, note)


def replication_section(f: Findings) -> Section | None:
    """Return how far two panels replicate each other."""
    found = f.panels.replication
    if found is None:
        return None
    first, second = map(Name.of, found.panels)
    none = (float("nan"), float("nan"))
    rows = (
        (("Between ", first, " and ", second), (found.estimate, *found.interval(f.level))),
        (
            ("The same, if each agreed with itself",),
            (found.normalised, *found.normalised_interval(f.level)),
        ),
        (("Alpha inside ", first), (found.alphas[0], *none)),
        (("Alpha inside ", second), (found.alphas[1], *none)),
    )
    counts = (None, None, *found.n_ratings)
    table = Table(
        f"Agreement between two panels and inside each, with {100 * f.level:g} % intervals",
        (Column("What", "text"), Column("Estimate", "estimate"), Column("Ratings", "count")),
        tuple((*row, n) for row, n in zip(rows, counts, strict=True)),
    )
    note = (
        f"kappa_x is 1 where every answer of one panel is that of the other, 0 where they meet as "
        f"chance has it ({distance_name(found.distance)}; {counted(found.n_units, 'unit')} with "
        "both panels). Divided by the root of both alphas it says how alike the panels would be "
        f"if each agreed with itself. Intervals: {len(found.distribution):,} resamples of the "
        "units."
    )
    why = found.normalised_reason
    if why is not None and found.reason is None:
        note = f"{note} There is no normalised value where a panel has no alpha above 0."
    title = "Do the panels replicate each other?"
    return Section("replication", title, replication_finding(f), table, None, note)


def map_section(f: Findings) -> Section | None:
    """Return the map of the raters, or why there is none."""
    found = f.panels.map
    title = "Raters on a map"
    if found is None:
        why = f.panels.absent.get("map")
        return None if why is None else Section("map", title, (why,))
    frame: pd.DataFrame = found.table.reset_index()
    frame = frame.sort_values(["cluster", "silhouette"], ascending=[True, False], kind="stable")
    columns = [
        Column("Rater", "name", "rater"),
        Column("Cluster", "count", "cluster"),
        Column("Silhouette", "signed", "silhouette"),
        Column("Distance to others", "number", "mean_distance"),
        Column("Ratings", "count", "n_ratings"),
    ]
    table = table_of(frame, columns, "Raters by cluster", limit=MOST_ROWS, function="rater_map")
    note = (
        "The nearer two raters stand, the more alike their answers are. Silhouette: how much "
        "nearer a rater is to the own cluster than to the next, 1 at most."
    )
    if len(found.null):
        note += (
            f" Whether clusters are more than noise was tested with {len(found.null):,} reshuffles "
            "of the answers inside units; raters of unequal care can make p small without any "
            "camps."
        )
    return Section("map", title, map_words(found), table, "map", note)
