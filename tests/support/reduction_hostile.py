"""Random tables with hostile cells, on every road that a table can be reduced on."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pandas as pd

TEXTS = [
    *("x", "y", "X", " x ", "x,y", "y, x", "x;y", "x|y", '"x, y"', '"x"', 'a""b', '"', 'x "q"'),
    *("", " ", "\u3000", "\u2003x", "\x1fx", "x\x85", "\ufeffx", "\u200bx", "é", "e\u0301"),
    *("one\ntwo", "one\r\ntwo", "x\r", "\tx", "NA", "N/A", "nan", "null", "None", "n/a", "-"),
    *("1", "01", "1.0", "1e0", "+1", "1_0", "٣", "inf", "true", "[]", "['x']", '["x", "y"]'),
    *("[x]", "{x}", "set()", "(x)", "x,", ",", ",x", "x,,y", "'x'", "x'y", "\\", "\\n", "%s", "#x"),
    "x" * 3000,
]
NUMBERS: list[Any] = [
    *(1, 2, 0, -1, 1.0, 1.5, -0.0, 0.1, 1e300, 2**53, 2**53 + 1, 2**62 + 1, True, False),
    float("nan"),
    None,
]
LISTS: list[Any] = [
    *(["x"], ["y", "x"], [], ["x, y"], [" x"], ["x", "x"], [""], None, ["é"], ['"'], ["n/a"]),
    ["1"],
]
OPTIONS: list[dict[str, Any]] = [
    *({}, {}, {"blank": "missing"}, {"blank": "empty"}, {"blank": "error"}, {"case": "lower"}),
    *(
        {"label_sep": ";"},
        {"label_sep": "|"},
        {"label_sep": ", "},
        {"na_values": ["n/a", "-", "NA", 1]},
    ),
    *({"na_values": ["absent"]}, {"codebook": ["x", "y"]}, {"codebook": ["X", "x, y"]}),
    {"blank": "empty", "case": "lower", "na_values": ["NA"], "codebook": ["x", "y", "q", "é"]},
]
HEADERS = [
    ("unit", "rater", "answer"),
    ('u"n', "r,t", "a b"),
    ("Unit", "RATER", "é"),
    (" u", "r", "a"),
]


def choose(rng: np.random.Generator, items: Any, size: int, variety: int) -> list[Any]:
    """Return items drawn from a few of those that there are."""
    few = [items[k] for k in rng.integers(len(items), size=variety)]
    return [few[k] for k in rng.integers(variety, size=size)]


def hostile_table(rng: np.random.Generator, kind: str) -> dict[str, list[Any]]:
    """Return columns unit, rater and answer: text alone, or what typed tables hold, too."""
    size = int(rng.integers(1, 14))
    pools: dict[str, list[Any]] = {"text": TEXTS, "number": NUMBERS, "list": LISTS}
    pools["mixed"] = [*TEXTS, *NUMBERS, *LISTS]
    pools["missing"] = ["", None]
    plain = [f"u{k}" for k in range(4)]
    ids: list[list[Any]] = [plain, plain, TEXTS[:12], TEXTS]
    if kind != "text":
        ids += [[1, 2, 3], [1.0, 2.5, -0.0, 0.0]]
    if kind == "mixed":
        ids += [[1, "1", 1.0, True, "a"]]
    pairs = [
        choose(rng, ids[rng.integers(len(ids))], size, int(rng.integers(1, 5))) for _ in range(2)
    ]
    if rng.random() < 0.7:  # few repeats
        pairs[0] = [f"u{k // 3}" for k in range(size)]
        pairs[1] = [f"r{k % 3}" for k in range(size)]
    answers = choose(rng, pools[kind], size, int(rng.integers(1, 6)))
    return {"unit": pairs[0], "rater": pairs[1], "answer": answers}


def as_text(cells: list[Any]) -> list[str]:
    """Return cells as a CSV file holds them."""
    return ["" if cell is None else str(cell) for cell in cells]


def write_csv(path: str, columns: dict[str, list[Any]], rng: np.random.Generator) -> None:
    """Write text with one of many quotings, delimiters and ends of lines; rarely it is broken."""
    delimiter = "\t" if path.endswith("tsv") else ",;|\t"[rng.integers(4)]
    quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL][rng.integers(2)]
    end = ["\n", "\r\n", "\r"][rng.integers(3)]
    with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a plain file
        if rng.random() < 0.2:
            file.write(["\n", " \n", "\ufeff"][rng.integers(3)])
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(columns)
        rows = list(zip(*map(as_text, columns.values()), strict=True))
        for row in rows:
            if rng.random() < 0.1:
                file.write(end)
            if rng.random() < 0.03:
                odd = ['a,"b', '"a"b,c,d', "a", "a,b,c,d", "a,b,c,", "a,b,\0", 'a"b,c,d'][
                    rng.integers(7)
                ]
                file.write(odd.replace(",", delimiter) + end)
            else:
                writer.writerow(row)


def write_lines(path: str, columns: dict[str, list[Any]], rng: np.random.Generator) -> None:
    """Write JSON lines, in which null may be a key that is absent."""
    with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a plain file
        if rng.random() < 0.1:
            file.write("\ufeff")
        for cells in zip(*columns.values(), strict=True):
            row = dict(zip(columns, cells, strict=True))
            if rng.random() < 0.5:
                row = {name: cell for name, cell in row.items() if cell is not None}
            file.write(json.dumps(row, ensure_ascii=bool(rng.random() < 0.5)))
            file.write(["\n", "\r\n", "\n\n"][rng.integers(3)])


def frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return a table of objects."""
    made = {}
    for name, cells in columns.items():
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
        made[name] = pd.Series(array, dtype=object)
    return pd.DataFrame(made)
