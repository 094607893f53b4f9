"""The command that says what to cite."""

import re

import pytest

pytest.importorskip("typer", reason="the command needs the cli extra")

from cli_support import ok, refusal

import setagree as sa


def keys(printed):
    return re.findall(r"^@\w+\{(\w+),$", printed, re.MULTILINE)


def test_the_usual():
    """Without names it is setagree with what the table of a file has; `--cite` is short for it."""
    printed = ok("--cite")
    assert keys(printed) == ["setagree", "fleiss1971", "krippendorff2011", "passonneau2006"]
    assert f"version = {{{sa.__version__}}}" in printed
    assert ok("cite") == printed


@pytest.mark.parametrize(
    ("words", "cited"),
    [
        (["-c", "gwet_ac,bp", "-d", "jaccard"], ["brennan1981", "gwet2008", "jaccard1912"]),
        (["-c", "mv"], ["dice1945", "krippendorff2016"]),
        (["-c", "alpha", "-c", "cohen", "-d", "quadratic"],
         ["cohen1968", "fleiss1973", "krippendorff2011"]),
        (["-c", "percent", "-d", "hamming"], []),
        (["-c", "alpha", "-d", "masi,masi_nltk"], ["krippendorff2011", "passonneau2006"]),
    ],
)  # fmt: skip
def test_what_is_used(words, cited):
    assert keys(ok("cite", *words)) == ["setagree", *cited]


def test_unknown():
    assert "coefficient 'kapa' is unknown" in refusal("cite", "-c", "kapa")
    assert "distance 'massi' is unknown" in refusal("cite", "-d", "massi")
