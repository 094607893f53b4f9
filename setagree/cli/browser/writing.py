"""The page as a folder of static files for any server."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import setagree as sa
from setagree.checks import replace_files
from setagree.cli.browser.wheel import wheel, wheel_name
from setagree.errors import FileError, OptionError
from setagree.reporting.page import TEMPLATES

STATIC = Path(__file__).parent / "static"

PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
"""Address of the published runtime, of which a browser loads about 35 MB once."""

NUMBERS, DRAWING = ("numpy", "pandas", "scipy"), ("matplotlib", "jinja2")
"""Packages of the runtime that the table requires, and further ones for the report."""

_CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
_LOCK = "pyodide-lock.json"
INDEX = "index.html"
"""The file of the page that a browser opens."""

_GENERATOR = b'<meta name="generator" content="setagree '


def write_page(folder: Path, *, runtime: str | None = None) -> list[Path]:
    """Write the page into a folder, which is created if necessary, and return its files.

    A page of setagree in the folder is replaced; files with other names are kept. `runtime` is the
    address of Pyodide (default: the published one), or a folder whose required files are copied.
    """
    address = PYODIDE if runtime is None else runtime
    copied: dict[str, bytes] = {}
    if not _is_address(address):
        copied = _required(Path(address).expanduser())
        # Browsers cache the folder, so that its name must change with the runtime.
        address = f"runtime-{_digest(copied[_LOCK])}"
    packed, address = wheel(), f"{address.rstrip('/')}/"
    styles = [TEMPLATES / "report.css", STATIC / "page.css"]
    files = {
        "page.css": b"".join(style.read_bytes() for style in styles),
        "page.js": (STATIC / "page.js").read_bytes(),
        "worker.js": (STATIC / "worker.js").read_bytes(),
        wheel_name(): packed,
        **{f"{address}{name}": content for name, content in copied.items()},
        INDEX: _document(address, packed).encode(),
    }
    _check_folder(folder, files)
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace_files({folder / name: content for name, content in files.items()})
    except OSError as error:
        raise FileError(f"The page cannot be written into {str(folder)!r}: {error}.") from error
    return [folder / name for name in files]


def _check_folder(folder: Path, names: Iterable[str]) -> None:
    """Raise `FileError` if the page would be written through a link, or replace other files."""
    index = folder / INDEX
    is_page = index.is_file() and _GENERATOR in index.read_bytes()
    for name in names:
        path = folder / name
        for each in (path, *path.parents[: len(Path(name).parts) - 1]):
            if each.is_symlink():
                raise FileError(
                    f"{str(each)!r} is a symbolic link, through which the page is never written; "
                    "remove it, or name another folder."
                )
        if path.exists() and not is_page:
            raise FileError(
                f"{str(path)!r} exists and does not belong to a page of setagree; name a new or "
                "empty folder."
            )


def _document(runtime: str, packed: bytes) -> str:
    """Return the HTML with the runtime's address and the permitted hosts."""
    place = urlsplit(runtime)
    host = f" {place.scheme}://{place.netloc}" if place.netloc else ""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    values = {
        "host": host,
        "runtime": runtime,
        "origin": place.netloc or "this server",
        # Without the digest, a browser could use a cached wheel of the same version.
        "wheel": f"{wheel_name()}?{_digest(packed)}",
        "version": sa.__version__,
        "numbers": " ".join(NUMBERS),
        "drawing": " ".join(DRAWING),
    }
    for name, value in values.items():
        text = text.replace(f"[[{name}]]", escape(value))
    return text


def _is_address(runtime: str) -> bool:
    """Return whether a runtime is an address; a host must be valid in a content policy."""
    place = urlsplit(runtime)
    if place.scheme not in {"http", "https"}:
        return False
    if not re.fullmatch(r"[\w.-]+(:\d+)?", place.netloc, re.ASCII):
        raise OptionError(f"--runtime {runtime!r} is not the address of a server.")
    return True


def _required(folder: Path) -> dict[str, bytes]:
    """Return the files of a runtime in a folder that the page requires."""
    try:
        lock = (folder / _LOCK).read_bytes()
        wanted = [*_CORE, *_packages(json.loads(lock)["packages"])]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(
            f"--runtime {str(folder)!r} is neither an address (https://...) nor a folder with "
            f"Pyodide in it: {error}."
        ) from error
    if absent := [name for name in wanted if not (folder / name).is_file()]:
        raise OptionError(f"--runtime {str(folder)!r} lacks {', '.join(absent)}.")
    return {name: (folder / name).read_bytes() for name in [*wanted, _LOCK]}


def _packages(available: dict[str, Any]) -> Iterator[str]:
    """Yield the files of the required packages, for the report only if it is possible."""
    pending, seen = [*NUMBERS, *(name for name in DRAWING if name in available)], set()
    while pending:
        name = pending.pop().lower()
        if name not in seen:
            seen.add(name)
            pending += available[name]["depends"]
            yield available[name]["file_name"]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
