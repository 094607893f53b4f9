"""How annotations are read: what every function says of its options."""

import inspect
import re
from dataclasses import fields

import pytest

import setagree as sa
from setagree.study.reading import Reading

READERS = [
    *(sa.agreement, sa.read, sa.tally),
    *(sa.Annotations.from_long, sa.Annotations.from_wide, sa.Annotations.from_triples),
]


def sections(doc):
    """Return the text of a docstring, then its sections, each with its heading."""
    return re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-+\n)", inspect.cleandoc(doc))


def described(section):
    entries = re.findall(r"^(\w+(?:, \w+)*)(?:.*(?:\n    .*)+)", section, re.MULTILINE)
    return [name for names in entries for name in names.split(", ")]


@pytest.mark.parametrize("function", READERS, ids=lambda f: f.__name__)
def test_every_option_is_told(function):
    text, parameters, *others = sections(inspect.getdoc(function))
    assert text.startswith(("Return the ", "Return a "))
    names = [n for n in inspect.signature(function).parameters if n not in {"more", "reading"}]
    assert sorted(described(parameters)) == sorted(names)
    assert others[-1].startswith("Examples\n")
    assert not re.search(r"\n{3}|^ {1,3}\S", inspect.getdoc(function), re.MULTILINE)


def test_a_reading_does_not_change_with_the_list_that_was_passed():
    seps = [",", "/"]
    reading = Reading(label_sep=seps)
    seps.append(";")
    assert reading.label_sep == (",", "/")
    assert reading.syntax.label_sep == [",", "/"]


def test_a_reading_tells_all_its_options():
    assert {*described(sections(Reading.__doc__)[1])} == {field.name for field in fields(Reading)}
