"""A result for each row of a table of agreements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from setagree.errors import DataError, NoTableError, a_type, counted, option
from setagree.large.opening import Data, open_sampled, with_reading
from setagree.lazy import pd
from setagree.scoring.coefficients import krippendorff_alpha
from setagree.scoring.results import Agreement, AgreementTable, RowName, find_row
from setagree.scoring.scorer import main_distance, score_part
from setagree.scoring.table_notes import warn_clusters
from setagree.study.attributes import OfUnits
from setagree.wording.result_base import Result, ResultRows, paragraphs
from setagree.wording.tables import Column

R = TypeVar("R", bound=Result)
One = TypeVar("One", covariant=True)
Many = TypeVar("Many", covariant=True)
P = ParamSpec("P")


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable(ResultRows[R]):
    """A result for each row of a table of agreements, in its order.

    Look one up as in an `AgreementTable`; iterate for all of them.

    Examples
    --------
    >>> import setagree as sa
    >>> table = sa.agreement(sa.simulate(40, 3, rng=1))
    >>> without = sa.jackknife(table, over="raters")
    >>> without
    <ResultTable: 2 results: Jackknife; 6 rows>
    >>> without["krippendorff_alpha", "masi"].values.round(3).to_dict()
    {'r1': 0.412, 'r2': 0.238, 'r3': 0.302}
    >>> without.to_frame().columns.tolist()
    ['coefficient', 'distance', 'rater', 'estimate_without', 'difference', 'n_ratings']
    """

    rows: tuple[R, ...]
    max_rows = 40

    def _shown_columns(self, frame: pd.DataFrame) -> Sequence[Column]:
        """Return the columns of a row if they name the coefficient, or else all."""
        columns = self.rows[0].columns
        is_named = any(column.first == "coefficient" for column in columns)
        return columns if is_named else super()._shown_columns(frame)

    def __getitem__(self, name: RowName) -> R:
        """Return the result of a coefficient, of a (coefficient, distance), or of a number."""
        return self.rows[find_row([_agreement(row) for row in self.rows], name)]

    def to_frame(self) -> pd.DataFrame:
        """Return the frames of all rows, with the coefficient and the distance of each."""
        return pd.concat([_named(row) for row in self.rows], ignore_index=True)

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]  # those of its rows
        """The columns that are printed, if the rows form one table."""
        columns = self.rows[0].columns
        return columns if columns and columns[0].source == "coefficient" else ()

    def _heading(self) -> str:
        kind = type(self.rows[0]).__name__
        return "" if self.columns else f"{counted(len(self), 'result')}: {kind}"

    def __str__(self) -> str:
        is_one_table = self.columns or not self.rows[0].columns
        return paragraphs(*self._parts()) if is_one_table else super().__str__()

    def _notes(self) -> list[str]:
        """Return the notes of the rows, with the names of the rows if not all have the note."""
        named: dict[str, list[str]] = {}
        for row in self.rows:
            agreement = _agreement(row)
            for note in row._notes():  # noqa: SLF001 - a method of the base class
                named.setdefault(note, []).append(f"{agreement.coefficient} [{agreement.distance}]")
        n = len(self.rows)
        return [
            note if len(names) == n else f"{', '.join(names)}: {note}"
            for note, names in named.items()
        ]


def _agreement(row: Any) -> Agreement:
    """Return the agreement that a result was computed from."""
    agreement: Agreement = row.agreement
    return agreement


def _named(row: Result) -> pd.DataFrame:
    """Return the frame of a result, with coefficient and distance in its first columns."""
    frame = row.to_frame()
    if "coefficient" in frame:
        return frame
    flat = frame.reset_index(drop=frame.index.name is None)
    flat.insert(0, "coefficient", _agreement(row).coefficient)
    flat.insert(1, "distance", _agreement(row).distance)
    return flat


class PerRow(Protocol[P, One, Many]):
    """A function with one result for an agreement or a study, and one per row for a table."""

    @overload
    def __call__(self, data: AgreementTable, /, *args: P.args, **kwargs: P.kwargs) -> Many: ...

    @overload
    def __call__(self, data: Agreement | Data, /, *args: P.args, **kwargs: P.kwargs) -> One: ...


def per_row(
    _one: type[One], _many: type[Many]
) -> Callable[[Callable[Concatenate[Any, P], Any]], PerRow[P, One, Many]]:
    """Return a decorator that gives the types of both results; the function is unchanged."""
    return lambda function: cast(Any, function)


def for_each_row(
    data: Agreement | AgreementTable | Data,
    result_of: Callable[[Agreement], R],
    *,
    cluster: OfUnits | None = None,
) -> R | ResultTable[R]:
    """Return the result of an agreement, or a table with that of each row of a table."""
    agreement = as_agreement(data, cluster)
    if isinstance(agreement, AgreementTable):
        return ResultTable(tuple(map(result_of, agreement.rows)))
    return result_of(agreement)


def as_agreement(
    data: Agreement | AgreementTable | Data, cluster: OfUnits | None = None
) -> Agreement | AgreementTable:
    """Return agreements unchanged, and Krippendorff's alpha of other data (`main_distance`).

    `cluster` gives the cluster of each unit of either; see `Annotations.sampled`.
    """
    if isinstance(data, AgreementTable):
        return data if cluster is None else replace(data, rows=_clustered(data.rows, cluster))
    if isinstance(data, Agreement):
        return data if cluster is None else _clustered([data], cluster)[0]
    try:
        study = open_sampled(data, drawn={"cluster": cluster})
    except NoTableError as error:
        raise DataError(
            f"Expected an agreement, got {a_type(with_reading(data)[0])}; pass what "
            "krippendorff_alpha, ... returned, or what they take: a study, a table or the path of "
            "one."
        ) from error
    return krippendorff_alpha(study, distance=main_distance(study))


def _clustered(rows: Sequence[Agreement], cluster: OfUnits) -> tuple[Agreement, ...]:
    """Return agreements of units that were drawn in clusters."""
    if rows[0].study is None:
        raise DataError(
            f"{option('cluster')} requires the identities of the units, which a tally "
            "lacks: build the study in memory with Annotations.from_long."
        )
    study = rows[0].study.sampled(cluster=cluster)
    clustered = tuple(score_part(row, study) for row in rows)
    warn_clusters(clustered)
    return clustered
