"""How annotations are read: what every function says of its options."""

import inspect
import re
from dataclasses import fields

import pytest

import setagree as sa
from setagree.study.reading import Reading, tells_reading
from setagree.wording.sentences import parameter_texts, split_sections

READERS = [
    *(sa.agreement, sa.read, sa.tally),
    *(sa.Annotations.from_long, sa.Annotations.from_wide, sa.Annotations.from_triples),
]


@pytest.mark.parametrize("function", READERS, ids=lambda f: f.__name__)
def test_every_option_is_told(function):
    """help() tells each option once, in the order of the signature, and keeps its sections."""
    text, parameters, *sections = split_sections(inspect.getdoc(function))
    assert text.startswith(("Return the ", "Return a "))
    names = [*inspect.signature(function).parameters]
    assert [*parameter_texts(parameters)] == names
    assert all(len(told.split("\n")) > 1 for told in parameter_texts(parameters).values())
    assert sections[-1].startswith("Examples\n")
    assert not re.search(r"\n{3}|^ {1,3}\S", inspect.getdoc(function), re.MULTILINE)


def test_a_reading_tells_all_its_options():
    """Each field of a Reading is described where the functions take their texts from."""
    told = parameter_texts(split_sections(Reading.__doc__)[1])
    assert {*told} == {field.name for field in fields(Reading)}


def test_own_words_come_first():
    """What a function says of an option itself stands, in the place that the signature gives it."""

    @tells_reading
    def taken(data, *, label_sep=",", blank=None):
        """Take it.

        Parameters
        ----------
        data : path
            A file.
        blank : str
            Own words.
        """

    told = parameter_texts(split_sections(taken.__doc__)[1])
    assert [*told] == ["data", "label_sep", "blank"]
    assert told["blank"] == "blank : str\n    Own words."
    assert told["label_sep"].startswith(
        "label_sep : str, optional\n    What stands between the labels"
    )


def test_no_docstrings():
    """Under python -OO there is nothing to tell."""

    def bare(data):
        pass

    assert tells_reading(bare) is bare
    assert bare.__doc__ is None
