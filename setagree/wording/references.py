"""References as sentences and as BibTeX, both from one record."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_CONTAINERS = {
    "article": "journal",
    "inproceedings": "booktitle",
    "techreport": "institution",
    "book": "publisher",
}
"""The BibTeX field of what a source is published in or by."""

_SIGNS = {"&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "_": r"\_", "–": "--"}
_UNSAFE = re.compile(r"[\\{}`\s]+")
"""Characters that would end a BibTeX field, or the block that shows it."""


@dataclass(frozen=True)
class Reference:
    """A source; text from a user is a `note`, and has no other field."""

    kind: str
    author: str = ""
    year: str = ""
    title: str = ""
    container: str = ""
    edition: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    note: str = ""
    cited_as: str = ""

    @property
    def in_sentence(self) -> str:
        """The reference as a sentence cites it, such as "Cohen, 1968"."""
        return self.note or f"{self.cited_as}, {self.year}"

    @property
    def text(self) -> str:
        """The reference as a list of references has it."""
        if self.note:
            return self.note
        *others, last = self.author.split(" and ")
        people = f"{', '.join(others)}, & {last}" if others else last
        edition = f" ({self.edition} ed.)" if self.edition else ""
        place = self.container
        if self.kind == "article":
            place += f", {self.volume}{f'({self.number})' if self.number else ''}, {self.pages}"
        elif self.kind == "inproceedings":
            place = f"In {place}{f' (pp. {self.pages})' if self.pages else ''}"
        return f"{people} ({self.year}). {self.title}{edition}. {place}."

    def bibtex(self, key: str = "") -> str:
        """Return the entry; without a key, that of the first author and the year."""
        surname = unicodedata.normalize("NFKD", self.author.partition(",")[0])
        named = re.sub(r"\W", "", f"{surname}{self.year}", flags=re.ASCII).lower()
        fields = {
            "author": self.author,
            "title": self.title and f"{{{_escaped(self.title)}}}",
            _CONTAINERS.get(self.kind, ""): self.container,
            **{x: getattr(self, x) for x in ("edition", "year", "volume", "number", "pages")},
            "note": self.note,
        }
        safe = {x: text if x == "title" else _escaped(text) for x, text in fields.items()}
        return _entry(self.kind, key or named, safe)


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in _UNSAFE.sub(" ", text))


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = (f"  {name} = {{{text}}}," for name, text in fields.items() if text)
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def bibliography(references: Iterable[Reference], version: str) -> str:
    """Return the BibTeX entry of a version of setagree, then one for each reference."""
    software = {
        "author": "{The setagree developers}",
        "title": "{setagree: Inter-rater agreement for set-valued (multi-label) annotations}",
        "version": version,
        "license": "BSD-3-Clause",
    }
    entries = [
        one.bibtex(f"reference{place}" if one.note else "")
        for place, one in enumerate(references, start=1)
    ]
    return "\n\n".join([_entry("software", "setagree", software), *entries])
