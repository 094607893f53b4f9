"""How annotations are read: what every function says of its options."""

import inspect
import re
from dataclasses import fields

import pytest

import setagree as sa
from setagree.study.reading import Reading
from tests.docstrings import COEFFICIENTS, parameter_texts, rewritten, split_sections, updated

READERS = [
    *(sa.agreement, sa.read, sa.tally),
    *(sa.Annotations.from_long, sa.Annotations.from_wide, sa.Annotations.from_triples),
]


@pytest.mark.parametrize("function", READERS, ids=lambda f: f.__name__)
def test_every_option_is_told(function):
    text, parameters, *sections = split_sections(inspect.getdoc(function))
    assert text.startswith(("Return the ", "Return a "))
    names = [n for n in inspect.signature(function).parameters if n not in {"more", "reading"}]
    assert sorted(parameter_texts(parameters)) == sorted(names)
    assert all(len(told.split("\n")) > 1 for told in parameter_texts(parameters).values())
    assert sections[-1].startswith("Examples\n")
    assert not re.search(r"\n{3}|^ {1,3}\S", inspect.getdoc(function), re.MULTILINE)


def test_a_reading_tells_all_its_options():
    told = parameter_texts(split_sections(Reading.__doc__)[1])
    assert {*told} == {field.name for field in fields(Reading)}


def test_shared_docstrings_are_up_to_date():
    text = COEFFICIENTS.read_text("utf-8")
    assert updated(text) == text


def test_stale_docstrings_are_found():
    module = '''
def taken(data, *, label_sep=",", blank=None):
    """Take it.

    Parameters
    ----------
    data : path
        A file.
    blank : str
        Text of its own.
    """
'''
    shared = {"label_sep": "label_sep : str\n    Another.", "blank": "blank : str\n    Shared."}
    found = rewritten(module, "taken", shared, own={"blank"})
    lines = ["label_sep : str", "    Another.", "blank : str", "    Text of its own."]
    start, end = "        A file.\n", "    blank : str\n        Text of its own.\n"
    assert found == module.replace(start + end, start + "".join(f"    {line}\n" for line in lines))
