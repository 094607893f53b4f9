"""Prevalence of labels in a corpus that a model answered and of which people checked a sample."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from setagree.checks import Codes, Flags, Floats, check_level
from setagree.coefficients.case import ROUNDING, dot
from setagree.coefficients.uncertain import LEAST_DF, cluster_deviations
from setagree.credit.geometry import labels_of_values
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_choice,
    check_list,
    check_type,
    counted,
    did_you_mean,
    listing,
    option,
    warn,
)
from setagree.inference.panel_members import answers_of, people_of, rater_codes, require_unsized
from setagree.large.joining import with_models
from setagree.large.opening import Data, RaterAnswers, takes_data
from setagree.study.annotations import Annotations
from setagree.study.degrees import warn_degrees
from setagree.study.sampling import OF_SIZES, sample_of, warn_ignored
from setagree.study.tally import Tally
from setagree.wording.number_format import count, level_text
from setagree.wording.result_base import Result
from setagree.wording.sentences import Name, Sentence, in_message
from setagree.wording.tables import Column

Truth: TypeAlias = Literal["share", "majority", "any", "all"]
Target: TypeAlias = Literal["corpus", "beyond"]

_TRUTHS: dict[str, Any] = {
    "share": np.positive,
    "majority": lambda share: (1 + np.sign(share - 0.5)) / 2,
    "any": np.ceil,
    "all": np.floor,
}
"""The truth of a unit from the share of its human answers that have a label."""

_FEW_CHECKED, _FEW_MARKED, _MANY_LABELS, _ODD_ERRORS = 30, 5, 20, 4.5
"""Below the first two and above the others, numbers or standard errors, a warning is given."""


@dataclass(frozen=True, eq=False)
class Checked:
    """The n checked units of a corpus of `n_units`, by label; arrays of shape (3, n_labels).

    Their rows k are the units without the label by the model, those with it, and all: `size` is M_k
    (units of the corpus), `drawn` n_k (checked units), `mean` p_k of their truth h, `kish` (sum w)²
    / sum w², `squares` SS_k = sum w² (h - p_k)² with w scaled to mean 1. `deff`, of clusters, is
    that of both together and that of the humans alone; `cluster_df` is inf without clusters.
    """

    n: int
    n_units: int
    size: Floats
    drawn: Floats
    mean: Floats
    kish: Floats
    squares: Floats
    is_weighted: bool = False
    deff: Any = (1.0, 1.0)
    cluster_df: float = np.inf

    def table(self, level: float, target: Target, times: Any = 1.0) -> pd.DataFrame:
        """Return the numbers of `PrevalenceTable.frame` if the sample is `times` as large.

        If one stratum is left, or one of the corpus has no checked unit, the humans are alone.
        """
        strata = slice(0, 2), slice(2, 3)
        N, (both, alone) = self.n_units, (self._estimates(k, level, target, times) for k in strata)
        corrected = ((self.drawn > 0) | (self.size == 0)).all(axis=0)
        has_two = corrected & (self.size > 0).all(axis=0)
        best = pd.DataFrame({name: np.where(has_two, both[name], alone[name]) for name in both})
        names = ["humans", "humans_low", "humans_high", "humans_standard_error"]
        humans = alone.iloc[:, :4].set_axis(names, axis=1)
        wide, narrow = (each["high"] - each["low"] for each in (alone, best))
        return humans.assign(model=self.size[1] / N, **best).assign(
            count=best["prevalence"] * N,
            count_low=np.floor((best["low"] * N).round(9)),
            count_high=np.ceil((best["high"] * N).round(9)),
            n_checked=self.n,
            n_marked=self.drawn[1].astype(np.int64),
            worth=(self.n * times * (wide / narrow) ** 2).where(narrow != 0, np.inf),
            corrected=corrected,
        )

    def _estimates(self, k: slice, level: float, target: Target, times: Any) -> pd.DataFrame:
        """Return estimate, interval and standard error by the two strata or the one of rows k."""
        from scipy.special import stdtrit

        N, W, p = self.n_units, self.size[k] / self.n_units, self.mean[k]
        n, kish, squares = (x[k] * times for x in (self.drawn, self.kish, self.squares))
        n_all, deff = n.sum(axis=0), self.deff[k.start // 2]
        freedom, least = n_all - len(n), 1 if np.isinf(self.cluster_df) else LEAST_DF
        df = np.minimum(freedom, self.cluster_df * times)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = stdtrit(np.where((n_all > 2) & (df >= least), df, np.nan), (1 + level) / 2)
            # phi = (sum SS_k + 1) / (sum n_k p_k (1 - p_k) n_k / kish_k + 1), f_k = n_k / M_k
            SS, estimate = squares.sum(axis=0), (W * p).sum(axis=0)
            phi = (SS + 1) / ((n**2 / kish * p * (1 - p)).sum(axis=0) + 1)
            f = np.where(n_all < N, np.minimum(1.0, n / self.size[k]), 1.0) * (not self.is_weighted)
            # se² = deff sum W_k² (1 - f_k) s²_k / n_k
            s2 = np.where(n > 1, squares / (n - 1), SS / np.maximum(freedom, 1.0))
            variance = deff * (W**2 * (1 - f) * s2 / n).sum(axis=0)
            more = phi * estimate * (1 - estimate) / N * (target == "beyond")
            ends = _wilson_or_wald(p, kish / (phi * deff * (1 - f)), z)
            below, above = (np.sqrt(((W * (p - end)) ** 2).sum(0) + z**2 * more) for end in ends)
            low, high = estimate - below, estimate + above
            if target == "beyond":  # at least as wide as if all N units were checked
                least_low, least_high = _wilson_or_wald(estimate, N / (phi * deff), z)
                low, high = np.minimum(low, least_low), np.maximum(high, least_high)
        if target == "corpus" and not self.is_weighted and np.all(n_all == self.n):
            # What was seen is certain; what is planned is not.
            seen = n_all * self.mean[2]
            low = np.maximum(low, np.minimum(seen / N, estimate))
            high = np.minimum(high, np.maximum((seen + N - self.n) / N, estimate))
        error = np.where(n_all > 1, np.sqrt(variance + more), np.nan)
        names = "prevalence low high standard_error degrees_of_freedom dispersion design_effect"
        numbers = estimate, np.maximum(low, 0.0), np.minimum(high, 1.0), error, df, phi, deff
        return pd.DataFrame(dict(zip(names.split(), numbers, strict=True)))


def _wilson_or_wald(p: Floats, n: Any, z: Any) -> tuple[Floats, Floats]:
    """Return the union of Wilson's and Wald's interval of p in n effective units, elementwise."""
    wald = z * np.sqrt(p * (1 - p) / n)
    middle, wilson = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((middle + half) / (1 + z**2 / n) for half in (-wilson, wilson))
    return np.maximum(0.0, np.minimum(low, p - wald)), np.minimum(1.0, np.maximum(high, p + wald))


@dataclass(frozen=True, eq=False, repr=False)
class PrevalenceTable(Result):
    """The prevalence of each label in a corpus: by humans, by the model, and by both together.

    Attributes
    ----------
    model, target, level
        The name of the model; the others as in `prevalence`.
    checked : Checked
        The checked units, from which `plan` computes other numbers of units.
    frame : DataFrame
        One row per label: label; humans, humans_low, humans_high, humans_standard_error (checked
        units alone); model; prevalence, low, high, standard_error, degrees_of_freedom, dispersion,
        design_effect (both together); count, count_low, count_high (rounded outward); n_checked;
        n_marked (checked units that the model marks); worth; corrected (whether the model's answers
        are used); reason (for an interval of NaN or a missing correction, or None).
    """

    model: Any
    target: Target
    level: float
    checked: Checked
    frame: pd.DataFrame

    columns = (
        Column("label", "name"),
        Column("humans"),
        Column(("humans_low", "humans_high"), "interval"),
        Column("model", meaning="share that it marks, which is biased"),
        Column("prevalence", head="together"),
        Column(("low", "high"), "interval", "interval of both"),
        Column("count", "count", meaning="units of the corpus with the label"),
        Column("worth", "count", meaning="human-labelled units that give as narrow an interval"),
        Column("planned_n_units", "count", is_optional=True),
    )

    def words(self, row: int | None = None) -> Sentence:
        """Return the sentence on the label of a row, by default the most frequent label."""
        x = self.frame.iloc[self.frame["count"].argmax() if row is None else row]
        N, checked = counted(self.checked.n_units, "unit"), counted(self.checked.n, "checked unit")
        of = f"of {N}" if self.target == "corpus" else f"in {N} of the population"
        ends = f"{level_text(self.level)}: {count(x['count_low'])} to {count(x['count_high'])}"
        ends = "no interval" if np.isnan(x["low"]) else ends
        named = (" ", Name.of(self.model)) if self.model != "model" else ()
        alone = f" alone has {count(round(x['model'] * self.checked.n_units))}; {checked}."
        units = f"About {count(round(x['count']))} {of} have "
        return units, Name.of(x["label"]), f" ({ends}); the model", *named, alone

    @property
    def sentences(self) -> list[str]:
        """A sentence on each label."""
        return [in_message(self.words(row)) for row in range(len(self.frame))]

    @property
    def caution(self) -> str:
        """Sentences on few checked units, an odd sample, and many labels; blank if none apply."""
        n, frame = self.checked.n, self.frame[self.frame["low"] != self.frame["high"]]
        few = frame["label"][(frame["n_marked"] < _FEW_MARKED) & (frame["model"] > 0)].tolist()
        share, far = frame["model"], (frame["n_marked"] - n * frame["model"]).abs()
        error = np.sqrt(n * share * (1 - share) * (1 - n / self.checked.n_units))
        is_odd = far > np.maximum(_ODD_ERRORS * error, _FEW_MARKED)
        is_odd &= not self.checked.is_weighted and np.isinf(self.checked.cluster_df)
        odd = frame["label"][is_odd].tolist()
        size = f"Only {counted(n, 'unit')} checked: intervals were simulated for 50 and more."
        parts = {
            size: n < _FEW_CHECKED and len(frame),
            f"The model marks fewer than {_FEW_MARKED} checked units with {listing(few)}.": few,
            f"The model marks {listing(odd)} in a share of the checked units that a random sample "
            "of the corpus hardly has; the intervals require a random sample.": odd,
            f"Each of the {len(frame):,} intervals is valid by itself; no correction is made for "
            "the choice of a label.": len(frame) > _MANY_LABELS,
        }
        return " ".join(text for text, applies in parts.items() if applies)

    def _to_print(self) -> pd.DataFrame:
        return self.frame.round({"count": 0, "worth": 0})

    def _notes(self) -> list[str]:
        reasons = self.frame.dropna(subset="reason").groupby("reason", sort=False)["label"]
        notes = [f"{listing(part.tolist())}: {reason}." for reason, part in reasons]
        return [in_message(self.words()), *notes]


@takes_data
def prevalence(
    study: Data,
    *more: RaterAnswers,
    model: Any = None,
    humans: Sequence[object] | None = None,
    truth: Truth = "share",
    labels: Sequence[object] | None = None,
    target: Target = "corpus",
    corpus: Tally | None = None,
    level: float = 0.95,
) -> PrevalenceTable:
    r"""Return the number of units with each label, if a model answered all and people some.

    **The checked units must be a random sample of the corpus**, or have sampling weights; otherwise
    the estimates are biased. The share that a model marks is biased however many units it answers,
    and has no standard error. Of M units that the model marks, among N, and of the others::

        W_1 = M / N,  W_0 = 1 - W_1,    n_k, p_k = number and mean truth of the checked units of k
        estimate = W_1 p_1 + W_0 p_0,   SE² = deff sum W_k² (1 - f_k) s²_k / n_k,   f_k = n_k / M_k

    This is prediction-powered inference with lambda = (p_1 - p_0) (1 - n / N), and post-stratified
    survey sampling. The interval joins, by Zou and Donner's rule, the union of Wilson's and Wald's
    interval of each p_k, with t of n - 2 degrees of freedom and n_k divided by deff, 1 - f_k and
    ``phi = (sum SS_k + 1) / (sum n_k p_k (1 - p_k) + 1)``. In 720 simulated designs 95% intervals
    covered the true value in at least 94.3% of 4,000 studies, and were at most 24% wider than those
    of the humans alone. Other levels and joint statements were not simulated.

    Parameters
    ----------
    study : Annotations, or a table or path as `agreement` takes it
        The answers of people, perhaps with those of the model: label sets or categories. The
        clusters and weights are those of the checked units, and of all units if the model is a
        rater of the study; weights have no finite correction.
    model : rater, DataFrame, path or Annotations, optional
        A rater of the study, or a table of its answers, also to units without human answers.
        Default: the rater that an export or a column of roles marks as a model.
    humans : sequence of raters, optional
        Default: all raters that are not models. The interval is about units with these raters.
    truth : {"share", "majority", "any", "all"}
        Truth of a unit: the share of its human answers with the label; whether more than half (1/2
        for a tie), any or all have it.
    labels : sequence, optional
        The labels to report. Default: all that people or the model used.
    target : {"corpus", "beyond"}
        The N units themselves, or a population of which they are a sample: the interval is then at
        least as wide as that of N checked units.
    corpus : Tally, optional
        All answers of the model, from `tally`; `model` then has those to the checked units.
    level : float
        The level of the intervals.

    Returns
    -------
    PrevalenceTable
        The humans alone if the model marks none or all of the checked units, but not of the corpus.
        No interval for fewer than 3 checked units or 2 degrees of freedom.

    Raises
    ------
    DataError, OptionError
        No unit is checked, the model has no answer to some checked units, values are numbers, or an
        option is unknown.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), "PPI++", arXiv:2311.01453. Särndal, Swensson & Wretman
    (1992), ch. 7. Zou & Donner (2008), Statistics in Medicine 27. Wilson (1927), JASA 22.

    Examples
    --------
    >>> import setagree as sa
    >>> both = sa.simulate(900, 2, n_labels=2, skill=[1, 0.8], rng=1)
    >>> people = both.exclude_raters(["r2"]).take(np.arange(100))
    >>> found = sa.prevalence(people, model=both.exclude_raters(["r1"]))
    >>> print(found.sentences[0].split(";")[0])
    About 261 of 900 units have 'l1' (95%: 204 to 324)
    """
    check_level(level)
    check_choice("truth", truth, [*_TRUTHS])
    check_choice("target", target, ("corpus", "beyond"))
    check_type("corpus", corpus, Tally | None, "a Tally of the model's answers")
    opened = require_unsized(study, "prevalence")
    joined, name, answers, rows = with_one_model(opened, model, humans)
    warn_degrees(joined.values, "prevalence")
    if corpus is not None and (corpus.kind != joined.kind or (corpus.pattern_ratings != 1).any()):
        raise DataError(f"corpus= must have one answer per unit, of the kind {joined.kind!r}.")
    values = joined.values if corpus is None else (*joined.values, *corpus.values)
    flags, listed = label_flags(values, joined.kind, labels)
    checked = _checked(joined, rows, answers, truth, flags, corpus)
    frame = checked.table(level, target)
    frame.insert(0, "label", pd.Series(listed, dtype=object))
    few = "clusters leave too few degrees of freedom"
    few = few if checked.n > 2 else "fewer than 3 checked units"
    marks = np.where(frame["n_marked"] > 0, "all", "none")
    alone = [f"humans alone: the model marks {which} of the checked units" for which in marks]
    reasons = pd.Series(alone, dtype=object).where(~frame["corrected"], None)
    frame["reason"] = reasons.where(frame["low"].notna(), few)
    found = PrevalenceTable(name, target, level, checked, frame)
    if caution := found.caution:
        warn(caution, SetagreeWarning)
    return found


def with_one_model(
    study: Annotations, model: Any, humans: Sequence[object] | None = None
) -> tuple[Annotations, Any, Codes, Flags]:
    """Return a study with a model, its name, its answer to each unit or -1, and people's rows."""
    joined, names = with_models(study, model, all_units=True)
    if len(names) != 1:
        raise OptionError(
            f"name one model with {option('model')}: a rater of the study "
            f"({listing(study.raters.tolist())}), or a table or file of its answers; "
            f"{f'{listing(names)} are several' if names else 'none is named'}."
        )
    [code] = rater_codes(joined, names, "model", "model")
    rows = people_of(joined, humans, [code])[joined.rater_codes]
    return joined, joined.raters[code], answers_of(joined, code), rows


