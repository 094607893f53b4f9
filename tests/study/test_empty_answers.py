"""Texts that mean that no label applies, and codebooks that map spellings or list all unknowns."""

import pytest

import setagree as sa
from setagree.errors import LabelError, MissingMarkerWarning, OptionError

ROWS = [
    *[("ann", 1, "joyful"), ("bob", 1, "joy"), ("ann", 2, "none"), ("bob", 2, ["none"])],
    *[("ann", 3, "angr, joy"), ("bob", 3, "anger"), ("ann", 4, "joyful"), ("bob", 4, "xyz")],
]


def read(rows=ROWS, **options):
    return sa.read([*rows], **options)


def answer(study, rater, unit):
    return next(a for r, u, a in study.to_triples() if (r, u) == (rater, unit))


def test_texts_of_no_label_are_the_empty_set():
    study = read(empty=["none"])
    assert answer(study, "ann", 2) == answer(study, "bob", 2) == frozenset()
    assert study.n_missing == 0
    assert "the answer “none” counts as no label" in sa.methods_text(study)


@pytest.mark.filterwarnings("ignore:1 cell with 'none' read as a label")
def test_case_and_absent_texts():
    with pytest.warns(MissingMarkerWarning, match="No answer is 'NONE', which empty= lists"):
        study = read(empty=["NONE"])
    assert answer(study, "ann", 2) == {"none"}
    assert answer(read(empty=["NONE"], case="lower"), "ann", 2) == frozenset()


def test_a_codebook_maps_spellings():
    spellings = {"joy": "joy", "joyful": "joy", "angr": "anger", "xyz": "fear"}
    study = read(empty=["none"], codebook=spellings)
    assert answer(study, "ann", 1) == {"joy"}
    assert answer(study, "ann", 3) == {"anger", "joy"}
    assert answer(study, "bob", 4) == {"fear"}


def test_a_codebook_lists_all_unknown_labels_with_counts():
    with pytest.raises(LabelError) as caught:
        read(empty=["none"], codebook=["joy", "anger"])
    assert str(caught.value) == (
        "3 labels are not in the codebook: 'joyful' (2 answers, near 'joy'), 'angr' (1 answer, "
        "near 'anger'), 'xyz' (1 answer). First: Unit 1, rater 'ann'. Correct the answers, add "
        "these labels to the codebook, or map them to labels of it, as in {'joy': 'joy', "
        "'joyful': 'joy'}."
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"empty": ["joy"]}, "'angr, joy' has both labels and a marker of empty="),
        ({"empty": ["none"], "na_values": ["none"]}, "'none' is in empty= and in na_values="),
        ({"empty": ["none"], "kind": "category"}, "empty= is for label sets"),
        ({"empty": [""]}, "empty= has ''; it must list answers"),
        (
            {"codebook": {"joy": "fear", "fear": "joy"}},
            "'joy' is both a label and a spelling of 'fear'",
        ),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises((LabelError, OptionError), match=sentence):
        read(**options)


@pytest.mark.parametrize(
    ("codebook", "sentence"),
    [
        ({"joy": "joy", "none": None}, "a label must be text, not None"),
        ({"joy": "joy", "none": " "}, "the label of 'none' is blank"),
    ],
)
def test_codebooks_that_map_to_no_label(codebook, sentence):
    with pytest.raises(OptionError, match=sentence):
        read(codebook=codebook)
