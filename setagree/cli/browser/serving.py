"""A server of the folder of a page, for this computer alone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    """Files with the types that browsers require; browsers cache those that never change."""

    extensions_map = {  # noqa: RUF012 - as in the base class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def end_headers(self) -> None:
        """Send the headers on caching: a year for the runtime, none for other files."""
        is_fixed = "/runtime-" in self.path or ".whl?" in self.path
        self.send_header("Cache-Control", "max-age=31536000, immutable" if is_fixed else "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def server_of(folder: Path) -> ThreadingHTTPServer:
    """Return a server of a folder for this computer alone, at a free port."""
    return ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
