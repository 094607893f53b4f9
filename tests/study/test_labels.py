"""Label text to label set, and back."""

import copy
import decimal
import itertools
import time
import unicodedata

import numpy as np
import pandas as pd
import pytest
from asking import alpha_of, sentence
from hypothesis import given, settings
from hypothesis import strategies as st

import setagree as sa
from setagree import format_labels, parse_labels
from setagree.errors import LabelError, OptionError
from setagree.study.labels import LabelSyntax, is_missing, listed_labels, read_cell
from setagree.wording.label_sets import display_labels, sorted_labels

HOSTILE = [
    "=cmd()",
    "+1",
    "-1",
    "@x",
    "<script>",
    "%s",
    "{x}",
    "{0}",
    "x" * 10_000,
    "😀",
    "👩‍👩‍👧",
    "שלום",
    "\u202eevil",
    '"',
    'say "hi"',
    "'",
    "[",
    "[b]",
    "(p)",
    "{y}",
    "a, b",
    ",",
    "set(",
    "set()",
    "frozenset({'a'})",
    "['a', 'b']",
    "\\",
    "a\x00b",
    "None",
    "nan",
    "null",
]


def refusal(cell, **options):
    with pytest.raises(LabelError) as caught:
        parse_labels(cell, **options)
    return str(caught.value)


def clean(text):
    """Return text as a label that parse_labels gives back."""
    return unicodedata.normalize("NFC", text.strip())


LABELS = st.text(max_size=8).map(clean).filter(bool)
TRICKY = st.text(alphabet="ab,;| \t\"'[](){}=set", max_size=6).map(clean).filter(bool)
SEPARATORS = st.text(min_size=1, max_size=3).filter(
    lambda label_sep: '"' not in label_sep and label_sep.strip()
)


class TestText:
    @pytest.mark.parametrize(
        "cell", ["a,b", "a, b", " b ,a ", "b,a", "a,b,a", "a,,b", "a, b,", ",a,b", "a\u00a0,\tb\n"]
    )
    def test_same_set(self, cell):
        assert parse_labels(cell) == {"a", "b"}

    def test_a_label_may_hold_space(self):
        assert parse_labels(" a  bit , so so ") == {"a  bit", "so so"}

    def test_case_is_kept_unless_told(self):
        assert parse_labels("Joy, joy") == {"Joy", "joy"}
        assert parse_labels("Joy, joy", case="lower") == {"joy"}

    def test_accents_are_composed(self):
        assert parse_labels("\u00e9, e\u0301") == {"\u00e9"}
        assert parse_labels(["e\u0301"]) == {"\u00e9"}
        assert parse_labels("E\u0301", case="lower") == {"\u00e9"}

    @pytest.mark.parametrize(
        "label_sep", [";", "|", "||", "\t", "\n", " ", " and ", ".", "∧", "::"]
    )
    def test_any_separator(self, label_sep):
        assert parse_labels(f"a{label_sep}b", label_sep=label_sep) == {"a", "b"}

    def test_only_that_separator(self):
        assert parse_labels("a, b; c", label_sep=";") == {"a, b", "c"}

    @pytest.mark.parametrize("text", ["None", "nan", "NaN", "NA", "null", "N/A", "-", "0", "False"])
    def test_words_for_nothing_are_labels(self, text):
        assert parse_labels(text) == {text}

    def test_numpy_text(self):
        (label,) = parse_labels(np.str_("a"))
        assert type(label) is str


class TestQuotes:
    @pytest.mark.parametrize(
        ("cell", "labels"),
        [
            ('"a, b", c', {"a, b", "c"}),
            ('c,"a, b"', {"c", "a, b"}),
            (' "a, b" ', {"a, b"}),
            ('"a" , "b"', {"a", "b"}),
            ('"say ""hi""", b', {'say "hi"', "b"}),
            ('"a",', {"a"}),
            ('"", a', {"a"}),
            ('" a "', {"a"}),
        ],
    )
    def test_read(self, cell, labels):
        assert parse_labels(cell) == labels

    def test_quotes_inside_a_label(self):
        assert parse_labels('the "real" thing, b') == {'the "real" thing', "b"}

    @pytest.mark.parametrize("cell", ['"a', 'a"', 'a, "b', 'a"b', 'a "b, c" d', '"a, b', '5"" x"'])
    def test_unbalanced(self, cell):
        assert repr(cell) in refusal(cell)
        assert "unbalanced quote" in refusal(cell)

    def test_text_after_a_quote(self):
        sentence = refusal('"a" b, c')
        assert sentence == "'\"a\" b, c' has text after a closing quote; put ',' between labels."

    def test_another_separator(self):
        assert parse_labels('"a || b"||c', label_sep="||") == {"a || b", "c"}


