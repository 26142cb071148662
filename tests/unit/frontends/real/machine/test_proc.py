"""`/proc`: what a process reads there is of the simulated host, and the same at every moment."""

import os
import time
from typing import Any

from unit.frontends.real.machine.eager import Eager


def test_a_process_finds_itself_and_nothing_of_the_real_host() -> None:
    seen: list[Any] = []

    def program() -> None:
        for _ in range(2):
            with open(f"/proc/{os.getpid()}/stat", encoding="ascii") as file:
                fields = file.read().split()
            with open("/proc/self/status", encoding="ascii") as file:
                status = dict(line.split(":\t") for line in file)
            numbers = sorted(name for name in os.listdir("/proc") if name.isdigit())
            seen.append((fields, status["Pid"], numbers, os.path.exists("/proc/cgroups")))
            time.sleep(5)

    Eager({"n": program}).run().close()
    first, second = seen
    assert first == second
    fields, pid, numbers, others = first
    assert (fields[0], fields[1], len(fields)) == (pid.strip(), "(python)", 52)
    assert (numbers, others) == ([fields[0]], False)
