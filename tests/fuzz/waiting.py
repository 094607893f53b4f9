"""What the library cannot do yet: a case that needs it is not run. The aim is an empty set.

- "nulls alone": nulls of a long column of label text without blank text are what blank= says.
- "exact numbers": decimals, fractions and whole numbers of any size keep their identity.
- "no certainty": where the standard error is 0, interval and p-value are nan.
- "template left-overs": a set of sets or dicts in a text cell is refused in a sentence.
- "no labels": `format_labels` refuses what is no label set.
- "unreadable folders": a folder that cannot be listed to its ground is a sentence.
- "half an emoji": names that no UTF-8 file can hold are refused in a sentence.
"""

from __future__ import annotations

WAITING: set[str] = {
    "nulls alone",
    "exact numbers",
    "no certainty",
    "template left-overs",
    "half an emoji",
    "no labels",
    "unreadable folders",
}
