"""Names and labels that would break a page."""

from __future__ import annotations

import setagree as sa

HOSTILE = [
    "<script>alert(1)</script>",
    "x" * 10_000,
    "שלום עולם",
    "👩‍💻 😀",
    "</svg></style><img src=x onerror=alert(2)>",
    "a\u202eevil",
    "$x^2$ %s {x} {{ 7*7 }}",
    "|*_`#[a](javascript:alert(3))",
    "nul\x00bell",
]


def hostile_study():
    """Return a study whose labels, raters and units are hostile."""
    plain_study = sa.simulate(
        60, 4, n_labels=len(HOSTILE), labels=HOSTILE, skill=[0.9, 0.8, 0.7, 0.2], missing=0.1, rng=3
    )
    return sa.Annotations.from_triples(
        [(f"<i>{r}</i>\"'", ("<u>", u), v) for u, r, v in plain_study.to_long().to_numpy()]
    )
