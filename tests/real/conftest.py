"""Libraries from PyPI by name and version, each in a folder of its own, installed once."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

LIBRARIES = Path(__file__).resolve().parents[2] / ".pytest_cache" / "libraries"


def install(*requirements: str) -> str:
    """The folder with these requirements, such as `raftos==0.2.6`, and nothing they depend on."""
    folder = LIBRARIES / "+".join(requirements).replace("==", "-")
    if folder.is_dir():
        return str(folder)
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=LIBRARIES))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(made), *requirements], capture_output=True, text=True, check=False
    )
    if done.returncode:
        shutil.rmtree(made)
        pytest.fail(f"PyPI does not give {', '.join(requirements)}:\n{done.stderr}", pytrace=False)
    try:
        made.rename(folder)
    except OSError:  # another worker was faster
        shutil.rmtree(made)
    return str(folder)


@pytest.fixture(scope="session")
def library() -> Callable[..., str]:
    """Installs libraries and gives their folder."""
    return install
