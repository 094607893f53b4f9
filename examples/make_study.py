"""Write examples/study.csv: 300 texts, 4 annotators, 6 emotions, 15% of the answers missing.

The annotators differ: `cem` guesses often, `dora` ticks more than there is. Blank labels mean that
no emotion applies; a text that an annotator did not see has no row.
"""

from __future__ import annotations

import sys
from pathlib import Path

import setagree as sa

EMOTIONS = ["joy", "surprise", "anger", "fear", "sadness", "disgust"]
ANNOTATORS = ["ann", "ben", "cem", "dora"]


def make_study() -> sa.Annotations:
    """Return the study; the seed makes it the same every time."""
    return sa.simulate(
        300,
        4,
        n_labels=6,
        prevalence=[0.30, 0.15, 0.20, 0.10, 0.15, 0.05],
        skill=[0.85, 0.80, 0.45, 0.75],
        size_bias=[1.0, 1.0, 1.0, 2.5],
        missing=0.15,
        labels=EMOTIONS,
        rng=20,
    )


def write_study(path: Path) -> None:
    """Write the study as a long CSV."""
    study = make_study()
    table = study.to_long()
    table["unit"] = "text" + table["unit"].str[1:].str.zfill(3)
    table["rater"] = [ANNOTATORS[int(name[1:]) - 1] for name in table["rater"]]
    table["labels"] = [sa.format_labels(labels) for labels in table["labels"]]
    table.to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("study.csv")
    write_study(target)
    print(f"{target.name}: {make_study()}")
