"""`presage debug` and `presage explain` as a shell sees them, and a session in a real terminal."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from whole.commands.harness import command, refused, run, told

PATIENCE = 30.0  # seconds; only a guard against a hang


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The trace of a Paxos that decides twice, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    found = told(run("check", "paxos", "--set", "bug=last_promise", "--json"), 1)
    return str(found["violations"][0]["trace"])


def test_commands_can_be_given_on_the_command_line(trace: str) -> None:
    done = run("debug", trace, "--do", "why", "--do", "blame s0.decided", "--no-color")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(main 10 s1) why\none_value does not hold after step 10: ")
    assert "     8  s0  deliver    Accepted" in done.stdout
    assert run("debug", trace, "--do", "quit", "--do", "nonsense").returncode == 0


def test_a_command_that_is_refused_is_told_and_ends_with_status_2(trace: str) -> None:
    done = run("debug", trace, "--do", "jump 99", "--do", "jump 2")
    assert done.returncode == 2
    assert "error: there is no step 99" in done.stdout
    assert "(main 10 s1) jump 2" in done.stdout


def test_commands_are_read_from_a_pipe(trace: str) -> None:
    done = subprocess.run(
        command("debug", trace, "--at", "3"),
        input="next\n\nprops off\nquit\nnext\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    prompts = [line for line in done.stdout.splitlines() if line.startswith("(main")]
    assert prompts == [
        "(main 3 s0) next",
        "(main 4 s1) ",
        "(main 5 s1) props off",
        "(main 5 s1) quit",
    ]


def test_what_cannot_be_debugged_is_refused(trace: str) -> None:
    refused(run("debug", "nothing.trace"), 2, "cannot be read")
    refused(run("debug", trace, "--at", "99"), 2, "there is no step 99")
    refused(run("debug", trace, "--target", "counter"), 2)


def test_a_trace_is_explained_in_a_paragraph_or_as_data(trace: str) -> None:
    done = run("explain", trace)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("one_value fails at step 10. The reason: s0 decided on 'A'")
    explained = told(run("explain", trace, "--json"), 0)
    assert explained["steps"] == list(range(1, 11))
    assert " ".join(done.stdout.split()) == explained["text"]
    refused(run("explain", "nothing.trace"), 2, "cannot be read")


SCRIPT = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.Get_rank() == 0:
    comm.recv(source=1)
    print("got it")
    comm.recv(source=1)
else:
    comm.send("x", dest=0)
"""


def test_the_trace_of_a_script_is_debugged_and_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waits.py").write_text(SCRIPT)
    found = told(run("check", "waits.py", "--mpi", "2", "--buffering", "zero", "--json"), 1)
    trace = str(found["violations"][0]["trace"])
    done = run("debug", trace, "--do", "grep got", "--do", "why", "--do", "report", "--no-color")
    assert done.returncode == 0, done.stderr
    assert "logs got it" in done.stdout and "page: " in done.stdout
    assert "rank 0 waits in recv(source=1" in done.stdout
    done = run("explain", trace)
    assert done.returncode == 0, done.stderr
    assert "is the last that could happen." in " ".join(done.stdout.split())


class Terminal:
    """A real terminal, 80 by 24, in a tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self._environ = {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm-256color"}
        for name in ("TMUX", "NO_COLOR"):
            self._environ.pop(name, None)

    def tmux(self, *arguments: str) -> str:
        asked = ["tmux", "-S", self._socket, "-f", os.devnull, *arguments]
        done = subprocess.run(asked, capture_output=True, text=True, env=self._environ, check=True)
        return done.stdout

    def start(self, *arguments: str) -> None:
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", *command(*arguments))
        self.tmux("set-option", "-g", "remain-on-exit", "on")

    def type(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def screen(self, *, colours: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait_for(self, text: str) -> str:
        """The screen once it shows `text`."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if text in (shown := self.screen()):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{text!r} never came; the screen shows:\n{self.screen()}")

    def wait_for_the_end(self) -> None:
        """Until the command has ended. The screen need not say so."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.tmux("list-panes", "-F", "#{pane_dead}").strip() == "1":
                return
            time.sleep(0.05)
        raise AssertionError(f"it never ended; the screen shows:\n{self.screen()}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    assert shutil.which("tmux"), "this test needs tmux: `apt-get install tmux`"
    terminal = Terminal(tmp_path)
    yield terminal
    subprocess.run(["tmux", "-S", str(tmp_path / "tmux"), "kill-server"], capture_output=True)


def test_a_session_in_a_real_terminal(trace: str, terminal: Terminal, tmp_path: Path) -> None:
    terminal.start("debug", trace, "--at", "0")
    terminal.wait_for("(main 0)")
    terminal.type("next", "Enter")
    terminal.wait_for("(main 1 s0)")
    terminal.type("Enter")  # again
    terminal.wait_for("(main 2 s1)")
    terminal.type("crit", "Tab", "Enter")  # completed
    assert ">   10  s1  deliver" in terminal.wait_for("(main 10 s1)")
    assert "\x1b[" in terminal.screen(colours=True)
    terminal.type("clear", "Enter", "help", "Enter")  # longer than the screen
    assert "more lines; Enter goes on, q stops" in terminal.wait_for("more lines")
    terminal.type("q", "Enter")
    terminal.type("clear", "Enter", "blame s0.decided", "Enter")
    terminal.wait_for("Enter jumps to step 8")
    terminal.type("Enter")
    terminal.wait_for("(main 8 s0)")
    terminal.type("half a command", "C-c")  # is taken back
    terminal.type("clear", "Enter", "take 0", "Enter")
    terminal.wait_for("(b1 9 ")
    terminal.type("Up", "Up", "Up", "Enter")  # what was typed before: `blame s0.decided`
    terminal.wait_for("Enter jumps to step 8")
    terminal.type("quit", "Enter")
    terminal.wait_for_the_end()
    assert "blame s0.decided" in (tmp_path / "presage" / "debug_history").read_text()


def test_the_whole_state_can_be_printed(trace: str) -> None:
    done = run("debug", trace, "--do", "state s0", "--do", "print s0.decided", "--do", "messages")
    assert done.returncode == 0, done.stderr
    assert "  decided " in done.stdout
    assert "(main 10 s1) print s0.decided\n" in done.stdout
    failed = run("debug", trace, "--do", "print s0.nothing", "--do", "state s9")
    assert failed.returncode == 2
    assert "error: `s0.nothing`: AttributeError: node `s0` has no field or method" in failed.stdout
    assert "error: there is no node `s9`; the nodes are " in failed.stdout
