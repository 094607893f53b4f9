"""Coded annotations: units, raters and their answers."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setagree.checks import Codes, cached_property, public
from setagree.errors import (
    DataError,
    OptionError,
    SetagreeWarning,
    check_choice,
    check_list,
    counted,
    did_you_mean,
    listing,
)
from setagree.lazy import pd
from setagree.study import attributes, layouts
from setagree.study.answer_warnings import warn_pieces
from setagree.study.assembly import assemble, from_long
from setagree.study.codes import (
    Kind,
    ReadOnlyArrays,
    Value,
    as_objects,
    as_ordered,
    in_use,
    used_labels,
)
from setagree.study.columns import Role, check_roles
from setagree.study.degrees import from_degrees
from setagree.study.frames import Frame
from setagree.study.identifiers import tidied
from setagree.study.labels import Blank, Case, NaValues
from setagree.study.numbers import inferred
from setagree.study.preparation import prepare_rows, statuses, with_unobserved
from setagree.study.reading import ANSWER_KINDS, AnswerKind, Duplicates, Reading
from setagree.study.sampling import Sampling
from setagree.study.spans import from_spans
from setagree.wording.label_sets import Label, LabelSep, display_labels, sorted_labels
from setagree.wording.tables import html_table

_FIRST = 10
"""Largest number of units and of raters that a notebook shows."""

DENSE_LIMIT = 100_000_000
"""Largest number of cells of a dense table."""


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(ReadOnlyArrays):
    """Annotations of units by raters, every column coded as integers.

    Build it with `from_long`, `from_wide`, `from_indicators`, `from_triples`, `from_contingency` or
    `from_spans`. Missing annotations are not stored; the empty set is a value like any other.

    Attributes
    ----------
    kind : {"labels", "number", "category"}
        Whether the values are label sets, numbers, or other scalars.
    units, raters : ndarray of object
        Identifiers, in the order of their first row.
    values : tuple
        The distinct answers.
    unit_codes, rater_codes, value_codes : ndarray of int, shape (n_ratings,)
        Positions in `units`, `raters` and `values`, one entry per annotation. All arrays are
        read-only.
    n_missing : int
        Number of cells without an annotation.
    unanswered : ndarray of object
        Units of the table without any annotation, which are not in `units`. Empty in a subset.
    n_repeated : int
        Number of further annotations of a unit by the same rater, dropped or united.
    missing_by_rater : mapping
        Number of the `n_missing` cells of each rater.
    reading : Reading or None
        How the table or the file was read; None if the study was built from arrays or counts.
    unit_table, rater_table : DataFrame or None
        Attributes of units and raters; see `units_frame` and `raters_frame`.
    sampling : Sampling or None
        The columns of `unit_table` that describe how the units were sampled; see `sampled`.
    repeats : Annotations or None
        All answers to units that a rater annotated again, if they were kept; None in a subset.
    unobserved : DataFrame or None
        The missing annotations with a status: unit, rater, status.
    with_queued : Annotations or None
        The study including the ratings requested by a queue, which coefficients ignore.
    models_apart : tuple
        The named models (``model=``), whose answers no coefficient uses.
    order : tuple
        The categories of an ordered column in their order, including unused ones; empty if
        the answers have no order. The distances ordinal and linear use it.
    """

    kind: Kind
    units: npt.NDArray[np.object_]
    raters: npt.NDArray[np.object_]
    values: tuple[Value, ...]
    unit_codes: Codes
    rater_codes: Codes
    value_codes: Codes
    n_missing: int = 0
    unanswered: npt.NDArray[np.object_] = field(default_factory=lambda: as_objects([]))
    n_repeated: int = 0
    missing_by_rater: Mapping[Any, int] = field(default_factory=dict)
    reading: Reading | None = None
    unit_table: pd.DataFrame | None = None
    rater_table: pd.DataFrame | None = None
    sampling: Sampling | None = None
    repeats: Annotations | None = None
    with_queued: Annotations | None = None
    unobserved: pd.DataFrame | None = None
    order: tuple[Value, ...] = ()
    models_apart: tuple[Any, ...] = ()

    @property
    def n_units(self) -> int:
        """Number of units with an annotation."""
        return len(self.units)

    @property
    def n_raters(self) -> int:
        """Number of raters with an annotation."""
        return len(self.raters)

    @property
    def n_ratings(self) -> int:
        """Number of annotations."""
        return len(self.value_codes)

    @property
    def n_values(self) -> int:
        """Number of distinct answers."""
        return len(self.values)

    @property
    def silent_raters(self) -> Mapping[Any, int]:
        """Number of missing cells of each rater without annotations, who is not in `raters`."""
        rated = {*self.raters.tolist()}
        return {who: n for who, n in self.missing_by_rater.items() if who not in rated}

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use, sorted; empty if the values are scalars."""
        return tuple(sorted_labels(used_labels(self.values))) if self.kind == "labels" else ()

    def __repr__(self) -> str:
        what = "distinct label set" if self.kind == "labels" else "distinct value"
        return (
            f"<Annotations: {counted(self.n_ratings, 'rating')}, {counted(self.n_units, 'unit')}, "
            f"{counted(self.n_raters, 'rater')}, {counted(self.n_values, what)}>"
        )

    @classmethod
    @public
    def from_long(
        cls,
        data: Frame,
        *,
        unit: str = "unit",
        rater: str = "rater",
        labels: str | list[str] | None = None,
        value: str | None = None,
        kind: AnswerKind | None = None,
        label_sep: LabelSep = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        na_values: NaValues | None = None,
        empty: NaValues | None = None,
        duplicates: Duplicates = "error",
        order_by: str | None = None,
        unit_columns: list[str] | None = None,
        rater_columns: list[str] | None = None,
        status: str | None = None,
        queued: str | None = None,
        degree: str | None = None,
    ) -> Annotations:
        """Return the annotations of a table with one row for each unit and rater.

        Parameters
        ----------
        data : DataFrame
            One annotation per row; further columns are ignored. A frame of any library that
            narwhals supports: pandas, Polars (also lazy frames), Arrow, DuckDB, ...
        unit, rater : str
            The columns that identify the unit and the rater.
        labels, value, kind, label_sep, blank, case, codebook, na_values, empty
            The answers; see `Reading`. Default: label sets in the column with a usual name.
        duplicates, order_by, unit_columns, rater_columns, status, queued, degree
            Repeated ratings and further columns; see `Reading`.

        Returns
        -------
        Annotations

        Raises
        ------
        DataError
            A column is absent, a unit or rater is missing, a rater annotated a unit twice.
        LabelError
            A cell is not a label set.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({
        ...     "doc": [1, 1, 2, 2], "who": ["ann", "bob", "ann", "bob"],
        ...     "tags": ["joy, fear", "fear,joy", [], None],
        ... })
        >>> Annotations.from_long(table, unit="doc", rater="who", labels="tags")
        <Annotations: 3 ratings, 2 units, 2 raters, 2 distinct label sets>
        """
        reading = Reading(
            unit=unit,
            rater=rater,
            labels=labels,
            value=value,
            kind=kind,
            label_sep=label_sep,
            blank=blank,
            case=case,
            codebook=codebook,
            na_values=na_values,
            empty=empty,
            duplicates=duplicates,
            order_by=order_by,
            unit_columns=unit_columns,
            rater_columns=rater_columns,
            status=status,
            queued=queued,
            degree=degree,
        )
        return cls.from_reading(data, reading)

    @classmethod
    @public
    def from_reading(cls, data: Frame, reading: Reading) -> Annotations:
        """Return the annotations of a long table, read with the columns and options of a `Reading`.

        >>> table = pd.DataFrame({"unit": [1, 1], "rater": ["ann", "bob"], "labels": ["a", "b"]})
        >>> Annotations.from_reading(table, Reading(unit="unit", rater="rater")).reading.blank
        """
        rows = prepare_rows(data, reading)
        study = cls._coded(rows.counted, reading)
        if reading.unit_columns is None:
            warn_pieces(study.units)
        if rows.with_queued is not None:
            with warnings.catch_warnings():
                # The rows that count have raised the same warnings.
                warnings.simplefilter("ignore", SetagreeWarning)
                study = replace(study, with_queued=cls._coded(rows.with_queued, reading))
        return with_unobserved(study, rows, reading)

    @classmethod
    def _coded(cls, data: pd.DataFrame, reading: Reading) -> Annotations:
        """Return the annotations of the prepared rows of a long table."""
        role: Role = "labels" if reading.value is None else "value"
        answer = reading.answer
        answers = answer if isinstance(answer, list) else [answer]
        named: list[tuple[Role, Any]] = [("unit", reading.unit), ("rater", reading.rater)]
        check_roles([*named, *((role, name) for name in answers)])
        if reading.degree is not None:
            plain = replace(reading, na_values=None)  # from_degrees applies na_values to rows
            study = replace(assemble(cls, from_degrees(data, reading), plain), reading=reading)
        else:
            long_of = layouts.from_flags if isinstance(answer, list) else from_long
            long = long_of(data, reading.unit, reading.rater, answer)
            study = assemble(cls, long, reading, is_long=long_of is from_long)
        if reading.rater_columns is not None:
            study = attributes.read_raters(study, data, reading)
        return attributes.read_units(study, data, reading) if reading.of_units else study

    @classmethod
    @public
    def from_wide(
        cls,
        data: Frame,
        *,
        unit: str | None = None,
        raters: Sequence[str] | None = None,
        kind: AnswerKind = "labels",
        label_sep: LabelSep = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        na_values: NaValues | None = None,
        empty: NaValues | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of a table with one row per unit and one column per rater.

        Parameters
        ----------
        data : DataFrame
            The answers; a missing cell means no annotation. If raters are in the rows and units
            in the columns, as in a survey, pass ``table.set_index("who").T``.
        unit : str, optional
            The column that identifies the unit. Default: the index; a frame without one numbers
            its rows.
        raters : sequence of str, optional
            The columns of the raters. Default: all columns except `unit`.
        kind, label_sep, blank, case, codebook, na_values, empty, duplicates
            The answers; see `Reading`. Default: label sets, separated by commas.

        Raises
        ------
        DataError
            A column looks like unit identifiers or free text, not like a rater.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"ann": ["a, b", "a"], "bob": ["a", ""]}, index=["u1", "u2"])
        >>> Annotations.from_wide(table, blank="empty")
        <Annotations: 4 ratings, 2 units, 2 raters, 3 distinct label sets>
        """
        long = layouts.from_wide(data, unit, raters)
        reading = Reading(
            kind=kind,
            label_sep=label_sep,
            blank=blank,
            case=case,
            codebook=codebook,
            na_values=na_values,
            empty=empty,
            duplicates=duplicates,
        )
        return assemble(cls, long, reading)

    @classmethod
    @public
    def from_indicators(
        cls,
        indicators: npt.ArrayLike | pd.DataFrame,
        *,
        labels: Sequence[Label] | None = None,
        units: Sequence[object] | None = None,
        raters: Sequence[object] | None = None,
        mask: npt.ArrayLike | None = None,
    ) -> Annotations:
        """Return the annotations of an array of flags.

        Parameters
        ----------
        indicators : array of bool, shape (n_raters, n_units, n_labels), or DataFrame
            Whether a rater gave a label to a unit; or the frame that `to_indicators` returns.
        labels, units, raters : sequence, optional
            Names along the axes. Default: 0, 1, 2, ...
        mask : array of bool, shape (n_raters, n_units), optional
            True for a missing annotation. A row of False without a mask is the empty set.

        Raises
        ------
        DataError
            The shapes do not fit, or an entry is neither 0 nor 1.

        Examples
        --------
        >>> cube = [[[1, 0], [0, 0]], [[1, 1], [0, 0]]]
        >>> study = Annotations.from_indicators(cube, labels=["a", "b"], mask=[[0, 0], [0, 1]])
        >>> study
        <Annotations: 3 ratings, 2 units, 2 raters, 3 distinct label sets>
        """
        named = (labels, units, raters, mask)
        if not isinstance(indicators, pd.DataFrame):
            long = layouts.from_cube(indicators, *named)
        elif any(names is not None for names in named):
            raise OptionError("a frame names its labels, units and raters; omit those options.")
        else:
            long = layouts.from_flag_frame(indicators)
        return replace(assemble(cls, long, Reading(blank="missing")), reading=None)

    @classmethod
    @public
    def from_triples(
        cls,
        triples: Iterable[tuple[object, object, object]],
        *,
        kind: AnswerKind = "labels",
        label_sep: LabelSep = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        na_values: NaValues | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of (rater, unit, answer) triples, NLTK's order.

        Parameters
        ----------
        triples : iterable of (rater, unit, answer)
            The answer is a label set, or label text, or a scalar under another `kind`.
        kind, label_sep, blank, case, codebook, na_values, duplicates
            The answers; see `Reading`. Default: label sets, separated by commas.

        Examples
        --------
        >>> Annotations.from_triples([("ann", 1, {"a"}), ("bob", 1, "a, b"), ("ann", 2, set())])
        <Annotations: 3 ratings, 2 units, 2 raters, 3 distinct label sets>
        """
        cells = Reading(
            label_sep=label_sep, blank=blank, case=case, codebook=codebook, na_values=na_values
        )
        reading = replace(cells, kind=kind, duplicates=duplicates)
        return assemble(cls, layouts.from_triples(triples), reading)

    @classmethod
    @public
    def from_contingency(
        cls,
        table: pd.DataFrame,
        *,
        kind: AnswerKind = "labels",
        raters: tuple[object, object] = ("rater 1", "rater 2"),
        label_sep: LabelSep = ",",
        case: Case = "keep",
    ) -> Annotations:
        """Return the annotations of a contingency table of two raters.

        Parameters
        ----------
        table : DataFrame of whole counts
            Entry (k, l): number of units to which the first rater gave k and the second l. The axes
            are aligned by value, not by position, and may list different values.
        kind : {"labels", "number", "category", "value"}
            The type of the values on the axes, as in `from_wide`.
        raters : pair
            Names of the two raters.
        label_sep, case
            Syntax of the label sets on the axes; a blank name is the empty set.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame([[3, 1], [0, 2]], index=["a", "a, b"], columns=["a", "b, a"])
        >>> Annotations.from_contingency(table)
        <Annotations: 12 ratings, 6 units, 2 raters, 2 distinct label sets>
        """
        check_choice("kind", kind, ANSWER_KINDS)
        blank: Blank = "empty" if kind == "labels" else "error"
        reading = Reading(kind=kind, label_sep=label_sep, blank=blank, case=case)
        long = layouts.from_contingency(table, raters)
        return replace(assemble(cls, long, reading), reading=None)

    from_spans = classmethod(from_spans)
    with_units, sampled = attributes.with_units, attributes.sampled
    units_frame = property(attributes.units_frame)
    with_raters, raters_frame = attributes.with_raters, property(attributes.raters_frame)
    statuses = property(statuses)

    def to_long(self) -> pd.DataFrame:
        """Return one row per annotation: unit, rater, and labels (frozensets) or value.

        Examples
        --------
        >>> from setagree import Annotations
        >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b")])
        >>> Annotations.from_long(study.to_long())
        <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
        """
        answer = "labels" if self.kind == "labels" else "value"
        return pd.DataFrame(
            {
                "unit": self.units[self.unit_codes],
                "rater": self.raters[self.rater_codes],
                answer: as_ordered(inferred(_answers(self)), self.order),
            }
        )

    def to_triples(self) -> list[tuple[Any, Any, Value]]:
        """Return one (rater, unit, answer) triple per annotation, NLTK's order.

        Examples
        --------
        >>> from setagree import Annotations
        >>> Annotations.from_triples([("ann", 1, "a"), ("bob", 1, [])]).to_triples()
        [('ann', 1, frozenset({'a'})), ('bob', 1, frozenset())]
        """
        raters = self.raters[self.rater_codes].tolist()
        units = self.units[self.unit_codes].tolist()
        return list(zip(raters, units, _answers(self).tolist(), strict=True))

    def to_wide(self) -> pd.DataFrame:
        """Return one row per unit and one column per rater, with None for missing ratings.

        Raises
        ------
        DataError
            The table would have more than 100 million cells.
        """
        shape = (len(self.units), len(self.raters))
        _check_large(*shape)
        cells = np.full(shape, None, dtype=object)
        cells[self.unit_codes, self.rater_codes] = _answers(self)
        columns = (as_ordered(inferred(column), self.order) for column in cells.T)
        frame = pd.DataFrame(dict(enumerate(columns)))
        frame.index = pd.Index(self.units, name="unit")
        frame.columns = pd.Index(self.raters, name="rater")
        return frame

    def to_indicators(self) -> pd.DataFrame:
        """Return flags with one row per annotation (index: unit, rater) and one column per label.

        The columns are sorted as in scikit-learn's ``MultiLabelBinarizer``. A row without a True is
        the empty set; a missing annotation has no row.

        Raises
        ------
        DataError
            The values are scalars, or there would be more than 100 million cells.
        """
        if self.kind != "labels":
            raise DataError("only label sets have indicators; these values are scalars.")
        _check_large(len(self.value_codes), len(self.labels))
        column = {label: position for position, label in enumerate(self.labels)}
        flags = np.zeros((len(self.values), len(self.labels)), dtype=bool)
        for code, label_set in enumerate(self.values):
            flags[code, [column[label] for label in label_set]] = True
        index = pd.MultiIndex.from_arrays(
            [self.units[self.unit_codes], self.raters[self.rater_codes]], names=["unit", "rater"]
        )
        return pd.DataFrame(flags[self.value_codes], index=index, columns=list(self.labels))

    def summary(self) -> pd.Series[Any]:
        """Return the numbers of units, raters, ratings, values, and missing and empty answers.

        ``share_unanimous`` is the share of pairable units whose answers are all equal, NaN without
        pairable units.
        """
        n_units, n_ratings = len(self.units), len(self.value_codes)
        ratings_of_unit = np.bincount(self.unit_codes, minlength=n_units)
        last_answer = np.full(n_units, -1)
        last_answer[self.unit_codes] = self.value_codes
        others = self.value_codes != last_answer[self.unit_codes]
        differ = np.bincount(self.unit_codes[others], minlength=n_units) > 0
        paired = ratings_of_unit >= 2
        counts: dict[str, Any] = {
            "n_units": n_units,
            "n_pairable_units": int(paired.sum()),
            "n_raters": len(self.raters),
            "n_ratings": n_ratings,
            "n_missing": self.n_missing,
            "n_values": len(self.values),
            "ratings_per_unit": n_ratings / n_units,
            "share_unanimous": float((~differ[paired]).mean()) if paired.any() else float("nan"),
        }
        if self.kind == "labels":
            sizes = np.array([len(value) for value in self.values])[self.value_codes]
            counts |= {
                "n_labels": len(self.labels),
                "labels_per_rating": float(sizes.mean()),
                "share_empty": float((sizes == 0).mean()),
            }
        return pd.Series(counts, dtype=object)

    def _repr_html_(self) -> str:
        """Return an HTML table of the answers to the first units, with one column per rater."""
        part = self.take(self.unit_codes < _FIRST)
        part = part.take(part.rater_codes < _FIRST)
        wide = part.to_wide().map(lambda x: display_labels(x) if isinstance(x, frozenset) else x)
        text = f"{repr(self)[1:-1]}."
        if len(part.value_codes) < len(self.value_codes):
            n_units, n_raters = counted(len(part.units), "unit"), counted(len(part.raters), "rater")
            text += f" Shown: {n_units}, {n_raters}."
        return f"<p>{html.escape(text)}</p>{html_table(wide.reset_index(allow_duplicates=True))}"

    def take(self, rows: npt.NDArray[Any]) -> Annotations:
        """Return the annotations at a mask or at positions.

        Units and raters without annotations are omitted, with their statuses. All K values remain
        listed, so that the value codes do not change.
        """
        units, unit_codes = in_use(self.units, self.unit_codes[rows])
        raters, rater_codes = in_use(self.raters, self.rater_codes[rows])
        if (unobserved := self.unobserved) is not None:
            rows_kept = unobserved["unit"].isin({*units}) & unobserved["rater"].isin({*raters})
            unobserved = unobserved[rows_kept].reset_index(drop=True)
        missing = self.missing_by_rater
        if missing:
            rated = {*raters.tolist()}
            missing = {who: n for who, n in missing.items() if who in rated}
        return replace(
            self,
            units=units,
            raters=raters,
            unit_codes=unit_codes,
            rater_codes=rater_codes,
            value_codes=self.value_codes[rows],
            unanswered=as_objects([]),
            missing_by_rater=missing,
            unobserved=unobserved,
            repeats=None,
            with_queued=None,
        )

    def with_used_values(self) -> Annotations:
        """Return the study without the values that no annotation has."""
        used, codes = in_use(np.arange(self.n_values), self.value_codes)
        return replace(self, values=tuple(self.values[k] for k in used), value_codes=codes)

    def with_answers(self, rewrite: Callable[[Any], Value]) -> Annotations:
        """Return the study with rewritten answers; answers that become equal are merged."""
        codes: dict[Value, int] = {}
        moved = np.array([codes.setdefault(rewrite(v), len(codes)) for v in self.values])
        order = tuple(dict.fromkeys(map(rewrite, self.order)))
        return replace(self, values=tuple(codes), value_codes=moved[self.value_codes], order=order)

    @public
    def exclude_raters(self, raters: Sequence[object]) -> Annotations:
        """Return the study without some raters, as if they had never answered.

        Values and units without answers of other raters are omitted; the units become `unanswered`.
        A rater whose cells are all missing can be named.

        Raises
        ------
        DataError
            A rater is not in the study, or no rater remains.

        Examples
        --------
        >>> from setagree import Annotations
        >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "b"), ("bob", 2, "b")])
        >>> study.exclude_raters(["bob"])
        <Annotations: 1 rating, 1 unit, 1 rater, 1 distinct label set>
        """
        check_list("raters", raters, "raters")
        place = {rater: k for k, rater in enumerate(self.raters.tolist())}
        names, silent = [*map(tidied, raters)], self.silent_raters
        for rater in names:
            if not isinstance(rater, Hashable) or not (rater in place or rater in silent):
                hint = did_you_mean(rater, place) or f" The raters are {listing([*place])}."
                raise DataError(f"rater {rater!r} gave no answer in this study.{hint}")
        kept = ~np.isin(self.rater_codes, [place[rater] for rater in names if rater in place])
        if not kept.any():
            raise DataError("every rater is named; no rater remains.")
        missing = {who: n for who, n in self.missing_by_rater.items() if who not in names}
        n_missing = self.n_missing - sum(self.missing_by_rater.values()) + sum(missing.values())
        part = attributes.of_raters(self, kept).with_used_values()
        rated = np.isin(np.arange(self.n_units), self.unit_codes[kept])
        unanswered = np.concatenate([self.units[~rated], self.unanswered])
        part = replace(part, n_missing=n_missing, missing_by_rater=missing, unanswered=unanswered)
        if (unobserved := self.unobserved) is not None:
            others = unobserved[~unobserved["rater"].isin(names)].reset_index(drop=True)
            part = replace(part, unobserved=others)
        more = None if self.with_queued is None else self.with_queued.exclude_raters(raters)
        part = replace(part, with_queued=more, repeats=None)
        if (repeats := self.repeats) is not None:
            is_kept = np.array([rater not in names for _, rater in repeats.units])
            if (rows := is_kept[repeats.unit_codes]).any():
                part = replace(part, repeats=repeats.take(rows).with_used_values())
        return part


def _answers(study: Annotations) -> npt.NDArray[np.object_]:
    return as_objects(study.values)[study.value_codes]


def _check_large(rows: int, columns: int) -> None:
    if rows * columns > DENSE_LIMIT:
        raise DataError(
            f"a table of {rows:,} x {columns:,} cells is over {DENSE_LIMIT:,}; use to_long()."
        )
