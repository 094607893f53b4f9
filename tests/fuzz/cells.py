"""Hostile tables: what is meant, and one of the many ways to write it."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd

LABELS = [
    *("a", "b", "joy", "Joy", "fear", "é", "Ünï", "a,b", "a;b", "a|b", 'say "hi"', "[x]", "{name}"),
    *("it's", "'q'", "(1)", "1", "01", "1.0", "true", "NA", "nan", "None", "-", "=cmd()", "+1"),
    *("<script>", "%s", "{{x}}", "\U0001f600", "שלום", "x" * 300, "two\nlines", "\\", "\\n", "#x"),
    *("set", "set(x", "frozenset", "a b", "\u200bz", "::", "日本", "ǅ", "ß", "null"),
]
NAMES = [
    "u1",
    "u2",
    " u3",
    "é",
    "NA",
    "None",
    "a,b",
    'q"q',
    "=1+1",
    "日本",
    "two\nlines",
    "07",
    "-",
]
NUMBERS: dict[str, list[Any]] = {
    "whole": [0, 1, -1, 7, 2**31, -(2**53)],
    "large": [2**53, 2**53 + 1, 2**62 + 1, 2**62, -(2**53) - 1, 3],
    "huge": [10**30, 10**30 + 1, -(10**25), 10**300, 10**300 + 1, 5],
    "decimal": [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal(1), Decimal("-2.50")],
    "long_decimal": [Decimal(90071992547409931) + k for k in range(4)],
    "fraction": [Fraction(1, 3), Fraction(2, 6), Fraction(1, 7), Fraction(5)],
    "float": [0.1, 0.5, -0.0, 0.0, 1e300, 5e-324, 3.0],
    "text": ["9007199254740993.0", "9007199254740992.0", "1", "01", "1E2", "100", " 7 ", "-0.5"],
}
NULLS = [None, float("nan"), pd.NA, pd.NaT]
BLANKS = ["", " ", "\u3000", "\t "]
SEPS = [",", ",", ",", ";", "|", ", ", " | ", "::", "\t"]


@dataclass
class Table:
    """Rows as they are written (columns) and as they are meant.

    `shape` says what the answers are: "text" (str or None), "list" (list of text or None), "object"
    (anything that pandas can hold), "number", "category".
    """

    shape: str
    columns: dict[str, list[Any]]
    meant: list[tuple[Any, Any, tuple[str, Any]]]
    options: dict[str, Any] = field(default_factory=dict)
    breaks_codebook: bool = False
    numbers: str = ""

    @property
    def kinds(self) -> set[str]:
        return {answer[0] for *_, answer in self.meant}


def make_table(rng: Random) -> Table:
    shape = rng.choice(["text", "text", "text", "list", "object", "number", "category"])
    table = Table(shape, {"unit": [], "rater": [], "answer": []}, [])
    if shape in {"number", "category"}:
        table.numbers = rng.choice([*NUMBERS]) if shape == "number" else ""
    else:
        table.options = _options(rng, shape)
    if rng.random() < 0.3:
        several = ["error", "first", "last"] if table.numbers or shape == "category" else None
        table.options["duplicates"] = rng.choice(several or ["error", "first", "last", "union"])
    draw = _drawer(rng, table)
    for unit, rater in _pairs(rng, repeated="duplicates" in table.options):
        cell, meaning = draw()
        for name, one in zip(table.columns, (unit[0], rater[0], cell), strict=True):
            table.columns[name].append(one)
        table.meant.append((unit[1], rater[1], meaning))
    _set_codebook(rng, table)
    return table


def _options(rng: Random, shape: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["blank"] = rng.choice(["missing", "empty", "empty", "error"])
    if rng.random() < 0.4:
        options["label_sep"] = rng.choice(SEPS)
    if rng.random() < 0.2:
        options["case"] = "lower"
    if rng.random() < 0.2 and shape == "text":
        options["na_values"] = ["n/a", "99"]
    return options


def _pairs(rng: Random, *, repeated: bool) -> list[tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """Return units and raters, each as it is written and as it is meant."""
    units, raters = _ids(rng, rng.randint(1, 6)), _ids(rng, rng.randint(1, 4))
    full = rng.choice([0.5, 0.85, 1.0])
    pairs = [(u, r) for u in units for r in raters if rng.random() < full] or [
        (units[0], raters[0])
    ]
    if repeated:
        pairs += rng.choices(pairs, k=rng.randint(0, 3))
    if rng.random() < 0.5:
        rng.shuffle(pairs)
    return [(_written(rng, u), _written(rng, r)) for u, r in pairs]


def _ids(rng: Random, size: int) -> list[Any]:
    pool = rng.choice([NAMES, NAMES, [*range(1, 9)], [1, "u1", 2.5, "NA", -3, "x y"]])
    return rng.sample(pool, min(size, len(pool)))


def _written(rng: Random, name: Any) -> tuple[Any, Any]:
    if not isinstance(name, str):
        return name, name
    meant = unicodedata.normalize("NFC", name.strip())
    form = unicodedata.normalize(rng.choice(["NFC", "NFD"]), name)
    return rng.choice(["", "", " ", "\u3000"]) + form + rng.choice(["", "", " "]), meant


def _drawer(rng: Random, table: Table) -> Any:
    if table.shape in {"number", "category"}:
        pool = NUMBERS[table.numbers] if table.numbers else LABELS
        few = rng.sample(pool, min(len(pool), rng.randint(1, 4)))
        return lambda: _scalar(rng, few, table)
    few = rng.sample(LABELS, rng.randint(1, 5))
    odd = {name: rng.choice([0.0, 0.15]) for name in ("null", "blank", "missing")}
    return lambda: _labels(rng, few, odd, table)


def _scalar(rng: Random, few: list[Any], table: Table) -> tuple[Any, tuple[str, Any]]:
    if rng.random() < 0.1:
        return None, ("null", None)
    one = rng.choice(few)
    if table.shape == "category":
        # a word before it, so that no column is taken for numbers
        text = f"w {one}"
        return unicodedata.normalize(rng.choice(["NFC", "NFD"]), text), ("value", text)
    return one, ("value", Fraction(one.strip() if isinstance(one, str) else one))


def _labels(
    rng: Random, few: list[str], odd: dict[str, float], table: Table
) -> tuple[Any, tuple[str, Any]]:
    options = table.options
    if rng.random() < odd["null"]:
        return rng.choice(NULLS) if table.shape == "object" else None, ("null", None)
    as_text = table.shape == "text" or (table.shape == "object" and rng.random() < 0.5)
    if as_text and rng.random() < odd["blank"]:
        return rng.choice(BLANKS), ("blank", None)
    if as_text and "na_values" in options and rng.random() < odd["missing"]:
        return f" {rng.choice(options['na_values'])}", ("missing", None)
    labels = rng.sample(few, rng.randint(0, min(3, len(few))))
    meaning = ("set", frozenset(_meant_label(one, options) for one in labels))
    if as_text:
        return spell(rng, labels, options.get("label_sep", ",")), meaning
    parts = [_spell_label(rng, one) for one in [*labels, *labels[:1]]]
    holders: list[Any] = [list]
    if table.shape == "object":
        holders = [list, tuple, set, frozenset, lambda items: np.array(items, dtype=object)]
    return rng.choice(holders)(parts), meaning


def _meant_label(label: str, options: dict[str, Any]) -> str:
    text = label.lower() if options.get("case") == "lower" else label
    return unicodedata.normalize("NFC", text)


def _spell_label(rng: Random, label: str) -> str:
    form = unicodedata.normalize(rng.choice(["NFC", "NFC", "NFD"]), label)
    return rng.choice(["", "", " ", "\u3000"]) + form + rng.choice(["", "", "  "])


def spell(rng: Random, labels: list[str], label_sep: str) -> str:
    if not labels:
        return rng.choice(["[]", "set()", "frozenset()", "()", " [ ] "])
    repeated = [*labels, *rng.choices(labels, k=rng.choice([0, 0, 1]))]
    rng.shuffle(repeated)
    way = rng.choice(["plain", "plain", "plain", "json", "python"])
    if way == "json":
        return json.dumps(repeated, ensure_ascii=rng.random() < 0.5)
    if way == "python":
        return repr(rng.choice([list, tuple])(repeated))
    parts = [_part(rng, one, label_sep) for one in repeated]
    text = label_sep.join(parts)
    return text + rng.choice(["", "", "", label_sep, label_sep + label_sep])


def _part(rng: Random, label: str, label_sep: str) -> str:
    opens = label.startswith(("[", "{", "(", "set(", "frozenset("))
    if (
        opens
        or '"' in label
        or label_sep.strip() in label
        or rng.random() < 0.15
        or label_sep == "\t"
    ):
        inside = _spell_label(rng, label).replace('"', '""')
        return rng.choice(["", " "]) + f'"{inside}"' + rng.choice(["", " "])
    return _spell_label(rng, label)


def _set_codebook(rng: Random, table: Table) -> None:
    used = sorted({one for *_, (kind, labels) in table.meant if kind == "set" for one in labels})
    if table.shape not in {"text", "list"} or not used or rng.random() < 0.85:
        return
    lacking = rng.sample(used, 1) if rng.random() < 0.4 else []
    table.options["codebook"] = [one for one in [*used, "never"] if one not in lacking]
    table.breaks_codebook = bool(lacking)
