"""Result classes of the coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from setagree.checks import Floats, cached_property, check_level
from setagree.coefficients.case import Case
from setagree.coefficients.chance_models import Model, Urn
from setagree.coefficients.measured import SizedAlpha
from setagree.coefficients.parts import RaterParts
from setagree.coefficients.sums import UnitSums, root, standard_error
from setagree.coefficients.uncertain import (
    Spread,
    jackknife_variance,
    standard_error_as_drawn,
    units_drawn,
)
from setagree.credit.base import Weights
from setagree.errors import OptionError, check_choice, counted, did_you_mean, option, shorten
from setagree.lazy import pd
from setagree.scoring.definition import Coefficient
from setagree.scoring.intervals import CoefficientInterval, Method, t_interval
from setagree.scoring.table_notes import (
    left_out,
    rarity_sentences,
    remark_of,
    remarks,
    rough_reasons,
    sampling_sentence,
)
from setagree.study.annotations import Annotations
from setagree.study.attributes import of_raters
from setagree.study.sampling import OF_SIZES
from setagree.study.tally import Tally
from setagree.wording.number_format import four, share
from setagree.wording.result_base import (
    Result,
    ResultRows,
    bracketed,
    described,
    paragraphs,
    wrapped,
)
from setagree.wording.tables import Column, TextTable

_FEWEST = 3
"""Minimum number of raters for an inference about other raters."""

RowName: TypeAlias = "str | tuple[str, str] | int"


def find_row(rows: Sequence[Agreement], name: RowName) -> int:
    """Return the number of the row that a name means.

    A name is a coefficient, if one row has it, by its name, a short name or, failing these, a part
    of its name (``"kappa"``); a coefficient and a distance; or the number of the row, from the end
    if it is negative.
    """
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        if not -len(rows) <= name < len(rows):
            raise IndexError(f"row {name} does not exist; the table has {len(rows)} rows, from 0.")
        return int(name) % len(rows)
    names = [(row.coefficient, row.distance) for row in rows]
    first, *distances = name if isinstance(name, tuple) and name else (name,)
    wholes = [(row.coefficient, *row.definition.short_names) for row in rows]
    parts = [tuple(row.coefficient.split("_")) for row in rows]
    for candidates in (wholes, parts):
        fitting = [
            k
            for k, row in enumerate(rows)
            if (first in candidates[k] or str(first).lower() in candidates[k])
            and distances in ([], [row.distance])
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            several = ", ".join(f"table[{', '.join(map(repr, names[k]))}]" for k in fitting)
            raise KeyError(f"{name!r} matches {len(fitting)} rows; name one: {several}.")
    listed = [", ".join(pair) for pair in names]
    text = ", ".join(map(str, name)) if isinstance(name, tuple) else name
    raise KeyError(f"no row {shorten(text)}; the rows are {listed}.{did_you_mean(text, listed)}")


Over: TypeAlias = Literal["units", "both"]
"""What is sampled: the units, judged by these raters; or the raters, too."""

ABOUT = {
    **dict.fromkeys(("units", "clusters"), "these raters"),
    **dict.fromkeys(("raters", "both"), "raters like these"),
}
"""Target of an interval, by what is sampled."""


def raters_in_words(agreements: Iterable[Agreement], over: str = "units") -> str:
    """Return the raters that intervals are about, in words.

    They are a pool if nobody rated half of the units: a crowd is not one panel.
    """
    pools: set[int | None] = set()
    for one in agreements:
        if one.study is None and one.tally.given is None:
            return ABOUT[over]
        pools.add(one.n_raters if 2 * one.case.rated.ratings.max() < one.n_units else None)
    if ABOUT[over] != ABOUT["units"] or None in pools:
        return ABOUT[over]
    return f"this pool of {pools.pop():,} raters" if len(pools) == 1 else "these pools of raters"


COLUMNS = (
    *("coefficient", "distance", "estimate", "standard_error", "low", "high", "p_value"),
    *("observed_agreement", "expected_agreement"),
    *("observed_disagreement", "expected_disagreement"),
    *("n_units", "n_pairable_units", "n_raters", "n_ratings", "n_values", "interval_method"),
    "full_agreement",
)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """A chance-corrected agreement with its uncertainty and its data.

    Attributes
    ----------
    definition : Coefficient
        The coefficient.
    distance : str
        The distance.
    estimate : float
        The value of the coefficient, or NaN if it is undefined; see `reason`.
    standard_error : float
        Analytic, by linearisation (Gwet 2014), or NaN if there is none. A standard error of 0 does
        not mean certainty: there is then no t interval and no p of t; see `interval_reason`.
    observed_agreement, expected_agreement : float
        pa and pe in the form (pa - pe) / (1 - pe).
    observed_disagreement, expected_disagreement : float
        Do and De, in the units of the distance. For alpha these are Krippendorff's; pa and pe are
        Gwet's, whose small-sample terms differ from theirs. Both give the same estimate.
    full_agreement : float
        The share of the pairable units in which all ratings are equal, each unit with its sampling
        weight or its size; NaN if no unit has two ratings.
    reason : str or None
        The reason for an estimate of NaN.
    sums : UnitSums
        The sums over units that the coefficient is a function of, to choose others.
    requested_method : {"score", "t"} or None
        The requested method of `interval` and `p_value`; see `agreement`.

    Examples
    --------
    >>> import setagree as sa
    >>> alpha = sa.krippendorff_alpha(sa.simulate(50, 3, rng=1))
    >>> alpha
    <krippendorff_alpha [masi]: 0.3382 (se 0.0447, 95% 0.2483 to 0.4469), 50 units>
    >>> round(alpha, 3), alpha == sa.krippendorff_alpha(sa.simulate(50, 3, rng=1))
    (0.338, True)
    >>> [round(end, 4) for end in alpha.interval(level=0.99)]
    [0.2183, 0.4868]
    >>> alpha.influence.idxmin()
    'u34'
    """

    definition: Coefficient[...]
    distance: str
    estimate: float
    observed_agreement: float
    expected_agreement: float
    observed_disagreement: float
    expected_disagreement: float
    reason: str | None
    sums: UnitSums
    requested_method: Method | None = None

    frame_columns = (
        Column("coefficient", "text"),
        Column("distance", "text"),
        Column("observed_agreement", head="pa"),
        Column("expected_agreement", head="pe"),
        Column("estimate"),
        Column("standard_error", head="se"),
        Column(("low", "high"), "interval"),
        Column("p_value", "p", "p"),
    )

    def __repr__(self) -> str:
        value = four(self.estimate)
        if self.reason is not None:
            value = f"nan ({self.reason})"
        elif not np.isnan(self.standard_error):
            low, high = self.interval()
            ends = f", 95% {four(low)} to {four(high)}" if np.isfinite(low) else ""
            drawn = self.drawn and f", {self.drawn}"
            error = four(self.standard_error) if self.standard_error else "0"
            value += f" (se {error}{ends}{drawn})"
        line = f"{self.coefficient} [{self.distance}]: {value}, {counted(self.n_units, 'unit')}"
        has_no_interval = self.reason is None and self.interval_reason is not None
        has_no_interval &= self.standard_error >= 0 or self.spread.reason is not None
        return bracketed(line, self.interval_reason if has_no_interval else self.remark)

    def __float__(self) -> float:
        """Return the estimate."""
        return self.estimate

    def __round__(self, ndigits: int | None = None) -> float:
        """Round the estimate."""
        return round(self.estimate, ndigits)

    def __eq__(self, other: object) -> bool:
        """Return whether coefficient, distance, numbers and counts are equal."""
        return self._key == other._key if isinstance(other, Agreement) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        cells = [getattr(self, name) for name in COLUMNS if name not in {"low", "high"}]
        # NaN differs from itself, and an undefined agreement would
        return *(None if pd.isna(cell) else cell for cell in cells), self.reason

    def __format__(self, spec: str) -> str:
        """Format the estimate, as in ``f"{alpha:.3f}"``; without a spec, the whole line."""
        return format(self.estimate, spec) if spec else repr(self)

    @cached_property
    def standard_error(self) -> float:
        """The standard error of the estimate over units, as they were drawn."""
        if self.case.sample is not None:  # other studies do not need the designs
            return standard_error_as_drawn(self.sums).standard_error
        return standard_error(self.sums)

    @property
    def case(self) -> Case:
        """The study under its distance."""
        return self.sums.case

    @property
    def coefficient(self) -> str:
        """The name of the coefficient."""
        return self.definition.name

    @property
    def study(self) -> Annotations | None:
        """The annotations it was computed from, or None if raters are unknown."""
        return self.case.study

    @property
    def tally(self) -> Tally:
        """The unit patterns it was computed from."""
        return self.case.tally

    @property
    def weights(self) -> Weights:
        """The credit between the values."""
        return self.case.weights

    @property
    def full_agreement(self) -> float:
        """Share of the units with two or more ratings in which all ratings are equal."""
        return self.case.full_agreement

    @property
    def full_agreement_text(self) -> str:
        """`full_agreement` and what it is a share of, as in ``36% of the units``."""
        agreed = share(self.full_agreement)
        if self.case.is_sized:
            return f"{agreed} of the length"
        if self.case.is_weighted:
            return f"units with {agreed} of the sampling weight"
        return f"{agreed} of the units"

    @property
    def n_units(self) -> int:
        """Number of rated units."""
        return self.tally.n_units

    @property
    def n_pairable_units(self) -> int:
        """Number of units with at least two ratings."""
        return self.tally.n_pairable_units

    @property
    def n_raters(self) -> int | None:
        """Number of raters, or None if it is unknown."""
        return self.tally.n_raters

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return self.tally.n_ratings

    @property
    def n_values(self) -> int:
        """Number of distinct values, or of listed categories."""
        return self.tally.n_values

    @cached_property
    def inference(self) -> CoefficientInterval:
        """The interval and the p-value over units, and what they rest on."""
        return CoefficientInterval(self.coefficient, self.sums, self.requested_method)

    @property
    def spread(self) -> Spread:
        """Basis of the standard error: its degrees of freedom and clusters."""
        return self.inference.spread

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of t: units behind the standard error minus 1; fewer if clustered."""
        return self.spread.degrees_of_freedom

    @property
    def rests_on(self) -> dict[str, Any]:
        """Basis of the interval, as columns: degrees of freedom and sampling design.

        Clusters and strata have their column and their number, a population has its size.
        """
        sample, clusters = self.case.sample, self.spread.clusters
        has_error = self.standard_error >= 0 or self.spread.reason is not None
        df = self.degrees_of_freedom if has_error else float("nan")
        out: dict[str, Any] = {"degrees_of_freedom": df}
        if sample is None:
            return out
        if sample.is_sized:
            out["size"] = sample.design.size
        elif sample.weights is not None:
            out["sampling_weight"] = sample.weighted_by
        if sample.is_clustered:
            n = len(sample.names) if clusters is None else clusters.n
            out |= {"cluster": sample.by, "n_clusters": n}
            if sample.stratum_names is not None and self.study is not None:
                strata = self.study.sampling and self.study.sampling.strata
                out |= {"strata": strata, "n_strata": len(sample.stratum_names)}
        elif sample.by:
            drawn = units_drawn(self.sums) or {}
            n = sum(n > 0 for n in drawn.values()) or len(sample.names)
            out |= {"strata": sample.by, "n_strata": n}
        if np.isfinite(sample.sizes).any():
            size = float(sample.sizes[np.isfinite(sample.sizes)].sum())
            out["population_size"] = int(size) if size.is_integer() else size
        return out

    @property
    def drawn(self) -> str:
        """The sampling design of the units: "12 clusters", "weighted"; blank if there is none."""
        groups = self.sampled_groups
        return ", ".join(["weighted", *groups] if "sampling_weight" in self.rests_on else groups)

    @property
    def sampled_groups(self) -> list[str]:
        """The clusters, strata or population of the units, such as "12 clusters".

        Clusters of units with sizes are documents. The size of a population ("12 clusters of 40")
        is included if there are no strata, whose sizes make weights.
        """
        design = self.rests_on
        one = "document" if self.case.is_sized else "cluster"
        counts = [("n_clusters", one, f"{one}s"), ("n_strata", "stratum", "strata")]
        texts = [counted(design[n], one, more) for n, one, more in counts if n in design]
        if "population_size" in design and "n_strata" not in design:
            size = f"{design['population_size']:,}"
            texts = [f"{texts[0]} of {size}" if texts else f"a population of {size}"]
        return texts

    @property
    def standard_error_reason(self) -> str | None:
        """Reason for a standard error of NaN or 0 (such as full agreement), or None."""
        return self.reason or self.inference.error_reason

    @property
    def interval_reason(self) -> str | None:
        """Reason for `interval` or `p_value` of NaN (such as too rare answers), or None."""
        return self.reason or self.inference.reason

    @property
    def interval_method(self) -> Method | None:
        """The method of `interval` and `p_value`, or None if there is no interval."""
        return self.inference.method if np.isfinite(self.interval()[0]) else None

    @property
    def remark(self) -> str | None:
        """Sentences on an interval that may not keep its coverage, such as of few clusters."""
        return remark_of(rough_reasons(self))

    @cached_property
    def two_way(self) -> Spread:
        """The standard error if raters are a sample too, by the jackknife.

        SE² = SE_units² + SE_raters², SE_raters² = (R - 1) / R sum_g (value without g - mean)², and
        t with R - 1 degrees of freedom (fewer if clusters leave fewer). The sum counts some of the
        spread twice, so that the interval is too wide if each rater of a crowd gave few ratings.
        """
        study, R = self.study, self.n_raters or 0
        reason = None
        if study is None:
            reason = (
                "leaving out raters requires the rater of each answer; use the study, not a tally"
            )
        elif self.case.is_sized:
            reason = "intervals over raters are not defined for units with sizes"
        elif R < _FEWEST:
            reason = f"{counted(R, 'rater')} cannot show how other raters would agree; three could"
        elif not self.standard_error > 0:
            reason = self.standard_error_reason
        else:
            values = without_each_rater(self, study)
            if np.isfinite(values).all():
                error = np.hypot(self.standard_error, root(jackknife_variance(values)))
                df = R - 1.0
                df = df if self.case.sample is None else min(df, self.degrees_of_freedom)
                return Spread(float(error), df)
            n = int((~np.isfinite(values)).sum())
            reason = f"the coefficient is undefined without {counted(n, 'rater')} of {R:,}"
        return Spread(float("nan"), R - 1.0, reason)

    def interval(
        self, level: float = 0.95, *, method: Method | None = None, over: Over = "units"
    ) -> tuple[float, float]:
        """Return the two-sided confidence interval, by default the score interval.

        The score interval solves (Do / De - th)² = k (sig th + B th²) for th = 1 - coefficient. In
        simulations it kept its coverage in cases in which t does not: few units, high agreement,
        rare labels; see the guide for exceptions. Its low end is never above that of t.

        Parameters
        ----------
        level : float
            The confidence level, strictly between 0 and 1.
        method : {"score", "t", "fieller"}, optional
            The score interval, which is not defined for strata and for a population of known size,
            or estimate ± t SE with only its upper end cut at 1 (Gwet 2014; irrCAC), or Fieller's
            interval over documents, of alpha if units have sizes. Default: `interval_method`, that
            is, score, t for strata, populations of known size and most clusters, and Fieller's for
            alpha of units with sizes. By default the interval is NaN if all answers except the
            commonest weigh less than four units; `interval_reason` has the reason.
        over : {"units", "both"}
            What is a sample: the units, so that the interval is about these raters; or the raters
            too, so that it is about raters like these (`two_way`: the two-way jackknife, t only).

        Raises
        ------
        OptionError
            The level is not between 0 and 1; the method is unknown, or was not simulated for the
            coefficient.
        """
        check_level(level)
        check_choice("over", over, ("units", "both"))
        methods = ("t", "score", "fieller")
        if method is not None and (not isinstance(method, str) or method not in methods):
            raise OptionError(
                f"{option('method', method, limit=80)} is unknown; use 'score' or 't'. Resampled "
                "intervals are those of bootstrap(...).interval(method=) and of jackknife."
            )
        if over == "both":
            if method not in {None, "t"}:
                raise OptionError(
                    f"{option('method', method)} is about these raters; omit "
                    f"{option('over', 'both')}."
                )
            basis = self.two_way
            return t_interval(self.estimate, basis.standard_error, basis.degrees_of_freedom, level)
        if method == "score" and (reason := self.inference.no_score_reason) is not None:
            raise OptionError(f"{option('method', 'score')} {reason}.")
        if method == "fieller" and not self.case.is_sized:
            raise OptionError(f"{option('method', 'fieller')} is for units with sizes; use 't'.")
        return self.inference.interval(level, method)

    about = ABOUT["units"]
    """What the interval of the frame is about: these raters, judging a sample of units."""

    @property
    def p_value(self) -> float:
        """The two-sided p-value against 0 that belongs to `interval`.

        It is at most 0.05 exactly if 0 is outside the 95% interval. NaN for percent agreement, of
        which chance gives more than 0, and if `interval_reason` has a reason. It is conservative
        for few units or rare labels, where `permutation_test` has more power. Of Gwet's AC and
        Brennan-Prediger 0 is the value expected by chance only if all answers are equally frequent.
        """
        return self.inference.p_value

    @cached_property
    def influence(self) -> pd.Series[float]:
        """The linearised value of each unit, from which the standard error is made.

        Their mean is the estimate, for alpha of N ratings less (1 - alpha) / (N - 1). Units that
        the variance does not count (for alpha, those with one rating) are left out.
        """
        values, counted_units, by_unit = self.sums.linearised
        units, patterns = self.tally.units, self.tally.unit_patterns
        if not by_unit and patterns is not None and len(values):
            values, counted_units = values[patterns], counted_units[patterns]
        kept = np.flatnonzero(counted_units > 0)
        index = pd.RangeIndex(len(kept)) if units is None else pd.Index(units[kept], name="unit")
        return pd.Series(values[kept], index=index, name="influence")

    def to_frame(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row with the columns of `AgreementTable.to_frame`."""
        return frame_of([self], level)


def frame_of(rows: Sequence[Agreement], level: float) -> pd.DataFrame:
    """Return a frame with one row per agreement and the columns of `AgreementTable.to_frame`."""
    low, high = zip(*(row.interval(level) for row in rows), strict=True)
    ends = {"low": low, "high": high}
    return pd.DataFrame({x: ends.get(x) or [getattr(row, x) for row in rows] for x in COLUMNS})


@dataclass(frozen=True, eq=False, repr=False)
class AgreementTable(ResultRows[Agreement]):
    """Several agreements of one study: a row for each coefficient and distance.

    Look one up with ``table["krippendorff_alpha", "masi"]``, if one row has the coefficient with
    ``table["alpha"]``, or by its number; iterate for all of them.

    Examples
    --------
    >>> import setagree as sa
    >>> table = sa.agreement(sa.simulate(50, 3, rng=1), distance=["masi", "jaccard"])
    >>> table["krippendorff_alpha", "masi"]
    <krippendorff_alpha [masi]: 0.3382 (se 0.0447, 95% 0.2483 to 0.4469), 50 units>
    >>> table["alpha", "jaccard"] is table[1]
    True
    >>> [f"{row.coefficient} [{row.distance}]" for row in table][1]
    'krippendorff_alpha [jaccard]'
    >>> table.to_frame().shape
    (4, 18)
    """

    rows: tuple[Agreement, ...]
    level: float = 0.95
    n_missing: int = 0
    by_name: dict[tuple[str, str], Agreement] = field(init=False)

    columns = Agreement.frame_columns

    def __post_init__(self) -> None:
        by_name = {(one.coefficient, one.distance): one for one in self.rows}
        object.__setattr__(self, "by_name", by_name)

    def __getitem__(self, name: RowName) -> Agreement:
        """Return the agreement of a coefficient, of a (coefficient, distance), or of a number."""
        row = self.by_name.get(name) if isinstance(name, tuple) else None
        return row or self.rows[find_row(self.rows, name)]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return paragraphs(self.heading, str(self._table()), *self._notes())

    def _table(self) -> TextTable:
        """Return the rows as text, without a frame."""
        cells: dict[str, Any] = {x: [getattr(row, x, None) for row in self.rows] for x in COLUMNS}
        cells["low"], cells["high"] = zip(*(x.interval(self.level) for x in self.rows), strict=True)
        return TextTable.of(cells, self.columns, self.level)

    def _line(self) -> str:
        return self.heading

    @property
    def heading(self) -> str:
        """The numbers of units, raters, ratings and distinct values, as above the table."""
        one = self.rows[0]
        lone = one.n_units - one.n_pairable_units
        parts = [
            counted(one.n_units, "unit") + (f" ({lone:,} with one rating)" if lone else ""),
            counted(one.n_raters, "rater") if one.n_raters is not None else "raters unknown",
            counted(one.n_ratings, "rating")
            + (f" ({self.n_missing:,} missing)" if self.n_missing else ""),
            counted(
                one.n_values, "distinct set" if one.tally.kind == "labels" else "distinct value"
            ),
        ]
        several = " with several ratings" * (lone > 0 and not one.case.is_weighted)
        agreed = f"All ratings are equal in {one.full_agreement_text}{several}."
        lines = [agreed] * (one.full_agreement >= 0)
        return "\n".join([", ".join(parts), *lines, *left_out(one)])

    @property
    def reasons(self) -> list[str | None]:
        """Reason for a missing interval of each row, or None."""
        return [row.interval_reason for row in self.rows]

    @property
    def remarks(self) -> list[str | None]:
        """Sentence on a rough interval of each row, or None."""
        return [row.remark for row in self.rows]

    def two_way(self) -> IntervalTable:
        """Return the table with the standard errors and intervals of units and raters."""
        ends = [row.interval(self.level, over="both") for row in self.rows]
        found = [row.two_way for row in self.rows]
        uncertainty = pd.DataFrame(ends, columns=["low", "high"]).assign(
            standard_error=[one.standard_error for one in found],
            degrees_of_freedom=[one.degrees_of_freedom for one in found],
            interval_method="two-way jackknife",
            over="both",
        )
        dfs = dict.fromkeys(f"{one.degrees_of_freedom:.3g}" for one in found if not one.reason)
        freedom = f", t with {' or '.join(dfs)} degrees of freedom" if dfs else ""
        method = (
            f"se and interval: {ABOUT['both']}, by the two-way jackknife: the variance over units "
            f"and that over raters added up{freedom}."
        )
        basis = [sampling_sentence(self.rows, over_units=False), method]
        why = [one.reason for one in found]
        shown = (self.rows, self.level, self.n_missing)
        return IntervalTable(*shown, uncertainty=uncertainty, basis=basis, why=why)

    def to_frame(self, *, level: float | None = None) -> pd.DataFrame:
        """Return a tidy frame with one row per coefficient and distance, not rounded."""
        level = self.level if level is None else level
        return frame_of(self.rows, level)

    def _notes(self) -> list[str]:
        drawn = sampling_sentence(self.rows, about=raters_in_words(self.rows))
        return list(filter(None, [drawn, *remarks(self.rows)]))


@dataclass(frozen=True, eq=False, repr=False)
class IntervalTable(AgreementTable):
    """Agreements with the standard errors and intervals of another method than linearisation.

    Attributes
    ----------
    uncertainty : DataFrame
        Columns that replace those of `to_frame` or follow them, such as standard_error and low.
    basis : sequence of str
        Sentences on the method.
    why : sequence of str or None
        Reason for each missing interval.
    """

    uncertainty: pd.DataFrame = field(kw_only=True)
    basis: Sequence[str] = field(kw_only=True)
    why: Sequence[str | None] = field(kw_only=True)

    @property
    def reasons(self) -> list[str | None]:
        """Reason for a missing interval of each row, or None."""
        return [*self.why]

    @property
    def remarks(self) -> list[str | None]:
        """Sentence on a rough interval of each row, or None."""
        each = zip(self.rows, self.uncertainty["low"].notna(), strict=True)
        return [" ".join(rarity_sentences([row] * has_one)) or None for row, has_one in each]

    def to_frame(self, *, level: float | None = None) -> pd.DataFrame:
        """Return a tidy frame; without p, which is that of another interval."""
        frame = described(super().to_frame(level=level), self.rows)
        return frame.assign(**self.uncertainty).drop(columns="p_value")

    def _table(self) -> TextTable:
        return self._printed()[0]

    def _notes(self) -> list[str]:
        whys = dict.fromkeys(f"{why}." for why in self.why if why)
        each = zip(self.rows, self.uncertainty["low"].notna(), strict=True)
        rough = rarity_sentences([row for row, has_one in each if has_one])
        return [*map(wrapped, filter(None, [*whys, *self.basis, *rough]))]


def part_case(whole: Agreement, part: Annotations, *, is_domain: bool = True) -> Case:
    """Return a part of a study with the weights of the whole; see `score_part`."""
    drawn = units_drawn(whole.sums) if is_domain else None
    return Case(Tally.of(part), whole.weights, whole.case.distance, part, drawn)


def sums_of(case: Case, model: Model) -> UnitSums:
    """Return the sums of a study under a chance model, of which alpha may have units with sizes."""
    is_alpha = isinstance(model, Urn) and model.weigh == "ratings"
    return (SizedAlpha if is_alpha and case.is_sized else UnitSums)(case, model)


def without_each_rater(agreement: Agreement, study: Annotations) -> Floats:
    """Return the estimate without each rater. NaN if nothing is left to compute.

    In closed form, except for estimates whose digits cancelled there.
    """
    if agreement.reason is not None:
        return np.full(study.n_raters, np.nan)
    left = RaterParts(agreement.sums, study.rater_codes, study.n_raters).left
    values = left.estimate.copy()
    # Pairs of one rater in one document, and weights by the sizes of strata, have no closed form.
    sample = agreement.case.sample
    has_sizes = sample is not None and (sample.is_sized or sample.weighted_by == OF_SIZES)
    for g in np.flatnonzero(left.lost | has_sizes).tolist():
        part = of_raters(study, study.rater_codes != g)
        others = part_case(agreement, part, is_domain=False)
        values[g] = sums_of(others, agreement.sums.model).estimate
    return values