class TestWrittenLists:
    @pytest.mark.parametrize(
        "cell",
        [
            '["a, b", "c"]',
            "['a, b', 'c']",
            "{'a, b', 'c'}",
            "('a, b', 'c')",
            "frozenset({'a, b', 'c'})",
            "set(['a, b', 'c'])",
            "  ['a, b' , 'c',]\n",
            "['a, b',\n 'c']",
            '["c", "a, b", "c", ""]',
        ],
    )
    def test_read(self, cell):
        assert parse_labels(cell) == {"a, b", "c"}

    @pytest.mark.parametrize("cell", ["[]", "()", "set()", "set([])", "frozenset()", "[ ]"])
    def test_empty(self, cell):
        for blank in ("missing", "empty", "error"):
            assert parse_labels(cell, blank=blank) == frozenset()

    def test_numbers_are_text(self):
        assert parse_labels("[1, -2]") == {"1", "-2"}

    @pytest.mark.parametrize("cell", ["['a' 'b']", "['a'\n 'b']", "['it''s']", "[1 2]", "[1 2 3]"])
    def test_printed_arrays(self, cell):
        """A printed NumPy array has no commas: Python would glue its strings to one label."""
        assert repr(cell) in refusal(cell)
        assert "list" in refusal(cell)

    def test_quotes_inside_items(self):
        assert parse_labels("['x \" \" y', 'it\\'s']") == {'x " " y', "it's"}

    def test_odd_escapes(self):
        assert parse_labels(r"['\d', 'b']") == {r"\d", "b"}

    @pytest.mark.parametrize(
        ("cell", "item"),
        [
            ("[1.5]", "1.5"),
            ("[null]", "None"),
            ('["a", true]', "True"),
            ('["a", ["b"]]', "['b']"),
            ("[b'a']", "b'a'"),
        ],
    )
    def test_items_that_are_no_labels(self, cell, item):
        assert refusal(cell) == f"{cell!r} holds {item}; a label is text or a whole number."

    @pytest.mark.parametrize("cell", ['{"a": 1}', "{'a': 1}", "{}"])
    def test_dicts(self, cell):
        assert refusal(cell) == f"{cell!r} is a dict, not labels."

    @pytest.mark.parametrize("cell", ["['a',", "['a', 'b'], c", "('a')", "['a'] # x", "['a', b]"])
    def test_broken_lists(self, cell):
        assert refusal(cell) == f"{cell!r} looks like a list of labels and cannot be read as one."

    def test_lists_without_quotes(self):
        assert "looks like a list" in refusal("[a, b]")
        assert "looks like a list" in refusal("[a|b]", label_sep="|")

    @pytest.mark.parametrize(
        "cell", ["[x]", "(smile)", "{x}", "[", "set", "fun (very)", "settle(a)", "[9**9**9]", "[x"]
    )
    def test_brackets_in_labels(self, cell):
        assert parse_labels(cell) == {cell}

    def test_bracketed_labels_beside_others(self):
        assert parse_labels("[x], [y]") == {"[x]", "[y]"}
        assert parse_labels("(x), y") == {"(x)", "y"}

    def test_deep_nesting(self):
        assert parse_labels("[" * 100_000) == {"[" * 100_000}


class TestBlank:
    CELLS = ("", " ", "\t\n", ",", " , ,", '""', '" "', '[""]', [""], ["", " "], np.array([""]))

    @pytest.mark.parametrize("cell", CELLS)
    def test_missing(self, cell):
        assert parse_labels(cell) is None

    @pytest.mark.parametrize("cell", CELLS)
    def test_empty(self, cell):
        assert parse_labels(cell, blank="empty") == frozenset()

    @pytest.mark.parametrize("cell", CELLS)
    def test_error(self, cell):
        sentence = refusal(cell, blank="error")
        assert sentence.startswith(f"{cell!r} is blank; use blank='missing'")


