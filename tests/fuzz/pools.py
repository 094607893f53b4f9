"""Arguments as Python text: degenerate studies, usual values by name, and hostile ones."""

from __future__ import annotations

from random import Random

STUDIES = {
    "one unit": 'sa.Annotations.from_triples([("a", 1, "x"), ("b", 1, "x, y")])',
    "one rater": 'sa.Annotations.from_triples([("a", 1, "x"), ("a", 2, "y"), ("a", 3, "x")])',
    "one rating": 'sa.Annotations.from_triples([("a", 1, "x")])',
    "no pairs": 'sa.Annotations.from_triples([("a", 1, "x"), ("b", 2, "y"), ("c", 3, "x")])',
    "all equal": 'sa.Annotations.from_triples([(g, u, "x, y") for g in "abc" for u in range(5)])',
    "empty sets": "sa.Annotations.from_triples([(g, u, []) for g in 'ab' for u in range(4)])",
    "full agreement": 'sa.Annotations.from_triples([(g, u, "xyz"[u % 3]) for g in "ab" '
    "for u in range(4)])",
    "full disagreement": 'sa.Annotations.from_triples([(g, u, g) for g in "ab" for u in range(4)])',
    "two values": 'sa.Annotations.from_triples([("abc"[k % 3], k // 3, "xy"[k * 7% 11% 2]) '
    "for k in range(24)])",
    "many labels": "sa.Annotations.from_triples([(g, u, [f'l{(u * 37 + g * j) % 300}' "
    "for j in range(1 + u % 5)]) for g in range(1, 4) for u in range(80)])",
    "large sets": "sa.Annotations.from_triples([(g, u, [f'l{j}' for j in range(g, 60 + u)]) "
    "for g in range(3) for u in range(6)])",
    "many raters": "sa.Annotations.from_triples([(k, k % 7, 'xyz'[k * k % 3]) for k in range(60)])",
    "two numbers": "sa.Annotations.from_triples([(g, u, (u + g) % 2) for g in range(2) "
    'for u in range(4)], kind="value")',
    "far numbers": 'sa.Annotations.from_triples([("abc"[k % 3], k // 3, [0, -1e300, 1e300, 5e-324]'
    '[k * k % 4]) for k in range(12)], kind="value")',
    "numbers": 'sa.Annotations.from_triples([("abc"[k % 3], k // 3, k * k % 5) for k in range(30)],'
    ' kind="value")',
    "words": 'sa.Annotations.from_triples([("abc"[k % 3], k // 3, "xyz"[k * k % 3]) '
    'for k in range(18)], kind="value")',
    "odd names": 'sa.Annotations.from_triples([(g, u, u) for g in ("<b>", 1, "é|\\n", "a,b") '
    'for u in ("=x", "%s {x}", "\\x1b[31m", "[y](z)", "\\U0001f600")])',
    "plain": "sa.simulate(12, 4, n_labels=4, missing=0.2, rng=3)",
    "larger": "sa.simulate(40, 5, n_labels=5, missing=0.1, rng=4)",
}

HOSTILE = [
    *(
        "None",
        "-1",
        "0",
        "1",
        "2",
        "3.7",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "1e-320",
        "10**30",
        "True",
    ),
    *(
        "''",
        "' '",
        "'x'",
        "'masi'",
        "'é'",
        "'\\n'",
        "'a' * 3000",
        "b'x'",
        "[]",
        "()",
        "{}",
        "set()",
    ),
    *("[None]", "['x', 'x']", "[1, 'x']", "{'x': 1}", "{'x': None}", "{1: {'y'}}", "object()"),
    *(
        "NA",
        "NaT",
        "Timestamp(0)",
        "Decimal('NaN')",
        "Fraction(1, 3)",
        "np.array([])",
        "np.float32(1)",
    ),
    *("np.zeros((2, 2, 2))", "pd.DataFrame()", "pd.DataFrame({'unit': [1]})", "pd.Series([1, 2])"),
    *("lambda *a: 1", "lambda *a: nan", "lambda *a: 1 / 0", "range(3)", "iter([1])", "sa", "int"),
    *("[[1, 2], [3]]", "float", "slice(1)", "1j", "['a', 'b']", "[0, 1]", "{'a': ['a']}"),
    *(
        "'x\\ud83d'",
        "{'\\ud83d': 1}",
        "np.array('x')",
        "pd.Categorical(['x'])",
        "{'p': ['a'], 'q': ['b', 'c']}",
        "...",
    ),
]

