"""References as BibTeX: nothing is lost, keys are its own, and nothing breaks out of a field."""

import re

import pytest

from setagree.scoring.references import REFERENCES
from setagree.wording.bibtex import reference_entries, software_entry

FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


def parsed(entry):
    """Return the kind, the key and the fields of an entry."""
    kind, key = re.match(r"@(\w+)\{(\w+),\n", entry).groups()
    assert entry.endswith("\n}")
    assert entry.count("{") == entry.count("}")
    return kind, key, dict(FIELD.findall(entry))


def as_reference(kind, told):
    """Write the fields of an entry as the sentence that papers have."""
    told = {name: text.replace("--", "–").replace(r"\&", "&") for name, text in told.items()}
    people = told["author"].split(" and ")
    several = ", ".join(people[:-1]) + ", & " if len(people) > 1 else ""
    issue = f"({told['number']})" if "number" in told else ""
    edition = f" ({told['edition']} ed.)" if "edition" in told else ""
    where = {
        "article": "{journal}, {volume}" + issue + ", {pages}",
        "inproceedings": "In {booktitle}",
        "techreport": "{institution}",
        "book": "{publisher}",
    }[kind].format(**told)
    title = told["title"].removeprefix("{").removesuffix("}")
    return f"{several}{people[-1]} ({told['year']}). {title}{edition}. {where}."


@pytest.mark.parametrize("key", sorted(REFERENCES))
def test_nothing_of_a_reference_is_lost(key):
    """From the entry the reference can be written again, word for word."""
    kind, _, told = parsed(*reference_entries([REFERENCES[key]]))
    assert as_reference(kind, told) == REFERENCES[key]


def test_keys_are_their_own():
    """No two references share a key, and a key holds no sign that LaTeX minds."""
    keys = [parsed(one)[1] for one in reference_entries(REFERENCES.values())]
    assert len({*keys, "setagree"}) == len(REFERENCES) + 1
    assert all(re.fullmatch(r"[a-z]+\d{4}", key) for key in keys)


def test_several_authors():
    """Authors stand between "and", as BibTeX wants them."""
    *_, told = parsed(*reference_entries([REFERENCES["Wong et al. 2021"]]))
    assert told["author"] == "Wong, K. and Paritosh, P. and Aroyo, L."


@pytest.mark.parametrize(
    "text",
    ["My own thesis", "Smith } , @book{x, (2020). Title. Journal, 1, 2–3.", "a ``` b\n@misc{y,\n}"],
)
def test_what_a_user_wrote_stays_in_its_field(text):
    """A source in words of one's own is a note; braces and fences in it end nothing."""
    (entry,) = reference_entries([text])
    parsed(entry)
    assert "`" not in entry
    assert len(re.findall(r"^@", entry, re.MULTILINE)) == 1


def test_the_software():
    """The entry of setagree has its version."""
    kind, key, told = parsed(software_entry("1.2.3"))
    assert (kind, key, told["version"]) == ("software", "setagree", "1.2.3")
