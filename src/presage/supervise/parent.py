"""The parent: starts the command, passes signals on, and tells what became of it.

A terminal sends its signals to parent and child alike, since both are in one group; other senders
know only the parent. So the parent passes on what a process has sent, and not what the terminal
has, under numbers of its own: the child then knows one interrupt that comes by two ways.
"""

import fcntl
import os
import sys
import time

from presage.environ import CHILD
from presage.supervise.signals import ENDING, PASSED, WAKES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # as in `signals`

HEARD = (*ENDING, signal.SIGTSTP, signal.SIGCHLD)
FIRST = 100  # descriptors from here on: beyond those that a shell or a slip closes
SOON = 0.2  # seconds after which a child that was asked to end is woken up
PATIENCE = 3  # interrupts, and more than a second, after which the child is killed


def supervise(seed: str) -> int:
    """Run the command in a child; gives its exit status, or says why it has none."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    told, telling = _pipe()
    dump = _high(os.memfd_create("dump") if hasattr(os, "memfd_create") else _pipe()[1])
    terminal = _terminal()
    try:
        child = _start(seed, telling, dump)
    except OSError as error:
        print(f"error: cannot start a process: {error.strerror}", file=sys.stderr)
        return 2
    os.close(telling)
    status = os.waitstatus_to_exitcode(_wait(child))
    os.set_blocking(told, False)
    lines = _read(told).decode(errors="replace").splitlines()
    if lines and lines[-1].startswith("end "):
        os._exit(int(lines[-1][4:]))  # nothing of ours is left to be done
    from presage.supervise.crash import report

    _restore(terminal)
    os.lseek(dump, 0, os.SEEK_SET)
    return report(status, lines, _read(dump).decode(errors="replace"))


def _start(seed: str, telling: int, dump: int) -> int:
    for descriptor in (telling, dump):
        os.set_inheritable(descriptor, True)
    environ = {**os.environ, "PYTHONHASHSEED": seed, CHILD: f"{os.getpid()} {telling} {dump}"}
    arguments = [sys.executable, *sys.orig_argv[1:]]
    if sys.flags.ignore_environment:  # `python -I`: the seed has to come from there all the same
        kept = ("PYTHONHASHSEED", CHILD)
        environ = {
            name: value
            for name, value in environ.items()
            if name in kept or not name.startswith("PYTHON")
        }
        flags = [*(["-s"] * sys.flags.no_user_site), *(["-P"] * sys.flags.safe_path)]
        arguments = [sys.executable, *flags, "-m", "presage", *sys.argv[1:]]
    mask = (*ENDING, *PASSED.values())  # until the child can answer them
    return os.posix_spawn(sys.executable, arguments, environ, setsigmask=mask)


def _wait(child: int) -> int:
    """The status of the child when it has ended; passes signals on meanwhile.

    Python answers a signal between two of its instructions, and one that comes right before a call
    that waits is answered when that has waited. So the child is woken up once after each.
    """
    heard, first, to_wake = 0, 0.0, False
    while True:
        about = signal.sigtimedwait(HEARD, SOON) if to_wake else signal.sigwaitinfo(HEARD)
        if about is None:
            to_wake = False
            os.kill(child, WAKES)
            continue
        number, by_process = about.si_signo, about.si_code <= 0
        if number == signal.SIGCHLD:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status
        elif number == signal.SIGTSTP:
            _stop(child if by_process else None)
        elif signal.getsignal(number) != signal.SIG_IGN:
            heard, to_wake = heard + 1, True
            first = first or time.monotonic()
            if heard >= PATIENCE and time.monotonic() - first > 1:
                os.kill(child, signal.SIGKILL)
            elif by_process:
                os.kill(child, PASSED[number])


def _stop(child: "int | None") -> None:
    """Stop until someone lets this process go on, and the child with it."""
    if child is not None:
        os.kill(child, signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTSTP,))  # here it stops
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTSTP,))
    if child is not None:
        os.kill(child, signal.SIGCONT)


def _pipe() -> tuple[int, int]:
    one, other = os.pipe()
    return _high(one), _high(other)


def _high(descriptor: int) -> int:
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST)
    except OSError:  # so few may be open
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return high


def _read(descriptor: int) -> bytes:
    pieces = []
    try:
        while piece := os.read(descriptor, 65536):
            pieces.append(piece)
    except OSError:  # nothing more, although someone still holds the other end
        pass
    return b"".join(pieces)


def _terminal() -> "tuple[int, list[object]] | None":
    """How the terminal was set, to leave it so after a child that could not."""
    if not os.isatty(0):
        return None
    import termios

    try:
        return 0, termios.tcgetattr(0)
    except termios.error:
        return None


def _restore(terminal: "tuple[int, list[object]] | None") -> None:
    if terminal is not None:
        import termios

        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))  # also from the background
        termios.tcsetattr(terminal[0], termios.TCSADRAIN, terminal[1])  # type: ignore[arg-type]
    if os.isatty(2):
        os.write(2, b"\x1b[?25h")  # a line that shows progress hides the cursor
