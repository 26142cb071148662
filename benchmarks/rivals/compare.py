"""Runs the same three programs under presage and under simloom; prints what each finds and claims.

simloom needs Python 3.12 and comes from PyPI by name, into a throwaway environment. Where either
cannot be had, its column is left out, and the text says so.

    python benchmarks/rivals/compare.py [--python PATH]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RIVAL = "simloom==0.5.0"
LIMIT_S = 900


def rows(python: str, script: str) -> dict[str, dict[str, str]]:
    result = subprocess.run(
        [python, str(HERE / script)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        env={"PYTHONHASHSEED": "0", "PATH": ""},
    )
    found = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return {row["program"]: row for row in found}


def rival(folder: str, python: str | None) -> dict[str, dict[str, str]] | None:
    """What simloom says; None if it cannot be had."""
    found = python or shutil.which("python3.12") or shutil.which("python3.13")
    if found is None:
        return None
    home = Path(folder) / "environment"
    if subprocess.run([found, "-m", "venv", home]).returncode:
        return None
    own = str(home / "bin" / "python")
    if subprocess.run([own, "-m", "pip", "install", "-q", RIVAL]).returncode:
        return None
    return rows(own, "under_simloom.py")


def show(title: str, found: dict[str, dict[str, str]]) -> None:
    print(f"\n{title}")
    for name, row in found.items():
        print(f"  {name:<26} finds: {row['finds']}")
        print(f"  {'':<26} {row['looked']}, {row['seconds']} s; claims: {row['claims']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="an interpreter of Python 3.12 or later, for simloom")
    args = parser.parse_args()
    show("presage", rows(sys.executable, "under_presage.py"))
    with tempfile.TemporaryDirectory() as folder:
        other = rival(folder, args.python)
    if other is None:
        print("\nsimloom: not compared; it needs Python 3.12 and PyPI")
    else:
        show(RIVAL.replace("==", " "), other)


if __name__ == "__main__":
    main()
