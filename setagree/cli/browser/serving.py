"""The folder of a page, handed out on this computer alone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    """Files as a browser wants them; what never changes under its name is kept by the browser."""

    extensions_map = {  # noqa: RUF012 - as the class above has it
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def end_headers(self) -> None:
        """Send the headers on caching: a year for the runtime, none for other files."""
        lasts = "/runtime-" in self.path or ".whl?" in self.path
        self.send_header("Cache-Control", "max-age=31536000, immutable" if lasts else "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def server_of(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder that only this computer reaches; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(folder)))
