"""What goes into a build is locked, listed and licensed."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+)", re.MULTILINE)


def test_every_tool_of_development_is_locked_with_the_digest_of_its_files() -> None:
    text = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    locked: dict[str, list[str]] = {}
    for match in LOCKED.finditer(text):
        locked.setdefault(canonicalize_name(match["name"]), []).append(match["version"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for asked in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(asked)
        versions = locked.get(canonicalize_name(wanted.name), [])
        assert versions and all(wanted.specifier.contains(v) for v in versions), (
            f"`{asked}` is not locked: `make lock`"
        )
    for entry in re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]:
        assert entry.startswith("#") or "--hash=sha256:" in entry, entry


def test_what_builds_presage_is_locked_as_development_has_it() -> None:
    texts = [
        (ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in ("build", "dev")
    ]
    build, dev = ({match[0] for match in LOCKED.finditer(text)} for text in texts)
    assert build < dev
    names = {match["name"] for match in LOCKED.finditer(texts[0])}
    assert "maturin" in names and not names & {"pytest", "mypy", "ruff"}
    assert texts[0].count("==") == len(build)
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = (ROOT / "requirements" / "build.in").read_text(encoding="utf-8").splitlines()
    assert asked[1:] == pyproject["build-system"]["requires"]


def test_cargo_and_maturin_build_from_their_lock_file_only() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    builds = [
        line
        for line in lines
        if re.search(r"(cargo (build|clippy|test)|maturin (?!sdist)\w+) -", line)
    ]
    assert builds and all("--locked" in line for line in builds), builds


def test_a_command_lists_every_component_with_its_licence(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "sbom.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bill = json.loads((tmp_path / "sbom.cdx.json").read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "presage")
    known = {component["bom-ref"]: component for component in bill["components"]}
    names = {component["name"] for component in known.values()}
    assert {"presage-core", "pyo3", "sha2", "msgspec", "greenlet", "rich"} <= names
    assert not names & {"pytest", "mypy"}  # which no user gets
    assert all(component["licenses"] for component in known.values())
    crates = [ref for ref in known if ref.startswith("pkg:cargo/") and "presage" not in ref]
    assert all(len(known[ref]["hashes"][0]["content"]) == 64 for ref in crates)
    for entry in bill["dependencies"]:
        assert set(entry["dependsOn"]) <= known.keys(), entry
    licences = (tmp_path / "licences.txt").read_text(encoding="utf-8").splitlines()
    assert len(licences) == len(known) + 1
    assert str(ROOT) not in json.dumps(bill)