def label_flags(values: Sequence[Any], kind: str, labels: Any = None) -> tuple[Any, list[Any]]:
    """Return the labels of each value as sparse flags (n_values, n_labels), and their names."""
    chosen: list[Any] = []
    if labels is not None:
        check_list("labels", labels, "labels")
        chosen = [*labels]
        if not chosen or any(x is None or not isinstance(x, Hashable) for x in chosen):
            raise OptionError(f"{option('labels', chosen)} must be a list of labels.")
    chosen = [*dict.fromkeys(chosen)]
    sets = labels_of_values([*values, frozenset(chosen)], kind)
    flags, names = sets.flags[: len(values)].astype(np.float64), [*sets.labels]
    if not names:
        raise DataError("nobody gave a label, so that there is nothing to count or to compare.")
    if chosen:
        flags, names = flags[:, [names.index(label) for label in chosen]], chosen
    if absent := [x for x, n in zip(names, flags.sum(axis=0), strict=True) if not n]:
        hint = did_you_mean(absent[0], [label for label in sets.labels if label not in absent])
        warn(f"{option('labels')}: nobody gave {listing(absent)}.{hint}", SetagreeWarning)
    return flags, names


def vote_shares(unit: Codes, values: Codes, flags: Any) -> Any:
    """Return the mean of the flags of the answers to each unit, sparse (n_units, n_labels)."""
    from scipy import sparse

    r = np.bincount(unit)
    answers = sparse.csr_array((np.ones(len(unit)), (unit, values)), (len(r), flags.shape[0]))
    votes = (answers @ flags).tocsr()
    votes.data /= np.repeat(r, np.diff(votes.indptr))
    return votes


