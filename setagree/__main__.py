"""The console script, which is installed even without the `cli` extra."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

_INSTALL = 'The setagree command requires typer: pip install "setagree[cli]"\n'


def main() -> int:
    """Run the command and return its exit code."""
    _open_closed_streams()
    if sys.argv[1:] == ["--version"]:
        version = f"setagree {vars(sys.modules['setagree'])['__version__']}\n"
        with suppress(OSError):  # the command reports it
            os.write(sys.stdout.fileno(), version.encode())
            return 0
    _limit_arrow_memory()
    # Most objects of a command live until it ends: searching them for cycles as often as by
    # default takes a tenth of the time of `score` on a small file.
    gc.set_threshold(50_000)
    try:
        from setagree.cli.app import run
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "typer":
            raise
        sys.stderr.write(_INSTALL)
        return 2
    except KeyboardInterrupt:
        return 130
    return run()


def _limit_arrow_memory() -> None:
    """Keep Arrow from reserving 1 GiB at once if `ulimit -v` limits the memory."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _open_closed_streams() -> None:
    """Replace each standard stream that the shell has closed by the null device.

    Otherwise the next file that is opened would get its descriptor and the printed output. Stdin is
    opened for writing and stdout for reading, so that using them fails; stderr is discarded.
    """
    if sys.stdin is None:
        sys.stdin = open(os.open(os.devnull, os.O_WRONLY), closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123


if __name__ == "__main__":
    sys.exit(main())