DISTANCES = [
    *(
        "'masi'",
        "'jaccard'",
        "'nominal'",
        "'hamming'",
        "'dice'",
        "'overlap'",
        "'interval'",
        "'ratio'",
    ),
    *("'ordinal'", "'circular'", "'bipolar'", "'ordinal_gwet'", "lambda x, y: float(x != y)"),
    *("lambda x, y: abs(len(x) - len(y))", "sa.distances.weighted_jaccard({'x': 2, 'y': 1})"),
    *("sa.distances.taxonomy({'x': 'y'})", "lambda x, y: 1.0", "lambda x, y: 'no'", "'passonneau'"),
    "sa.distances.transport(lambda x, y: float(x != y))",
]
COEFFICIENTS = [
    *("'krippendorff_alpha'", "'fleiss_kappa'", "'conger_kappa'", "'cohen_kappa'", "'scott_pi'"),
    *("'gwet_ac'", "'brennan_prediger'", "'percent_agreement'", "'mv_alpha'", "'kappa'"),
]
RATERS = ["['a', 'b']", "['a']", "['b', 'c']", "[0, 1]", "['rater 1', 'rater 2']", "['nobody']"]
FRAMES = [
    "pd.DataFrame({'unit': [1, 1, 2, 2], 'rater': [*'abab'], 'labels': ['x', 'x, y', '', None]})",
    "pd.DataFrame({'a': ['x', 'y'], 'b': ['x', 'x, y']}, index=['u', 'v'])",
    "pd.DataFrame({'a': [2, 0], 'a, b': [1, 3]}, index=['a', 'a, b'])",
    "pd.DataFrame({'unit': [1, 2], 'rater': ['a', 'a'], 'labels': [{'x'}, []], 'value': [1, 2]})",
    "pd.DataFrame({'x': [0, 0.5], 'y': [0.5, 0]}, index=['x', 'y'])",
    "pd.DataFrame(columns=['unit', 'rater', 'labels'])",
    "pd.DataFrame({'unit': [[1], {}], 'rater': [None, 'a'], 'labels': [{'x': 1}, object()]})",
]
FILES = ["'study.csv'", "'absent.csv'", "'.'", "'/'", "''", "'*.csv'", "'study.json'", "'bad.csv'"]

