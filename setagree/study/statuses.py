"""Why an annotation is absent: abstained, not applicable, failed to parse, refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from setagree.errors import (
    DataError,
    DroppedRowsWarning,
    counted,
    did_you_mean,
    listing,
    shorten,
    warn,
)
from setagree.study.assembly import code_ids, pick_column
from setagree.study.codes import as_objects
from setagree.study.columns import with_columns
from setagree.study.frames import Frame, as_pandas, numbered
from setagree.study.labels import is_missing
from setagree.study.reading import Reading

if TYPE_CHECKING:
    from setagree.study.annotations import Annotations

STATUSES = ("observed", "abstained", "not applicable", "failed to parse", "refused")
"""What a status may be; a blank one is the first."""


def without_unobserved(record: type[Annotations], data: Frame, reading: Reading) -> Annotations:
    """Return the study of the rows that were observed, which remembers the statuses of the others.

    Who answered a unit in another row after all has no other status there.

    Raises
    ------
    DataError
        The column is absent or holds something else, or no row was observed.
    """
    name, table = str(reading.status), numbered(as_pandas(data))
    answers = reading.answer if isinstance(reading.answer, list) else [reading.answer]
    others = replace(reading, status=None)
    said = _read(pick_column(table, name), name)
    table, observed = table.drop(columns=[name]), said == STATUSES[0]
    if not observed.any():
        raise DataError(f"no row has the status {STATUSES[0]!r} in column {name!r}.")
    study = record.from_reading(table[observed], others)
    _warn_answers(table[~observed], answers)
    frame = _without_answer(study, table[~observed], said[~observed], reading)
    missing, answered = dict(study.missing_by_rater), {*study.units}
    for rater in frame["rater"]:
        missing[rater] = missing.get(rater, 0) + 1
    unanswered = [*study.unanswered, *(unit for unit in frame["unit"] if unit not in answered)]
    return replace(
        study,
        reading=reading,
        unanswered=as_objects(dict.fromkeys(unanswered)),
        unobserved=frame,
        n_missing=study.n_missing + len(frame),
        missing_by_rater=missing,
    )


def _without_answer(
    study: Annotations, left: pd.DataFrame, said: npt.NDArray[np.object_], reading: Reading
) -> pd.DataFrame:
    """Return unit, rater and status of the rows that no other row answers after all.

    Of several rows of one unit and rater, such as those of a model that was asked again, the last
    counts.
    """
    named = with_columns(reading, [str(column) for column in left])
    ids = [code_ids(pick_column(left, getattr(named, role)), role) for role in ("unit", "rater")]
    units, raters = (names[codes] for codes, names in ids) if len(left) else (said, said)
    given = {*zip(study.units[study.unit_codes], study.raters[study.rater_codes], strict=True)}
    last = {one: row for row, one in enumerate(zip(units, raters, strict=True))}
    kept = sorted(row for one, row in last.items() if one not in given)
    return pd.DataFrame({"unit": units[kept], "rater": raters[kept], "status": said[kept]})


def _read(column: Any, name: str) -> npt.NDArray[np.object_]:
    """Return the statuses, spelled as they are listed."""
    codes, cells = pd.factorize(as_objects(column), use_na_sentinel=False)
    out = []
    for code, cell in enumerate(cells):
        said = "" if is_missing(cell) else str(cell).strip().lower()
        said = " ".join(said.replace("_", " ").replace("-", " ").split()) or STATUSES[0]
        if said not in STATUSES:
            hint = did_you_mean(said, STATUSES) or (
                f" It is one of {listing(STATUSES)}; of an answer that counts it is "
                f"{STATUSES[0]!r}, or blank."
            )
            row = int(np.flatnonzero(codes == code)[0]) + 1
            raise DataError(
                f"column {name!r} says whether an annotation was observed; row {row} has "
                f"{shorten(cell)}.{hint}"
            )
        out.append(said)
    return as_objects(out)[codes]


def _warn_answers(left: pd.DataFrame, answers: list[Any]) -> None:
    """Warn of rows that were not observed and hold an answer all the same."""
    if len(answers) > 1 or not len(left):
        return
    cells = as_objects(pick_column(left, answers[0]))
    n = sum(not is_missing(cell) and str(cell).strip() not in {"", "[]"} for cell in cells)
    if n:
        warn(
            f"{counted(n, 'row')} with another status than {STATUSES[0]!r} and an answer: the "
            "answer does not count.",
            DroppedRowsWarning,
        )


def statuses(study: Annotations) -> pd.DataFrame:
    """How many annotations of each rater were observed, and how many were not and why.

    A row for each rater, those without any observed annotation last; see ``status=`` of
    `from_long`. Units that nobody annotated count, too.
    """
    counts = np.bincount(study.rater_codes, minlength=study.n_raters)
    left = study.unobserved
    index = [*study.raters]
    if left is not None:
        index += [one for one in left["rater"].unique() if one not in {*index}]
    raters = pd.Index(as_objects(index), name="rater", tupleize_cols=False)
    out = pd.DataFrame(0, index=raters, columns=[*STATUSES])
    out.iloc[: study.n_raters, 0] = counts
    if left is not None:
        place = {rater: k for k, rater in enumerate(index)}
        cells = out.to_numpy(copy=True)
        columns = [STATUSES.index(one) for one in left["status"]]
        np.add.at(cells, ([place[one] for one in left["rater"]], columns), 1)
        out = pd.DataFrame(cells, index=raters, columns=[*STATUSES])
    return out
