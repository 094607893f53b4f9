"""The console script, which is there even where its extra is not."""

from __future__ import annotations

import sys

_INSTALL = 'The setagree command needs typer: pip install "setagree[cli]"\n'


def main() -> int:
    """Run the command and return its exit code."""
    try:
        from setagree.cli import run
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "typer":
            raise
        sys.stderr.write(_INSTALL)
        return 2
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