class TestCollections:
    @pytest.mark.parametrize(
        "cell",
        [
            ["a", "b"],
            ("b", "a"),
            {"a", "b"},
            frozenset("ab"),
            ["a", "b", "a"],
            [" a", "b\n"],
            np.array(["a", "b"]),
            np.array(["a", "b"], dtype=object),
            pd.array(["a", "b"], dtype="string"),
            pd.Categorical(["a", "b"]),
        ],
    )
    def test_read(self, cell):
        assert parse_labels(cell) == {"a", "b"}

    @pytest.mark.parametrize("cell", [[], (), set(), frozenset(), np.array([]), pd.array([])])
    def test_empty(self, cell):
        for blank in ("missing", "empty", "error"):
            assert parse_labels(cell, blank=blank) == frozenset()

    def test_items_are_not_split(self):
        assert parse_labels(["a, b", '"c"', "[d]"]) == {"a, b", '"c"', "[d]"}

    def test_whole_numbers(self):
        assert parse_labels([1, np.int64(1), "1"]) == {1, "1"}
        assert all(type(label) in {int, str} for label in parse_labels([np.int64(1), np.str_("a")]))

    def test_input_is_not_changed(self):
        cell = [" B ", "a", "a"]
        before = copy.deepcopy(cell)
        parse_labels(cell, case="lower")
        assert cell == before

    @pytest.mark.parametrize("item", [1.5, 1.0, b"a", ["a"], {"a": 1}, ("a",), np.array(["a"])])
    def test_items_that_are_no_labels(self, item):
        sentence = refusal(["a", item])
        assert repr(item) in sentence
        assert sentence.endswith("; a label is text or a whole number.")

    @pytest.mark.parametrize("item", [None, float("nan"), pd.NA, pd.NaT])
    def test_missing_items(self, item):
        assert refusal(["a", item]) == (
            "a label inside a list is missing; remove it, or make the cell missing."
        )

    def test_arrays_of_other_shapes(self):
        assert refusal(np.array([["a"]])) == "an array of shape (1, 1) is not a list of labels."
        assert refusal(np.array("a")) == "an array of shape () is not a list of labels."

    @pytest.mark.parametrize(
        ("cell", "name"),
        [
            ({"a": 1}, "dict"),
            (b"a", "bytes"),
            (pd.Timestamp("2020-01-01"), "Timestamp"),
            (range(2), "range"),
            (pd.Series(["a"]), "Series"),
            (object, "type"),
        ],
    )
    def test_other_things(self, cell, name):
        assert f"is a {name}, not labels." in refusal(cell)

    @pytest.mark.parametrize("cell", [1, 1.5, True, 2 + 0j, np.int64(3), np.True_])
    def test_numbers(self, cell):
        assert refusal(cell).endswith("not labels. If it is a label, make it text.")


class TestOneHotRows:
    def test_positions(self):
        assert parse_labels([True, False, True]) == {0, 2}
        assert parse_labels(np.array([False, True])) == {1}
        assert parse_labels((False, False)) == frozenset()

    def test_codebook_names_the_flags(self):
        assert parse_labels([True, False, True], codebook=["c", "b", "a"]) == {"c", "a"}

    def test_another_length(self):
        sentence = refusal([True, False, True], codebook=["a", "b"])
        assert sentence == "[True, False, True] has 3 flags for 2 labels of the codebook."

    def test_a_set_of_flags(self):
        assert refusal({True}) == "{True} is a set of flags, which has no order; use a list."

    def test_flags_beside_labels(self):
        assert "True is a bool" in refusal([True, "a"])


