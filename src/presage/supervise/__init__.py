"""The command `presage`: a light parent starts the real command, and outlives what ends it.

Checked code can end its process in ways that no exception handler sees: `os._exit`, a segmentation
fault, a full memory. So the command that a shell starts is a parent that runs no code but its own.
It starts itself once more as a child (`child`), with the hash seed fixed, and waits (`parent`). The
child tells its exit status through a pipe as its last act; a child that ends without is reported,
with the line of code that was running (`crash`).

Light on purpose: nothing else of presage is loaded before it is needed.
"""

import os
import sys

from presage.environ import CHILD, SEED


def main() -> int:
    """Run one command; called in the parent, and by way of it in the child."""
    try:
        return _run()
    except KeyboardInterrupt:  # before anybody looks after signals
        print("error: interrupted before there was anything to report", file=sys.stderr)
        return 130


def _run() -> int:
    handed = os.environ.pop(CHILD, None)
    if handed is not None:
        from presage.supervise.child import run

        run(handed)
    if sys.argv[1:] == ["--version"] and _tell_version():
        return 0
    if not sys.executable:  # inside of another program: nothing to start a child with
        from presage.cli import main as command

        return command()
    from presage.supervise.parent import supervise

    return supervise(os.environ.pop(SEED, "0"))


def _tell_version() -> bool:
    """Answer the one question that runs no code but this; False if nobody can read it."""
    from presage.version import build_text

    try:
        print(build_text(), flush=True)
    except (OSError, ValueError, AttributeError):
        return False
    return True
