"""Dedoose and ATLAS.ti: segments as units, and codes in one column."""

import pytest
from exports.csv_writers import read, table

from setagree.errors import SetagreeWarning


def test_segments_are_units_where_a_document_has_several(save):
    text = (
        "ID,Document,Codes,Reference,Created by\n"
        "1,d1,a,1 - 1,kim\n2,d1,b,1 - 1,lee\n3,d1,c,2 - 2,kim\n"
    )
    with pytest.warns(SetagreeWarning, match="1 segment of 2 marked by only one rater"):
        found = read(save(text))
    assert set(found) == {("d1 [1 - 1]", "kim"), ("d1 [1 - 1]", "lee"), ("d1 [2 - 2]", "kim")}
    both = text + "4,d1,c,2 - 2,lee\n"
    assert len(read(save(both))) == 4
    bare = "Document,Codes,Created by\nd1,a,kim\n"
    assert read(save(bare)) == {("d1", "kim"): {"a"}}


def test_dedoose_combined_codes(save):
    text = table(
        [
            ["Media Title", "Excerpt Creator", "Codes Applied Combined"],
            ["m1", "kim", "a, b"],
            ["m1", "lee", "a,b"],
        ]
    )
    found = read(save(text), blank="missing")
    assert found == {("m1", "kim"): {"a", "b"}, ("m1", "lee"): {"a,b"}}
