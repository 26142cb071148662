"""What ends a command, with the report of what was done: Ctrl-C, SIGTERM, SIGHUP."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # numbers; `signal` makes them enumerations, which takes long

ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HAS_MORE = hasattr(signal, "SIGRTMAX")
_last: int = signal.SIGRTMAX if HAS_MORE else signal.SIGUSR2
_other: int = _last - 1 if HAS_MORE else signal.SIGUSR1
DUMPS: int = _last - 2 if HAS_MORE else signal.SIGQUIT  # makes a thread write where it is
WAKES: int = signal.SIGURG  # ends a wait that began just as another signal came; else ignored
# Under which number the parent passes each on.
PASSED: dict[int, int] = {
    signal.SIGINT: _last,
    signal.SIGTERM: _other,
    signal.SIGHUP: _other,
}
