"""Random files and options for every command: results, or one sentence."""

from __future__ import annotations

import json
from random import Random

from .cells import LABELS, NAMES
from .programs import Program

CHECK = '''
def run_here(words, given):
    """Run the command in this process: exit code, stdout, stderr."""
    from typer.testing import CliRunner

    from setagree.cli import app as cli

    runner = CliRunner()
    with warnings.catch_warnings():
        done = runner.invoke(cli.app, words, input=given, standalone_mode=False)
    error = done.exception
    if error is not None and hasattr(error, "format_message"):
        return 2, done.stdout, f"{done.stderr}Error: {error.format_message()}"
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return done.return_value or 0, done.stdout, done.stderr


def run_apart(words, given):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "setagree", *words]
    done = subprocess.run(command, input=given, capture_output=True, timeout=100)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(run, words, given, kept):
    """See that it ends with 0, or with 2 and one sentence; that no input was changed."""
    code, out, err = run(words, given)
    assert "Traceback" not in err, err
    assert code in (0, 2), (code, err)
    if code == 2:
        errors = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, err
        assert not out.strip(), f"refused, and yet on stdout: {out[:300]}"
    places = [place for place, word in enumerate(words) if word in ("-o", "-f")]
    last = {words[place]: words[place + 1] for place in places}
    read = [word for place, word in enumerate(words) if words[place - 1] != "-o"]
    for name, content in kept.items():
        with open(name, "rb") as file:
            unchanged = file.read() == content
        assert unchanged or not {name, ".", "*.csv"}.intersection(read), f"{name} was changed"
    form = last.get("-f", "json" if "-o" in last else "")
    if code == 0 and words[0] in WITH_JSON and form == "json":
        if last.get("-o", "out.json") == "out.json":
            if "-o" in last:
                with open("out.json", encoding="utf-8") as file:
                    out = file.read()
            json.loads(out, parse_constant=lambda one: 1 / 0)


WITH_JSON = {"score", "test", "compare", "plan", "panel", "consensus", "convert"}
'''

READING = [
    *(["--unit", "unit"], ["--rater", "rater"], ["--labels", "labels"], ["--value", "labels"]),
    *(["--wide"], ["--wide", "--kind", "value"], ["--raters-in-rows"], ["--raters", "r1"]),
    *(["--tool", "table"], ["--tool", "prodigy"], ["--tool", "nothing"], ["--question", "q"]),
    *(
        ["--roster", "roster.csv"],
        ["--roster", "none.csv"],
        ["--label-sep", ";"],
        ["--label-sep", ""],
    ),
    *(["--blank", "empty"], ["--blank", "error"], ["--blank", "x"], ["--na-values", "NA"]),
    *(["--duplicates", "first"], ["--duplicates", "union"], ["--case", "lower"]),
    *(["--codebook", "a,b,c"], ["--codebook", "codes.txt"], ["--codebook", "."]),
    *(["--exclude-raters", "ann"], ["--exclude-raters", "nobody"], ["--encoding", "latin-1"]),
    *(["--encoding", "klingon"], ["--delimiter", ";"], ["--delimiter", "ab"], ["--unit", "none"]),
    *(["--config", "good.toml"], ["--config", "bad.toml"], ["--config", "absent.toml"]),
]
LARGE = [
    ["--memory-limit", "300MB"],
    ["--memory-limit", "x"],
    ["--assume-unique"],
    ["--temp-directory", "."],
]
ASKED = [
    *(["-d", "jaccard"], ["-d", "masi,nominal"], ["-d", "interval"], ["-d", "none"], ["-d", ""]),
    *(["-c", "mv_alpha"], ["-c", "conger_kappa,gwet_ac"], ["-c", "cohen_kappa"], ["-c", "x"]),
    *(["-d", "hamming"], ["-c", "percent_agreement"]),
]
FORMS = [
    *(["-f", "json"], ["-f", "json"], ["-f", "csv"], ["-f", "markdown"], ["-f", "table"]),
    *(["-f", "xml"], ["-o", "out.json"], ["-o", "out.csv"], ["-o", "out.md"], ["-o", "."]),
    *(["-o", "nowhere/out.csv"], ["-o", "study.csv"], ["-o", "out.xlsx"], ["-o", "out.txt"]),
]
LEVELS = [["--level", level] for level in ("0.9", "0", "1", "nan", "-3", "x")]
DRAWN = [["--resamples", n] for n in ("9", "1", "0", "-5", "x")]
DRAWN += [["--seed", seed] for seed in ("1", "-1", "x")]
CHANCE = [["--scheme", s] for s in ("pooled", "within_rater", "table", "x")]
CHANCE += [["--alternative", side] for side in ("greater", "less", "two-sided", "x")]

PLANNED = [["--half-width", "0.2"], ["--units", "9"], ["--ratings", "2,3"], ["--assurance", "0.8"]]
PLANNED += [["--at-least", "0.1"], ["--power", "0.9"], ["--cost-rating", "1"], ["--cost-unit", "2"]]
PLANNED += [["--budget", "90"], ["--budget", "90", "--cost-rating", "1"], ["--assurance", "x"]]

