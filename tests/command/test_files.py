"""The command on several files, with a condition, on a sheet, and on an address."""

import shlex
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok, refusal

import setagree as sa
from setagree.errors import DataError, OptionError, RepeatsError

pytest.importorskip("typer", reason="the command needs the cli extra")

HEAD = "unit,rater,labels,repeat\n"
ADDRESS = "https://example.com/a.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a fresh folder with two rounds."""
    monkeypatch.chdir(tmp_path)
    rows = "u1,ann,joy,0\nu1,bob,fear,0\nu1,bob,joy,1\nu3,ann,joy,0\nu3,bob,joy,0\n"
    Path("round-1.csv").write_text(HEAD + rows)
    Path("round-2.csv").write_text(HEAD + "u2,ann,joy,0\nu2,bob,fear,0\nu1,ann,joy,1\n")


WHERE = ["--where", "repeat == 0"]


class TestFiles:
    def test_the_shell_or_a_pattern(self):
        listed = invoke("score", "round-1.csv", "round-2.csv", *WHERE, "--format", "csv")
        quoted = invoke("score", "round-?.csv", *WHERE, "--format", "csv")
        reduced = invoke("score", "round-?.csv", *WHERE, "-f", "csv", "--memory-limit", "500MB")
        assert listed.exit_code == 0
        assert listed.stdout == quoted.stdout == reduced.stdout
        for result in (listed, quoted, reduced):
            # A note, as what was asked for is no doubt.
            assert result.stderr.splitlines().count("--where 'repeat == 0' drops 2 of 8 rows.") == 1

    def test_repeats(self):
        said = refusal("score", "round-1.csv", "round-2.csv")
        assert "The first pair is in 'round-1.csv' and 'round-2.csv'." in said

    def test_groups(self):
        """--filename-column adds a column with the file of each row; rows are dropped once."""
        files = ["round-1.csv", "round-2.csv"]
        result = invoke(
            "diagnose", "--tables", *files, *WHERE, "--filename-column", "round", "--by", "round"
        )
        assert result.exit_code == 0, result.stderr
        assert result.stderr.count("drops 2 of 8 rows") == 1

    def test_convert(self):
        result = invoke("convert", "round-2.csv", "round-1.csv", *WHERE)
        assert [line[:2] for line in result.stdout.splitlines()[1:]] == [
            *("u2", "u2", "u1", "u1", "u3", "u3"),
        ]

    def test_errors(self):
        """A condition is spelled as the option."""
        said = refusal("score", "round-1.csv", "--where", "repeat = 0")
        assert "--where 'repeat = 0': at '= 0', expected ==" in said

    def test_sheet(self):
        pytest.importorskip("openpyxl", reason="the extra 'files' is not installed")
        with pd.ExcelWriter("rounds.xlsx") as book:
            for k in (1, 2):
                frame = pd.read_csv(f"round-{k}.csv", dtype=str)
                frame.to_excel(book, sheet_name=f"r{k}", index=False)
        assert "choose one with --sheet 'r1'" in refusal("score", "rounds.xlsx")
        for sheet in ("r1", "1"):
            result = invoke("convert", "rounds.xlsx", "--sheet", sheet, *WHERE)
            assert result.stdout.count("\n") == 5

    def test_wide(self):
        Path("wide.csv").write_text('id,ann,bob\nt1,joy,"joy, fear"\nt2,fear,fear\nt3,joy,joy\n')
        known = invoke("score", "wide.csv", "--wide")
        seen = invoke("score", "wide.csv")
        assert seen.stdout == known.stdout
        assert "Read as a wide table: unit = id, raters = ann, bob" in seen.stderr


@pytest.mark.parametrize(
    "words",
    [
        [ADDRESS],
        ["round-1.csv", ADDRESS],
        ["round-1.csv", "--codebook", ADDRESS],
        ["round-1.csv", "--tool", "plain_row_per_label", "--roster", ADDRESS],
    ],
)
def test_addresses(words):
    """An address is called one wherever a file is named."""
    said = refusal("score", *words)
    assert f"'{ADDRESS}' is an address, and only files on this computer are read" in said


def test_address_of_a_config():
    result = invoke("score", "round-1.csv", "--config", ADDRESS)
    assert result.exit_code == 2
    assert f"'{ADDRESS}' is an address" in result.stderr


