"""Topics of a report in their order, their results, main findings, sections and next steps."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setagree.checks import as_generator, check_least, check_level
from setagree.diagnosis.common import SURE
from setagree.distances.registry import DistanceLike
from setagree.errors import (
    DegreesWarning,
    OptionError,
    SetagreeError,
    UndefinedAgreementWarning,
    a_type,
    counted,
    option,
)
from setagree.inference.benchmark import benchmark
from setagree.inference.comparison import holm
from setagree.inference.panel_members import rater_codes, require_raters, unnamed_models
from setagree.large.joining import with_models
from setagree.large.opening import Data
from setagree.panels.facets import rater_reading
from setagree.plots import diagnosis
from setagree.progress import stages
from setagree.reporting.headline import headline, is_unclear
from setagree.reporting.sections import (
    changes,
    data,
    decisions,
    estimates,
    groups,
    labels,
    models,
    patterns,
    raters,
    spans,
    units,
)
from setagree.reporting.sections.base import Findings, Method, Options, Section, Topic
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.scorer import main_distance
from setagree.scoring.table import agreement
from setagree.study.attributes import marked_models
from setagree.wording.number_format import rough
from setagree.wording.sentences import Name, Sentence

TOPICS: tuple[Topic, ...] = (
    *(data.TOPIC, estimates.CHOICES, decisions.TOPIC),
    *(models.TOPIC, models.PREVALENCE, models.REPLICATION),
    *(labels.TOPIC, labels.PRESENCE, labels.DEPTHS, labels.CONFUSIONS),
    *(raters.TOPIC, raters.PAIRS, patterns.TOPIC, raters.MAP),
    *(units.TOPIC, groups.TOPIC, changes.TOPIC, estimates.CHANCE),
)

SPAN_TOPICS: tuple[Topic, ...] = (
    *(spans.CONTENTS, spans.PLACES, estimates.CHOICES, decisions.TOPIC, labels.TOPIC),
    *(labels.CONFUSIONS, raters.TOPIC, raters.PAIRS, groups.TOPIC, estimates.CHANCE),
)
"""The topics that are defined for labelled spans, whose pieces have sizes."""


@dataclass(frozen=True)
class Finding:
    """A main finding as a sentence, and the section with its details."""

    about: str
    section: str
    sentence: Sentence


def gather(
    study: Data,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    **options: Any,
) -> Findings:
    """Return the findings about a study; a million ratings take about a minute.

    The options are those of `report`; without a seed one is drawn. The answers of models are used
    only in the sections that compare models with humans.
    """
    wanted = Options(**options)
    reading = None if wanted.facets is None else rater_reading(study, wanted.facets, wanted.model)
    everyone = require_raters(study, "report", reading)
    model: Any = []
    if wanted.model is not None:
        everyone, model = with_models(
            everyone, wanted.model, rater_columns=wanted.facets, all_units=True
        )
        rater_codes(everyone, model, "model", "model")  # raises if none is named, or one twice
    marked = marked_models(everyone)
    if len(marked) < everyone.n_raters:
        model = [*dict.fromkeys([*model, *marked])]
    if model:
        ways = (f"name it with {option('model')}", "change their names")
        model = [*model, *unnamed_models(everyone, model, ways=ways)]
    model = model or None
    check_level(level)
    check_least("n_resamples", wanted.n_resamples, 1)
    _check_groups(wanted.groups)
    seed = secrets.randbits(32) if wanted.rng is None else wanted.rng
    as_generator(seed)  # raises before any work unless it is a seed
    named = models.named_models(everyone, model)
    humans = everyone.exclude_raters(named) if named else everyone
    measure = main_distance(humans, distance, get_coefficient(coefficient))
    main = agreement(humans, coefficient=coefficient, distance=measure, level=level).rows[0]
    others = {"model": named or None, "panels": wanted.panels, "facets": wanted.facets}
    undefined = [name for name, value in others.items() if value is not None]
    if main.case.is_sized and undefined:
        raise OptionError(
            f"{option(undefined[0])} of a report is not defined for units with sizes, such as "
            "pieces of text. To leave out a rater, use study.exclude_raters or --exclude-raters."
        )
    wanted = replace(wanted, model=model, rng=seed)
    with warnings.catch_warnings():
        # The tables show undefined parts of a study, and notes state where degrees do not count.
        warnings.simplefilter("ignore", DegreesWarning)
        warnings.simplefilter("ignore", UndefinedAgreementWarning)
        # The report states the sampling of the units, which these functions ignore or repeat.
        warnings.filterwarnings("ignore", message="(by_unit|confusions|permutation_test) ")
        # `unnamed_models` above has warned of them.
        warnings.filterwarnings("ignore", message="Counted among the people: ")
        warnings.filterwarnings("ignore", message="intervals .* clustered by (?!.* of the group )")
        f = Findings(humans, main, benchmark(main), level, wanted, everyone, named)
        _compute(f)
    correct(f)
    return f


def _topics(f: Findings) -> tuple[Topic, ...]:
    """Return the topics of a study."""
    return SPAN_TOPICS if f.main.case.is_sized else TOPICS


def _check_groups(groups: Any) -> None:
    """Raise OptionError if the values of a mapping are collections instead of groups."""
    values = groups.values() if isinstance(groups, Mapping) else ()
    if (wrong := next((x for x in values if not isinstance(x, Hashable)), None)) is not None:
        raise OptionError(
            f"groups= must map each unit to its group, not to {a_type(wrong)}; "
            "pass one such mapping."
        )


def _compute(f: Findings) -> None:
    """Fill in the result of each topic, or the reason why there is none."""
    computed = [(topic, topic.compute) for topic in _topics(f) if topic.compute is not None]
    with stages("computing", len(computed)) as reached:
        for topic, compute in computed:
            reached(topic.id)
            try:
                f.results[topic.id] = compute(f)
            except SetagreeError as error:
                if not topic.optional:
                    raise
                f.absent[topic.id] = str(error)


def correct(f: Findings) -> None:
    """Correct the p-values of all claims of the report together, by Holm."""
    raw = {
        topic.id: np.array(topic.p_values(f, result), dtype=float)
        for topic, result in _with_results(f)
        if topic.p_values is not None
    }
    p = holm(np.concatenate([np.zeros(0), *raw.values()]))
    ends = np.cumsum([len(each) for each in raw.values()])
    f.corrected.update(zip(raw, np.split(p, ends), strict=False))


def claims_note(f: Findings) -> str:
    """Return the number of claims that were tested, and their common correction."""
    if not (n := f.n_claims):
        return ""
    note = "One claim was tested. It"
    if n > 1:
        note = (
            f"{n:,} claims were tested. Each p, here and in the tables, is corrected for all of "
            "them (Holm). A claim"
        )
    note += f" is made only if its p is at most {SURE:g}; findings without p are estimates."
    others = [f.result(topic) for topic in ("models", "replication", "decisions")]
    if any(result is not None for result in others):
        note += " Models, panels and decisions have their own tests, without this correction."
    return note


def _with_results(f: Findings) -> Iterator[tuple[Topic, Any]]:
    """Yield the topics that have a result, or need none, with it."""
    for topic in _topics(f):
        result = f.result(topic.id)
        if result is not None or topic.compute is None:
            yield topic, result


def main_findings(f: Findings) -> list[Finding]:
    """Return the main findings: causes of disagreement first, choices of the method later."""
    is_defined = f.main.reason is None
    first = [] if is_defined else [Finding("No estimate", "data", headline(f))]
    others = [
        Finding(topic.about, topic.id, topic.summary(f, result))
        for topic, result in sorted(_with_results(f), key=lambda pair: pair[0].rank)
        if topic.summary is not None and (is_defined or topic.without_estimate)
    ]
    return [*first, *(finding for finding in others if finding.sentence)]


def sections(f: Findings) -> list[Section]:
    """Return the sections of all topics, in the order of the report.

    A topic that could not be computed has a section with the reason. For a sample with weights,
    clusters, strata or a population size, notes state which sections ignore these.
    """
    shown: list[Section] = []
    for topic in _topics(f):
        result, found = f.result(topic.id), list[Section]()
        if result is not None or topic.compute is None:
            found = [*topic.sections(f, result)]
        elif topic.id in f.absent:
            found = [Section(lead=(f.absent[topic.id],))]
        shown += [_completed(f, topic, section) for section in found]
    return shown


def _completed(f: Findings, topic: Topic, section: Section) -> Section:
    """Return a section with the lead, the title and the notes that its topic defines."""
    drawn, lead, pieces, design = f.study.sampling, section.lead, "", ""
    if f.main.case.is_sized:
        if topic.unweighted and section.table:
            pieces = "Units are pieces of documents, which count by their length."
    elif f.main.case.is_weighted:
        if topic.unweighted and section.table:
            design = "are counted over the units of the sample, without their weights."
            design = f"{topic.unweighted} {design}"
    elif drawn is not None and topic.one_by_one:
        ignored = f"ignore {drawn.description} and treat the units as drawn one by one."
        design = f"{topic.one_by_one} {ignored}"
    if lead is None:
        lead = topic.summary(f, f.result(topic.id)) if topic.summary else ()
    meanings, lows = [], []
    if section.table is not None:
        columns = section.table.columns
        meanings = [column.note() for column in columns]
        ends = [k for k, column in enumerate(columns) if column.kind in {"estimate", "change"}]
        lows = [row[k][1] for row in section.table.rows for k in ends]
    note = " ".join(filter(None, [*meanings, section.note, rough(lows), pieces, design]))
    title, name = section.title or topic.title, section.id or topic.id
    return replace(section, lead=lead, note=note, title=title, id=name, design_note=design)


def methods(f: Findings) -> list[Method]:
    """Return the sentences that the topics add to the methods paragraph."""
    added = [topic.method(f, result) for topic, result in _with_results(f) if topic.method]
    return [one for one in added if one is not None]


# ---- Next steps ----------------------------------------------------------------------------------


def next_steps(f: Findings) -> list[Sentence]:
    """Return at most three sentences in the imperative, the most important first."""
    return [*_steps(f)][:3]


def _steps(f: Findings) -> Iterator[Sentence]:
    are_pieces = f.main.case.is_sized  # of documents, which have no consensus
    is_defined = f.main.reason is None
    if is_defined and f.verdict.verdict == "reliable" and not are_pieces:
        yield ("Use the consensus of the raters on each unit: setagree consensus or sa.consensus.",)
    if is_unclear(f):
        more = "documents" if are_pieces else "units"
        yield (f"Rate more {more}: setagree plan or sa.plan gives the number that is needed.",)
    elif is_defined and f.study.sampling is None and np.isnan(f.main.interval(f.level)[0]):
        yield ("Rate more units: these allow no interval.",)
    yield from _confusion(f)
    yield from _rater(f)
    frame = f.result("units")
    if frame is not None and frame["disagreement"].iloc[0] > 0:
        n = counted(diagnosis.half_of(diagnosis.largest_share_first(frame))[0], "unit")
        yield (f"Let an expert decide {n} with at least half of the disagreement.",)
    lone = f.main.n_units - f.main.n_pairable_units
    if lone and not are_pieces:
        yield (f"Ask a second rater to rate {counted(lone, 'unit')} with a single rating.",)


def _confusion(f: Findings) -> Iterator[Sentence]:
    """Yield a step on the confusion that is most clearly above chance, if any is."""
    frame = f.result("confusions")
    if frame is None or (clear := labels.clear_confusions(f, frame)).empty:
        return
    top = clear.iloc[0]
    label: Sentence = ("when ", Name.of(top["label"]), " applies")
    if top["kind"] != "left out":
        label = ("how ", Name.of(top["label"]), " differs from ", Name.of(top["other"]))
    yield ("Discuss with the raters ", *label, ", and write it into the guidelines.")


def _rater(f: Findings) -> Iterator[Sentence]:
    """Yield a step on the rater without whom agreement is highest, if a test shows the gain."""
    tried = f.result("raters")
    if tried is None or len(tried) < 3 or not tried["difference"].notna().any():
        return
    for who in map(Name.of, raters.costly_raters(f)["rater"].head(1)):
        rest = " with those of the others; a rater who differs is not necessarily wrong."
        yield ("Compare the answers of ", who, rest)
