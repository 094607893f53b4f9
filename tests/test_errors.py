"""Errors are sentences: what is raised, and the words they are made of."""

import inspect

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree import errors


def raised_by_module(base):
    members = vars(errors).values()
    return [one for one in members if inspect.isclass(one) and issubclass(one, base)]


class TestHierarchy:
    @pytest.mark.parametrize("error", raised_by_module(Exception))
    def test_one_base_catches_all(self, error):
        assert issubclass(error, (sa.SetagreeError, sa.SetagreeWarning))
        assert issubclass(error, ValueError) is issubclass(error, sa.SetagreeError)
        assert issubclass(error, UserWarning) is issubclass(error, sa.SetagreeWarning)

    def test_a_package_that_does_not_load(self):
        try:
            raise ImportError("libduck.so: failed to map segment")  # noqa: TRY301 - in flight
        except ImportError:
            error = errors.missing_package("reducing large files", "duckdb", "files")
        assert str(error) == (
            "reducing large files needs duckdb, which does not load: libduck.so: failed to map "
            "segment."
        )

    def test_a_missing_package_is_an_import_error(self):
        assert issubclass(errors.MissingDependencyError, ImportError)

    def test_undefined_agreement_can_be_filtered_from_the_top(self):
        assert sa.UndefinedAgreementWarning is errors.UndefinedAgreementWarning


def test_a_path_with_half_a_character():
    with pytest.raises(errors.OptionError, match=r"half a character \(a lone surrogate\)"):
        errors.check_path("r\ud83d.html")
    errors.check_path("caf\udce9.html")


class TestNearNames:
    def test_best_first(self):
        assert errors.near_names("joyy", ["boy", "joy", "enjoy"])[0] == "joy"

    def test_case_does_not_matter(self):
        assert errors.near_names("MASI", ["Masi", "dice"]) == ["Masi"]

    def test_names_keep_their_type(self):
        assert errors.near_names("10", [10, 7]) == [10]

    def test_limit(self):
        names = ["label a", "label b", "label c", "label d"]
        assert len(errors.near_names("label", names)) == 3
        assert len(errors.near_names("label", names, limit=1)) == 1

    def test_part_of_a_name(self):
        names = ["fleiss_kappa", "krippendorff_alpha", "percent_agreement"]
        assert errors.near_names("alpha", names) == ["krippendorff_alpha"]
        assert len(errors.near_names("label", [f"label {k}" for k in range(500)])) == 3

    def test_nothing_near(self):
        assert errors.near_names("masi", ["quadratic"]) == []
        assert errors.did_you_mean("masi", ["quadratic"]) == ""
        assert errors.did_you_mean("masi", []) == ""

    def test_hint(self):
        assert errors.did_you_mean("jaccart", ["jaccard"]) == " Did you mean 'jaccard'?"
        assert errors.did_you_mean("1", [1]) == " Did you mean 1?"

    def test_several_hints(self):
        assert set(errors.near_names("labels", ["label 1", "label 2"])) == {"label 1", "label 2"}
        assert " or " in errors.did_you_mean("labels", ["label 1", "label 2"])

    def test_long_names_are_cut(self):
        assert len(errors.did_you_mean("x" * 10_000, ["x" * 9_999])) < 120


class TestWords:
    @pytest.mark.parametrize(
        ("number", "words"),
        [(0, "0 units"), (1, "1 unit"), (2, "2 units"), (1234567, "1,234,567 units")],
    )
    def test_counted(self, number, words):
        """One is singular, all else is plural, thousands are set apart."""
        assert errors.counted(number, "unit") == words

    def test_irregular_plural(self):
        """A plural that does not end in s is told."""
        assert errors.counted(1, "entry", "entries") == "1 entry"
        assert errors.counted(2, "entry", "entries") == "2 entries"

    @pytest.mark.parametrize(
        ("items", "limit", "words"),
        [
            ([], 5, ""),
            (["a"], 5, "'a'"),
            (["a", 1, None], 5, "'a', 1, None"),
            ([1, 2, 3], 3, "1, 2, 3"),
            ([1, 2, 3], 2, "1, 2 and 1 more"),
            (list(range(2001)), 1, "0 and 2,000 more"),
        ],
    )
    def test_listing(self, items, limit, words):
        """The first items are spelt out and the rest is counted."""
        assert errors.listing(items, limit=limit) == words

    def test_listing_cuts_long_items(self):
        assert len(errors.listing(["x" * 10_000] * 5)) < 1_100

    def test_shorten(self):
        """A value is quoted as Python writes it, whole up to the limit."""
        assert errors.shorten("it's") == '"it\'s"'
        assert errors.shorten("x" * 8, limit=10) == "'xxxxxxxx'"
        assert errors.shorten("x" * 9, limit=10) == "'xxxxxxxx…"
        assert len(errors.shorten("x" * 10_000)) == 80

    def test_numpy_scalars(self):
        assert errors.shorten(np.int64(7)) == "7"
        assert errors.shorten(np.str_("a")) == "'a'"
        assert errors.listing([np.float64(0.5), np.bool_(True)]) == "0.5, True"

    @pytest.mark.parametrize("hostile", ["%s %d", "{x}", "{0}", "\\n", "\x1b[2J", "</script>"])
    def test_nothing_is_formatted_twice(self, hostile):
        assert errors.shorten(hostile) == repr(hostile)
        assert errors.listing([hostile]) == repr(hostile)
        assert "\x1b" not in errors.listing([hostile])


