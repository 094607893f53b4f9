"""All readers of exports that are tables."""

from __future__ import annotations

from setagree.sources.exports import (
    csv_tools_coding,
    csv_tools_crowd,
    csv_tools_plain,
    csv_tools_qualtrics,
    csv_tools_surveys,
)
from setagree.sources.exports.base import Format

FORMATS: tuple[Format, ...] = (
    *csv_tools_crowd.FORMATS,
    *csv_tools_coding.FORMATS,
    *csv_tools_surveys.FORMATS,
    *csv_tools_qualtrics.FORMATS,
    *csv_tools_plain.FORMATS,
)
