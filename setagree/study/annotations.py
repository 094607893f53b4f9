"""The coded data: who gave which answer to which unit."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.checks import public
from setagree.errors import OptionError, SetagreeWarning, check_choice, counted
from setagree.study import attributes, layouts, parts, tables
from setagree.study.assembly import assemble, from_long
from setagree.study.codes import Codes, Kind, ReadOnlyArrays, Value, as_objects, used_labels
from setagree.study.columns import Role, check_roles
from setagree.study.degrees import from_degrees
from setagree.study.frames import Frame
from setagree.study.labels import Blank, Case, NaValues
from setagree.study.preparation import in_order, prepare_rows, statuses, with_unobserved
from setagree.study.reading import (
    ANSWER_KINDS,
    AnswerKind,
    Duplicates,
    Reading,
)
from setagree.study.sampling import Sampling
from setagree.study.spans import from_spans
from setagree.wording.label_sets import Label, sorted_labels


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
        Positions in `units`, `raters` and `values`, one entry an annotation. All arrays are
        read-only.
    n_missing : int
        Cells that held no annotation.
    unanswered : ndarray of object
        Units of the table that nobody annotated; they are not among `units`. A part has none.
    n_repeated : int
        Annotations of a unit by a rater who had one already, dropped or united.
    missing_by_rater : mapping
        How many of the `n_missing` cells are whose.
    reading : Reading or None
        How the table or the file was read; None where the study was built from arrays or counts.
    unit_table, rater_table : DataFrame or None
        What is known of units and raters beside their answers; see `units_frame`, `raters_frame`.
    sampling : Sampling or None
        Which columns of it say how the units were drawn; see `sampled`.
    repeats : Annotations or None
        All answers to units that a rater annotated again, where kept apart; a part has none.
    unobserved : DataFrame or None
        The missing annotations that a column of statuses explains: unit, rater, status.
    with_queued : Annotations or None
        The same with the ratings that a queue asked for, which no coefficient may use.
    models_apart : tuple
        The models that were set apart (``model=``): no coefficient counts their answers.
    order : tuple
        The categories of an ordered column in their order, also those that nobody gave; empty if
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
        """How many units have an annotation."""
        return len(self.units)

    @property
    def n_raters(self) -> int:
        """How many raters gave an annotation."""
        return len(self.raters)

    @property
    def n_ratings(self) -> int:
        """How many annotations there are."""
        return len(self.value_codes)

    @property
    def n_values(self) -> int:
        """How many distinct answers there are."""
        return len(self.values)

    @property
    def silent_raters(self) -> Mapping[Any, int]:
        """The raters without any annotation, who are not counted, and their missing cells."""
        rated = {*self.raters.tolist()}
        return {who: n for who, n in self.missing_by_rater.items() if who not in rated}

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use, sorted; empty where the values are scalars."""
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
        label_sep: str = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        na_values: NaValues | None = None,
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
            One annotation a row; further columns are left alone. A frame of any library that
            narwhals knows: pandas, Polars (lazy ones too), Arrow, DuckDB, ...
        unit, rater : str
            The columns that identify the unit and the rater.
        labels, value, kind, label_sep, blank, case, codebook, na_values, duplicates, order_by
            The answers; see `Reading`. Default: label sets in the column with a usual name.
        unit_columns, rater_columns, status, queued, degree
            Further columns; see `Reading`.

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
        """Return the annotations of a long table, read as a `Reading` with its columns says.

        >>> table = pd.DataFrame({"unit": [1, 1], "rater": ["ann", "bob"], "labels": ["a", "b"]})
        >>> Annotations.from_reading(table, Reading(unit="unit", rater="rater")).reading.blank
        """
        rows = prepare_rows(data, reading)
        if rows.counted is data:
            return cls._coded(data, reading)
        plain, with_queued = replace(reading, status=None, queued=None), None
        if rows.with_queued is not None:
            with warnings.catch_warnings():
                # The rows that count raise the same warnings below.
                warnings.simplefilter("ignore", SetagreeWarning)
                with_queued = cls._coded(rows.with_queued, plain)
        study = cls._coded(rows.counted, plain)
        study = replace(study, reading=reading, with_queued=with_queued)
        return with_unobserved(study, rows, reading)

    @classmethod
    def _coded(cls, data: Frame, reading: Reading) -> Annotations:
        """Return the annotations of the rows of a long table that count."""
        role: Role = "labels" if reading.value is None else "value"
        answers = reading.answer if isinstance(reading.answer, list) else [reading.answer]
        named: list[tuple[Role, Any]] = [("unit", reading.unit), ("rater", reading.rater)]
        check_roles([*named, *((role, name) for name in answers)])
        data = data if reading.order_by is None else in_order(data, reading)
        if reading.degree is not None:
            as_read = replace(reading, na_values=None)  # which was said of the rows
            study = replace(assemble(cls, from_degrees(data, reading), as_read), reading=reading)
        else:
            long_of = layouts.from_flags if isinstance(reading.answer, list) else from_long
            long = long_of(data, reading.unit, reading.rater, reading.answer)
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
        label_sep: str = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        na_values: NaValues | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of a table with one row per unit and one column per rater.

        Parameters
        ----------
        data : DataFrame
            The answers; a missing cell is no annotation. Where people stand in the rows and units
            in the columns, as in a survey, pass ``table.set_index("who").T``.
        unit : str, optional
            The column that identifies the unit. Default: the index; a frame without one numbers
            its rows.
        raters : sequence of str, optional
            The columns of the raters. Default: all columns but `unit`.
        kind, label_sep, blank, case, codebook, na_values, duplicates
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
        cells = Reading(
            label_sep=label_sep, blank=blank, case=case, codebook=codebook, na_values=na_values
        )
        reading = replace(cells, kind=kind, duplicates=duplicates)
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
            True where there is no annotation. A row of False without a mask is the empty set.

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
        elif any(given is not None for given in named):
            raise OptionError("a frame names its labels, units and raters; drop those options.")
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
        label_sep: str = ",",
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
        label_sep: str = ",",
        case: Case = "keep",
    ) -> Annotations:
        """Return the annotations that a two-rater table of counts stands for.

        Parameters
        ----------
        table : DataFrame of whole counts
            Row k, column l: how many units the first rater gave k and the second l. The axes are
            aligned by what their labels mean, not by position; they need not list the same values.
        kind : {"labels", "number", "category", "value"}
            What the axes name, as in `from_wide`.
        raters : pair
            Names of the two raters.
        label_sep, case
            How the label sets on the axes are read; a blank name is the empty set.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame([[3, 1], [0, 2]], index=["a", "a, b"], columns=["a", "b, a"])
        >>> Annotations.from_contingency(table)
        <Annotations: 12 ratings, 6 units, 2 raters, 2 distinct label sets>
        """
        check_choice("kind", kind, ANSWER_KINDS)
        blank: Blank = "empty" if kind == "labels" else "error"
        how = Reading(kind=kind, label_sep=label_sep, blank=blank, case=case)
        return replace(assemble(cls, layouts.from_contingency(table, raters), how), reading=None)

    from_spans = classmethod(from_spans)
    to_long, to_wide, to_triples = tables.to_long, tables.to_wide, tables.to_triples
    to_indicators, summary, _repr_html_ = tables.to_indicators, tables.summary, tables.as_html
    with_units, sampled = attributes.with_units, attributes.sampled
    units_frame = property(attributes.units_frame)
    with_raters, raters_frame = attributes.with_raters, property(attributes.raters_frame)
    statuses = property(statuses)
    take, exclude_raters = parts.take, parts.exclude_raters
    with_used_values, with_answers = parts.with_used_values, parts.with_answers
