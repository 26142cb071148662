"""Scripts and tests that call `check`: code that cannot be ended ends them, and says where."""

import signal
import subprocess
import sys
from textwrap import dedent

import pytest

GUARD = 120  # seconds; only against a hang

SCRIPT = """
    import re, threading
    from presage import Service, System, action, check

    LOCK = threading.Lock()
    LOCK.acquire()

    class Node(Service):
        done: bool = False

        @action(when=lambda self: not self.done)
        def go(self):
            {stuck}  # here
            self.done = True

    def test_it():
        check(System({{"a": Node()}}), handler_seconds=0.2, traces=None)

    if __name__ == "__main__":
        test_it()
"""
BOMB = 're.match(r"(a+)+$", "a" * 60 + "b")'


@pytest.mark.parametrize("stuck", [BOMB, "7 ** 10**9", "LOCK.acquire()"])
def test_a_script_does_not_hang_on_code_that_cannot_be_ended(tmp_path, stuck):
    script = tmp_path / "script.py"
    script.write_text(dedent(SCRIPT).format(stuck=stuck))
    ended = run([str(script)], tmp_path)
    said = "the checked code is still running after 0.2 s (`handler_seconds`), and cannot be ended"
    assert f"presage: {said}" in ended.stderr
    assert f'script.py", line {line_of(script)} in go' in ended.stderr
    assert ended.returncode == -signal.SIGABRT


def test_pytest_does_not_hang_on_code_that_cannot_be_ended(tmp_path):
    script = tmp_path / "test_script.py"
    script.write_text(dedent(SCRIPT).format(stuck=BOMB))
    ended = run(["-m", "pytest", "-p", "no:cacheprovider", str(script)], tmp_path)
    assert f'test_script.py", line {line_of(script)} in go' in ended.stderr
    assert ended.returncode == -signal.SIGABRT


def line_of(script):
    [line] = [n for n, text in enumerate(script.read_text().splitlines(), 1) if "# here" in text]
    return line


def run(arguments, folder):
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=GUARD, check=False
    )
