"""The parent of a command: how it passes on what ends the command."""

import signal
import subprocess
import sys

from presage.supervise.signals import PASSED, WAKES

# The first signal comes while Python is about to wait: it is noted, and ends no wait.
CHILD = f"""
import os, signal, sys
heard = []
for number in ({PASSED[signal.SIGINT]}, {WAKES}):
    signal.signal(number, lambda number, frame: heard.append(number))
print("ready", flush=True)
while len(heard) < 2:
    signal.pause()
print(*heard)
"""
PARENT = f"""
import os, signal, subprocess, sys
from presage.supervise import parent
signal.pthread_sigmask(signal.SIG_BLOCK, parent.HEARD)
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=1)
parent._wait(child.pid)
"""


def test_a_child_that_was_asked_to_end_is_woken_up_once() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline().split() == [str(PASSED[signal.SIGINT]), str(WAKES)]
    assert process.wait() == 0