class TestWarn:
    def test_one_call_deep(self):
        with pytest.warns(errors.SetagreeWarning, match="^odd$") as caught:
            errors.warn("odd", errors.SetagreeWarning)
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        "call",
        [
            lambda: sa.Annotations.from_triples([("x", 1, ""), ("y", 1, "a")]),
            lambda: sa.Annotations.from_triples([("x", 1, "a"), ("y", 1, "A")]),
            lambda: sa.Annotations.from_triples([("x", 1, "a;b"), ("y", 1, "b;a")]),
            lambda: sa.Annotations.from_triples([("x", 1, 1), ("y", 1, "no")], kind="value"),
            lambda: sa.Annotations.from_triples([(k, 1, "a") for k in range(10)]),
            lambda: sa.Tally.from_counts(pd.DataFrame({"a": [1], "A": [2]})),
            lambda: sa.krippendorff_alpha(sa.Annotations.from_triples([("x", 1, "a")])),
            lambda: sa.agreement(pd.DataFrame({"unit": [1], "rater": ["x"], "labels": ["a"]})),
        ],
        ids=["blank", "case", "separator", "scale", "swapped", "tally", "coefficient", "table"],
    )
    def test_any_depth(self, call):
        with pytest.warns(errors.SetagreeWarning) as caught:
            call()
        assert {one.filename for one in caught} == {__file__}


class TestChoice:
    def test_known(self):
        errors.check_choice("case", "keep", ("keep", "lower"))

    def test_unknown(self):
        with pytest.raises(errors.OptionError) as caught:
            errors.check_choice("case", "lowre", ("keep", "lower"))
        assert str(caught.value) == (
            "case='lowre' is unknown; use 'keep', 'lower'. Did you mean 'lower'?"
        )

    @pytest.mark.parametrize("value", [None, 1, ("keep",)])
    def test_other_types(self, value):
        with pytest.raises(errors.OptionError, match=r"case=.* is unknown; use 'keep', 'lower'\."):
            errors.check_choice("case", value, ("keep", "lower"))


@pytest.mark.parametrize(
    ("value", "named"), [(1, "an int"), ({}, "a dict"), (ValueError(), "a ValueError")]
)
def test_a_type_has_its_article(value, named):
    assert errors.a_type(value) == named


class TestSpelling:
    @pytest.mark.parametrize(
        ("options", "python", "command"),
        [
            (("where",), "where=", "--where"),
            (("blank", "empty"), "blank='empty'", "--blank 'empty'"),
            (("na_values", ["NA", "n/a"]), "na_values=['NA', 'n/a']", "--na-values 'NA,n/a'"),
            (("label_sep", "\t"), "label_sep='\\t'", "--label-sep '\\t'"),
            (("where", "tag == 'a'"), "where=\"tag == 'a'\"", "--where 'tag == '\"'\"'a'\"'\"''"),
            (("level", 2.5), "level=2.5", "--level 2.5"),
            (("level", np.float64(2.5)), "level=2.5", "--level 2.5"),
            (("wide", True), "wide=True", "--wide"),
            (("n_resamples", 9), "n_resamples=9", "--resamples 9"),
            (("rng",), "rng=", "--seed"),
            (("merge", ["a"]), "merge=['a']", "merge=['a']"),
        ],
    )
    def test_both(self, options, python, command):
        """Python's keyword, or the command's option with a value that a shell takes as it is."""
        pytest.importorskip("typer")
        from setagree.cli.options import CALLED

        assert errors.option(*options) == python
        with errors.spelling(CALLED):
            assert errors.option(*options) == command
        assert errors.option(*options) == python

    def test_long_values_are_cut(self):
        assert len(errors.option("blank", "x" * 500, limit=80)) == len("blank=") + 80
        with errors.spelling({"blank": "--blank"}):
            assert len(errors.option("blank", "x" * 500, limit=80)) == len("--blank ") + 80

    def test_inner_names_win(self):
        with errors.spelling({"format": "--format", "label_sep": "--label-sep"}):
            with (
                pytest.raises(
                    errors.OptionError, match=r"^--from 'x' is unknown; use '--label-sep'\.$"
                ),
                errors.spelling({"format": "--from"}),
            ):
                errors.check_choice("format", "x", (errors.option("label_sep"),))
            assert errors.option("format") == "--format"

    def test_calls(self):
        """What is called in Python is a command where the command asks."""
        assert errors.python_or_command("sa.read(path)", "setagree convert") == "sa.read(path)"
        with errors.spelling({"label_sep": "--label-sep"}):
            assert errors.python_or_command("sa.read(path)", "setagree convert") == (
                "setagree convert"
            )
