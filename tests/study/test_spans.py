"""Labelled spans as studies: atoms, empty documents, tokens and refusals."""

import pandas as pd
import pytest
import spans_support as spans

import setagree as sa
from setagree.errors import DataError, OptionError, SetagreeWarning

pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")

V2 = {"length": spans.V2["lengths"], "done": spans.done(spans.V2)}


def study_of(rows, **options):
    return sa.Annotations.from_spans(spans.rows({"lengths": {}, **rows}), **options)


def test_atoms_are_cut_at_every_boundary():
    study = sa.Annotations.from_spans(spans.rows(spans.V2), **V2)
    wide = study.to_wide()
    assert study.n_units == 17
    assert sa.Annotations.from_spans(spans.rows(spans.V1), length=spans.V1["lengths"]).n_units == 19
    assert [*wide.loc["x:2-4", ["a", "b", "c"]]] == [{"P", "Q"}, {"P"}, {"P"}]
    assert [*wide.loc["w:5-7", ["a", "b", "c"]]] == [set(), set(), {"P"}]
    assert wide["c"]["z:1-4"] is None
    frame = study.units_frame
    assert frame["length"].groupby(frame["document"]).sum().to_dict() == spans.V2["lengths"]
    assert (study.sampling.cluster, study.sampling.size) == ("document", "length")


def test_spans_of_one_label_that_touch_or_overlap_are_one():
    both = [
        study_of({"a": marked, "b": "d 0-2 P"}, length={"d": 9})
        for marked in ("d 0-6 P", "d 0-4 P, d 4-6 P, d 1-3 P")
    ]
    estimates = [sa.krippendorff_alpha(one).estimate for one in both]
    assert estimates[0] == pytest.approx(estimates[1], abs=1e-12)


def test_a_set_of_many_labels():
    labels = [f"l{k}" for k in range(20)]
    rows = study_of({"a": ", ".join(f"d 0-4 {one}" for one in labels)}, length={"d": 4})
    assert [*rows.to_wide()["a"]] == [set(labels)]


def test_a_row_without_a_span_is_a_document_without_spans():
    rows = spans.rows({"lengths": {}, "a": "d 0-4 P"})
    rows.loc[1] = ["d", "b", None, None, None]
    study = sa.Annotations.from_spans(rows, length={"d": 9})
    assert [*study.to_wide()["b"]] == [set(), set()]


def test_raters_without_a_row_did_not_annotate_unless_it_is_stated():
    rows = {"a": "d 0-4 P, e 0-1 P", "b": "d 0-4 P"}
    with pytest.warns(SetagreeWarning, match="1 pair of document and rater without a span"):
        study = study_of(rows, length={"d": 9, "e": 5})
    assert study.n_ratings == 6
    for done in ("all", [("d", "a"), ("d", "b"), ("e", "a"), ("e", "b")]):
        assert study_of(rows, length={"d": 9, "e": 5}, done=done).n_ratings == 8
    # a document of the mapping without any row
    assert study_of(rows, length={"d": 9, "e": 5, "f": 2}, done="all").n_ratings == 10


def test_raters_that_look_alike_are_told():
    pairs = [("d", "a"), ("d", "b"), ("d", "A")]
    with pytest.warns(SetagreeWarning, match="Raters that look alike are kept apart: 'A' and 'a'"):
        study_of({"a": "d 0-4 P", "b": "d 0-4 P"}, length={"d": 9}, done=pairs)


def test_units_are_named_and_quoted():
    study = study_of({"a": "d 2-4 P", "b": "d 2-4 P"}, text={"d": "a bé c"})
    assert study.units.tolist() == ["d:0-2", "d:2-4", "d:4-6"]
    assert study.units_frame["text"].tolist() == ["a ", "bé", " c"]


def test_offsets_may_be_seconds():
    rows = pd.DataFrame({"document": 1, "rater": ["a", "b"], "start": [0.5, 0.25], "end": 2})
    study = sa.Annotations.from_spans(rows.assign(label="P"), length={1: 2.5})
    assert study.units.tolist() == ["1:0.0-0.25", "1:0.25-0.5", "1:0.5-2.0", "1:2.0-2.5"]


def test_tokens_are_touched_by_spans():
    text = {"d": "an owl, too"}
    with pytest.warns(SetagreeWarning, match=r"1 span without a token dropped \(first: row 2\)"):
        study = study_of({"a": "d 0-1 P, d 2-3 P", "b": "d 4-7 Q"}, text=text, tokens="words")
    assert study.units.tolist() == ["d:0-1", "d:1-3", "d:3-4"]
    assert study.units_frame["text"].tolist() == ["an ", "owl, ", "too"]
    assert study.units_frame["length"].sum() == 4


def test_labels_beside_blanks_are_whole_numbers():
    rows = pd.DataFrame({"document": "d", "rater": ["a", "b"], "start": [0, None]})
    study = sa.Annotations.from_spans(rows.assign(end=[2, None], label=[1, None]), length={"d": 4})
    assert study.labels == (1,)


