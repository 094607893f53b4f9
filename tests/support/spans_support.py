"""The two studies of spans whose numbers were derived on paper and by an independent program."""

import pandas as pd

V1 = {
    "lengths": {"d1": 100, "d2": 100, "d3": 100, "d4": 80},
    "a": "d1 0-40 claim, d1 30-60 evidence, d2 10-20 claim, d3 0-30 claim, d4 20-50 evidence",
    "b": "d1 5-40 claim, d1 30-70 evidence, d2 50-60 claim, d3 0-30 claim, d3 80-90 evidence, "
    "d4 22-50 evidence",
}
V2 = {
    "lengths": {"x": 12, "y": 15, "z": 10, "w": 8},
    "a": "x 0-10 P, x 2-6 Q, y 3-9 P, z 1-4 Q, w 0-5 P",
    "b": "x 0-10 P, x 4-6 Q, y 5-12 Q, z 1-4 Q",
    "c": "x 0-8 P, y 3-9 P, w 0-7 P",
}
TOKENS = {"x": "aaaaa aaaa a", "y": "aaaa aaaa aaaaa", "z": "aaaa aaaaa", "w": "aaa aaaa"}
"""Texts of V2 with the tokens x 0-5 6-10 11-12, y 0-4 5-9 10-15, z 0-4 5-10, w 0-3 4-8."""


def rows(spans):
    """Return the spans of a study as a table."""
    found = []
    for rater in spans.keys() - {"lengths"}:
        for one in spans[rater].split(", "):
            document, place, label = one.split()
            start, end = map(int, place.split("-"))
            found.append((document, rater, start, end, label))
    return pd.DataFrame(sorted(found), columns=["document", "rater", "start", "end", "label"])


def done(spans):
    """Return who annotated what: everyone everything, except c document z."""
    raters = spans.keys() - {"lengths"}
    pairs = [(document, rater) for document in spans["lengths"] for rater in sorted(raters)]
    return [pair for pair in pairs if pair != ("z", "c")]