def _checked(
    study: Annotations, rows: Any, answers: Codes, truth: Truth, flags: Any, corpus: Tally | None
) -> Checked:
    """Return the checked units of a study, by label, from the rows of people."""
    human, units = study.take(rows), np.flatnonzero(np.bincount(study.unit_codes[rows]))
    if not len(units):
        raise DataError("no unit has a human answer, so that nothing is checked.")
    if len(gone := units[answers[units] < 0]):
        n, names = counted(len(gone), "checked unit"), listing(study.units[gone].tolist())
        raise DataError(f"the model has no answer to {n} of {len(units):,} ({names}); add them.")
    of_value = np.bincount(answers[answers >= 0], minlength=study.n_values)
    if corpus is not None:
        each = corpus.counts * corpus.multiplicity[corpus.rows]
        of_value = np.bincount(study.n_values + corpus.indices, each, flags.shape[0])
        parts = flags, flags.sum(axis=1) == 0  # each label, and the empty set
        if any(np.any(of_value @ x < x[answers[units]].sum(axis=0)) for x in parts):
            raise DataError("corpus= lacks answers of the model to checked units; read both alike.")
    M, N = np.asarray(of_value @ flags, dtype=np.float64), round(float(of_value.sum()))
    h = vote_shares(human.unit_codes, human.value_codes, flags)
    h.data = _TRUTHS[truth](h.data)
    return _by_stratum(h, flags[answers[units]], M, N, human)