POOLS: dict[str, list[str]] = {
    "distance": ["['masi', 'jaccard']", *DISTANCES],
    "coefficient": ["['krippendorff_alpha', 'mv_alpha']", *COEFFICIENTS],
    "level": ["0.9", "0.5", "0.999999", "1e-9"],
    "n_resamples": ["2", "10", "30"],
    "n_splits": ["2", "5"],
    "rng": ["1", "np.random.default_rng(2)"],
    "seed": ["1"],
    "scheme": ["'pooled'", "'within_rater'", "'table'"],
    "alternative": ["'greater'", "'less'", "'two-sided'"],
    "over": ["'units'", "'both'", "'raters'", "('units', 'raters')"],
    "design": ["'same_units'", "'shared_units'", "'independent'"],
    "raters": RATERS,
    "humans": RATERS,
    "panel": RATERS,
    "exclude_raters": RATERS,
    "source": ["'Scott 1955'"],
    "symbol": ["'κ'"],
    "short": ["'kappa'"],
    "nominal_title": ["'AC1'"],
    "model": ["'a'", "sa.krippendorff_alpha.model", "'b'", "0", "'rater 1'", "['a', 'b']"],
    "panels": ["{'p': ['a'], 'q': ['b']}", "{'p': ['a', 'b'], 'q': ['c', 'a']}"],
    "ties": ["'empty'", "'plurality'", "'missing'", "'published'", "'strict'"],
    "threshold": ["0.5", "0.34", "1.0", "0.0"],
    "adjudicate_below": ["0.0", "0.7", "1.0"],
    "epsilon": ["0.1", "0.2", "0.0"],
    "q": ["0.05", "0.5"],
    "min_units": ["1", "2", "30"],
    "min_humans": ["1", "2"],
    "k": ["1", "2", "5"],
    "half_width": ["0.05", "0.2"],
    "units": ["[10, 20]", "[1]", "50", "['u', 'v']"],
    "scale": [
        "'krippendorff'",
        "'landis_koch'",
        "'fleiss'",
        "'altman'",
        "{'low': 0.0, 'high': 0.8}",
    ],
    "parents": ["{'x': 'y'}", "{'x': 'y', 'y': None}", "{'x': 'x'}", "{'l1': ['l2', 'l3']}"],
    "merge": ["[['x', 'y']]", "[['x'], ['x', 'y']]", "[['l1', 'l2', 'l3']]"],
    "exclude_labels": ["['x']", "['x', 'y', 'z']", "['l1']"],
    "by": ["{1: 'g', 2: 'h'}", "lambda u: str(u)[:1]", "'labels'", "pd.Series(['g', 'h'], [1, 2])"],
    "at": ["{k: k for k in range(50)}", "lambda u: Timestamp(0)", "'unit'"],
    "window": ["5", "'7D'", "1.5", "pd.Timedelta('1D')"],
    "step": ["1", "'1D'"],
    "limit": ["1", "3", "100"],
    "categories": ["['x', 'y', 'z', 'x, y']", "[1, 2, 3, 4, 0]", "[set(), {'x'}]"],
    "kind": ["'labels'", "'value'", "'number'", "'category'"],
    "blank": ["'missing'", "'empty'", "'error'"],
    "case": ["'keep'", "'lower'"],
    "duplicates": ["'error'", "'first'", "'last'", "'union'"],
    "label_sep": ["','", "';'", "' | '"],
    "codebook": ["['x', 'y', 'z']", "['x']"],
    "na_values": ["['NA']", "['x']", "[99]"],
    "missing": ["0.2"],
    "labels": ["'labels'", "['x', 'y']", "None"],
    "unit": ["'unit'", "'labels'"],
    "rater": ["'rater'", "'unit'"],
    "value": ["'value'", "'labels'"],
    "mask": ["np.zeros((2, 2))", "None"],
    "format": ["'html'", "'markdown'"],
    "tool": ["'auto'", "'table'", "'prodigy'", "'brat'"],
    "encoding": ["'utf-8'", "'latin-1'", "'utf-16'"],
    "memory_limit": ["'300MB'", "'1GB'"],
    "title": ["'<b>'", "'%s'"],
    "groups": ["{1: 'g', 2: 'h'}", "{k: k % 2 for k in range(50)}"],
    "path": FILES,
    "similarity": ["True", "False"],
    "name": ["'mine'"],
    "column": ["'estimate'", "'n_units'"],
    "n_units": ["1", "3", "10"],
    "n_raters": ["1", "2", "4"],
    "n_labels": ["1", "3"],
    "prevalence": ["0.3", "[0.1, 0.2, 0.3]", "0.0", "1.0"],
    "skill": ["0.7", "0.0", "[0.1, 1.0]"],
    "size_bias": ["1.0", "[0.5, 2.0]"],
    "table": FRAMES,
    "frame": FRAMES,
    "indicators": ["np.eye(2)[None]", "[[[1, 0], [0, 0]], [[1, 1], [0, 0]]]", *FRAMES],
    "triples": [
        "[('a', 1, 'x'), ('b', 1, ['y'])]",
        "[('a', 1)]",
        "[(None, 1, 'x')]",
        "['abc']",
        "[('a', 1, '\\ud83d')]",
    ],
    "cell": ["'x, y'", "'\"x'", "['x', 1]", "'{1: 2}'", "'[[1]]'", "[['x']]", "'{{1}}'"],
    "A": ["{'x'}", "[]", "'x'", "{'x', 'y'}"],
    "B": ["{'x'}", "{'z'}", "frozenset()"],
    "x": ["1", "0", "2.5", "{'x'}"],
    "y": ["1", "0", "-2.5", "{'x'}"],
    "label_weights": ["{'x': 1, 'y': 2.5}", "{'x': 0}", "{'x': -1}"],
    "label_distance": ["lambda x, y: float(x != y)", "{('x', 'y'): 1.0}"],
    "function": [
        "lambda x, y: float(x != y)",
        "lambda a, b, i: a + b - 2 * i",
        "lambda study: sa.score(study, 'alpha')",
    ],
    "short_names": ["('mine',)", "[]"],
    "for_more": ["'conger_kappa'"],
    "default_distance": ["'dice'", "'none'"],
    "counts": ["None", "[1, 2, 3]"],
    "references": ["True", "False"],
}
POOLS["values"] = POOLS["panel_units"] = ["()", "[1]"]

LARGE_IS_SLOW = {
    "n_resamples",
    "n_splits",
    "n_units",
    "n_raters",
    "n_labels",
    "k",
    "units",
    "raters",
}
"""Numbers of these names cost time in proportion, so that no huge one is among the hostile."""


def argument(rng: Random, name: str, hostile: float = 0.3) -> str:
    """Return the text of an argument: of its kind, or anything."""
    pool = POOLS.get(name, [])
    if pool and rng.random() > hostile:
        return rng.choice(pool)
    several = [
        one for one in HOSTILE if name not in LARGE_IS_SLOW or one not in {"10**30", "1e308"}
    ]
    return rng.choice(several)


def study(rng: Random) -> str:
    """Return the text of a study, rarely of what is none."""
    if rng.random() < 0.03:
        return rng.choice(HOSTILE)
    return rng.choice([*STUDIES.values()])
