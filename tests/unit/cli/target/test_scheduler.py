"""Schedulers of users, by the names of their classes."""

import os
import pickle
import subprocess
import sys

from presage.cli.target.scheduler import load_scheduler

MINE = """
from presage import Scheduler

class Mine(Scheduler):
    base = "rr"
"""


def test_another_process_in_another_folder_knows_the_scheduler_of_a_file(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(load_scheduler("mine.py:Mine"))
    monkeypatch.chdir("/")
    program = f"import pickle; print(pickle.loads({data!r}).base)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["rr"], done.stderr