def test_repeats_in_one_file():
    said = refusal("score", "round-1.csv")
    assert "The first pair is in row 2 and row 3, counted from 1 below any header." in said
    assert "If column 'repeat' distinguishes them, keep one of them: --where 'repeat == 0'." in said
    with pytest.raises(RepeatsError, match=r"is in row 2 and row 3, .* where='repeat == 0'"):
        sa.agreement("round-1.csv")


@pytest.mark.parametrize(
    ("name", "times", "is_proposed"),
    [
        ("Submitted at", ("2026-01-02", "2026-01-01"), True),
        ("updated", ("2026-01-02 10:00", "2026-01-02 09:30"), True),
        ("date", ("2026-01-01", "2026-01-01"), False),
        ("seconds_of_time", ("9", "7"), False),
        ("birthday", ("2026-01-02", "2026-01-01"), False),
    ],
)
def test_repeats_with_a_column_of_times(name, times, is_proposed):
    """The newest row is the first, so that the last row is not the last answer."""
    rows = [f"u,ann,a,{times[0]}", f"u,ann,b,{times[1]}", f"u,ben,a,{times[1]}"]
    rows += [f"v,{who},b,{times[1]}" for who in ("ann", "ben")]
    Path("times.csv").write_text("\n".join([f"unit,rater,labels,{name}", *rows]))
    with pytest.raises(RepeatsError) as caught:
        sa.read("times.csv")
    assert caught.value.remedy.get("order_by") == (name if is_proposed else None)
    way = f"use --duplicates 'last' and --order-by '{name}'."
    assert (way in refusal("score", "times.csv")) == is_proposed
    if is_proposed:
        assert sa.fleiss_kappa(sa.read("times.csv", **caught.value.remedy)).estimate == 1


def test_repeats_that_are_kept_by_quoted_text():
    cells = ["unit,rater,labels,round", "u,ann,a,pilot b", "u,ann,b,pilot c", "u,ben,a,pilot b"]
    Path("rounds.csv").write_text("\n".join(cells), encoding="utf-8")
    said = refusal("score", "rounds.csv")
    words = shlex.split(said.partition("keep one of them: ")[2].removesuffix("."))
    assert words == ["--where", 'round == "pilot b"']
    assert "2 raters, 2 ratings" in ok("score", "rounds.csv", *words)
    with pytest.raises(RepeatsError) as caught:
        sa.agreement("rounds.csv")
    assert str(caught.value).endswith("where='round == \"pilot b\"'.")


def test_a_file_for_each_rater():
    for name in ("ann", "bob"):
        Path(f"{name}.csv").write_text("unit,labels\nu1,joy\nu2,fear\n")
    said = refusal("score", "ann.csv", "bob.csv")
    assert said.endswith(
        "If each file holds the answers of one rater, use --filename-column rater."
    )
    with pytest.raises(DataError, match=r"use setagree\.read\(files, filename_column='rater'\)\.$"):
        sa.agreement(["ann.csv", "bob.csv"])
    with pytest.raises(DataError, match=r"there is nothing to score\.$"):
        sa.agreement(["round-1.csv", "round-2.csv"], na_values=["joy", "fear"])
    assert sa.read(["ann.csv", "bob.csv"], filename_column="rater").raters.tolist() == [
        "ann.csv",
        "bob.csv",
    ]
    assert invoke("score", "ann.csv", "bob.csv", "--filename-column", "rater").exit_code == 0
    assert "--filename-column rater" not in refusal("score", "ann.csv")


def test_a_part_of_several_names():
    said = refusal("score", "round-1.csv", *WHERE, "-c", "kappa")
    kappas = "'fleiss_kappa', 'conger_kappa', 'cohen_kappa'"
    assert said == f"Error: coefficient 'kappa' may be {kappas}; name one of them."
    with pytest.raises(OptionError, match=r"^coefficient 'kappa' may be 'fleiss_kappa', "):
        sa.agreement("round-1.csv", where="repeat == 0", coefficient="kappa")


def test_files_without_a_unit_in_common():
    for name, units in {"a": "12", "b": "23", "c": "34"}.items():
        cells = "".join(f"u{unit},{rater},joy,0\n" for unit in units for rater in ("ann", "bob"))
        Path(f"{name}.csv").write_text(HEAD + cells)
    said = refusal("compare", "a.csv", "b.csv", "c.csv")
    assert "0 are in all; use --design 'same_units' (all:" in said
    assert "Or compare two at a time, with --design 'shared_units'." in said
    assert "use --design 'shared_units' (only those" in refusal("compare", "a.csv", "b.csv")
