"""Commands that start at once: forked from a process that has loaded presage already.

Loading takes most of the time of a small command, and hundreds of them are run. So each worker of
the tests keeps one process that has loaded what commands load, and nothing that is checked. For
each command it forks a parent, and that one a child, which go on as those of a real command do.
What a shell does before (`python -m presage`, the hash seed, loading) is tested with `start`.
"""

import array
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

LOADED = (
    *("presage.public", "presage.search.check", "presage.search.scripts", "presage.search.doctor"),
    *("presage.cli.check", "presage.cli.systems", "presage.cli.traces", "presage.cli.second"),
    *(
        "presage.cli.debug",
        "presage.cli.report",
        "presage.cli.hashseeds",
        "presage.cli.target.load",
    ),
    *("presage.ui.summary", "presage.ui.progress", "presage.ui.debug.start"),
)
SOCKET = "PRESAGE_TEST_SOCKET"


class Ready:
    """The process that is ready, as a worker of the tests sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        environ = os.environ | {"PYTHONHASHSEED": "0", SOCKET: str(theirs.fileno())}
        command = [sys.executable, "-P", str(Path(__file__).resolve())]
        descriptors = (theirs.fileno(),)
        self._process = subprocess.Popen(command, env=environ, pass_fds=descriptors, cwd="/")
        theirs.close()

    def run(
        self, arguments: list[str], environ: Mapping[str, str], timeout: float
    ) -> tuple[int, str, str]:
        """The exit status of a command, and what it wrote."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = json.dumps([arguments, os.getcwd(), dict(environ)]).encode()
            streams = array.array("i", [out.fileno(), err.fileno()])
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)
            self._socket.sendmsg([len(request).to_bytes(8, "big")], [rights])
            self._socket.sendall(request)
            parent = int.from_bytes(_exactly(self._socket, 8), "big")
            self._socket.settimeout(timeout)
            try:
                status = int.from_bytes(_exactly(self._socket, 8), "big", signed=True)
            except TimeoutError:
                os.killpg(parent, signal.SIGKILL)
                self._socket.settimeout(None)
                _exactly(self._socket, 8)  # its status: else the next command would get it
                raise
            finally:
                self._socket.settimeout(None)
            out.seek(0)
            err.seek(0)
            return status, out.read().decode(), err.read().decode()


def _exactly(end: socket.socket, size: int) -> bytes:
    pieces = b""
    while len(pieces) < size:
        piece = end.recv(size - len(pieces))
        if not piece:
            raise EOFError
        pieces += piece
    return pieces


def serve() -> None:
    """Fork a command for each request, until nobody asks any more."""
    asked = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    for name in LOADED:
        importlib.import_module(name)
    while True:
        size, streams, _, _ = socket.recv_fds(asked, 8, 2)
        if not size:
            return
        request = json.loads(_exactly(asked, int.from_bytes(size, "big")))
        parent = os.fork()
        if parent == 0:
            asked.close()
            _become(*request, streams)
        for descriptor in streams:
            os.close(descriptor)
        asked.sendall(parent.to_bytes(8, "big"))
        status = os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1])
        asked.sendall(status.to_bytes(8, "big", signed=True))


def _become(arguments: list[str], folder: str, environ: dict[str, str], streams: list[int]) -> None:
    """Go on as the command that a shell would have started."""
    from presage.supervise import child, parent
    from presage.supervise.signals import ENDING, PASSED

    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, *streams)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.orig_argv[:] = [sys.executable, "-P", "-m", "presage", *arguments]
    sys.argv[:] = [str(Path(parent.__file__).parents[1] / "__main__.py"), *arguments]

    def start(seed: str, telling: int, dump: int) -> int:
        assert seed == "0"
        parent_id, forked = os.getpid(), os.fork()
        if forked == 0:
            mask = {*ENDING, *PASSED.values()}  # as for a real child, until it can answer them
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            child.run(f"{parent_id} {telling} {dump}")
        return forked

    parent._start = start
    status = parent.supervise("0")
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
