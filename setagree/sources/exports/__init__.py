"""Readers of what annotation tools export."""

from setagree.sources.exports import (
    csv_tools,
    folders,
    json_folders,
    json_rows,
    json_tools,
    json_tools_more,
)
from setagree.sources.exports.base import Answers, Format, Peek, Request

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