class TestMissing:
    MISSING = (
        None,
        float("nan"),
        np.float32("nan"),
        np.float64("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        decimal.Decimal("NaN"),
        complex("nan"),
    )

    @pytest.mark.parametrize("cell", MISSING, ids=lambda cell: type(cell).__name__)
    @pytest.mark.parametrize("blank", ["missing", "empty", "error"])
    def test_every_sort(self, cell, blank):
        assert is_missing(cell)
        assert parse_labels(cell, blank=blank) is None

    @pytest.mark.parametrize("cell", ["", "nan", 0, False, (), [], [None], np.array([np.nan])])
    def test_nothing_else(self, cell):
        assert not is_missing(cell)


class TestCodebook:
    def test_inside(self):
        assert parse_labels("JOY, e\u0301", codebook=["Joy ", "\u00e9"], case="lower") == {
            "joy",
            "\u00e9",
        }

    def test_outside(self):
        sentence = refusal("joy, suprise", codebook=["joy", "surprise"])
        assert sentence == "label 'suprise' is not in the codebook. Did you mean 'surprise'?"

    def test_number_and_text(self):
        assert refusal("1", codebook=[1, 2]) == (
            "label '1' is not in the codebook. Did you mean 1?"
        )

    def test_case_counts(self):
        said = refusal("Joy", codebook=["joy"])
        assert said.endswith("Did you mean 'joy'?")

    def test_what_to_do(self):
        assert refusal("fear", codebook=["joy", 7]).endswith(
            "not in the codebook. It has 'joy', 7."
        )

    def test_empty_set_and_missing(self):
        assert parse_labels([], codebook=["a"]) == frozenset()
        assert parse_labels(None, codebook=["a"]) is None
        assert parse_labels("", codebook=["a"], blank="empty") == frozenset()

    @pytest.mark.parametrize("codebook", [("a", "b"), {"a", "b"}, {"a": 1, "b": 2}, iter("ab")])
    def test_any_collection(self, codebook):
        assert parse_labels("a, b", codebook=codebook) == {"a", "b"}

    @pytest.mark.parametrize("codebook", ["ab", 5])
    def test_no_list(self, codebook):
        with pytest.raises(
            OptionError, match=r"codebook=.* must be a list of labels(, not one text)?\."
        ):
            parse_labels("a", codebook=codebook)

    @pytest.mark.parametrize("label", [None, 1.5, True])
    def test_no_label(self, label):
        with pytest.raises(OptionError, match="codebook: "):
            parse_labels("a", codebook=["a", label])


class TestSyntax:
    @pytest.mark.parametrize("label_sep", ["", '"', 'a"', None, 1, [",", ""], ["a", 1], {","}])
    def test_separator(self, label_sep):
        with pytest.raises(
            OptionError, match=r"label_sep=.* must be text of one character or more"
        ):
            LabelSyntax(label_sep=label_sep)

    @pytest.mark.parametrize(
        ("cell", "label_sep", "labels"),
        [
            ("a/b, c", [",", "/"], "abc"),
            (" /a//b,,/ c / ", ("/", ","), "abc"),
            ('"a/b", c/d', [",", "/"], ["a/b", "c", "d"]),
            ('c/"a, ""b"""', [",", "/"], ["c", 'a, "b"']),
            ('["a/b", "c"]', [",", "/"], ["a/b", "c"]),
            ("- a - b and c and", [" - ", " and "], "abc"),
            ("a.b|c", [".", "|"], "abc"),
            ("A/b", ["/", "/"], ["A", "b"]),
            ("a, b", [","], "ab"),
            ("/ ,", [",", "/"], None),
        ],
    )
    def test_several_separators(self, cell, label_sep, labels):
        found = parse_labels(cell, label_sep=label_sep)
        assert found == (None if labels is None else {*labels})

    @pytest.mark.parametrize(
        ("label_sep", "message"),
        [
            ([], r"label_sep=\[\] must list at least one separator"),
            ([",", ", "], r"', ' contains ',', at which cells are split, too; omit one"),
            (["/", "\ud800"], "label_sep=: the text"),
        ],
    )
    def test_separators_that_cannot_be_meant(self, label_sep, message):
        with pytest.raises(OptionError, match=message):
            LabelSyntax(label_sep=label_sep)
        with pytest.raises(OptionError, match="must be text of one character or more"):
            sa.format_labels(["a"], label_sep=[",", "/"])

    @pytest.mark.parametrize(("name", "value"), [("blank", "emtpy"), ("case", "upper")])
    def test_closed_lists(self, name, value):
        with pytest.raises(OptionError, match=f"{name}='{value}' is unknown; use "):
            LabelSyntax(**{name: value})

    def test_read_cell_is_parse_labels(self):
        assert read_cell("B;a", LabelSyntax(label_sep=";", case="lower")) == {"a", "b"}
        for cell in ("Joy AND fear", '"Joy" AND fear'):
            both = read_cell(cell, LabelSyntax(label_sep=" AND ", case="lower"))
            assert both == {"joy", "fear"}


class TestNested:
    @pytest.mark.parametrize(
        "text",
        [
            *(
                "{{}}",
                "{{1}}",
                "{{'a':1}}",
                "{[1]}",
                "{{{}}}",
                "{{1}: 2}",
                "{[]: 1}",
                "{{'a'}, 'b'}",
            ),
            *("[{1}]", "[[1]]", "{(1,)}", "[{}]", "[{'a': 1}]", "[[0xf]]"),
            *(
                "set([[1]])",
                "frozenset({{1}})",
                "[0x" + "f" * 5000 + "]",
                "[[0x" + "f" * 5000 + "]]",
            ),
        ],
    )
    def test_refused(self, text):
        with pytest.raises(LabelError, match="a label is text or a whole number") as caught:
            parse_labels(text)
        inside = text.removeprefix("frozenset(").removeprefix("set(")
        assert inside[:5] in str(caught.value)

    @pytest.mark.parametrize("text", ["{{name}}", "{{ a.b }}", "{name}", "{{a}} b"])
    def test_templates(self, text):
        assert parse_labels(text) == {text}


class TestFormat:
    def test_sorted_and_separated(self):
        assert format_labels({"b", "a", 10, 9}) == "9, 10, a, b"
        assert format_labels({"b", "a"}, label_sep=";") == "a; b"
        assert format_labels({"b", "a"}, label_sep="|") == "a|b"

    def test_any_collection(self):
        assert format_labels(["b", "a"]) == format_labels(iter("ab")) == "a, b"

    def test_quotes_where_they_are_needed(self):
        assert format_labels({"a, b", "c d"}) == '"a, b", c d'
        assert format_labels({'"x"'}) == '"""x"""'
        assert format_labels({"[x]"}) == '"[x]"'

    def test_end_of_a_label_and_separator(self):
        assert parse_labels(format_labels({"a|", "b"}, label_sep="||"), label_sep="||") == {
            "a|",
            "b",
        }
        assert parse_labels(format_labels({"set", "x)"}, label_sep="("), label_sep="(") == {
            "set",
            "x)",
        }

    @pytest.mark.parametrize(
        ("labels", "label_sep", "text"),
        [
            ({"|a"}, " | ", '"|a"'),
            ({"a|"}, " | ", '"a|"'),
            ({"|"}, " | ", '"|"'),
            ({"a|b"}, " | ", "a|b"),
            ({"b", "|a"}, " | ", 'b | "|a"'),
            ({"a|", "b"}, " | ", '"a|" | b'),
            ({";a"}, " ;", '";a"'),
            ({"a;"}, " ;", '"a;"'),
            ({";"}, " ;", '";"'),
            ({"a;b"}, " ;", "a;b"),
            ({"a ;b"}, " ;", '"a ;b"'),
            ({";a"}, "; ", '";a"'),
            ({"a;"}, "; ", '"a;"'),
            ({"a", ")", "-"}, " - - ", ') - - "-" - - a'),
            ({"-", "a"}, " - - ", '"-" - - a'),
            ({"ba"}, "aba", "ba"),
            ({"a;"}, ",", "a;"),
            ({"a"}, "  ", "a"),
        ],
    )
    def test_spaced_separators(self, labels, label_sep, text):
        """A label that begins, ends or is what stands between spaces is quoted; no other is.

        The ends of a cell lose their space, so that the separator is seen there without it.
        """
        found = format_labels(labels, label_sep=label_sep)
        assert parse_labels(found, label_sep=label_sep) == labels
        assert found == text

    @pytest.mark.parametrize(
        "label_sep",
        [" | ", " ;", "; ", " - - ", "--", "aa", " ab ", "a ", " a", " , ", "  ", " ][ "],
    )
    def test_all_small_sets_with_spaced_separators(self, label_sep):
        signs = [*dict.fromkeys([*label_sep.replace(" ", "x"), "a", "|", "x"])]
        words = ["".join(w) for n in (1, 2, 3) for w in itertools.product(signs, repeat=n)]
        words += [f"{a} {b}" for a in signs for b in signs]
        for pair in itertools.combinations_with_replacement(words, 2):
            text = format_labels(set(pair), label_sep=label_sep)
            assert parse_labels(text, label_sep=label_sep) == frozenset(pair), (pair, text)

    @pytest.mark.parametrize(
        ("text", "label_sep", "labels"),
        [
            ("| a | b |", " | ", {"a", "b"}),
            ("| | a | |", " | ", {"a"}),
            (";a ;b ;", " ;", {"a", "b"}),
            ("a; b;", "; ", {"a", "b"}),
            ("||", " | ", {"||"}),
            ("|  | a |  |", " | ", {"a"}),
            ("|   ['a', 'b']", " | ", {"a", "b"}),
            ("['a', 'b']   |", " | ", {"a", "b"}),
            ("- - a - -", " - - ", {"a"}),
        ],
    )
    def test_separators_at_the_ends(self, text, label_sep, labels):
        assert parse_labels(text, label_sep=label_sep) == labels

    def test_empty_set(self):
        assert format_labels(frozenset()) == ""
        assert display_labels(frozenset()) == "{}"
        assert display_labels({"b", "a"}) == "a, b"

    def test_sorted_labels(self):
        assert sorted_labels({"b", 10, "B", 9}) == [9, 10, "B", "b"]

    @pytest.mark.parametrize("label", HOSTILE, ids=lambda label: repr(label)[:20])
    def test_hostile_labels_come_back(self, label):
        assert parse_labels(format_labels({label})) == {label}
        assert parse_labels(format_labels({label, "~"})) == {label, "~"}
        assert parse_labels([label]) == {label}

    def test_all_hostile_labels_at_once(self):
        assert parse_labels(format_labels(HOSTILE)) == frozenset(HOSTILE)


class TestProperties:
    @settings(max_examples=100)
    @given(
        st.frozensets(LABELS | TRICKY, min_size=1, max_size=5),
        st.sampled_from(",;|\t") | SEPARATORS,
    )
    def test_round_trip(self, labels, label_sep):
        assert (
            parse_labels(format_labels(labels, label_sep=label_sep), label_sep=label_sep) == labels
        )

    @given(st.frozensets(LABELS, max_size=5))
    def test_round_trip_with_the_empty_set(self, labels):
        assert parse_labels(format_labels(labels), blank="empty") == labels

    @given(
        st.lists(st.sampled_from(["a", "b", "sad, a bit", 'x"y', "é", "[z]"]), min_size=1),
        st.randoms(use_true_random=False),
        st.sampled_from(["", " ", "  ", "\t"]),
    )
    def test_order_space_and_repeats(self, labels, random, space):
        written = ['"' + label.replace('"', '""') + '"' for label in labels] * 2 + [""]
        random.shuffle(written)
        assert parse_labels(f"{space},{space}".join(written)) == frozenset(labels)

    @settings(max_examples=100)
    @given(st.text(alphabet="ab,\"' []{}()s", max_size=12))
    def test_reading_never_crashes(self, text):
        try:
            labels = parse_labels(text)
        except LabelError as error:
            assert str(error)  # noqa: PT017 - both ends are right, which one depends on the text
        else:
            assert labels is None or all(label == label.strip() != "" for label in labels)

    @settings(max_examples=300)
    @given(
        st.lists(
            st.sampled_from(
                [
                    *"{}[]()'\"\\,: 1a-#\0\n",
                    "{{",
                    "}}",
                    "set(",
                    "name",
                    "1e999",
                    "None",
                    "b'",
                    "...",
                ]
            ),
            max_size=9,
        ),
        st.sampled_from(["", "{}", "[]", "()", ("set(", ")"), ("{{", "}}"), ("{[", "]}")]),
    )
    def test_reading_nestings_never_crashes(self, pieces, around):
        first, last = around or ("", "")
        try:
            labels = parse_labels(f"{first}{''.join(pieces)}{last}")
        except LabelError as error:
            assert str(error)  # noqa: PT017 - both ends are right, which one depends on the text
        else:
            assert labels is None or isinstance(labels, frozenset)

    @pytest.mark.parametrize("text", ["[" * 9999 + "]" * 9999, "{" * 999 + "}" * 999, "[-" * 999])
    def test_deep_nestings(self, text):
        try:
            assert parse_labels(text)
        except LabelError as error:
            assert len(str(error)) < 300  # noqa: PT017 - as above

    @pytest.mark.parametrize(
        ("text", "label_sep"),
        [
            ('"a",' + "bbbbb," * 80_000, ","),
            ('"a",' * 80_000, ","),
            ('"a"' + " ," * 80_000, ","),
            ("| " * 80_000 + "a" + " |" * 80_000, " | "),
        ],
    )
    def test_long_cells_take_linear_time(self, text, label_sep):
        start = time.process_time()
        assert parse_labels(text, label_sep=label_sep) <= {"a", "bbbbb"}
        assert time.process_time() - start < 2

    def test_exhaustively_small(self):
        words = ["".join(w) for n in (1, 2, 3) for w in itertools.product('a,"[', repeat=n)]
        for pair in itertools.combinations_with_replacement(words, 2):
            assert parse_labels(format_labels(set(pair))) == frozenset(pair)


@pytest.mark.parametrize(
    ("cell", "label_sep"), [("a; b; ", "; "), ("| a | b", " | "), ("a, b,", ", ")]
)
def test_separator_with_space_at_the_ends(cell, label_sep):
    assert sa.parse_labels(cell, label_sep=label_sep) == {"a", "b"}


def test_numbers_in_brackets_are_labels():
    assert sa.parse_labels("(1), (2)") == {"(1)", "(2)"}


ODD_LABELS = [
    "=cmd()",
    "<script>alert(1)</script>",
    "%s%n",
    "{x}",
    "x" * 10_000,
    "😀",
    "שלום",
    "\u202egnorw",
    'a "quoted" word',
    "[bracket]",
    "a, b",
    "__import__('os')",
]


def test_labels_with_spaces_trailing_or_doubled_separators_repeats_another_order():
    same = ["a,b", " b ,a,", "a,,b , a"]
    alpha = alpha_of(
        *((1, rater, cell) for rater, cell in enumerate(same)), (2, 0, "c"), (2, 1, "c,")
    )
    assert (alpha.n_values, alpha.estimate) == (2, 1)


def test_label_outside_the_codebook():
    words = sentence(
        LabelError,
        alpha_of,
        (1, "x", "joy"),
        (1, "y", "joy, suprise"),
        (2, "x", "suprise"),
        codebook=["joy", "surprise", "fear"],
    )
    assert words.startswith(
        "1 label is not in the codebook: 'suprise' (2 answers, near 'surprise'). First: Unit 1, "
        "rater 'y'. Correct the answers, add these labels to the codebook, or map them to labels "
    )


def test_labels_that_contain_the_separator():
    alpha = alpha_of((1, "x", '"a, b", c'), (1, "y", '["c", "a, b"]'), (2, "x", "d"), (2, "y", "d"))
    assert (alpha.n_values, alpha.estimate) == (2, 1)
    words = sentence(LabelError, alpha_of, (1, "x", "a"), (1, "y", '"a, b'))
    assert words.startswith("Unit 1, rater 'y': '\"a, b' has an unbalanced quote;")


@pytest.mark.parametrize("label", ODD_LABELS, ids=lambda label: repr(label)[:16])
def test_hostile_labels(label):
    study = sa.Annotations.from_triples(
        [("x", 1, [label]), ("y", 1, [label, "b"]), ("x", 2, "b"), ("y", 2, "b")]
    )
    assert set(study.labels) == {label, "b"}
    # Units (l, lb), (b, b), nominal: Do = 1/2; values l, lb, b, b: De = (12 - 2) / 12.
    nominal = sa.krippendorff_alpha(study, distance="nominal")
    assert nominal.estimate == pytest.approx(1 - 0.5 / (10 / 12), abs=1e-15)
    frame = sa.weights(study, "jaccard").to_frame()
    assert frame.loc[sa.format_labels([label]), sa.format_labels([label, "b"])] == 0.5
    words = sentence(
        LabelError, sa.Annotations.from_triples, [(label, label, [label])], codebook=["b"]
    )
    assert "is not in the codebook" in words
    assert len(words) < 500
    assert "\u202e" not in words


def test_labels_of_a_codebook_in_their_order():
    assert listed_labels('sad, "a, b", joy, sad', ",") == ["sad", "a, b", "joy"]
