"""Frames such as diagnosis returns, written by hand, for the tests of the pictures.

The numbers are drawn at random where a test compares the picture with the frame, and said where a
test compares it with something that can be worked out by hand.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import setagree as sa
from setagree.coefficients.uncertain import UncertainNumber
from setagree.diagnosis.intra_rater import IntraRater
from setagree.diagnosis.next_ratings import Queue
from setagree.inference.monitor import Monitor
from setagree.inference.prevalence import PrevalenceTable
from setagree.panels.alt_test import AltTest
from setagree.panels.facets import FacetAgreement
from setagree.panels.noninferiority import Change, Replacement
from setagree.panels.rater_map import RaterMap

HOSTILE = [
    "<script>alert(1)</script>",
    "$x$ costs $5",
    "\\$",
    "100% _sure_ ^{",
    "x" * 10_000,
    "שלום עולם",
    "مرحبا بالعالم",
    "😀 \U0001fae0",
    "日本語のとても長い答え",
    "a\nb\tc",
    "\x00\x07bell",
    "\u202eturned",
    'style="fill: #010203" id="x" href="#y"',
    "]]>",
    "-->",
]

MEASURED = {"coefficient": "krippendorff_alpha", "distance": "masi"}


def names(n: int, word: str, *, hostile: bool = False) -> list[str]:
    """Return n names, hostile ones first where they are asked for."""
    first = HOSTILE[:n] if hostile else []
    return [*first, *(f"{word} {i}" for i in range(len(first), n))]


def label_frame(n: int, *, hostile: bool = False, seed: int = 1) -> pd.DataFrame:
    """Return a frame such as `by_label` returns, unsorted; with four rows one is undefined."""
    rng = np.random.default_rng(seed)
    alpha, half = rng.uniform(-0.1, 0.9, n), rng.uniform(0.02, 0.3, n)
    frame = pd.DataFrame(
        {
            "label": names(n, "label", hostile=hostile),
            "estimate": alpha,
            "low": alpha - half,
            "high": np.minimum(alpha + half, 1),
            "ac1": rng.uniform(0.5, 1, n),
            "prevalence": rng.beta(1, 8, n),
            "share_of_disagreement": rng.dirichlet(np.ones(n)) if n else [],
            "reason": [None] * n,
            "coefficient": "krippendorff_alpha",
        }
    )
    if n >= 4:
        frame.loc[3, ["estimate", "low", "high"]] = np.nan
        frame.loc[3, "reason"] = "only one value was used"
    return frame


def confusion_frame(n: int, *, hostile: bool = False, seed: int = 1) -> pd.DataFrame:
    """Return a frame such as `confusions` returns: all pairs of n labels, and each left out."""
    rng = np.random.default_rng(seed)
    labels = names(n, "label", hostile=hostile)
    both = [(a, b, "instead") for i, a in enumerate(labels) for b in labels[:i]]
    rows = [*both, *((a, None, "left out") for a in labels)]
    frame = pd.DataFrame(rows, columns=["label", "other", "kind"])
    pairs, lift = rng.integers(0, 99, len(rows)).astype(float), rng.lognormal(0, 1, len(rows))
    return frame.assign(n_pairs=pairs, expected_pairs=pairs / lift, lift=lift)


def rater_frame(n: int, *, hostile: bool = False, seed: int = 1) -> pd.DataFrame:
    """Return a frame such as `by_rater` returns: largest change first."""
    rng = np.random.default_rng(seed)
    change = np.sort(rng.normal(0, 0.03, n))[::-1]
    return pd.DataFrame(
        {
            "rater": names(n, "rater", hostile=hostile),
            "n_ratings": rng.integers(1, 2000, n),
            "mean_distance": rng.uniform(0.2, 0.8, n),
            "difference": change,
            "difference_low": change - 0.02,
            "difference_high": change + 0.02,
            **MEASURED,
        }
    )


def pair_frame(n: int, *, hostile: bool = False) -> pd.DataFrame:
    """Return a frame such as `by_pair` returns.

    Raters of even and of odd places agree among themselves (0.8), and less across (0.1).
    """
    raters = names(n, "rater", hostile=hostile)
    rows = [
        (raters[i], raters[j], 10 + i + j, 0.8 if (i - j) % 2 == 0 else 0.1)
        for i in range(n)
        for j in range(i + 1, n)
    ]
    frame = pd.DataFrame(rows, columns=["rater_a", "rater_b", "n_shared_units", "estimate"])
    return frame.assign(**MEASURED)


def unit_frame(n: int, *, hostile: bool = False) -> pd.DataFrame:
    """Return a frame such as `by_unit` returns: disagreements 1, (n - 1) / n, ..., 1 / n."""
    disagreement = np.arange(n, 0, -1) / max(n, 1)
    return pd.DataFrame(
        {
            "unit": names(n, "unit", hostile=hostile),
            "disagreement": disagreement,
            "share_of_disagreement": disagreement / max(disagreement.sum(), 1),
            **MEASURED,
        }
    )


def group_frame(n: int, *, hostile: bool = False, seed: int = 1) -> pd.DataFrame:
    labels = label_frame(n, hostile=hostile, seed=seed)
    return pd.DataFrame(
        {
            "group": labels["label"],
            "n_units": np.random.default_rng(seed).permutation(n) + 2,
            "estimate": labels["estimate"],
            "low": labels["low"],
            "high": labels["high"],
            "homogeneity_p_value": [0.0123] * n,
            "reason": labels["reason"],
            **MEASURED,
        }
    )


def time_frame(start: object, end: object) -> pd.DataFrame:
    """Return a frame such as `over_time` returns; of five windows or more the third is a gap."""
    n = len(start)
    estimate = np.linspace(0.3, 0.7, n)
    estimate[2:3] = np.nan if n >= 5 else estimate[2:3]
    return pd.DataFrame(
        {
            "start": start,
            "end": end,
            "n_units": np.arange(n) + 1,
            "estimate": estimate,
            "low": estimate - 0.1,
            "high": estimate + 0.1,
            **MEASURED,
        }
    )


def forest_frame(n: int, *, hostile: bool = False, seed: int = 1) -> pd.DataFrame:
    """Return a frame such as `AgreementTable.to_frame` returns, with a distance a row."""
    labels = label_frame(n, hostile=hostile, seed=seed)
    return pd.DataFrame(
        {
            "coefficient": ["krippendorff_alpha"] * n,
            "distance": labels["label"],
            "estimate": labels["estimate"],
            "low": labels["low"],
            "high": labels["high"],
        }
    )


def contest(n: int, *, hostile: bool = False, seed: int = 1) -> AltTest:
    """Return a result such as `alt_test` returns: a model beside n humans."""
    rng = np.random.default_rng(seed)
    wins, own, half = rng.uniform(0.5, 0.9, n), rng.uniform(0.5, 0.9, n), rng.uniform(0.01, 0.1, n)
    humans = pd.DataFrame(
        {
            "n_units": rng.integers(30, 2000, n),
            "advantage": wins,
            "human_advantage": own,
            "difference": own - wins,
            "standard_error": half / 2,
            "low": wins - half,
            "high": wins + half,
            "p_value": rng.uniform(0, 0.1, n),
            "p_adjusted": rng.uniform(0, 0.2, n),
            "rejected": rng.random(n) < 0.5,
            "agreement": rng.uniform(0.3, 0.6, n),
        },
        index=pd.Index(names(n, "human", hostile=hostile), name="human", dtype=object),
    )
    model = HOSTILE[1] if hostile else "gpt"
    return AltTest(model, "masi", 0.1, 0.05, humans, pd.Series(dtype=int), 2000)


def replaced(n: int, *, hostile: bool = False, seed: int = 1) -> Replacement:
    """Return a result such as `noninferiority_test` returns: a model in the place of n humans."""
    rng = np.random.default_rng(seed)
    model = HOSTILE[1] if hostile else "gpt"
    units = np.arange(60)
    changes = []
    for human in names(n, "human", hostile=hostile):
        psi = rng.normal(0, 0.005, len(units))
        before, after = rng.uniform(0.4, 0.5, 2)
        psi -= psi.mean()
        delta = UncertainNumber(after - before, units, psi, len(units) - 1.0)
        changes.append(Change(human, 60, before, after, delta, scale=1.0))
    return Replacement(model, "masi", 0.1, "mean", tuple(changes), 0.45)


def in_facets(n: int, *, hostile: bool = False, seed: int = 1) -> FacetAgreement:
    """Return a result such as `facet_agreement` returns, with n rows, most of them of one model."""
    rng = np.random.default_rng(seed)
    estimate = rng.uniform(0.3, 0.9, n)
    own, people = "same model, other run", "models with people"
    frame = pd.DataFrame(
        {
            "pairs": [own] * (n - n // 3) + [people] * (n // 3),
            "who": ["all", *names(n - 1, "model", hostile=hostile)],
            "n_units": rng.integers(30, 2000, n),
            "estimate": estimate,
            "low": estimate - 0.1,
            "high": estimate + 0.1,
            "upper_bound": estimate + 0.05,
            "difference": 0.05,
            "difference_low": -0.01,
        }
    )
    frame.loc[n - n // 3 : n - n // 3, "who"] = "all"
    frame.loc[frame["pairs"] == people, "upper_bound"] = np.nan  # nobody else is there
    without = rng.uniform(0.3, 0.9, (40, n))
    study = sa.simulate(40, 4, rng=1)
    return FacetAgreement(("model", "run"), "masi", 0.95, frame, own, without, study)


def watched(n: int) -> Monitor:
    """Return a result such as `monitor` returns, with n looks."""
    study = sa.simulate(30 * max(n, 1), 3, rng=1)
    at = {unit: k // 30 for k, unit in enumerate(study.units)}
    return sa.monitor(study, batch=at, threshold=0.667)


def queued(n: int, *, hostile: bool = False) -> Queue:
    """Return a result such as `next_ratings` returns: n units, the first of them rated once.

    The others were rated twice, and their expected gains fall from 1 to 1 / n.
    """
    units = names(n, "unit", hostile=hostile)
    frame = pd.DataFrame({"unit": units, "n_ratings": 2, "more": 1})
    frame["expected_gain"] = np.arange(n, 0, -1) / n
    frame.loc[0, ["n_ratings", "expected_gain"]] = 1, np.nan
    frame["raters"] = names(n, "rater", hostile=hostile)
    return Queue("consensus", n, frame)


def rated_again(n: int, *, hostile: bool = False) -> IntraRater:
    """Return what n raters who rated six units twice agree with themselves.

    Every fifth one gave the same answer to all.
    """
    shapes = ["aabbcc", "aabbcc"], ["abbbcc", "aabbcb"], ["abcabc", "acbabc"], ["bbbacc"] * 2
    rows = []
    for k, rater in enumerate(names(n, "rater", hostile=hostile)):
        for occasion in ["aaaaaa", "aaaaaa"] if k % 5 == 4 else shapes[k % 5]:
            rows += [(rater, unit, label) for unit, label in enumerate(occasion)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SetagreeWarning)  # six units are few
        return sa.intra_rater_agreement(sa.Annotations.from_triples(rows, duplicates="repeats"))


def checked(n: int, *, hostile: bool = False) -> PrevalenceTable:
    """Return the prevalence of n labels by a person, on 30 units, and a model, on 90."""
    labels = names(n, "label", hostile=hostile)
    rows = [(who, k, {*labels[k % n :: 90]}) for who in "pm" for k in range(90)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SetagreeWarning)  # rare labels
        study = sa.Annotations.from_triples([row for row in rows if row[0] == "m" or row[1] < 30])
        return sa.prevalence(study, model="m")


def chart(n: int, *, hostile: bool = False, seed: int = 1) -> RaterMap:
    """Return a result such as `rater_map` returns: n raters in up to nine clusters."""
    rng = np.random.default_rng(seed)
    index = pd.Index(names(n, "rater", hostile=hostile), name="rater", dtype=object)
    table = pd.DataFrame(
        {
            "x": rng.normal(0, 0.2, n),
            "y": rng.normal(0, 0.1, n),
            "cluster": 1 + np.arange(n) % 9,
            "silhouette": rng.uniform(-0.2, 0.6, n),
            "mean_distance": rng.uniform(0.2, 0.6, n),
            "n_ratings": rng.integers(1, 2000, n),
        },
        index=index,
    )
    square = pd.DataFrame(np.zeros((0, 0)))
    null = rng.uniform(0, 0.2, 19)
    return RaterMap(
        "masi", square, square, square, table, np.zeros((0, 4)), 0.5, 0, 0.3, null, pd.DataFrame()
    )
