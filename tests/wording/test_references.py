"""References as BibTeX: nothing is lost, keys are its own, and nothing breaks out of a field."""

import re

import pytest

from setagree.scoring.references import REFERENCES, cited
from setagree.wording.references import bibliography

KINDS = {
    "Fleiss & Cohen 1973": "Fleiss, J. L., & Cohen, J. (1973). The equivalence of weighted kappa "
    "and the intraclass correlation coefficient as measures of reliability. Educational and "
    "Psychological Measurement, 33(3), 613–619.",
    "Rousseeuw 1987": "Rousseeuw, P. J. (1987). Silhouettes: A graphical aid to the interpretation "
    "and validation of cluster analysis. Journal of Computational and Applied Mathematics, 20, "
    "53–65.",
    "Braylan et al. 2022": "Braylan, A., Alonso, O., & Lease, M. (2022). Measuring annotator "
    "agreement generally across complex structured, multi-object, and free-text annotation tasks. "
    "In Proceedings of the ACM Web Conference 2022 (pp. 1720–1730).",
    "Krippendorff 2011": "Krippendorff, K. (2011). Computing Krippendorff's Alpha-Reliability. "
    "University of Pennsylvania, Annenberg School for Communication.",
    "Gwet 2014": "Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.). Advanced "
    "Analytics.",
}
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


def parsed(entry):
    """Return the kind, the key and the fields of an entry."""
    kind, key = re.match(r"@(\w+)\{(\w+),\n", entry).groups()
    assert entry.endswith("\n}")
    assert entry.count("{") == entry.count("}")
    return kind, key, dict(FIELD.findall(entry))


def test_every_kind_is_a_sentence():
    assert [REFERENCES[key].text for key in KINDS] == [*KINDS.values()]


def test_an_entry_has_the_fields_of_its_record():
    kind, key, fields = parsed(REFERENCES["Braylan et al. 2022"].bibtex())
    assert (kind, key) == ("inproceedings", "braylan2022")
    assert fields["author"] == "Braylan, A. and Alonso, O. and Lease, M."
    assert fields["booktitle"] == "Proceedings of the ACM Web Conference 2022"
    assert (fields["year"], fields["pages"]) == ("2022", "1720--1730")
    kind, key, fields = parsed(REFERENCES["Gwet 2014"].bibtex())
    assert (kind, key, fields["edition"]) == ("book", "gwet2014", "4th")
    assert fields["publisher"] == "Advanced Analytics"


@pytest.mark.parametrize("key", sorted(REFERENCES))
def test_nothing_of_a_reference_is_lost(key):
    kind, _, fields = parsed(REFERENCES[key].bibtex())
    assert kind in {"article", "inproceedings", "techreport", "book"}
    for name, text in fields.items():
        shown = text.replace("--", "–").replace(r"\&", "&").strip("{}")
        parts = shown.split(" and ") if name == "author" else [shown]
        assert all(part in REFERENCES[key].text for part in parts)


def test_keys_are_their_own():
    keys = [parsed(one.bibtex())[1] for one in REFERENCES.values()]
    assert len({*keys, "setagree"}) == len(REFERENCES) + 1
    assert all(re.fullmatch(r"[a-z]+\d{4}", key) for key in keys)


@pytest.mark.parametrize(
    "text",
    ["My own thesis", "Smith } , @book{x, (2020). Title. Journal, 1, 2–3.", "a ``` b\n@misc{y,\n}"],
)
def test_what_a_user_wrote_stays_in_its_field(text):
    _, entry = bibliography(cited([text]), "1").split("\n\n")
    kind, key, fields = parsed(entry)
    assert (kind, key, [*fields]) == ("misc", "reference1", ["note"])
    assert "`" not in entry
    assert len(re.findall(r"^@", entry, re.MULTILINE)) == 1
    assert cited([text])[0].text == text


def test_the_software():
    kind, key, fields = parsed(bibliography([], "1.2.3"))
    assert (kind, key, fields["version"]) == ("software", "setagree", "1.2.3")
