"""presage as a wheel: built here, installed elsewhere, and silent about where it was built."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
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
    made = ["-o", ".venv/.made", "-o", "requirements/dev.txt"]  # what there is already
    subprocess.run(["make", "wheel", *made], cwd=copy, env=environ, check=True)
    [wheel] = (copy / "dist").glob("presage-*.whl")
    places = [str(copy), str(ROOT), str(Path.home()), environ.get("CARGO_HOME", "/no/such/folder")]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            for place in places:
                assert not re.search(re.escape(place.encode()) + rb"\b", content), (name, place)
    fresh = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", str(fresh)], check=True)
    subprocess.run([fresh / "bin" / "pip", "install", "--quiet", str(wheel)], check=True)
    command = [fresh / "bin" / "presage", "check", "two_phase_commit", "--set", "rms=3"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "288" in checked.stdout