REFUSED = {
    "beyond the text": ({"a": "d 0-10 P"}, {}, "row 1: span 0-10 .* must be within 0 to 9[.]"),
    "empty": ({"a": "d 4-4 P"}, {}, "row 1: span 4-4 .* must end after its start"),
    "before the text": ({"a": "d 0-4 P"}, {"start": "minus"}, "row 1: span -1-4"),
    "not done": ({"a": "d 0-4 P"}, {"done": [("d", "b")]}, "which is not listed in done="),
    "no length": ({"a": "e 0-4 P"}, {"length": {}}, "document 'e' has no text and no length"),
    "no column": ({"a": "d 0-4 P"}, {"label": "tag"}, "'tag'"),
    "half a span": ({"a": "d 0-4 P"}, {"end": "blank"}, "row 1: start and end must be numbers"),
    "length in words": ({"a": "d 0-4 P"}, {"length": {"d": "nine"}}, "no length, but 'nine'"),
    "no text": (
        {"a": "d 0-4 P"},
        {"length": None, "text": {"d": 9}},
        "no text and no length, but 9",
    ),
    "several labels": ({"a": "d 0-4 P"}, {"label": "both"}, "row 1: .* is a list; a label is text"),
    "a flag": ({"a": "d 0-4 P"}, {"label": "flag"}, "row 1: True is a bool"),
    "half a character": (
        {"a": "d 0-4 P"},
        {"length": None, "text": {"d": "a text"}, "start": "half"},
        "row 1: span 0.5-4 .* must start and end at whole numbers, as offsets of a text do",
    ),
    "two lengths": (
        {"a": "d 0-4 P, d 1-2 P"},
        {"length": "end"},
        "row 2: the length of document 'd' differs from that in row 1",
    ),
    "tokens without text": ({"a": "d 0-4 P"}, {"tokens": "words"}, "requires the text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_odd_spans_are_refused_with_their_row(name):
    rows, options, message = REFUSED[name]
    frame = spans.rows({"lengths": {}, **rows}).assign(minus=-1, blank=None, half=0.5)
    frame["both"], frame["flag"] = [["P", "Q"]] * len(frame), True
    with pytest.raises(DataError, match=message):
        sa.Annotations.from_spans(frame, **{"length": {"d": 9}, **options})


ODD_PAIRS = [("d", "a", 1), ("d",), 5, "da", (["d"], "a"), None]
ODD_OPTIONS = [
    ({}, "use one of length= and text="),
    ({"length": {"d": 9}, "done": True}, "done=True must be 'all' or .* pairs"),
    ({"length": {"d": 9}, "done": {"d": ["a"]}}, "must be 'all' or .* pairs"),
    ({"length": {"d": 9}, "done": pd.DataFrame({"document": ["d"]})}, "must be 'all' or .* pairs"),
    *(
        ({"length": {"d": 9}, "done": [pair]}, "done= must list .* pairs, not ")
        for pair in ODD_PAIRS
    ),
    ({"text": {"d": "a text"}, "tokens": "tool"}, "tokens='tool' is unknown; use 'words'"),
]


@pytest.mark.parametrize(("options", "message"), ODD_OPTIONS)
def test_odd_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        study_of({"a": "d 0-4 P"}, **options)


def test_documents_of_one_name_are_refused():
    rows = pd.DataFrame({"document": [1, "1"], "rater": "a", "start": 0, "end": 2, "label": "P"})
    with pytest.raises(DataError, match="several documents"):
        sa.Annotations.from_spans(rows, length={1: 4, "1": 4})


@pytest.mark.filterwarnings("ignore:offsets are read as UTF-16 units")
@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (-5, 9, "row 2: span -5-9 .* must be within 0 to 14"),
        (7, 10.5, "row 2: span 7-10.5 .* must start and end at whole numbers"),
        (9, 99, "row 2: span 9-99 .* must be within 0 to 14"),
        (12, 9, "row 2: span 12-9 .* must end after its start. Correct the offsets of 1 such span"),
    ],
)
def test_offsets_in_utf16_units_are_checked_and_named_as_they_are(start, end, said):
    """The text has 14 UTF-16 units and 11 characters; the first span is valid in units only."""
    rows = [("d", "ann", 7, 14, "P"), ("d", "bob", start, end, "P")]
    table = pd.DataFrame(rows, columns=["document", "rater", "start", "end", "label"])
    with pytest.raises(DataError, match=said):
        sa.Annotations.from_spans(table, text={"d": "😀😀😀 abc def"})


@pytest.mark.filterwarnings("ignore:offsets are read as UTF-16 units")
def test_half_of_a_character_is_refused():
    """The text has 5 UTF-16 units and 4 characters, of which the first one has two units."""
    rows = {"a": "d 3-5 P, d 1-2 P", "b": "d 2-5 P"}
    with pytest.raises(DataError, match=r"row 1: span 1-2 .* must cover a character"):
        study_of(rows, text={"d": "😀 ab"})
    study = study_of({"a": "d 3-5 P", "b": "d 0-2 P"}, text={"d": "😀 ab"})
    assert study.units_frame["text"].tolist() == ["😀", " ", "ab"]
