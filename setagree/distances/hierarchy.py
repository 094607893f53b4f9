"""Label hierarchies from a dict, a table, a file, or the labels themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from setagree.checks import check_least
from setagree.distances.matrix import check_amount
from setagree.errors import DistanceError, check_mapping, listing, shorten
from setagree.lazy import pd
from setagree.study.frames import as_pandas
from setagree.study.identifiers import tidied
from setagree.study.labels import is_missing
from setagree.wording.label_sets import Label, LabelSet, sorted_labels

Parents: TypeAlias = Mapping[Any, Any] | pd.DataFrame | str | os.PathLike[str]
"""A dict of parents or of children, a table of child and parent, or a file with such a table.

For labels that are paths, it is the text between their steps, such as "/".
"""

_WEIGHTS = ("weight", "information")
_OR_ELSE = (
    "or a table with the columns child and parent, or the path of a file with one; or '/' if "
    "labels are paths such as 'emotion/joy'"
)


@dataclass(frozen=True)
class Hierarchy:
    """The parents of labels, stated or read off a path in the label.

    A label without parents is a root. `weights` are the weights, or information, of a table.
    """

    parents: Mapping[Any, LabelSet]
    path_separator: str | None = None
    weights: Mapping[Any, float] | None = field(default=None, repr=False)
    _steps: dict[Label, dict[Label, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _depths: dict[Label, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def node(self, label: Label) -> Label:
        """Return the label as the hierarchy spells it: a path without spaces at its separators."""
        if self.path_separator is None or not isinstance(label, str):
            return label
        steps = map(tidied, label.split(self.path_separator))
        return self.path_separator.join(filter(None, steps)) or label

    def above(self, label: Label) -> LabelSet:
        """Return the parents of a label."""
        if self.path_separator is None or not isinstance(label, str):
            return self.parents.get(label, frozenset())
        before = str(self.node(label)).rpartition(self.path_separator)[0]
        return frozenset([before] if before else [])

    def steps_up(self, label: Label) -> dict[Label, int]:
        """Return the label and all its ancestors, with the smallest number of steps to each."""
        known = self._steps.get(label)
        if known is not None:
            return known
        found = {self.node(label): 0}
        waiting = list(found)
        for one in waiting:  # grows while it is walked, nearest ancestors first
            for parent in self.above(one):
                if parent not in found:
                    found[parent] = found[one] + 1
                    waiting.append(parent)
        self._steps[label] = found
        return found

    def depth(self, label: Label) -> int:
        """Return the number of labels on the shortest path from a root, both ends counted."""
        if label not in self._depths:
            found = self.steps_up(label).items()
            self._depths[label] = 1 + min(up for one, up in found if not self.above(one))
        return self._depths[label]

    def close(self, labels: LabelSet) -> LabelSet:
        """Return the labels with all their ancestors."""
        return frozenset().union(*(self.steps_up(label) for label in labels))

    def at_depth(self, label: Label, depth: int) -> LabelSet:
        """Return the ancestors of a label at a depth, or the label itself if it is above it.

        A label with several parents may have ancestors at a greater depth than its own.
        """
        if self.depth(label) <= depth:
            return frozenset([self.node(label)])
        return frozenset(one for one in self.steps_up(label) if self.depth(one) == depth)

    def lifting(self, depth: int) -> Callable[[Any], LabelSet]:
        """Return the function that replaces the labels of a set by their ancestors at a depth."""
        check_least("depth", depth, 1)
        lifted = cache(partial(self.at_depth, depth=depth))
        return lambda labels: frozenset().union(*map(lifted, labels))


def read_hierarchy(parents: Parents | Hierarchy) -> Hierarchy:
    """Return the hierarchy of parents, or of paths in the labels; raise if it has loops."""
    parents = getattr(parents, "hierarchy", parents)
    if isinstance(parents, Hierarchy):
        return parents
    if isinstance(parents, str) and is_separator(parents):
        return Hierarchy({}, parents)
    stated: Any = parents
    # A text is a path if it looks like one; a single word is more likely a mistake.
    if isinstance(parents, os.PathLike) or (
        isinstance(parents, str) and (os.path.lexists(parents) or Path(parents).suffix)
    ):
        stated = parents_table(parents)
    if hasattr(stated, "columns"):
        return _checked(*_of_table(as_pandas(stated)))
    check_mapping("parents", stated, f"the parent, or the parents, of each label; {_OR_ELSE}")
    if any(isinstance(below, Mapping) for below in stated.values()):
        return _checked(_of_nested(stated))
    return _checked({tidied(label): _as_labels(above) for label, above in stated.items()})


def is_separator(text: str) -> bool:
    """Return whether text separates the steps of labels that are paths, such as /, :: or >."""
    return bool(text.strip()) and not any(map(str.isalnum, text))


def parents_table(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> pd.DataFrame:
    """Return the table of child and parent in a file; OBO files are known by their ending."""
    from setagree.files.tables import read_table, read_text  # loads the readers of files

    name = os.fspath(path).lower()
    if not name.removesuffix(".gz").endswith(".obo"):
        return read_table(path, encoding=encoding)
    rows = list(_terms(read_text(path, encoding=encoding)))
    if not rows:
        raise DistanceError(f"{os.fspath(path)!r} has no term: an OBO file lists them as [Term].")
    return pd.DataFrame(rows, columns=["child", "parent"])


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield child and parent of an OBO file, by the ids of terms and once more by their names."""
    terms: dict[str, dict[str, list[str]]] = {}
    for stanza in f"\n{text}".split("\n[")[1:]:
        kind, _, body = stanza.partition("]")
        tags: dict[str, list[str]] = {}
        for line in body.splitlines():
            tag, _, value = line.partition(":")
            tags.setdefault(tag.strip(), []).append(value.partition(" !")[0].strip())
        if kind == "Term" and tags.get("id") and "true" not in tags.get("is_obsolete", []):
            terms[tags["id"][0]] = tags
    names = {term: tags.get("name", [""])[0] for term, tags in terms.items()}
    for term, tags in terms.items():
        # Text in braces after an id qualifies the relation.
        above = [one.partition(" {")[0] for one in tags.get("is_a", [])]
        for known, parents in ((term, above), (names[term], [names.get(p, "") for p in above])):
            yield from ((known, parent) for parent in (parents or [""]) if known)


