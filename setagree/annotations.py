"""The coded data: who gave which answer to which unit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree import layouts
from setagree.assembly import AnswerKind, Coded, Duplicates, assemble, label_syntax
from setagree.coding import Codes, Kind, Value, as_objects, used_labels
from setagree.errors import DataError, OptionError, counted
from setagree.labels import Blank, Case, Label, LabelSyntax, sorted_labels

_DENSE_LIMIT = 100_000_000
"""Cells beyond which a dense table is refused."""


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Annotations of units by raters, every column coded as integers.

    Build it with `from_long`, `from_wide`, `from_indicators`, `from_triples` or
    `from_contingency`. Missing annotations are not stored; the empty set is a value like any other.

    Attributes
    ----------
    kind : {"labels", "number", "category"}
        Whether the values are label sets, numbers, or other scalars.
    units, raters : ndarray of object
        Identifiers, in the order of their first row.
    values : tuple
        The distinct answers.
    unit_codes, rater_codes, value_codes : ndarray of int, shape (n_ratings,)
        Positions in `units`, `raters` and `values`, one entry an annotation.
    n_missing : int
        Cells that held no annotation.
    """

    kind: Kind
    units: npt.NDArray[np.object_]
    raters: npt.NDArray[np.object_]
    values: tuple[Value, ...]
    unit_codes: Codes
    rater_codes: Codes
    value_codes: Codes
    n_missing: int = 0

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

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use, sorted; empty where the values are scalars."""
        return tuple(sorted_labels(used_labels(self.values))) if self.kind == "labels" else ()

    def __repr__(self) -> str:
        what = "label sets" if self.kind == "labels" else "values"
        return (
            f"<Annotations: {self.n_ratings:,} ratings, {counted(self.n_units, 'unit')}, "
            f"{counted(self.n_raters, 'rater')}, {self.n_values:,} distinct {what}>"
        )

    @classmethod
    def from_long(
        cls,
        data: pd.DataFrame,
        *,
        unit: str = "unit",
        rater: str = "rater",
        labels: str | None = None,
        value: str | None = None,
        sep: str = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of a table with one row for each unit and rater.

        Parameters
        ----------
        data : DataFrame
            One annotation a row; further columns are left alone.
        unit, rater : str
            The columns that identify the unit and the rater.
        labels, value : str, optional
            The column of the answers: `labels` for label sets, `value` for one scalar each (a
            number where every cell is one, else a category). Default: ``labels="labels"``.
        sep, case, codebook
            How label cells are read; see `parse_labels`.
        blank : {"missing", "empty", "error"}, optional
            What blank text means. Default: missing, with one warning that counts.
        duplicates : {"error", "first", "last", "union"}
            What to do where a rater annotated a unit more than once.

        Returns
        -------
        Annotations

        Raises
        ------
        DataError
            A column is absent, a unit or rater is missing, a rater annotated a unit twice.
        LabelError
            A cell is no label set.

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
        if labels is not None and value is not None:
            raise OptionError("name labels= (label sets) or value= (one scalar a cell), not both.")
        answer = next((name for name in (value, labels) if name is not None), "labels")
        long = layouts.from_long(data, unit, rater, answer)
        kind: AnswerKind = "labels" if value is None else "value"
        syntax = label_syntax(sep, blank, case, codebook)
        return cls._of(long, kind, syntax, duplicates, quiet=blank is not None)

    @classmethod
    def from_wide(
        cls,
        data: pd.DataFrame,
        *,
        unit: str | None = None,
        raters: Sequence[str] | None = None,
        kind: AnswerKind = "labels",
        sep: str = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of a table with one row a unit and one column a rater.

        Parameters
        ----------
        data : DataFrame
            The answers; a missing cell is no annotation.
        unit : str, optional
            The column that identifies the unit. Default: the index.
        raters : sequence of str, optional
            The columns of the raters. Default: all columns but `unit`.
        kind : {"labels", "value"}
            Whether cells are label sets or scalars.
        sep, blank, case, codebook, duplicates
            As in `from_long`.

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
        syntax = label_syntax(sep, blank, case, codebook)
        return cls._of(long, kind, syntax, duplicates, quiet=blank is not None)

    @classmethod
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
        return cls._of(long, "labels", LabelSyntax(), "error", quiet=True)

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[object, object, object]],
        *,
        kind: AnswerKind = "labels",
        sep: str = ",",
        blank: Blank | None = None,
        case: Case = "keep",
        codebook: Collection[Label] | None = None,
        duplicates: Duplicates = "error",
    ) -> Annotations:
        """Return the annotations of (rater, unit, answer) triples, NLTK's order.

        Parameters
        ----------
        triples : iterable of (rater, unit, answer)
            The answer is a label set, or label text, or a scalar under ``kind="value"``.
        kind, sep, blank, case, codebook, duplicates
            As in `from_wide`.

        Examples
        --------
        >>> Annotations.from_triples([("ann", 1, {"a"}), ("bob", 1, "a, b"), ("ann", 2, set())])
        <Annotations: 3 ratings, 2 units, 2 raters, 3 distinct label sets>
        """
        long = layouts.from_triples(triples)
        syntax = label_syntax(sep, blank, case, codebook)
        return cls._of(long, kind, syntax, duplicates, quiet=blank is not None)

    @classmethod
    def from_contingency(
        cls,
        table: pd.DataFrame,
        *,
        kind: AnswerKind = "labels",
        raters: tuple[object, object] = ("rater 1", "rater 2"),
        sep: str = ",",
        case: Case = "keep",
    ) -> Annotations:
        """Return the annotations that a two-rater table of counts stands for.

        Parameters
        ----------
        table : DataFrame of whole counts
            Row k, column l: how many units the first rater gave k and the second l. The axes are
            aligned by what their labels mean, not by position; they need not list the same values.
        kind : {"labels", "value"}
            Whether the axes name label sets or scalars.
        raters : pair
            Names of the two raters.
        sep, case
            How the label sets on the axes are read; a blank name is the empty set.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame([[3, 1], [0, 2]], index=["a", "a, b"], columns=["a", "b, a"])
        >>> Annotations.from_contingency(table)
        <Annotations: 12 ratings, 6 units, 2 raters, 2 distinct label sets>
        """
        syntax = LabelSyntax(sep=sep, blank="empty" if kind == "labels" else "error", case=case)
        return cls._of(layouts.from_contingency(table, raters), kind, syntax, "error", quiet=True)

    @classmethod
    def _of(
        cls,
        long: layouts.LongColumns,
        kind: AnswerKind,
        syntax: LabelSyntax,
        duplicates: Duplicates,
        *,
        quiet: bool,
    ) -> Annotations:
        coded = assemble(long, kind=kind, syntax=syntax, duplicates=duplicates, quiet=quiet)
        return cls(**{name: getattr(coded, name) for name in Coded.__dataclass_fields__})

    def to_long(self) -> pd.DataFrame:
        """Return one row an annotation: unit, rater, and labels (frozensets) or value.

        Examples
        --------
        >>> study = Annotations.from_triples([("ann", 1, "a"), ("bob", 1, "a, b")])
        >>> again = Annotations.from_long(study.to_long())
        >>> again
        <Annotations: 2 ratings, 1 unit, 2 raters, 2 distinct label sets>
        """
        answer = "labels" if self.kind == "labels" else "value"
        return pd.DataFrame(
            {
                "unit": self.units[self.unit_codes],
                "rater": self.raters[self.rater_codes],
                answer: pd.Series(as_objects(self.values)[self.value_codes]).infer_objects(),
            }
        )

    def to_wide(self) -> pd.DataFrame:
        """Return one row a unit and one column a rater; None where there is no annotation.

        Raises
        ------
        DataError
            The table would have more than 100 million cells.
        """
        _refuse_large(self.n_units, self.n_raters)
        cells = np.full((self.n_units, self.n_raters), None, dtype=object)
        cells[self.unit_codes, self.rater_codes] = as_objects(self.values)[self.value_codes]
        return pd.DataFrame(
            cells,
            index=pd.Index(self.units, name="unit"),
            columns=pd.Index(self.raters, name="rater"),
        ).infer_objects()

    def to_indicators(self) -> pd.DataFrame:
        """Return flags: one row an annotation (index: unit, rater), one column a label.

        The columns are sorted, as scikit-learn's ``MultiLabelBinarizer`` has them; a row without a
        True is the empty set, a missing annotation has no row.

        Raises
        ------
        DataError
            The values are scalars, or the table would have more than 100 million cells.
        """
        if self.kind != "labels":
            raise DataError("only label sets have indicators; these values are scalars.")
        _refuse_large(self.n_ratings, len(self.labels))
        column = {label: position for position, label in enumerate(self.labels)}
        flags = np.zeros((self.n_values, len(self.labels)), dtype=bool)
        for code, label_set in enumerate(self.values):
            flags[code, [column[label] for label in label_set]] = True
        index = pd.MultiIndex.from_arrays(
            [self.units[self.unit_codes], self.raters[self.rater_codes]], names=["unit", "rater"]
        )
        return pd.DataFrame(flags[self.value_codes], index=index, columns=list(self.labels))

    def summary(self) -> pd.Series[Any]:
        """Return what was counted: units, raters, ratings, values, missing and empty answers."""
        ratings_of_unit = np.bincount(self.unit_codes, minlength=self.n_units)
        counts: dict[str, Any] = {
            "n_units": self.n_units,
            "n_pairable_units": int((ratings_of_unit >= 2).sum()),
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "n_missing": self.n_missing,
            "n_values": self.n_values,
            "ratings_per_unit": self.n_ratings / self.n_units,
        }
        if self.kind == "labels":
            sizes = np.array([len(value) for value in self.values])[self.value_codes]
            counts |= {
                "n_labels": len(self.labels),
                "labels_per_rating": float(sizes.mean()),
                "share_empty": float((sizes == 0).mean()),
            }
        return pd.Series(counts, dtype=object)


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > _DENSE_LIMIT:
        raise DataError(
            f"a table of {rows:,} x {columns:,} cells is over {_DENSE_LIMIT:,}; use to_long()."
        )
