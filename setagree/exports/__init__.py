"""Readers of what annotation tools export."""

from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.tools import brat, doccano, label_studio, labelbox
from setagree.exports.tools import hugging_face as json_rows
from setagree.exports.tools import tables as csv_tools

__all__ = ["FORMATS", "Answers", "Format", "Peek", "Request"]

FORMATS: tuple[Format, ...] = (
    *label_studio.FORMATS,
    *labelbox.FORMATS,
    *doccano.FORMATS,
    *brat.FORMATS,
    *csv_tools.FORMATS,
    *json_rows.FORMATS,
)
"""Every format that can be recognised and read."""
