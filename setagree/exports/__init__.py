"""Readers of what annotation tools export.

A format is one file in `tools`, which reads it, and one entry in `registry`, which says how it is
known. Another package offers a `Format` through the entry-point group ``setagree.formats``.
"""

from setagree.exports.format import Answers, Format, Peek, Request, Signature
from setagree.exports.registry import FORMATS

__all__ = ["FORMATS", "Answers", "Format", "Peek", "Request", "Signature"]
