"""The watchdog that ends code which nothing inside of the interpreter can end.

Code that waits in C, and may keep the interpreter, is out of reach of every exception. Then the
process has to end; its parent tells where the code was, or it does so itself.
"""

from __future__ import annotations

import faulthandler

from presage import lifeline
from presage._core import Watchdog

STDERR = 2
# What is said of a run that nothing can end, where there is no parent to say it better.
ABORTS = (
    "presage: the checked code is still running after {:g} s (`handler_seconds`), and cannot be"
    " ended: the process aborts; its innermost line below is where it is stuck\n"
)


def native_watchdog(seconds: float) -> Watchdog:
    """The one in Rust: without a parent that tells what happened, it does so itself."""
    if attached := lifeline.attached():
        return Watchdog.watched(seconds, *attached)
    if not faulthandler.is_enabled():
        faulthandler.enable(STDERR)
    return Watchdog.alone(seconds, ABORTS.format(seconds))
