"""Who gave what, in one unit of each pattern of a tally."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from setagree.study.codes import Codes, ReadOnlyArrays, as_objects, entries_of


@dataclass(frozen=True, eq=False)
class Given(ReadOnlyArrays):
    """The answers of one unit of each pattern, with their raters.

    Attributes
    ----------
    raters : ndarray of object, shape (n_raters,)
        Identifiers of the raters.
    indptr : ndarray of shape (n_patterns + 1,)
        Where the answers of each pattern start.
    rater_codes, value_codes : ndarray of shape (n_answers,)
        Who gave which value. Inside a pattern they ascend, so that equal patterns are equal answer
        by answer.

    Examples
    --------
    >>> who = as_objects(["ann", "bob"])
    >>> given = Given.of_answers(who, np.array([0, 0, 1]), np.array([1, 0, 0]), np.array([5, 7, 5]))
    >>> given.rater_codes.tolist(), given.value_codes.tolist(), given.indptr.tolist()
    ([0, 1, 0], [7, 5, 5], [0, 2, 3])
    """

    raters: npt.NDArray[np.object_]
    indptr: npt.NDArray[np.intp]
    rater_codes: Codes
    value_codes: Codes

    @classmethod
    def of_answers(
        cls, raters: npt.NDArray[np.object_], rows: Codes, rater_codes: Codes, value_codes: Codes
    ) -> Given:
        """Return answers in any order, sorted; every row has one at least."""
        order = np.lexsort((value_codes, rater_codes, rows))
        indptr = np.append(0, np.cumsum(np.bincount(rows)))
        codes = [one[order].astype(np.int32) for one in (rater_codes, value_codes)]
        return cls(raters, indptr, *codes)

    @cached_property
    def rows(self) -> Codes:
        """The pattern of each answer."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def has_repeats(self) -> bool:
        """Return whether a rater gave several answers to one unit."""
        same = (np.diff(self.rows) == 0) & (np.diff(self.rater_codes) == 0)
        return bool(same.any())

    def tokens(self) -> tuple[Codes, int]:
        """Return one code for each answer, equal where rater and value are; and how many."""
        n_values = int(self.value_codes.max(initial=0)) + 1
        keys = self.rater_codes.astype(np.int64) * n_values + self.value_codes
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes, len(distinct)

    def take(self, patterns: Codes) -> Given:
        """Return the answers of some of the patterns."""
        kept = entries_of(self.indptr, patterns)
        return replace(
            self,
            indptr=np.append(0, np.cumsum(np.diff(self.indptr)[patterns])),
            rater_codes=self.rater_codes[kept],
            value_codes=self.value_codes[kept],
        )

    def joined(self, other: Given, moved: Codes) -> Given:
        """Return the answers of both, those of `other` below; raters of one name are one.

        `moved` says which code a value of the other has in this.
        """
        codes = {rater: code for code, rater in enumerate(self.raters.tolist())}
        named = [codes.setdefault(rater, len(codes)) for rater in other.raters.tolist()]
        return self.of_answers(
            as_objects(codes),
            np.concatenate([self.rows, other.rows + len(self.indptr) - 1]),
            np.concatenate([self.rater_codes, np.array(named)[other.rater_codes]]),
            np.concatenate([self.value_codes, moved[other.value_codes]]),
        )
