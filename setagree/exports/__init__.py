"""Readers of what annotation tools export."""

from setagree.exports.format import Answers, Format, Peek, Request
from setagree.exports.tools import folders, json_folders, json_tools, json_tools_more
from setagree.exports.tools import hugging_face as json_rows
from setagree.exports.tools import tables as csv_tools

__all__ = ["FORMATS", "Answers", "Format", "Peek", "Request"]

FORMATS: tuple[Format, ...] = (
    *json_tools.FORMATS,
    *json_tools_more.FORMATS,
    *json_folders.FORMATS,
    *folders.FORMATS,
    *csv_tools.FORMATS,
    *json_rows.FORMATS,
)
"""Every format that can be recognised and read."""
