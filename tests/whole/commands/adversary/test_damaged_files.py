"""A damaged or forged trace or checkpoint is refused: no traceback, no hang, nothing that runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from whole.commands.adversary.damaged import CANARY, KEPT, RAN, SYSTEM
from whole.commands.harness import run, told, write

BATCH = 100
SLOW_BATCHES = 11  # besides the quick one
SECONDS = 240  # only a guard against a hang

VOTES = """
    class Node(Service):
        votes: int = 0

        @action(when=lambda self: self.votes < 3)
        def vote(self) -> None:
            self.votes += 1
            self.send("n1", ("vote", self.votes))

        @on(tuple)
        def count(self, vote: tuple) -> None:
            self.votes = vote[1]

    @always
    def few(world):
        return world["n1"].votes < 2

    system = System(nodes={"n0": Node(), "n1": Node()}, properties=[few])
"""


def prepare(folder: Path) -> None:
    """A good trace, a good checkpoint, and a module that nobody may import."""
    write(VOTES, "votes.py")
    report = told(run("check", "votes.py", "--json"), 1)
    shutil.copy(report["violations"][0]["trace"], "good.trace")
    told(run("check", *SYSTEM, *KEPT, "--states", "100"), 0)
    shutil.copy("kept/search.checkpoint", "good.checkpoint")
    text = f"open({RAN!r}, 'w').close()\nfrom presage.systems.counter import system\n"
    Path(f"{CANARY}.py").write_text(text, encoding="utf-8")


def survive(folder: Path, first: int, last: int) -> None:
    prepare(folder)
    tests = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-P", "-m", "whole.commands.adversary.damaged"]
    ended = subprocess.run(
        [*command, str(folder), str(first), str(last)],
        env=os.environ | {"PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout + ended.stderr[-2_000:]


def test_sixty_damaged_files_are_refused(folder: Path) -> None:
    survive(folder, 0, 60)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(1, SLOW_BATCHES))
def test_a_thousand_damaged_files_are_refused(batch: int, folder: Path) -> None:
    survive(folder, batch * BATCH, (batch + 1) * BATCH)
