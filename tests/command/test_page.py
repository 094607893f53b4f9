"""The page for the browser, without one: its files, its wheel, its answers, its server."""

import base64
import csv
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pandas as pd
import pytest
from cli_support import invoke, ok

import setagree as sa
from setagree.cli.browser.serving import server_of
from setagree.cli.browser.session import SEED, Session
from setagree.cli.browser.wheel import wheel, wheel_name
from setagree.cli.browser.writing import PYODIDE, STATIC, write_page

EXAMPLES = Path(__file__).parents[2] / "examples"
STUDY = str(EXAMPLES / "study.csv")
UNCHANGED = {"without": [], "merged": []}


@pytest.fixture
def session():
    """Return what asks a session that has read the example, as the page asks it."""
    session = Session()

    def ask(what, **asked):
        if what in {"read", "table"}:
            return json.loads(session.answer(json.dumps({"what": what, **asked})))
        return session.file(json.dumps({"what": what, **asked}))

    ask("read", path=STUDY, how={"blank": "empty"})
    return ask


class TestWheel:
    def test_it_holds_every_file(self):
        archive = zipfile.ZipFile(io.BytesIO(wheel()))
        root = Path(sa.__file__).parent
        ours = {
            path.relative_to(root.parent).as_posix()
            for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert {"setagree/__init__.py", "setagree/reporting/templates/report.css"} <= ours
        about = f"setagree-{sa.__version__}.dist-info"
        assert {*archive.namelist()} == ours | {
            f"{about}/{n}" for n in ("METADATA", "WHEEL", "RECORD")
        }
        metadata = distribution("setagree").read_text("METADATA")
        assert archive.read(f"{about}/METADATA").decode() == metadata
        for name, digest, size in csv.reader(archive.read(f"{about}/RECORD").decode().splitlines()):
            if digest:
                content = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
                assert (digest, int(size)) == (f"sha256={found.rstrip('=')}", len(content))

    def test_it_is_the_same_each_time(self):
        assert wheel() == wheel()

    @pytest.mark.slow
    def test_pip_installs_it(self, tmp_path):
        (tmp_path / wheel_name()).write_bytes(wheel())
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
        into = tmp_path / "installed"
        pip += ["--no-compile", "--target", into]
        subprocess.run([*pip, tmp_path / wheel_name()], check=True)
        code = (
            f"import sys; sys.path.insert(0, {str(into)!r}); import setagree as sa;"
            f"assert sa.__file__.startswith({str(into)!r}), sa.__file__;"
            f"print(repr(sa.krippendorff_alpha(sa.read({STUDY!r}, blank='empty')).estimate))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        alpha = sa.krippendorff_alpha(sa.read(STUDY, blank="empty"))
        assert float(done.stdout) == alpha.estimate


class TestCommand:
    def test_what_it_writes(self, tmp_path):
        done = invoke("page", tmp_path / "site")
        assert done.exit_code == 0
        assert "Written: " in done.stderr
        names = {path.name for path in (tmp_path / "site").iterdir()}
        assert names == {"index.html", "page.css", "page.js", "worker.js", wheel_name()}
        text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
        assert f'data-runtime="{PYODIDE}"' in text
        assert "Pyodide from cdn.jsdelivr.net" in text
        assert "[[" not in text

    def test_the_policy(self, tmp_path):
        write_page(tmp_path, runtime="https://py.example.org:8443/v1")
        text = (tmp_path / "index.html").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        host = "https://py.example.org:8443"
        assert dict(rule.split(" ", 1) for rule in policy.split("; ")) == {
            "default-src": "'none'",
            "script-src": f"'self' {host} 'wasm-unsafe-eval'",
            "worker-src": "blob:",
            "connect-src": f"'self' {host}",
            "style-src": "'self'",
            "img-src": "data:",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert f'data-runtime="{host}/v1/"' in text

    def test_a_runtime_in_a_folder(self, tmp_path):
        lake, none = tmp_path / "lake", {"depends": [], "file_name": ""}
        lake.mkdir()
        packages = {
            name: {"depends": ["six"] if name == "pandas" else [], "file_name": f"{name}.whl"}
            for name in ("numpy", "pandas", "scipy", "six", "matplotlib", "jinja2", "pillow")
        }
        (lake / "pyodide-lock.json").write_text(json.dumps({"packages": {**packages, "x": none}}))
        core = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
        for name in [*core, *(f"{name}.whl" for name in packages)]:
            (lake / name).write_text(name)
        ok("page", tmp_path / "site", "--runtime", lake)
        (beside,) = (tmp_path / "site").glob("runtime-*")
        copied = {path.name for path in beside.iterdir()}
        wanted = {f"{name}.whl" for name in packages} - {"pillow.whl"}
        assert copied == {*core, "pyodide-lock.json", *wanted}
        text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
        assert f'data-runtime="{beside.name}/"' in text
        assert "http" not in re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        (lake / "six.whl").unlink()
        done = invoke("page", tmp_path / "site", "--runtime", lake)
        assert done.exit_code == 2
        assert "lacks six.whl" in done.stderr

    @pytest.mark.parametrize(
        ("runtime", "said"),
        [
            ("no/such/folder", "neither an address (https://...) nor a folder with Pyodide in it"),
            ("https://x.org;script-src *", "is not the address of a server"),
            ("https://x.org'\"><script>", "is not the address of a server"),
            ("https:///pyodide/", "is not the address of a server"),
        ],
    )
    def test_no_runtime(self, tmp_path, runtime, said):
        done = invoke("page", tmp_path / "site", "--runtime", runtime)
        assert done.exit_code == 2
        assert said in done.stderr
        assert not (tmp_path / "site").exists()

    def test_a_folder_that_cannot_be(self, tmp_path):
        (tmp_path / "site").write_text("mine")
        done = invoke("page", tmp_path / "site")
        assert done.exit_code == 2
        assert "cannot be written" in done.stderr
        assert (tmp_path / "site").read_text() == "mine"

    @pytest.mark.parametrize("name", ["index.html", "page.css", wheel_name()])
    def test_files_of_others_stay(self, tmp_path, name):
        site = tmp_path / "site"
        site.mkdir()
        (site / name).write_text("<p>mine</p>")
        done = invoke("page", site)
        assert done.exit_code == 2
        assert f"{str(site / name)!r} exists" in done.stderr
        assert [(path.name, path.read_text()) for path in site.iterdir()] == [(name, "<p>mine</p>")]

    def test_an_older_page_is_replaced(self, tmp_path):
        assert "Written: " in invoke("page", tmp_path).stderr
        (tmp_path / "page.js").write_text("old")
        (tmp_path / "study.csv").write_text("mine")
        done = invoke("page", tmp_path)
        assert f"Replaced: {tmp_path} (" in done.stderr
        assert (tmp_path / "page.js").read_bytes() == (STATIC / "page.js").read_bytes()
        assert (tmp_path / "study.csv").read_text() == "mine"

    @pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
    @pytest.mark.parametrize("target", ["mine.html", "gone.html"])
    def test_links_are_not_followed(self, tmp_path, target):
        (tmp_path / "mine.html").write_text("mine")
        invoke("page", tmp_path / "site")
        (tmp_path / "link").symlink_to(tmp_path / "site")
        assert invoke("page", tmp_path / "link").exit_code == 0
        (tmp_path / "site" / "page.css").unlink()
        (tmp_path / "site" / "page.css").symlink_to(tmp_path / target)
        done = invoke("page", tmp_path / "site")
        assert done.exit_code == 2
        assert "page.css' is a symbolic link" in done.stderr
        assert (tmp_path / "mine.html").read_text() == "mine"
        assert not (tmp_path / "gone.html").exists()

    @pytest.mark.skipif(os.name == "nt", reason="limits of file sizes are those of POSIX")
    def test_a_full_disk(self, tmp_path):
        site = tmp_path / "site"
        invoke("page", site)
        (site / "page.css").write_text("old")
        before = {path.name: path.read_bytes() for path in site.iterdir()}
        # A file may have 64 KB at most, less than the wheel: writing it fails as on a full disk.
        line = f"ulimit -f 64; {sys.executable} -m setagree page {site}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        assert "The page cannot be written" in done.stderr
        assert {path.name: path.read_bytes() for path in site.iterdir()} == before


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="an interrupt is sent in another way there")
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_serving(tmp_path):
    """The command says where the page is, hands it out, and ends at an interrupt."""
    command = [sys.executable, "-m", "setagree", "page", str(tmp_path / "site"), "--serve"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        said = next(line for line in running.stderr if line.startswith("Open "))
        with urllib.request.urlopen(said.split()[1]) as answer:  # noqa: S310 - our own server
            assert b"How far do your raters agree?" in answer.read()
        running.send_signal(signal.SIGINT)
        try:
            assert running.wait(30) == 130
        finally:
            running.kill()


def test_the_server(tmp_path):
    """It serves this computer alone; what never changes is kept, the page is asked for anew."""
    write_page(tmp_path, runtime="https://py.example.org/")
    (tmp_path / "runtime-1").mkdir()
    (tmp_path / "runtime-1" / "pyodide.asm.wasm").write_bytes(b"\0asm")
    with server_of(tmp_path) as server:
        assert server.server_address[0] == "127.0.0.1"
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def head(name):
            address = f"http://127.0.0.1:{server.server_port}/{name}"
            with urllib.request.urlopen(address) as answer:
                return answer.headers["Content-Type"], answer.headers["Cache-Control"]

        assert head("") == ("text/html", "no-cache")
        assert head("page.js") == ("text/javascript", "no-cache")
        kept = "max-age=31536000, immutable"
        assert head("runtime-1/pyodide.asm.wasm") == ("application/wasm", kept)
        assert head(f"{wheel_name()}?1") == ("application/zip", kept)
        server.shutdown()


class TestSession:
    def test_the_table_is_that_of_the_library(self, session):
        found = session("table", coefficient="", distance="jaccard", **UNCHANGED)
        frame = sa.agreement(sa.read(STUDY, blank="empty"), distance="jaccard").to_frame()
        assert len(found["rows"]) == len(frame) == 2
        for row, wanted in zip(found["rows"], frame.to_dict("records"), strict=True):
            cells = {cell["name"]: [*map(float, cell["value"].split())] for cell in row["cells"]}
            assert cells.pop("interval") == [wanted["low"], wanted["high"]]
            assert cells == {name: [wanted[name]] for name in cells}
        assert found["before"] is None

    def test_the_headline_is_that_of_the_report(self, session):
        found = session("table", coefficient="", distance="masi", **UNCHANGED)["headline"]
        alpha = sa.krippendorff_alpha(sa.read(STUDY, blank="empty"))
        low, high = alpha.interval(method="score")
        assert found["what"] == "Krippendorff's alpha with the MASI distance"
        assert found["estimate"] == f"{alpha.estimate:.3f}"
        assert found["interval"] == f"{low:.3f} to {high:.3f}"
        assert (found["interval_name"], found["about"]) == ("95% score interval", "these raters")
        found = session("table", coefficient="mv_alpha", distance="masi", **UNCHANGED)["headline"]
        assert (found["interval"], found["interval_name"]) == ("", "95% interval")

    def test_what_was_recognised(self, session):
        found = session("read", path=STUDY, how={})
        assert found["columns"] == ["unit", "rater", "labels"]
        assert found["rows"][0] == ["text001", "ann", "anger, joy"]
        assert found["roles"] == {"unit": "unit", "rater": "rater", "labels": "labels"}
        assert found["raters"] == ["ann", "ben", "cem", "dora"]
        assert found["counts"][0] == "274 units"
        assert found["notes"][1] == (
            "307 blank cells read as missing; use Blank cells are: 'empty' if blank means 'no "
            "label applies'. Otherwise nothing changes, and Blank cells are: 'missing' omits this "
            "warning."
        )

    def test_what_options_are_called(self, session, tmp_path):
        table = tmp_path / "odd.csv"
        table.write_text("unit,rater,labels\n1,ann,Joy\n1,ben,joy\n1,ben,joy\n")
        found = session("read", path=str(table), how={})
        assert "use Repeated answers: 'last' (corrections)" in found["error"]
        assert any("use Capitals: 'lower'" in note for note in found["notes"])
        found = session("read", path=str(table), how={"duplicates": "last", "case": "lower"})
        assert found["labels"] == ["joy"]
        table.write_text("doc,who,What was said\n1,ann,Joy\n")
        assert (
            "name the column with Answer: '...'"
            in session("read", path=str(table), how={})["error"]
        )
        page = (STATIC / "index.html").read_text(encoding="utf-8")
        for choice in ("missing", "empty", "first", "last", "union", "lower"):
            assert f'<option value="{choice}">{choice}: ' in page

    def test_a_wide_table(self, session):
        wide = str(EXAMPLES / "walkthrough.csv")
        found = session("read", path=wide, how={})
        raters = ["rater1", "rater2", "rater3"]
        assert found["roles"] == {"unit": "unit", "wide": True, "raters": raters}
        assert "wide=" not in "".join(found["notes"])
        for n in (2, 3):
            how = {"wide": True, "unit": "unit", "raters": raters[:n]}
            found = session("read", path=wide, how=how)
            assert found["raters"] == raters[:n]
            assert ("cohen_kappa" in dict(found["coefficients"])) == (n == 2)

    def test_a_long_table_read_as_wide(self, session, tmp_path):
        (tmp_path / "long.csv").write_text("doc,who,tags\n1,ann,a\n1,ben,b\n")
        how = {"wide": True, "unit": "doc"}
        found = session("read", path=str(tmp_path / "long.csv"), how=how)["roles"]
        assert found == {"unit": "doc", "wide": True, "raters": ["who", "tags"]}

    def test_numbers(self, session):
        """What cannot be told is said with the columns, and reads once it is chosen."""
        scales = str(EXAMPLES / "scales.csv")
        found = session("read", path=scales, how={})
        assert "use Layout: a column for each rater" in found["error"]
        assert found["columns"][:2] == ["unit", "observer1"]
        found = session("read", path=scales, how={"wide": True, "unit": "unit", "scalars": True})
        assert "error" not in found
        assert "interval" in found["distances"]
        found = session("table", coefficient="", distance="interval", **UNCHANGED)
        table = pd.read_csv(scales, dtype=str, keep_default_na=False)
        study = sa.Annotations.from_wide(table, unit="unit", kind="value", blank="missing")
        alpha = sa.krippendorff_alpha(study, distance="interval").estimate
        assert float(found["rows"][0]["cells"][2]["value"]) == alpha

    def test_an_export(self, session):
        found = session("read", path=str(EXAMPLES / "prodigy.jsonl"), how={})
        assert found["columns"] == []
        assert found["notes"] == ["Read as Prodigy, JSONL (choice, spans) (tool='prodigy')"]

    def test_changes(self, session):
        """Raters left out and labels merged are what `what_if` tries, and how far they move it."""
        study = sa.read(STUDY, blank="empty")
        tried = sa.what_if(study, merge=[["fear", "anger"]], exclude_raters=["ben"])
        tried = tried.set_index("action")["estimate"]
        labels, raters = [*study.labels], study.raters.tolist()
        merged = [[labels.index("fear"), labels.index("anger")]]
        for name, change in (
            ("merge", {"without": [], "merged": merged}),
            ("drop rater", {"without": [raters.index("ben")], "merged": []}),
        ):
            found = session("table", coefficient="krippendorff_alpha", distance="masi", **change)
            assert float(found["rows"][0]["cells"][2]["value"]) == pytest.approx(
                tried[name], abs=1e-12
            )
            before = tried["as it is"]
            assert found["before"].startswith(f"{before:.3f} for the file as it is")
            move = float(found["before"].rpartition(" ")[2].rstrip(".").replace("−", "-"))
            assert move == pytest.approx(tried[name] - before, abs=0.0006)

    def test_files_to_keep(self, session, tmp_path):
        study = sa.read(STUDY, blank="empty")
        (tmp_path / "tidy.csv").write_bytes(session("tidy", **UNCHANGED))
        back = sa.read(tmp_path / "tidy.csv")
        assert sa.krippendorff_alpha(back).estimate == sa.krippendorff_alpha(study).estimate
        queue = pd.read_csv(io.BytesIO(session("queue", distance="dice", **UNCHANGED)))
        wanted = sa.by_unit(study, distance="dice")
        assert queue["unit"].tolist() == wanted["unit"].tolist()
        assert queue["disagreement"].tolist() == wanted["disagreement"].tolist()
        results = pd.read_csv(io.BytesIO(session("results", **UNCHANGED)))
        assert results["estimate"].tolist() == sa.agreement(study).to_frame()["estimate"].tolist()

    @pytest.mark.slow
    def test_the_report(self, session, tmp_path):
        pytest.importorskip("jinja2")
        pytest.importorskip("matplotlib")
        got = session("report", coefficient="fleiss_kappa", distance="", **UNCHANGED)
        study = sa.read(STUDY, blank="empty")
        wanted = sa.report(
            study, tmp_path / "x.html", coefficient="fleiss_kappa", title="study", rng=SEED
        )
        assert got == wanted.read_bytes()

    def test_mistakes_are_sentences(self, session, tmp_path):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        found = session("read", path=str(tmp_path / "x.csv"), how={})
        assert "error" in found
        assert found["columns"] == ["a", "b"]
        assert "error" in session("table", coefficient="", distance="", **UNCHANGED)
        (tmp_path / "x.csv").write_text("")
        assert "error" in session("read", path=str(tmp_path / "x.csv"), how={})
        session("read", path=STUDY, how={"blank": "empty"})
        found = session("table", without=[0, 1, 2, 3], merged=[])
        assert "no rater remains" in found["error"]

    def test_repeats(self, session, tmp_path):
        """Who answered twice is a mistake until somebody says which answer counts."""
        (tmp_path / "x.csv").write_text("unit,rater,labels\n1,a,x\n1,a,y\n1,b,y\n2,a,x\n2,b,x\n")
        assert "more than once" in session("read", path=str(tmp_path / "x.csv"), how={})["error"]
        found = session("read", path=str(tmp_path / "x.csv"), how={"duplicates": "last"})
        assert found["counts"][2] == "4 ratings"

    def test_a_number_that_is_none(self, session, tmp_path):
        (tmp_path / "x.csv").write_text("unit,rater,labels\n1,a,x\n2,b,x\n")
        assert "error" not in session("read", path=str(tmp_path / "x.csv"), how={})
        found = session("table", coefficient="", distance="", **UNCHANGED)
        assert found["headline"]["reason"]
        assert found["rows"][0]["cells"][2]["value"] == ""
