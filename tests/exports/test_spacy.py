"""spaCy: unit and rater are in the meta of a record."""

import pytest
from exports.json_writers import TRUTH, spacy_cats, write

import setagree as sa
from setagree.errors import DataError, FileError


def test_spacy_needs_meta(tmp_path):
    records = spacy_cats(TRUTH)
    records[1]["cats"]["crow"] = 0.7
    with pytest.raises(FileError, match=r"line 2, cats\.crow: 0\.7 is neither 0 nor 1"):
        sa.read(write(tmp_path, "spacy_cats", records))
    for record in records:
        record["meta"] = {"source": "x"}
    with pytest.raises(DataError, match=r"'meta' has 'source'; add meta"):
        sa.read(write(tmp_path, "spacy_cats", records))
    del records[0]["meta"]
    with pytest.raises(DataError, match=r"there is no 'meta'"):
        sa.read(write(tmp_path, "spacy_cats", records))
