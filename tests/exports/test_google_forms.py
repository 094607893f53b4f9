"""Google Forms: one unit at a time, zones and semicolons, and who answered."""

import pytest
from exports.csv_writers import read

from setagree.errors import DataError, OptionError
from setagree.exports import FORMATS
from setagree.exports.detection import peek, recognised


def test_a_form_for_one_unit_at_a_time(save):
    text = 'Timestamp,Your name,Item,Genres,Moods\nt,kim,f1,"a, b",x\nt,lee,f1,a,x\n'
    path = save(text.replace("Your name", "Username"))
    assert read(path, question="Genres") == {("f1", "kim"): {"a", "b"}, ("f1", "lee"): {"a"}}
    with pytest.raises(OptionError, match="2 questions, 'Genres', 'Moods'"):
        read(path)
    words = r"no checkbox grid .* use tool='table' and raters_in_rows=True; if"
    with pytest.raises(DataError, match=words) as caught:
        read(save("Timestamp,Email Address,Genres\nt,kim,a\n"))
    assert caught.value.remedy == {"tool": "table", "raters_in_rows": True}
    with pytest.raises(DataError, match=words) as caught:
        read(save("Timestamp,Email Address,Genres\nt,kim,a\nt,kim,b\nt,kim,a\n"))
    assert not caught.value.remedy


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("2026/03/01 10:01:00 am GMT+1,kim,a", "google_forms_csv"),
        ("2026/03/01 10:01:00 AM EET,kim,a", "google_forms_csv"),
        ("2026/03/01 22:01:00 GMT+1,kim,a", "google_forms_csv"),
        ("01.03.2026 10:01:00,kim,a;b", "google_forms_csv"),
        ('3/1/2026 10:01:00,kim,"a, b"', "google_forms_sheet"),
        ('3/1/2026 10:01:00,kim,"a;b, c"', "google_forms_sheet"),
        ("2026/03/01 10:01:00 AM,kim,a", "google_forms_sheet"),
    ],
)
def test_a_form_is_told_by_zone_or_semicolon(save, row, name):
    path = save(f"Timestamp,Email Address,Genres [f1]\n{row}\n")
    assert [each.name for each in recognised(peek(path), FORMATS)] == [name]


@pytest.mark.parametrize(
    ("time", "email"),
    [
        ("Zeitstempel", "E-Mail-Adresse"),
        ("Horodateur", "Adresse e-mail"),
        ("Marca temporal", "Email"),
    ],
)
def test_forms_in_other_languages(save, time, email):
    path = save(f"{time},{email},Genres [f1],Genres [f2]\n1.3.2026 10:01:00,kim,a,b\n")
    assert read(path) == {("f1", "kim"): {"a"}, ("f2", "kim"): {"b"}}


def test_an_anonymous_form_is_refused(save):
    with pytest.raises(DataError, match=r"for the rater.*Let the form collect email addresses"):
        read(save("Timestamp,Genres [f1]\nt,a\n"))
    assert read(save("Timestamp,Rater,Genres [f1]\nt,kim,a\n")) == {("f1", "kim"): {"a"}}
