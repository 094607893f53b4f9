"""Everything a report says, gathered once: numbers only, no words, no pictures."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Rng, as_generator, check_level, check_resamples
from setagree.coefficients.chance import Floats
from setagree.diagnosis.by_group import by_group
from setagree.diagnosis.by_label import by_label
from setagree.diagnosis.by_pair import by_pair
from setagree.diagnosis.by_rater import by_rater
from setagree.diagnosis.by_unit import by_unit
from setagree.diagnosis.confusions import confusions
from setagree.diagnosis.what_if import what_if
from setagree.distances import Distance, get_distance
from setagree.distances.registry import DistanceLike
from setagree.errors import DataError, SetagreeError, UndefinedAgreementWarning, a_type
from setagree.inference.benchmark import Benchmark, benchmark
from setagree.inference.permutation import PermutationTest, permutation_test
from setagree.reporting.methods import HowRead
from setagree.reporting.panel_findings import Asked, Models, PanelFindings, Panels, panel_findings
from setagree.scoring.coefficients import CoefficientLike, get_coefficient
from setagree.scoring.results import Agreement, AgreementTable
from setagree.scoring.scorer import Scorer
from setagree.scoring.table import agreement as score_table
from setagree.study.annotations import Annotations
from setagree.study.assembly import Duplicates
from setagree.study.labels import Blank, Case

Groups: TypeAlias = "pd.Series[Any] | Mapping[Any, Any] | pd.DataFrame"
"""The group of each unit; or what `by_group` returned."""

PANEL_COEFFICIENTS = (
    "krippendorff_alpha",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "percent_agreement",
)
_OF_TWO = {"fleiss_kappa": "scott_pi", "conger_kappa": "cohen_kappa"}
PANEL_DISTANCES = {
    "labels": ("nominal", "masi", "jaccard", "overlap", "hamming"),
    "number": ("nominal", "ordinal", "interval"),
    "category": ("nominal",),
}
"""What the headline is compared with: would another choice tell another story?"""

MOST_TRIED = 3
"""Mergers, labels and raters of which each change is tried."""

_NAMING = ("coefficient", "distance")

_CHANGES = {"merge": "merge", "drop_labels": "drop label", "drop_raters": "drop rater"}
"""What `what_if` calls them."""

_RESHUFFLED = 10_000_000
"""Ratings that are reshuffled in all, which takes a few seconds."""

_PAIRED = 400_000
"""Pairs of raters beyond which they are not compared one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What was found about one study.

    Attributes
    ----------
    study : Annotations
        What was looked at.
    main : Agreement
        The coefficient that is explained.
    table : AgreementTable
        It and its relatives under several distances.
    verdict : Benchmark
        The words it deserves.
    null : PermutationTest
        What chance gives.
    frames : dict of DataFrame
        What `by_label`, `confusions`, `by_rater`, `by_pair`, `by_unit`, `by_group` and `what_if`
        returned: labels, confusions, raters, pairs, units, groups, changes.
    absent : dict
        Why one of them is not there.
    level : float
        Of the intervals.
    seed : int or None
        Of the reshuffles; None where a Generator was passed.
    n_reshuffles_asked : int
        How many reshuffles were asked for; large studies get fewer.
    how_read : HowRead
        How the data were read, as far as that is known.
    panels : PanelFindings
        What was found about raters against raters.
    """

    study: Annotations
    main: Agreement
    table: AgreementTable
    verdict: Benchmark
    null: PermutationTest
    frames: Mapping[str, pd.DataFrame]
    absent: Mapping[str, str]
    level: float
    seed: int | None
    n_reshuffles_asked: int
    how_read: HowRead = field(default_factory=HowRead)
    panels: PanelFindings = field(default_factory=PanelFindings)

    def __repr__(self) -> str:
        return f"<Findings about {self.main!r}>"

    def frame(self, name: str) -> pd.DataFrame | None:
        """Return the frame of that name; None where there is none, or it is empty."""
        found = self.frames.get(name)
        return found if found is not None and len(found) else None


def gather(
    study: Annotations,
    *,
    coefficient: CoefficientLike = "krippendorff_alpha",
    distance: DistanceLike | None = None,
    level: float = 0.95,
    groups: Groups | None = None,
    n_resamples: int = 999,
    blank: Blank | None = None,
    duplicates: Duplicates | None = None,
    missing: Collection[str] | None = None,
    case: Case | None = None,
    model: Models = None,
    panels: Panels = None,
    rng: Rng = None,
) -> Findings:
    """Return all that is found about a study; a million ratings take about a minute.

    Parameters
    ----------
    study : Annotations
        Who gave which answer to which unit.
    coefficient, distance
        What is explained. Default: alpha, with the default distance of the kind of answers.
    level : float
        Of the intervals.
    groups : Series, mapping or DataFrame, optional
        The group of each unit (batches, sources, guideline versions), or what `by_group` returned.
    n_resamples : int
        How many reshuffles; fewer where that would take long.
    blank, duplicates, missing, case : optional
        How the data were read, for the methods paragraph.
    model : rater, or list of raters, optional
        Who is a model; everybody else is then a human.
    panels : mapping from names to lists of raters, optional
        Two panels to compare, or one that stands against everybody else.
    rng : int or numpy Generator, optional
        The seed of the reshuffles; drawn where none is given.
    """
    _check_study(study)
    check_level(level)
    check_resamples(n_resamples)
    how_read = HowRead(blank, duplicates, missing, case)
    how_read.check()
    seed = secrets.randbits(32) if rng is None else rng
    generator = as_generator(seed)
    main = _headline(study, coefficient, distance, level)
    with _quiet():
        asked = {"coefficient": coefficient, "distance": _distance_of(main), "level": level}
        compared = Asked(model, panels, _distance_of(main), n_resamples, seed)
        found = panel_findings(study, compared, mapped=main.reason is None)
        frames, absent = _frames(study, groups, asked)
        frames["changes"] = _changes(study, frames, asked)
        n = _affordable(study, n_resamples)
        return Findings(
            study,
            main,
            _panel(study, main, level),
            benchmark(main),
            permutation_test(main, n_resamples=n, rng=generator),
            frames,
            absent,
            level,
            None if isinstance(seed, np.random.Generator) else int(seed),
            n_resamples,
            how_read,
            found,
        )


def _check_study(study: object) -> None:
    if not isinstance(study, Annotations):
        raise DataError(
            f"{a_type(study)} is no study whose raters are known; build one with "
            "Annotations.from_long, from_wide, ..."
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the parts of a study be undefined without a warning each: the tables say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedAgreementWarning)
        yield


def _headline(
    study: Annotations, coefficient: CoefficientLike, distance: DistanceLike | None, level: float
) -> Agreement:
    """Return the coefficient that is explained, with a warning where it is undefined."""
    scorer = Scorer(study)
    asked = None if distance is None else [get_distance(distance)]
    one = scorer.distances(get_coefficient(coefficient), asked)[0]
    return score_table(study, coefficient=coefficient, distance=one, level=level).rows[0]


def _distance_of(main: Agreement) -> Distance:
    """Return the distance of an agreement that was scored from annotations."""
    assert main.case.distance is not None  # noqa: S101 - what the door makes has one
    return main.case.distance


def _panel(study: Annotations, main: Agreement, level: float) -> AgreementTable:
    """Return the headline among its relatives."""
    names: list[CoefficientLike] = [
        _OF_TWO.get(c, c) if study.n_raters == 2 else c for c in PANEL_COEFFICIENTS
    ]
    if main.coefficient != "mv_alpha" and main.coefficient not in names:
        names.append(main.definition)
    own = _distance_of(main)
    others = [d for d in PANEL_DISTANCES[study.kind] if d != own.name]
    return score_table(study, coefficient=names, distance=[own, *others], level=level)


def _frames(
    study: Annotations, groups: Groups | None, asked: Mapping[str, Any]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Return the diagnoses that can be made, and why the others cannot."""
    scored = {name: asked[name] for name in ("coefficient", "distance")}
    makers: dict[str, Callable[[], pd.DataFrame]] = {
        "raters": partial(by_rater, study, **asked),
        "pairs": partial(_pairs, study, asked),
        "units": partial(by_unit, study, **scored),
    }
    if study.kind != "number":
        makers["labels"] = partial(by_label, study, level=asked["level"])
        makers["confusions"] = partial(confusions, study)
    if groups is not None:
        makers["groups"] = partial(_groups, study, groups, asked)
    frames: dict[str, pd.DataFrame] = {}
    absent: dict[str, str] = {}
    for name, make in makers.items():
        try:
            frames[name] = make()
        except SetagreeError as error:
            if name == "groups":
                raise
            absent[name] = str(error)
    return frames, absent


