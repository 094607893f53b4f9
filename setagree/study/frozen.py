"""Arrays that cannot be written to, in results that people share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a new array that is shared from now on, so that nobody writes to it."""
    array.flags.writeable = False
    return array


class ReadOnlyArrays:
    """Base of dataclasses whose arrays are read-only.

    Nothing is copied: the record holds a view of each array, so that an array of the caller stays
    as it is.
    """

    def __post_init__(self) -> None:
        """Take a read-only view of each array; one that is read-only stays the same object."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, or what was pickled: numpy makes its arrays writeable."""
        vars(self).update(state)
        ReadOnlyArrays.__post_init__(self)
