"""Run mpi4py's own tests on presage's mpi4py, file by file, and count how they end.

    python tools/mpi4py_suite.py FOLDER [--ranks 2] [--limit 120] [--reasons] [test_comm ...]

`FOLDER` is mpi4py's source distribution, unpacked. The tests run as they are, in a copy, by
`presage mpirun`. A test passes if it passes at every rank. After each test the ranks agree on how
it ended; where they do not, or one of them waits for ever, the rest of the file runs in a new
process, so that one test cannot spoil another.

Unless the environment says otherwise, `COVERAGE_RUN=true`: so mpi4py's own machines, when they
measure, ask `test_util_dtlib` for structures of 6 instead of 30 types. All take minutes on any MPI.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PASSED, FAILED, ERROR, SKIPPED, STUCK = "passed", "failed", "error", "skipped", "stuck"
ENDS = (PASSED, FAILED, ERROR, SKIPPED, STUCK)
MARK = "\x1emark "
DRIVER = "presage_driver.py"
DRIVER_TEXT = """
import importlib, json, sys, unittest
from mpi4py import MPI

name, *done = sys.argv[1:]
done = set(open(done[0]).read().split()) if done else set()
comm = MPI.COMM_WORLD.Dup()

def say(*words):
    print("\\x1emark " + json.dumps([comm.rank, *words]), flush=True)

class Result(unittest.TestResult):
    end = ("passed", "")
    def addFailure(self, test, err):
        self.end = "failed", self._exc_info_to_string(err, test)
    def addError(self, test, err):
        self.end = "error", self._exc_info_to_string(err, test)
    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.end = "failed", self._exc_info_to_string(err, test)
    def addSkip(self, test, reason):
        self.end = "skipped", reason
    def addExpectedFailure(self, test, err):
        pass
    def addUnexpectedSuccess(self, test):
        self.end = "failed", "unexpected success"

def flat(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each

module = importlib.import_module(name)
tests = {each.id(): each for each in flat(unittest.defaultTestLoader.loadTestsFromModule(module))}
say("tests", list(tests))
for id, test in tests.items():
    if id in done:
        continue
    say("begun", id)
    result = Result()
    unittest.TestSuite([test]).run(result)
    say("ended", id, *result.end)
    ends = comm.allgather(result.end[0])
    if len(set(ends)) > 1:
        say("differ", id)
        break
else:
    say("over")
sys.stdout.flush()
"""


@dataclass
class Tally:
    """How the tests of one file ended: by test, and why those that did not pass did not."""

    name: str
    ends: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    imported: bool = False

    def count(self) -> Counter[str]:
        return Counter(self.ends.values())

    def worse(self, test: str, end: str, reason: str) -> None:
        """One rank's end of a test; the worst of all ranks counts."""
        order = (PASSED, SKIPPED, FAILED, ERROR, STUCK)
        if test not in self.ends or order.index(end) > order.index(self.ends[test]):
            self.ends[test], self.reasons[test] = end, reason


def run_file(folder: Path, name: str, ranks: int, limit: float) -> Tally:
    """All tests of one file, in as many processes as it takes."""
    tally = Tally(name)
    while True:
        done = folder / "done.txt"
        done.write_text("\n".join(tally.ends))
        text, errors = _process(folder, [name, str(done)], ranks, limit)
        if not _taken(tally, text, errors):
            return tally


def _process(folder: Path, args: list[str], ranks: int, limit: float) -> tuple[str, str]:
    command = [sys.executable, "-m", "presage", "mpirun", "-n", str(ranks), DRIVER, *args]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=pipe,
        stderr=pipe,
        text=True,
        env={"COVERAGE_RUN": "true", **os.environ},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5)),
    ) as process:
        out, errors = process.communicate()
        return out, errors if process.returncode >= 0 else f"{errors}\nmore than {limit:g} s"


def _taken(tally: Tally, text: str, errors: str) -> bool:
    """Take what a process said; whether another one has something left to do."""
    begun: dict[str, int] = {}
    over = differ = False
    for line in text.split(MARK)[1:]:
        _, what, *words = json.JSONDecoder().raw_decode(line)[0]
        if what == "tests":
            tally.imported = True
        elif what == "begun":
            begun[words[0]] = begun.get(words[0], 0) + 1
        elif what == "ended":
            begun[words[0]] -= 1
            tally.worse(*words)
        over |= what == "over"
        differ |= what == "differ"
    stuck = [test for test, count in begun.items() if count > 0]
    for test in stuck:
        tally.worse(test, STUCK, errors[-2000:])
    if not tally.imported:
        tally.reasons["import"] = errors[-2000:]
    return tally.imported and not over and (differ or bool(stuck))


def suite(folder: Path, names: Iterable[str], ranks: int, limit: float) -> list[Tally]:
    """All files of a source distribution, or those named."""
    with tempfile.TemporaryDirectory() as copy:
        place = Path(copy) / "test"
        shutil.copytree(folder / "test", place)
        (place / DRIVER).write_text(DRIVER_TEXT)
        wanted = list(names) or sorted(file.stem for file in place.glob("test_*.py"))
        tallies = []
        for name in wanted:
            tallies.append(run_file(place, name, ranks, limit))
            print(_row(name, tallies[-1].count(), tallies[-1].imported), flush=True)
        return tallies


def _row(name: str, counts: Counter[str], imported: bool) -> str:
    cells = "".join(f"{counts[end]:>9}" for end in ENDS)
    return f"{name:<24}{cells}" + ("" if imported else "  not importable")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds of the processor, for one process"
    )
    parser.add_argument("--reasons", action="store_true", help="why tests did not pass")
    given = parser.parse_intermixed_args()
    print(f"{'file':<24}" + "".join(f"{end:>9}" for end in ENDS))
    tallies = suite(given.folder, given.names, given.ranks, given.limit)
    total: Counter[str] = sum((each.count() for each in tallies), Counter())
    print(_row("all", total, all(each.imported for each in tallies)))
    if given.reasons:
        for tally in tallies:
            for test, reason in tally.reasons.items():
                if tally.ends.get(test) not in (PASSED, SKIPPED):
                    print(f"--- {test}: {tally.ends.get(test)}\n{reason.strip()}")


if __name__ == "__main__":
    main()