def _groups(study: Annotations, groups: Groups, asked: Mapping[str, Any]) -> pd.DataFrame:
    """Return the agreement of each group."""
    if not isinstance(groups, pd.DataFrame):
        return by_group(study, groups, **asked)
    if not {"group", "estimate"} <= set(groups.columns):
        raise DataError(
            "groups is a DataFrame and not what by_group returned; pass that, or a Series or dict "
            "of unit to group."
        )
    _check_measure(groups, asked)
    return groups


def _check_measure(groups: pd.DataFrame, asked: Mapping[str, Any]) -> None:
    """Raise `DataError` where the groups were scored by something that the report does not show."""
    wanted = {"coefficient": asked["coefficient"], "distance": asked["distance"].name}
    for name, one in wanted.items():
        other = [x for x in groups.get(name, pd.Series(dtype=object)).unique() if x != one]
        if other:
            raise DataError(
                f"the groups were scored with {name}={other[0]!r} and the report is about {one!r}; "
                "give both the same, or pass the group of each unit."
            )


def _pairs(study: Annotations, asked: Mapping[str, Any]) -> pd.DataFrame:
    """Return the pairs of raters, unless there are too many to compare."""
    n_pairs = study.n_raters * (study.n_raters - 1) // 2
    if n_pairs > _PAIRED:
        raise DataError(
            f"{study.n_raters:,} raters make {n_pairs:,} pairs, which are not compared here; "
            "sa.by_pair does it."
        )
    return by_pair(study, **asked)


