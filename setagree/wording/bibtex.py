"""References as BibTeX, made from the sentence that each of them is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_REFERENCE = re.compile(
    r"(?P<author>.+?) \((?P<year>\d{4})\)\. (?P<title>.+?)(?: \((?P<edition>\w+) ed\.\))?\. "
    r"(?:(?P<journal>[^.]+), (?P<volume>\d+)(?:\((?P<number>\d+)\))?, (?P<pages>[^.]+)"
    r"|In (?P<booktitle>[^.]+)|(?P<institution>University [^.]+)|(?P<publisher>[^.]+))\."
)
"""An article, a paper in proceedings, a report, or a book."""

_KINDS = {
    "journal": "article",
    "booktitle": "inproceedings",
    "institution": "techreport",
    "publisher": "book",
}
_BETWEEN = re.compile(r",? & |(?<=\.), ")
"""Separator between two authors."""

_SIGNS = {"&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "_": r"\_", "–": "--"}
_LOOSE = re.compile(r"[\\{}`\s]+")
"""Characters that would end a BibTeX field, or the block that shows it."""


def software_entry(version: str) -> str:
    """Return the entry of setagree itself."""
    return _entry(
        "software",
        "setagree",
        author="{The setagree developers}",
        title="{setagree: Inter-rater agreement for set-valued (multi-label) annotations}",
        version=version,
        license="BSD-3-Clause",
    )


def reference_entries(references: Iterable[str]) -> list[str]:
    """Return an entry for each reference; one that is written in another way is a note.

    Examples
    --------
    >>> print(reference_entries(["Cohen, J. (1968). Weighted kappa. Psychological Bulletin, 70(4), "
    ...                          "213–220."])[0])
    @article{cohen1968,
      author = {Cohen, J.},
      title = {{Weighted kappa}},
      journal = {Psychological Bulletin},
      year = {1968},
      volume = {70},
      number = {4},
      pages = {213--220},
    }
    """
    return [_of(text, f"reference{k}") for k, text in enumerate(references, start=1)]


def _of(text: str, key: str) -> str:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return _entry("misc", key, note=_escaped(_LOOSE.sub(" ", text)))
    told = {name: _escaped(_LOOSE.sub(" ", part)) for name, part in found.groupdict("").items()}
    where = next(name for name in _KINDS if told[name])
    named = unicodedata.normalize("NFKD", f"{told['author'].partition(',')[0]}{told['year']}")
    key = re.sub(r"\W", "", named, flags=re.ASCII).lower()  # NFKD separates accents; remove them
    return _entry(
        _KINDS[where],
        key,
        author=_BETWEEN.sub(" and ", told["author"].replace(r"\&", "&")),
        title=f"{{{told['title']}}}",
        **{where: told[where]},
        **{name: told[name] for name in ("edition", "year", "volume", "number", "pages")},
    )


def _entry(kind: str, key: str, **told: str) -> str:
    lines = (f"  {name} = {{{text}}}," for name, text in told.items() if text)
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)
