"""All readers of exports that are tables."""

from __future__ import annotations

from setagree.exports.format import Format
from setagree.exports.tools import dedoose as csv_tools_coding
from setagree.exports.tools import mturk as csv_tools_crowd
from setagree.exports.tools import plain as csv_tools_plain
from setagree.exports.tools import qualtrics as csv_tools_qualtrics
from setagree.exports.tools import redcap as csv_tools_surveys

FORMATS: tuple[Format, ...] = (
    *csv_tools_crowd.FORMATS,
    *csv_tools_coding.FORMATS,
    *csv_tools_surveys.FORMATS,
    *csv_tools_qualtrics.FORMATS,
    *csv_tools_plain.FORMATS,
)
