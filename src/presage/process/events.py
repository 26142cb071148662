"""Audit events of what leaves the process or changes it: what each is about.

An event is met however the function was reached: by C code, or under a name taken long before.
"""

from __future__ import annotations

from presage.records import NamedTuple


class About(NamedTuple):
    """What an event is about; what to call it, if not as the event; how a process escapes by it."""

    kind: str
    title: str | None = None
    escapes: str = ""


OPENS = "opens a socket"
STARTS = "starts another program"
EVENTS: dict[str, About] = {
    **{f"os.{name}": About("file") for name in "listdir scandir mkdir rmdir remove rename".split()},
    **{f"os.{name}": About("file") for name in "link symlink truncate chmod chown utime".split()},
    **{f"os.{name}": About("file") for name in "walk fwalk listdrives lockf chflags".split()},
    **{f"os.{name}": About("file") for name in "getxattr setxattr listxattr removexattr".split()},
    **{f"shutil.{name}": About("file") for name in "copyfile move rmtree copytree".split()},
    **{f"tempfile.{name}": About("file") for name in ("mkstemp", "mkdtemp")},
    **{f"fcntl.{name}": About("file") for name in ("fcntl", "flock", "lockf", "ioctl")},
    "open": About("file"),
    "glob.glob": About("file"),
    "mmap.__new__": About("file", "mmap.mmap"),
    "sqlite3.connect": About("file"),
    "builtins.input": About("environment", "input"),
    "os.putenv": About("environment"),
    "os.unsetenv": About("environment"),
    "socket.__new__": About("network", "socket.socket", OPENS),
    **{
        f"socket.{name}": About("network")
        for name in "gethostname getaddrinfo gethostbyname gethostbyaddr getnameinfo".split()
    },
    "subprocess.Popen": About("program", escapes=STARTS),
    "os.system": About("program", escapes=STARTS),
    "os.posix_spawn": About("program", escapes=STARTS),
    "os.fork": About("program", escapes="forks"),
    "os.forkpty": About("program", escapes="forks"),
    "pty.spawn": About("program"),
    "webbrowser.open": About("program"),
    "_thread.start_new_thread": About("thread", "threading.Thread.start", "starts a thread"),
    "_thread.start_joinable_thread": About("thread", "threading.Thread.start", "starts a thread"),
    "os.exec": About("end", "os.execv", "becomes another program"),
    "os.kill": About("end", escapes="sends a signal"),
    "os.killpg": About("end", escapes="sends a signal"),
    "signal.pthread_kill": About("end", escapes="sends a signal"),
    "socket.sethostname": About("own", escapes="changes the name of the host"),
    "os.chdir": About("own", escapes="changes the current folder"),
    "resource.setrlimit": About("own"),
    "resource.prlimit": About("own"),
    **{
        f"ctypes.{name}": About("native")
        for name in (
            "dlopen dlsym dlsym/handle string_at wstring_at memoryview_at call_function cdata"
            " cdata/buffer addressof PyObj_FromPtr set_errno"
        ).split()
    },
}
