"""JSON values with their location in the file, for messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setagree.errors import FileError, counted, did_you_mean, shorten
from setagree.files.records import parsed_json, read_lines
from setagree.files.streams import Source, readable, with_mark
from setagree.wording.label_sets import Label

_MAX_BYTES = 2**31
_TYPES = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A JSON value with its location.

    `key` is the key or position in the value `parent`; of the outermost value its place in the
    file.
    """

    # Not frozen: files have millions of these, and freezing triples the cost of creating one.
    value: Any
    file: str
    key: str | int = ""
    parent: Node | None = None

    def __str__(self) -> str:
        place = self.place
        return f"{self.file}, {place}" if place else self.file

    @property
    def place(self) -> str:
        """Location in the file: ``line 7, annotations[0]``, ``tasks[3].annotations[0]``."""
        if self.parent is None:
            return str(self.key)
        before = self.parent.place
        if isinstance(self.key, int):
            return f"{before}[{self.key}]"
        if not before:
            return self.key
        # "line 7, label" but "tasks[3].label"
        return f"{before}{', ' if ' ' in before and ',' not in before else '.'}{self.key}"

    def fail(self, problem: str) -> FileError:
        """Return the error for a problem of this value, with its location."""
        return FileError(f"{self}: {problem}")

    def at(self, key: str) -> Node:
        """Return the value under a required key."""
        inside = self.value
        if isinstance(inside, dict) and key in inside:
            return Node(inside[key], self.file, key, self)
        raise self.fail(f"no key {key!r}.{did_you_mean(key, self.members())}")

    def get(self, key: str) -> Node | None:
        """Return the value under a key, or None if it is absent or null."""
        value = self.members().get(key)
        return None if value is None else Node(value, self.file, key, self)

    def members(self) -> dict[str, Any]:
        """Return this value, which must be an object."""
        if not isinstance(self.value, dict):
            raise self.unexpected("an object")
        return self.value

    def values(self) -> Iterator[Node]:
        """Yield the values of this object."""
        return (self.at(key) for key in self.members())

    def values_of(self, key: str) -> Iterator[Node]:
        """Yield the values of the object under a key; nothing if it is absent or null."""
        inside = self.get(key)
        yield from () if inside is None else inside.values()

    def each(self, key: str) -> Iterator[Node]:
        """Yield the items of the list under a key; nothing if it is absent or null."""
        inside = self.get(key)
        yield from () if inside is None else inside.items()

    def items(self) -> Iterator[Node]:
        """Yield the items of this list."""
        if not isinstance(self.value, list):
            raise self.unexpected("a list")
        for position, item in enumerate(self.value):
            yield Node(item, self.file, position, self)

    def label(self) -> Label:
        """Return this label: an integer, or text that is not blank."""
        return self.name("a label")

    def name(self, expected: str = "a name or number") -> Label:
        """Return this identifier: an integer, or text that is not blank."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip():
            return value
        raise self.unexpected(expected)

    def label_set(self) -> frozenset[Label]:
        """Return the labels in this list."""
        return frozenset([item.label() for item in self.items()])

    def number_set(self) -> frozenset[Label] | None:
        """Return this number as a label (2.0 as 2), or None if it is null or NaN."""
        if self.value is None or (number := self.number()) != number:
            return None
        is_whole = isinstance(number, float) and number.is_integer()
        return frozenset([str(int(number) if is_whole else number)])

    def flag(self, key: str) -> bool:
        """Return the flag under a key; False if it is absent or null."""
        inside = self.get(key)
        if inside is None or isinstance(inside.value, bool):
            return inside is not None and inside.value
        raise inside.unexpected("true or false")

    def number(self) -> float:
        """Return this number."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return self.value
        raise self.unexpected("a number")

    def ends(self, start: str = "start", end: str = "end") -> tuple[float, float]:
        """Return the numbers under the keys of a start and an end."""
        return self.at(start).number(), self.at(end).number()

    def text(self) -> str:
        """Return this text."""
        if not isinstance(self.value, str):
            raise self.unexpected("text")
        return self.value

    def unexpected(self, expected: str) -> FileError:
        """Return the error for a value of another type than the `expected` one."""
        kind = _TYPES.get(type(self.value), "a number")
        if self.value or kind == "text":
            kind += f" ({shorten(self.value, limit=40)})"
        return self.fail(f"expected {expected}; got {kind}.")


def _read_text(source: Source) -> str:
    """Return the text of a file, which may be compressed."""
    with readable(source):
        data = source.content(_MAX_BYTES)
    if len(data) > _MAX_BYTES:
        raise FileError(f"{source} has more than {_MAX_BYTES:,} bytes of JSON; export parts of it.")
    if not data.strip():
        raise FileError(f"{source} is empty.")
    return source.decoded(data)


def read_records(path: Path, encoding: str, *, name: str = "") -> list[Node]:
    """Return the objects of a JSON list, or of a file with one object per line.

    `name` is the list in messages: ``tasks`` gives ``tasks[3]``.
    """
    source, file = Source(path, with_mark(encoding)), shown(path)
    text = _read_text(source)
    if not text.lstrip().startswith("[") and (lines := _lines(source, text)) is not None:
        return lines
    root = Node(parsed_json(source, text, parse_float=None), file, name)
    if isinstance(root.value, dict):
        return [Node(root.value, file)]
    records = list(root.items())
    if not records:
        raise FileError(f"{file} is an empty list; there is nothing to score.")
    for record in records:
        record.members()
    return records


def read_object(path: Path, encoding: str) -> Node:
    """Return the only object of a file."""
    records = read_records(path, encoding)
    if len(records) > 1:
        raise FileError(f"{shown(path)}: expected one object; got {len(records):,}.")
    return records[0]


def parallel(
    raters: Node, answers: Node, items: Callable[[Node], Iterator[Node]] = Node.items
) -> Iterator[tuple[Node, Node]]:
    """Yield the pairs of raters and answers in two parallel lists, whose items `items` yields."""
    names, labels = list(items(raters)), list(items(answers))
    if len(names) != len(labels):
        numbers = f"{counted(len(labels), 'answer')} of {counted(len(names), 'rater')}"
        raise answers.fail(f"{numbers} ({raters.key!r}).")
    yield from zip(names, labels, strict=True)


def shown(path: Path) -> str:
    """Return a path as messages show it."""
    return repr(str(path))


def first_object(text: str) -> dict[str, Any] | None:
    """Return the first object of a JSON text, alone or in a list, or None if there is none."""
    start = text.lstrip("\ufeff \t\r\n").removeprefix("[").lstrip()
    if not start.startswith("{"):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _lines(source: Source, text: str) -> list[Node] | None:
    """Return one object per line, or None if the first line is not a complete object."""
    lines = {n: line for n, line in enumerate(text.split("\n"), start=1) if line.strip()}
    try:
        if not isinstance(json.loads(next(iter(lines.values()))), dict):
            return None
    except (ValueError, RecursionError):
        return None
    values = zip(lines, read_lines(source, lines, parse_float=None), strict=True)
    nodes = [Node(value, str(source), f"line {n:,}") for n, value in values]
    for node in nodes:
        node.members()
    return nodes
