"""The installed package as a wheel, from its own files, without network or build tools."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import setagree as sa

_FILE_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of every file, so that equal packages give equal bytes."""


def wheel_name() -> str:
    """Return the file name of the wheel."""
    return f"setagree-{sa.__version__}-py3-none-any.whl"


def wheel() -> bytes:
    """Return the wheel of this package as it is installed."""
    about = f"setagree-{sa.__version__}.dist-info"
    files = [*_modules(), *((f"{about}/{name}", text) for name, text in _metadata())]
    record = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files]
    listed = "".join([*record, f"{about}/RECORD,,\n"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*files, (f"{about}/RECORD", listed)]:
            entry = zipfile.ZipInfo(name, _FILE_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def _modules() -> Iterator[tuple[str, bytes]]:
    root = Path(sa.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path.relative_to(root.parent).as_posix(), path.read_bytes()


def _metadata() -> Iterator[tuple[str, bytes]]:
    metadata = f"Metadata-Version: 2.1\nName: setagree\nVersion: {sa.__version__}\n"
    try:
        installed = distribution("setagree")
        if installed.version == sa.__version__:
            metadata = installed.read_text("METADATA") or metadata
    except PackageNotFoundError:
        pass  # the package runs from a folder that is not installed
    yield "METADATA", metadata.encode()
    yield (
        "WHEEL",
        b"Wheel-Version: 1.0\nGenerator: setagree\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    )


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
