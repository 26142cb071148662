"""What ends a command, with the report of what was done: Ctrl-C, SIGTERM, SIGHUP."""

import signal

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_last = getattr(signal, "SIGRTMAX", signal.SIGUSR2)
_other = _last - 1 if hasattr(signal, "SIGRTMAX") else signal.SIGUSR1
# Under which number the parent passes each on.
PASSED: dict[signal.Signals, int] = {
    signal.SIGINT: _last,
    signal.SIGTERM: _other,
    signal.SIGHUP: _other,
}
