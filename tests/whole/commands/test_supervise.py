"""The parent of every command: it outlives what ends the search, and says what that was."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
from whole.commands.harness import command, end, refused, run_cold, start, told, worker, write

LARGE = ["check", "two_phase_commit", "--set", "rms=9", "--json"]  # ten million states

ENDING = """
    import ctypes, os

    LIBC = ctypes.CDLL(None)
    STRLEN, RAISE, EXIT = LIBC.strlen, LIBC["raise"], LIBC._exit

    class Node(Service):
        n: int = 0
        @action(when=lambda self: self.n < 5)
        def go(self) -> None:
            self.n += 1
            if self.n == 3:
                BODY  # HERE

    def system() -> System:
        return System(nodes={"n0": Node()})
"""
ENDS = {
    "os._exit(0)": "os._exit",
    "os._exit(1)": "os._exit",
    "os.abort()": "os.abort",
    "os.execv('/bin/true', ['true'])": "os.execv",
    "STRLEN(8)": "segmentation fault (SIGSEGV)",
    "RAISE(7)": "bus error (SIGBUS)",
}


@pytest.mark.parametrize("code", ENDS)
def test_a_handler_that_ends_the_process_is_reported_with_its_line(code: str) -> None:
    place = write(ENDING.replace("BODY", code))
    for arguments in ([], ["--json"]):
        refused(run_cold("check", "bad.py", *arguments), 3, f"{place}: ", ENDS[code])


def test_code_that_ends_the_process_while_it_is_loaded_is_reported_with_its_line() -> None:
    place = write("import os\nos._exit(0)  # HERE\n")
    refused(run_cold("check", "bad.py"), 3, f"{place}: ", "`os._exit`")
    refused(run_cold("doctor", "bad.py"), 3, f"{place}: ", "`os._exit`")


def test_a_process_that_ends_by_itself_in_native_code_is_not_taken_for_success() -> None:
    write(ENDING.replace("BODY", "EXIT(0)"))
    refused(run_cold("check", "bad.py"), 3, "with exit status 0")


def test_a_search_that_is_killed_is_told_by_its_parent() -> None:
    process = start(*LARGE, "--checkpoint", "kept", "--checkpoint-seconds", "0.05")
    while process.poll() is None and not Path("kept/search.checkpoint").exists():
        time.sleep(0.02)
    os.kill(worker(process) or 0, signal.SIGKILL)
    ended = end(process)
    refused(ended, 128 + signal.SIGKILL, "was killed (SIGKILL)", "--memory")
    assert "  kept: `kept/search.checkpoint`\n" in ended.stderr


def test_a_search_does_not_outlive_its_parent() -> None:
    process = start(*LARGE)
    while not (pid := worker(process)):
        time.sleep(0.01)
    process.kill()
    process.communicate()  # until the last process that could write has ended
    for _ in range(1000):  # what it had open is closed a moment before it has ended
        if not is_running(pid):
            return
        time.sleep(0.01)
    raise AssertionError("it still runs")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("to_all", [False, True], ids=["to the parent", "to the group"])
def test_a_signal_ends_a_search_with_its_report_and_a_checkpoint(number: int, to_all: bool) -> None:
    process = start(*LARGE, "--checkpoint", "kept", "--checkpoint-seconds", "0.05")
    while process.poll() is None and not Path("kept/search.checkpoint").exists():
        time.sleep(0.02)
    os.killpg(process.pid, number) if to_all else process.send_signal(number)
    ended = end(process)
    report = told(ended, 0)
    assert (report["stopped_by"], report["exhausted"]) == ("interrupt", False)
    assert ended.stderr == ""
    resumed = told(run_cold(*LARGE, "--checkpoint", "kept", "--resume", "--states", "1000"), 0)
    assert resumed["resumed_from"] == report["states"]["unique"]


def test_a_signal_while_modules_load_is_one_line() -> None:
    write("import os, time\nos.close(1)\ntime.sleep(60)\n")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start("check", "bad.py")
        while not is_asleep(process):
            time.sleep(0.02)
        process.send_signal(number)
        ended = end(process)
        expected = "error: interrupted before there was anything to report\n"
        assert (ended.returncode, ended.stderr) == (130, expected)


INTERRUPTED = """
    class Interrupting:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    def system(n: int = 0) -> "System":
        class Made:
            field = Interrupting()
"""


@pytest.mark.parametrize("last", ["system()", "from presage import System"], ids=["load", "build"])
def test_a_signal_while_a_class_is_made_is_no_fault(last: str) -> None:
    write(f"{INTERRUPTED}\n    {last}\n")
    ended = run_cold("check", "bad.py:system")
    expected = "error: interrupted before there was anything to report\n"
    assert (ended.returncode, ended.stderr) == (130, expected)


def is_asleep(process: subprocess.Popen[str]) -> bool:
    """Whether the command has come to the code that closes its standard output."""
    pid = worker(process)
    return pid is not None and Path("bad.py").exists() and not Path(f"/proc/{pid}/fd/1").exists()


@pytest.mark.parametrize("moment", range(6))
def test_a_signal_at_any_moment_of_the_start_leaves_no_traceback(moment: int) -> None:
    process = start("check", "counter", "--json")
    while process.poll() is None and not worker(process):
        time.sleep(0.001)
    time.sleep(moment * 0.03)
    process.send_signal(signal.SIGINT)
    ended = end(process)
    assert ended.returncode in (0, 1, 130), ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 130 or json.loads(ended.stdout)


def test_ctrl_c_on_a_terminal_ends_with_a_report() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        arguments = command(*LARGE[:-1], "--checkpoint", "kept", "--checkpoint-seconds", "0.05")
        os.execve(arguments[0], arguments, os.environ | {"TERM": "dumb"})
    while not Path("kept/search.checkpoint").exists():
        time.sleep(0.02)
    os.write(terminal, b"\x03")
    written = b""
    while True:
        try:
            written += os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"whatever was left when it was interrupted" in written
    assert b"Traceback" not in written


ORDER = """
    class Node(Service):
        peers: set[str] = state(lambda: {"ada", "bob", "cyd", "dan", "eve"})
        first: str = ""
        @action(when=lambda self: not self.first)
        def go(self) -> None:
            self.first = next(iter(self.peers))

    @always
    def never_eve(world):
        return world["n0"].first != "eve"

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[never_eve])
"""


def test_the_hash_seed_of_the_environment_changes_nothing() -> None:
    write(ORDER)
    seen = set()
    for seed in ("1", "2", "3", "random"):
        ended = run_cold("check", "bad.py", "--json", PYTHONHASHSEED=seed)
        shown = json.loads(ended.stdout or "{}")
        seen.add((ended.returncode, ended.stderr, str(shown.get("properties"))))
    assert len(seen) == 1


def test_a_command_started_without_its_environment_has_the_same_hash_seed() -> None:
    write("assert hash('a') == " + str(hash_of("a")) + "\n")
    program = command("check", "bad.py")
    ended = subprocess.run([program[0], "-I", *program[2:]], capture_output=True, text=True)
    assert "AssertionError" not in ended.stderr


def hash_of(text: str) -> int:
    program = [*command()[:1], "-c", f"print(hash({text!r}))"]
    environ = os.environ | {"PYTHONHASHSEED": "0"}
    return int(subprocess.run(program, env=environ, capture_output=True, text=True).stdout)