def _of_table(table: pd.DataFrame) -> tuple[dict[Any, LabelSet], dict[Any, float] | None]:
    """Return the parents, and the weights if there are any, that a table states."""
    found = {str(name).strip().casefold(): name for name in table.columns}
    if not {"child", "parent"} <= found.keys():
        raise DistanceError(
            f"it needs the columns child and parent; it has {listing(list(table.columns))}."
        )
    named = [name for name in _WEIGHTS if name in found]
    if len(named) > 1:
        raise DistanceError("the table has a column weight and a column information; drop one.")
    children = [tidied(child) for child in table[found["child"]]]
    parents: dict[Any, LabelSet] = {}
    for child, parent in zip(children, table[found["parent"]], strict=True):
        parents[child] = parents.get(child, frozenset()) | _as_labels(parent)
    if not named:
        return parents, None
    return parents, _weights(children, table[found[named[0]]], named[0])


def _weights(children: Iterable[Any], cells: Iterable[Any], noun: str) -> dict[Any, float]:
    weights: dict[Any, float] = {}
    for child, cell in zip(children, cells, strict=True):
        if is_missing(cell) or cell == "":
            continue
        try:
            weight = float(cell)
        except (TypeError, ValueError):
            raise DistanceError(
                f"label {shorten(child)} has {noun} {shorten(cell)}; write a number such as 2.5."
            ) from None
        check_amount(f"label {shorten(child)}", noun, weight)
        if weights.setdefault(child, weight) != weight:
            raise DistanceError(f"label {shorten(child)} has two values in column {noun}.")
    return weights


def _of_nested(children: Mapping[Any, Any], above: LabelSet = frozenset()) -> dict[Any, LabelSet]:
    """Return the parents in a dict of dicts, in which the children are nested."""
    found: dict[Any, LabelSet] = {}
    for name, below in children.items():
        label = tidied(name)
        found[label] = found.get(label, frozenset()) | above
        leaves = below if isinstance(below, Mapping) else dict.fromkeys(_as_labels(below))
        for child, parents in _of_nested(leaves, frozenset([label])).items():
            found[child] = found.get(child, frozenset()) | parents
    return found


def _checked(
    parents: Mapping[Any, LabelSet], weights: Mapping[Any, float] | None = None
) -> Hierarchy:
    """Return the hierarchy; raise if a label is its own ancestor or has no name."""
    found = Hierarchy(parents, weights=weights)
    for label, above in parents.items():
        if not _as_labels(label):
            below = f" below {listing(sorted_labels(above))}" if above else ""
            raise DistanceError(
                f"a label{below} is blank in the taxonomy; every row names its child."
            )
        if any(label in found.steps_up(one) for one in above):
            raise DistanceError(f"label {shorten(label)} is its own ancestor in the taxonomy.")
    return found


def _as_labels(above: Any) -> LabelSet:
    """Return the labels in a cell, or an empty set if it is missing or blank."""
    several = isinstance(above, Iterable) and not isinstance(above, str)
    labels = [tidied(one) for one in (above if several else [above]) if not is_missing(one)]
    for label in labels:
        if not isinstance(label, Hashable):
            raise DistanceError(f"{shorten(label)} is in a place where the taxonomy needs a label.")
    return frozenset(labels) - {""}