OPTIONS: dict[str, list[list[str]]] = {
    "score": [*READING, *LARGE, *ASKED, *FORMS, *LEVELS, *DRAWN, ["--interval", "bootstrap"]],
    "test": [*READING, *LARGE, *ASKED, *FORMS, *DRAWN, *CHANCE],
    "compare": [*READING, *LARGE, *ASKED, *FORMS, *LEVELS, *DRAWN, ["--method", "bootstrap"]],
    "plan": [*READING, *LARGE, *ASKED, *FORMS, *LEVELS, *PLANNED],
    "diagnose": [
        *READING,
        *ASKED,
        *LEVELS,
        *DRAWN,
        ["--tables"],
        ["-m", "bob"],
        ["-o", "out.txt"],
    ],
    "report": [*READING, *ASKED, *LEVELS, *DRAWN, ["--title", "<b>"], ["-f", "html"]],
    "panel": [*READING, ["-d", "jaccard"], *FORMS, ["--epsilon", "0.2"], ["--min-units", "1"]],
    "consensus": [*READING, *FORMS, ["--threshold", "0.7"], ["--ties", "missing"], ["--escape"]],
    "convert": [*READING, *FORMS, ["--escape"]],
    "formats": [],
    "distances": [],
    "coefficients": [],
}
OPTIONS["consensus"] += [["--method", m] for m in ("medoid", "dawid_skene", "unanimous", "x")]
OPTIONS["diagnose"] += [["--by", "batch"], ["--time", "when"], ["--window", "2"]]
OPTIONS["report"] += [["--by", "batch"]]
ALWAYS = {
    "test": ["--resamples", "19"],
    "diagnose": ["--resamples", "9"],
    "report": ["--resamples", "9", "-o", "page.html"],
    "panel": ["-m", "bob", "--min-units", "2"],
}
WITHOUT_FILE = {"formats", "distances", "coefficients"}


def command_programs(rng: Random) -> list[Program]:
    command = rng.choice([*OPTIONS, "score", "diagnose", "consensus", "convert"])
    files = _files(rng)
    words = [command]
    if command not in WITHOUT_FILE:
        words.append(_file(rng, files))
        if command == "compare":
            words.append(_file(rng, files))
    for option in rng.sample(OPTIONS[command], min(len(OPTIONS[command]), rng.randint(0, 4))):
        words += option
    words += ALWAYS.get(command, [])
    if FORMS[0] in OPTIONS[command] and rng.random() < 0.3:
        words += FORMS[0]
    run = "run_apart" if rng.random() < 0.02 else "run_here"
    given = files[rng.choice([*files])] if "-" in words else b""
    body = [
        CHECK,
        f"files = {files!r}",
        "os.chdir(tempfile.mkdtemp(dir='.'))\nos.mkdir('folder')",
        "for name in files:\n    with open(name, 'wb') as file:\n        file.write(files[name])",
        f"check({run}, {words!r}, {given!r}, files)",
    ]
    return [Program("commands", command, "\n".join(body) + "\n")]


def _file(rng: Random, files: dict[str, bytes]) -> str:
    odd = ["absent.csv", ".", "folder", "", "-", "*.csv", "none*", "/dev/null", "codes.txt"]
    usual = [name for name in files if name.startswith("study")]
    return rng.choice(usual) if rng.random() < 0.85 else rng.choice([*odd, *files])


def _files(rng: Random) -> dict[str, bytes]:
    """Return the files of a folder: a table of random cells in a few forms, and what else."""
    rows = _rows(rng)
    text = "unit,rater,labels,batch,when\n"
    text += "".join(",".join(_quoted(cell) for cell in row) + "\n" for row in rows)
    lines = [dict(zip(("unit", "rater", "labels"), row, strict=False)) for row in rows]
    wide = "unit,r1,r2\n" + "".join(f"{k},{_quoted(r[2])},x\n" for k, r in enumerate(rows))
    broken = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(broken))
        broken[place : place + rng.randint(0, 3)] = rng.choice(
            [b"", b"\0", b'"', b"\xff", b",", b"\n"]
        )
    return {
        "study.csv": text.encode(),
        "study2.csv": text.replace("batch", "batch2").encode(),
        "study.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode(),
        "study.json": json.dumps(lines).encode(),
        "study wide.csv": wide.encode(),
        "study broken.csv": bytes(broken),
        "study utf16.csv": text.encode("utf-16"),
        "codes.txt": "\n".join(one for one in LABELS if "\n" not in one).encode(),
        "roster.csv": b"unit,rater\nu1,ann\nu9,bob\n",
        "good.toml": b'blank = "empty"\n',
        "bad.toml": rng.choice([b"x = [", b"\xff", b"nothing = 1", b"blank = 3", b"[a]\nb = 1"]),
    }


def _rows(rng: Random) -> list[list[str]]:
    labels = [*rng.sample(LABELS, rng.randint(1, 5)), "a", ""]
    units = rng.sample(NAMES, rng.randint(1, 6))
    raters = ["ann", "bob", *rng.sample(NAMES, 2)][: rng.randint(1, 4)]
    rows = []
    for unit in units:
        for rater in raters:
            if rng.random() < 0.9:
                cell = rng.choice(
                    [", ".join(rng.sample(labels, rng.randint(0, 2))), "a", "a; b", "1"]
                )
                when = rng.choice(["2024-01-01", "3", "", "1e9", "soon"])
                rows.append([unit, rater, cell, rng.choice(["x", "y", ""]), when])
    return rows or [["u", "ann", "a", "x", "1"]]


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'