def _affordable(study: Annotations, n_resamples: int) -> int:
    """Return how many reshuffles do not take long; 19 are the least that can give p = .05."""
    tens = _RESHUFFLED // study.n_ratings // 10
    return min(n_resamples, max(19, 10 * tens + 9))


def _changes(
    study: Annotations, frames: Mapping[str, pd.DataFrame], asked: Mapping[str, Any]
) -> pd.DataFrame:
    """Return what would follow from the changes that the other findings suggest."""
    wanted: dict[str, Any] = {"drop_raters": _costly_raters(study, frames.get("raters"))}
    if study.kind != "number":
        wanted["merge"] = _mergers(frames.get("confusions"))
        wanted["drop_labels"] = _costly_labels(frames.get("labels"))
    try:
        return what_if(study, **wanted, **asked)
    except SetagreeError:
        return _one_by_one(study, wanted, asked)


def _one_by_one(
    study: Annotations, wanted: Mapping[str, Any], asked: Mapping[str, Any]
) -> pd.DataFrame:
    """Return the same where one change cannot be made: a row that says why, and the others."""
    rows = what_if(study, drop_raters=[], **asked).to_dict("records")
    for kind, each in ((kind, each) for kind, chosen in wanted.items() for each in chosen):
        one: dict[str, Any] = {kind: [each], **asked}
        try:
            rows += what_if(study, **one).iloc[1:].to_dict("records")
        except SetagreeError as error:
            rows.append(_impossible(kind, each, error))
    frame = pd.DataFrame(rows).assign(**{name: rows[0][name] for name in _NAMING})
    order = np.argsort(-frame["difference"].iloc[1:].to_numpy(dtype=float), kind="stable")
    return frame.iloc[[0, *(order + 1)]].reset_index(drop=True)


def _impossible(kind: str, changed: Any, error: SetagreeError) -> dict[Hashable, Any]:
    """Return the row of a change that cannot be made."""
    change = _CHANGES[kind]
    what = " + ".join(map(str, changed)) if kind == "merge" else str(changed)
    why = str(error.__cause__ or error)
    return {"change": change, "what": what, "difference": np.nan, "reason": why}


def _mergers(confusions: pd.DataFrame | None) -> list[tuple[Hashable, Hashable]]:
    """Return the labels that stand for one another often, and more so than other labels do."""
    if confusions is None:
        return []
    instead = confusions[confusions["kind"] == "instead"]
    usual = instead["pairs"].sum() / max(float(instead["expected"].sum()), 1e-300)
    chosen = instead[instead["lift"] > usual].iloc[:MOST_TRIED]
    return list(zip(chosen["label"], chosen["other"], strict=True))


def _costly_labels(labels: pd.DataFrame | None) -> list[Hashable]:
    """Return the labels with the largest shares of the disagreement."""
    if labels is None or len(labels) < 3:
        return []
    costly = labels[labels["share_of_disagreement"] > 0]
    return list(costly["label"].iloc[:MOST_TRIED])


def _costly_raters(study: Annotations, raters: pd.DataFrame | None) -> list[Hashable]:
    """Return the raters without whom the coefficient rises most, if it surely does."""
    if raters is None or study.n_raters < 3:
        return []
    costly = raters[raters["change_low"] > 0]
    return list(costly["rater"].iloc[:MOST_TRIED])


def running_share(units: pd.DataFrame) -> Floats:
    """Return the share of the disagreement that the worst units hold together."""
    return np.cumsum(units["share_of_disagreement"].to_numpy(dtype=float))


def by_share(units: pd.DataFrame) -> pd.DataFrame:
    """Return units in the order in which they are worth a second look: those that cost most."""
    worst = ["share_of_disagreement", "disagreement"]
    return units.sort_values(worst, ascending=False, kind="stable")
