"""Readers of exports of annotation tools.

A format is one module in `tools`, which reads it, and one entry in `registry`, with its signatures.
``hf_nested`` also fits JSON objects of tools that contain raters with their lists of labels, unless
the `none` of its entry excludes their keys. Other packages offer a `Format` in the entry-point
group ``setagree.formats``, which is used if none of these certainly fits.
"""

from setagree.exports.format import Answers, Format, Peek, Request, Signature
from setagree.exports.registry import FORMATS

__all__ = ["FORMATS", "Answers", "Format", "Peek", "Request", "Signature"]