def _design(people: Annotations) -> tuple[Floats | None, Codes | None]:
    """Return sampling weights and clusters of the checked units, or None for what is not given."""
    sample, how = sample_of(people), people.sampling
    if sample is None or how is None:
        return None, None
    weights, strata, of_cluster = sample.weights, sample.groups, sample.cluster_strata
    if sample.weighted_by == OF_SIZES and strata is not None:
        # N_s / n_s of the checked units, or of their clusters
        each = sample.sizes / np.bincount(strata if of_cluster is None else of_cluster)
        weights = each[strata if of_cluster is None else of_cluster[strata]]
    elif weights is None and (how.strata is not None or how.population_size is not None):
        warn_ignored(replace(how, cluster=None), "prevalence")
    return weights, sample.groups if sample.is_clustered else None


def _by_stratum(h: Any, marked: Any, M: Floats, N: int, human: Annotations) -> Checked:
    """Return the sums of truth h and the model's flags, both sparse of shape (n, n_labels)."""
    (n, L), columns, (weights, clusters) = h.shape, marked.tocsc(), _design(human)
    w = np.ones(n) if weights is None else weights
    powers = np.stack([w**k for k in (0, 1, 2)])
    every, with_ = np.repeat(powers.sum(axis=1)[:, None], L, axis=1), powers @ marked
    without = every - with_
    for label in range(L if weights is not None else 0):  # differences could lose their digits
        without[:, label] = powers[:, columns[:, [label]].toarray().ravel() == 0].sum(axis=1)
    n_k, w1, w2 = np.stack([without, with_, every], axis=1)
    size, both = np.stack([N - M, M, np.full(L, float(N))]), h.multiply(marked)
    truths = [h - both, both, h]
    wh, w2h, w2h2 = np.swapaxes([(w @ x, w**2 @ x, w**2 @ x.power(2)) for x in truths], 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, kish = np.minimum(wh / w1, 1.0), w1**2 / w2
        # SS_k, 0 if it is rounding
        squares = w2h2 - 2 * p * w2h + p**2 * w2
        is_rounding = squares <= ROUNDING * (w2h2 + p**2 * w2)
        squares = np.where(is_rounding | (n_k == 0), 0.0, squares * (n_k / w1) ** 2)
        scale = size / N * w.sum() / w1
    effects = () if clusters is None else _effects(h, columns, scale, p, w, clusters)
    return Checked(n, N, size, n_k, p, kish, squares, weights is not None, *effects)


def _effects(h: Any, marked: Any, scale: Floats, p: Floats, w: Floats, clusters: Codes) -> Any:
    """Return the design effects of both together and humans alone, and degrees of freedom.

    The design effect is the variance by clusters of the weighted mean of x_i = W_k (sum w /
    sum_k w) (h_i - p_k) over sum w² x² / (sum w)², at least 1; see `cluster_deviations`.
    """
    effects, df = np.ones((2, h.shape[1])), 0.0
    for label in range(h.shape[1]):
        truth, marks = (y[:, [label]].toarray().ravel() for y in (h, marked))
        for which, k in enumerate((marks.astype(np.intp), 2)):
            u = w * scale[k, label] * (truth - p[k, label]) / w.sum()
            deviations, df = cluster_deviations(clusters, u, w, w**2)
            plain = dot(u, u)
            if plain > 0 and df > 0:
                effects[which, label] = max(1.0, dot(deviations, deviations) / plain)
    return effects, df
