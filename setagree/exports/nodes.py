"""JSON files as values that know where they stand."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setagree.errors import FileError, did_you_mean, shorten
from setagree.files.records import unique_keys
from setagree.files.streams import Source, readable, with_mark
from setagree.wording.label_sets import Label

_MOST_BYTES = 2**31
_CLASS_FILES = ("{stem}.features.json", "dataset_info.json")
# One for all lines: to make it takes longer than to read one.
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)
_NAMED = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A JSON value that knows where it stands, and says what it lacks.

    `key` is its key or position in the value around it; of the outermost its place in the file.
    """

    # Not frozen: a file has millions of these, and freezing makes each three times as dear.
    value: Any
    file: str
    key: str | int = ""
    around: Node | None = None

    def __str__(self) -> str:
        place = self.place
        return f"{self.file}, {place}" if place else self.file

    @property
    def place(self) -> str:
        """Where it stands: ``line 7, annotations[0]``, ``tasks[3].annotations[0]``."""
        if self.around is None:
            return str(self.key)
        before = self.around.place
        if isinstance(self.key, int):
            return f"{before}[{self.key}]"
        if not before:
            return self.key
        # "line 7, label" but "tasks[3].label"
        return f"{before}{', ' if ' ' in before and ',' not in before else '.'}{self.key}"

    def fail(self, rule: str) -> FileError:
        """Return an error which says where, and what rule this value breaks."""
        return FileError(f"{self}: {rule}")

    def at(self, key: str) -> Node:
        """Return the value under a key that must be there."""
        inside = self.value
        if isinstance(inside, dict) and key in inside:
            return Node(inside[key], self.file, key, self)
        raise self.fail(f"no {key!r}.{did_you_mean(key, self.members())}")

    def get(self, key: str) -> Node | None:
        """Return the value under a key, or None where it is absent or null."""
        value = self.members().get(key)
        return None if value is None else Node(value, self.file, key, self)

    def members(self) -> dict[str, Any]:
        """Return the object that this value must be."""
        if not isinstance(self.value, dict):
            raise self.fail(f"{self._seen()} where an object is due.")
        return self.value

    def values(self) -> Iterator[Node]:
        """Yield the values of the object that this value must be."""
        return (self.at(key) for key in self.members())

    def each(self, key: str) -> Iterator[Node]:
        """Yield the items of the list under a key, none where it is absent or null."""
        inside = self.get(key)
        yield from () if inside is None else inside.items()

    def items(self) -> Iterator[Node]:
        """Yield the items of the list that this value must be."""
        if not isinstance(self.value, list):
            raise self.fail(f"{self._seen()} where a list is due.")
        for position, item in enumerate(self.value):
            yield Node(item, self.file, position, self)

    def name(self) -> Hashable:
        """Return the identifier that this value must be: text that is not blank, or a number."""
        return self._named("a name or number")

    def label(self) -> Label:
        """Return the label that this value must be."""
        return self._named("a label")

    def _named(self, due: str) -> Label:
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip():
            return value
        raise self.fail(f"{self._seen()} where {due} is due.")

    def label_set(self) -> frozenset[Label]:
        """Return the labels of the list that this value must be."""
        return frozenset([item.label() for item in self.items()])

    def number_set(self) -> frozenset[Label] | None:
        """Return this number with all its digits as a label, 2.0 as 2; NaN is no answer (None)."""
        number = self.number()
        if number != number:
            return None
        is_whole = isinstance(number, float) and number.is_integer()
        return frozenset([str(int(number) if is_whole else number)])

    def flag(self, key: str) -> bool:
        """Return whether the value under a key is true; absent or null is not."""
        inside = self.get(key)
        if inside is None or isinstance(inside.value, bool):
            return inside is not None and inside.value
        raise inside.fail(f"{shorten(inside.value, limit=40)} where true or false is due.")

    def number(self) -> float:
        """Return the number that this value must be."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return self.value
        raise self.fail(f"{self._seen()} where a number is due.")

    def ends(self, start: str = "start", end: str = "end") -> tuple[float, float]:
        """Return the numbers under the keys of a start and an end, which must be there."""
        return self.at(start).number(), self.at(end).number()

    def text(self) -> str:
        """Return the text that this value must be."""
        if not isinstance(self.value, str):
            raise self.fail(f"{self._seen()} where text is due.")
        return self.value

    def _seen(self) -> str:
        kind = _NAMED.get(type(self.value), "a number")
        return f"{kind} ({shorten(self.value, limit=40)})" if self.value or kind == "text" else kind


def read_text(path: Path, encoding: str) -> str:
    """Return the text of a file, decompressed where it is compressed."""
    source = Source(path, with_mark(encoding))
    with readable(source):
        data = source.content(_MOST_BYTES)
    if len(data) > _MOST_BYTES:
        raise FileError(
            f"{source} has more than {_MOST_BYTES:,} bytes of JSON; export parts of it."
        )
    if not data.strip():
        raise FileError(f"{source} is empty.")
    return source.decoded(data)


def read_records(path: Path, encoding: str, *, name: str = "") -> list[Node]:
    """Return the objects of a JSON list, or of a file with one object a line.

    `name` is what the items of a list are called in sentences: ``tasks`` gives ``tasks[3]``.

    Raises
    ------
    FileError
        The file is no JSON, with line and column; or holds something else than objects.
    """
    text = read_text(path, encoding)
    file = shown(path)
    if not text.lstrip().startswith("[") and (lines := _lines(text, file)) is not None:
        return lines
    root = Node(_parsed(text, file), file, name)
    if isinstance(root.value, dict):
        return [Node(root.value, file)]
    records = list(root.items())
    if not records:
        raise FileError(f"{file} is an empty list; there is nothing to score.")
    for record in records:
        record.members()
    return records


def read_object(path: Path, encoding: str) -> Node:
    """Return the one object that a file holds."""
    records = read_records(path, encoding)
    if len(records) > 1:
        raise FileError(f"{shown(path)} holds {len(records):,} objects where one is due.")
    return records[0]


def class_files(path: Path) -> list[Path]:
    """Return the files beside rows that may name the classes."""
    end = path.name.lower().rfind(Source(path).suffix)  # -1: that of the file in an archive
    stem = path.name[:end] if end > 0 else path.stem
    found = [path.with_name(pattern.format(stem=stem)) for pattern in _CLASS_FILES]
    return [each for each in found if each.is_file()]


def shown(path: Path) -> str:
    """Return a path as it stands in sentences."""
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


def _lines(text: str, file: str) -> list[Node] | None:
    """Return one object for each line, or None where the first line is no whole object."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        if not isinstance(json.loads(lines[0][1]), dict):
            return None
    except (ValueError, RecursionError):
        return None
    values = _together([line for _, line in lines])
    if len(values) != len(lines):  # so that one is no whole object: which, its own reading tells
        values = [_line(line, f"{file}, line {n:,}") for n, line in lines]
    found = zip(lines, values, strict=True)
    nodes = [Node(value, file, f"line {n:,}") for (n, _), value in found]
    for node in nodes:
        node.members()
    return nodes


def _together(lines: list[str]) -> list[Any]:
    """Return what lines stand for, read in one go, which is much faster; none where that fails."""
    try:
        return list(_DECODER.decode(f"[{','.join(lines)}]"))
    except (ValueError, RecursionError):
        return []


def _line(line: str, where: str) -> Any:
    try:
        return _DECODER.decode(line)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = getattr(error, "msg", None) or error
        raise FileError(f"{where}: no whole JSON object ({reason}).") from None
    except ValueError as error:
        raise FileError(f"{where}: {error}.") from None


def _parsed(text: str, file: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip())
        what = "the JSON is cut off" if ends else f"this is not JSON ({error.msg})"
        raise FileError(f"{file}, line {error.lineno:,}, column {error.colno:,}: {what}.") from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{file}: the JSON cannot be read ({error}).") from None
