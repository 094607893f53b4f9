"""Readers of what annotation tools export.

A format is one file in `tools`, which reads it, and one entry in `registry`, which says how it is
known. Where objects of JSON hold raters with their lists of labels, ``hf_nested`` fits as well: its
entry names in `none` what it leaves to tools. Another package offers a `Format` through the
entry-point group ``setagree.formats``, which is asked where none of these surely fits.
"""

from setagree.exports.format import Answers, Format, Peek, Request, Signature
from setagree.exports.registry import FORMATS

__all__ = ["FORMATS", "Answers", "Format", "Peek", "Request", "Signature"]
