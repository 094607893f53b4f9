"""XML as a tree, without what could grow without bound."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import BinaryIO

from setagree.errors import FileError


class _Tree(ET.TreeBuilder):
    """A tree without declarations of entities, which could grow without bound."""

    def doctype(self, *_declared: object) -> None:
        raise FileError("it has a DOCTYPE, which no export has.")


def parse_xml(stream: BinaryIO, name: str) -> ET.Element:
    """Return the root of XML; `name` is what sentences call the file."""
    parser = ET.XMLParser(target=_Tree())  # noqa: S314 - a DOCTYPE is refused
    try:
        return ET.parse(stream, parser).getroot()  # noqa: S314
    except ET.ParseError as error:
        line, column = error.position
        raise FileError(f"{name}, line {line}, column {column}: no whole XML ({error}).") from error
    except FileError as error:
        raise FileError(f"{name}: {error}") from error
    except (LookupError, ValueError) as error:  # it names an encoding that there is not
        raise FileError(f"{name} is no whole XML: {error}.") from error
