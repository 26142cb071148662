"""presage as a wheel: built here, installed elsewhere, and silent about where it was built."""

import os
import re
import runpy
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# What the README tells somebody new to type.
COMMANDS = runpy.run_path(str(ROOT / "tools" / "first_hour.py"))["COMMANDS"]
# Whether it works does not depend on how well it is compiled.
QUICK = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
}


def _made_here(folder: str, names: list[str]) -> set[str]:
    """What is no source: not `cli/target`, which has its name from what it finds."""
    made = shutil.ignore_patterns(".git", ".venv", "dist", "*.so", "__pycache__")(folder, names)
    return made | ({"target"} if "Cargo.toml" in names else set())


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_a_wheel_works_in_another_environment_and_names_no_folder_of_its_builder(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT, copy, ignore=_made_here)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    environ = os.environ | QUICK
    made = ["-o", ".venv/.made", "-o", "requirements/build.txt"]  # what there is already
    make = ["make", "--no-print-directory", "wheel", *made]
    told = subprocess.run(
        make, cwd=copy, env=environ, check=True, capture_output=True, text=True
    ).stdout
    [wheel] = (copy / "dist").glob("presage-*.whl")
    places = [str(copy), str(ROOT), str(Path.home()), environ.get("CARGO_HOME", "/no/such/folder")]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            for place in places:
                assert not re.search(re.escape(place.encode()) + rb"\b", content), (name, place)
    # `make wheel` has tried it: installed, a project made, checked and tested, without Rust.
    *commands, total = told.splitlines()[-len(COMMANDS) - 1 :]
    assert [line.partition(" s  ")[2] for line in commands] == [
        command.format(wheel=wheel.name) for command in COMMANDS
    ]
    assert total.endswith(" s  in all")
