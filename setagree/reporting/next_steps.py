"""At most three next steps that follow from the findings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from setagree.errors import counted
from setagree.plots import diagnosis
from setagree.reporting.headline import is_unclear
from setagree.reporting.sections.base import Findings
from setagree.reporting.sections.labels import clear_confusions
from setagree.reporting.sections.raters import costly_raters
from setagree.wording.sentences import Name, Sentence


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
    units = f.result("units")
    if units is not None and units["disagreement"].iloc[0] > 0:
        n = counted(diagnosis.half_of(diagnosis.largest_share_first(units))[0], "unit")
        yield (f"Let an expert decide {n} with at least half of the disagreement.",)
    lone = f.main.n_units - f.main.n_pairable_units
    if lone and not are_pieces:
        yield (f"Ask a second rater to rate {counted(lone, 'unit')} with a single rating.",)


def _confusion(f: Findings) -> Iterator[Sentence]:
    """Yield a step on the confusion that is most clearly above chance, if any is."""
    frame = f.result("confusions")
    if frame is None or (clear := clear_confusions(f, frame)).empty:
        return
    top = clear.iloc[0]
    label: Sentence = ("when ", Name.of(top["label"]), " applies")
    if top["kind"] != "left out":
        label = ("how ", Name.of(top["label"]), " differs from ", Name.of(top["other"]))
    yield ("Discuss with the raters ", *label, ", and write it into the guidelines.")


def _rater(f: Findings) -> Iterator[Sentence]:
    """Yield a step on the rater without whom agreement is highest, if a test shows the gain."""
    raters = f.result("raters")
    if raters is None or len(raters) < 3 or not raters["difference"].notna().any():
        return
    for who in map(Name.of, costly_raters(f)["rater"].head(1)):
        rest = " with those of the others; a rater who differs is not necessarily wrong."
        yield ("Compare the answers of ", who, rest)
