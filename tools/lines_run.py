"""Which lines the tests run, of Python and of Rust: `make coverage`.

Python is measured by coverage.py, in all processes that tests start. Rust is compiled with
`-C instrument-coverage`, so that lines count whether a Rust test runs them or a test in Python.
The instrumented core stands in a tree of links to the package: the core that is used otherwise
stays as it is. A process that is killed leaves nothing behind, and its lines do not count.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "rust" / "target" / "coverage"
LINKS = MADE / "links"  # what is imported while tests run
PROFILES = MADE / "profiles"
CARGO = ("--locked", "--manifest-path", "rust/Cargo.toml", "--message-format", "json")
OURS = ("-ignore-filename-regex", r"/(registry|rustc|library)/")
NO_TOOLS = """error: `{tool}` is not there, which reads what the instrumented core writes
  usual cause: a Rust toolchain without that component
  way out: `rustup component add llvm-tools`"""


def llvm(tool: str) -> str:
    """The path of a tool that belongs to the compiler: others read other formats."""
    asked = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True)
    found = sorted(Path(asked.stdout.strip()).glob(f"lib/rustlib/*/bin/{tool}"))
    if not found:
        sys.exit(NO_TOOLS.format(tool=tool))
    return str(found[0])


def compiled(*arguments: str) -> Path:
    """The file that cargo makes of our crate."""
    env = os.environ | {
        "RUSTFLAGS": "-C instrument-coverage",
        "CARGO_TARGET_DIR": str(MADE / "cargo"),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "LLVM_PROFILE_FILE": os.devnull,  # of build scripts
    }
    command = ["cargo", *arguments, *CARGO]
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    ours = [line for line in lines if line.get("target", {}).get("name") == "_core"]
    return Path(ours[-1].get("executable") or ours[-1]["filenames"][0])


def link(core: Path) -> None:
    """The package, file by file, but with this core."""
    shutil.rmtree(LINKS, ignore_errors=True)
    package = ROOT / "src" / "presage"
    shutil.copytree(package, LINKS / "presage", copy_function=os.symlink)
    shutil.rmtree(PROFILES, ignore_errors=True)
    for file in (LINKS / "presage").glob("_core.*.so"):
        file.unlink()
    shutil.copy(core, LINKS / "presage" / "_core.abi3.so")


def share(covered: int, lines: int) -> str:
    return f"{100 * covered / max(lines, 1):5.1f} % of {lines:,} lines"


def rust(objects: list[Path]) -> str:
    """What was run of Rust; the list of files is written to a file."""
    profile = MADE / "rust.profdata"
    raw = [str(path) for path in sorted(PROFILES.glob("*.profraw"))]
    subprocess.run([llvm("llvm-profdata"), "merge", "-o", str(profile), *raw], check=True)
    first, *others = map(str, objects)
    read = [f"-instr-profile={profile}", first, *(f"-object={each}" for each in others), *OURS]
    with (MADE / "rust.txt").open("wb") as table:
        subprocess.run([llvm("llvm-cov"), "report", *read], stdout=table, check=True)
    command = [llvm("llvm-cov"), "export", "-summary-only", *read]
    exported = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    lines = exported["data"][0]["totals"]["lines"]
    return share(lines["covered"], lines["count"])


def python() -> str:
    """The same of Python."""
    coverage = [sys.executable, "-m", "coverage"]
    subprocess.run([*coverage, "combine", "--quiet"], cwd=ROOT, check=True)
    with (MADE / "python.txt").open("wb") as table:
        subprocess.run([*coverage, "report"], cwd=ROOT, stdout=table, check=True)
    file = MADE / "python.json"
    subprocess.run([*coverage, "json", "--quiet", "-o", str(file)], cwd=ROOT, check=True)
    totals = json.loads(file.read_text(encoding="utf-8"))["totals"]
    return share(totals["covered_lines"], totals["num_statements"])


def main(selected: list[str]) -> int:
    """Run the tests that pytest selects by these arguments, and those of Rust; exit as pytest."""
    llvm("llvm-cov")
    core, tests = compiled("build", "--features", "extension-module"), compiled("test", "--no-run")
    link(core)
    os.environ |= {
        "COVERAGE_FILE": str(MADE / "python.coverage"),
        "LLVM_PROFILE_FILE": str(PROFILES / "%8m.profraw"),  # processes add to one of a few files
        "PYTHONPATH": str(LINKS),
    }
    for old in MADE.glob("python.coverage*"):
        old.unlink()
    subprocess.run([str(tests), "--quiet"], cwd=ROOT, check=True)
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", *selected]
    status = subprocess.run(command, cwd=ROOT).returncode
    print(f"Python: {python()}\nRust:   {rust([core, tests])}")
    print(f"file by file: {MADE / 'python.txt'}, {MADE / 'rust.txt'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
