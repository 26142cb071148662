"""Commands one after the other, on the workers of one Ray: to start it costs more than they do.

Each line of the input is a list of words: of `presage`, or a script and its arguments. Each line of
the output is what came of it. A command that wants so many workers is given as many tasks at a time
as these would take.
"""

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import traceback
from typing import Any

from presage.distribute import ray
from presage.process.fence import take_leaves

WORKERS = 5
ADDRESS = "ADDRESS"  # stands for that of the Ray; such a command is a process of its own
Ray = ray.Ray


class Some:
    """So many of the workers."""

    is_alone = True
    shared: Any = None

    def __init__(self, where: ray.Where, folder: str | None = None) -> None:
        self.workers = where.workers or WORKERS

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shared, name)

    def close(self) -> None:
        """The next command goes on with them."""


def command(words: list[str]) -> int:
    from presage.cli import main

    if ADDRESS in words:
        return elsewhere(words)
    if not words[0].endswith(".py"):
        return main(words)
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def elsewhere(words: list[str]) -> int:
    """In a process that knows of the workers what Ray's address tells it."""
    address = Some.shared.ray.get_runtime_context().gcs_address
    words = [address if word == ADDRESS else word for word in words]
    ended = subprocess.run(
        [sys.executable, "-m", "presage", *words], capture_output=True, text=True
    )
    print(ended.stdout, end="")
    print(ended.stderr, end="", file=sys.stderr)
    return ended.returncode


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    take_leaves()  # as a command does
    Some.shared = Ray(ray.Where(workers=WORKERS))
    ray.Ray = Some  # before anybody has imported it
    for line in sys.stdin:
        folder, *words = json.loads(line)
        os.chdir(folder)
        out, complaint = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
            status = command(words)
        print(json.dumps([status, out.getvalue(), complaint.getvalue()]), file=answers, flush=True)
    Some.shared.close()


if __name__ == "__main__":
    serve()
