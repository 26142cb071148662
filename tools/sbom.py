"""What a build of presage is made of: every component with its version, licence and digest.

Cargo says which crates go into the core (`cargo metadata` with the lock file, for this platform,
without what only tests use), the installed metadata say which Python packages presage needs. It is
written as CycloneDX 1.5, and as a list of licences for people.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
CORE = "presage-core"
UNKNOWN = "unknown"


@dataclass(frozen=True, order=True)
class Component:
    """One thing that a build is made of, or needs to run."""

    ecosystem: str  # cargo or pypi
    name: str
    version: str
    licence: str
    digest: str = ""  # sha256 of its archive, where the lock file has it
    needs: tuple[str, ...] = field(default=(), compare=False)  # references to others

    @property
    def reference(self) -> str:
        return f"pkg:{self.ecosystem}/{self.name}@{self.version}"

    def as_cyclonedx(self) -> dict[str, Any]:
        known = {"licenses": [{"expression": self.licence}]} if self.licence != UNKNOWN else {}
        hashes = {"hashes": [{"alg": "SHA-256", "content": self.digest}]} if self.digest else {}
        return {
            "type": "library",
            "bom-ref": self.reference,
            "name": self.name,
            "version": self.version,
            "purl": self.reference,
            **known,
            **hashes,
        }


def crates() -> Iterator[Component]:
    """Every crate that is compiled into the core, or runs while it is compiled."""
    manifest = ROOT / "rust" / "Cargo.toml"
    host = next(
        line.removeprefix("host: ")
        for line in _output("rustc", "-vV").splitlines()
        if line.startswith("host: ")
    )
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path"]
    told = json.loads(_output(*command, str(manifest), "--filter-platform", host))
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    digests = _crate_digests()
    waiting, met = [told["resolve"]["root"]], set()
    while waiting:
        if (at := waiting.pop()) in met:
            continue
        met.add(at)
        needs = [each["pkg"] for each in nodes[at]["deps"] if _is_built(each)]
        waiting += needs
        package = packages[at]
        yield Component(
            "cargo",
            package["name"],
            package["version"],
            (package["license"] or UNKNOWN).replace("/", " OR "),
            digests.get((package["name"], package["version"]), ""),
            tuple(sorted(_reference(packages[need]) for need in needs)),
        )


def _is_built(dependency: dict[str, Any]) -> bool:
    return any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])


def _reference(package: dict[str, Any]) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def _crate_digests() -> dict[tuple[str, str], str]:
    locked = tomllib.loads((ROOT / "rust" / "Cargo.lock").read_text(encoding="utf-8"))
    return {
        (package["name"], package["version"]): package.get("checksum", "")
        for package in locked["package"]
    }


def packages() -> Iterator[Component]:
    """presage and every Python package that it needs to run, as they are installed here."""
    waiting, met = ["presage"], set()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in met:
            continue
        met.add(name)
        found = metadata.distribution(name)
        needs = [Requirement(text) for text in found.requires or ()]
        names = [each.name for each in needs if each.marker is None or each.marker.evaluate()]
        waiting += names
        core = [f"pkg:cargo/{CORE}@{found.version}"] if name == "presage" else []
        references = [f"pkg:pypi/{_normal(each)}@{metadata.version(each)}" for each in names]
        needed = tuple(sorted([*core, *references]))
        yield Component("pypi", name, found.version, _licence(found), needs=needed)


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _licence(found: metadata.Distribution) -> str:
    given = found.metadata
    if expression := given.get("License-Expression"):
        return expression
    named = [
        each.rpartition(" :: ")[2]
        for each in given.get_all("Classifier") or ()
        if each.startswith("License :: OSI Approved")
    ]
    text = (given.get("License") or "").strip()
    short = {"MIT License": "MIT", "BSD License": "BSD-3-Clause"}
    short["Apache Software License"] = "Apache-2.0"
    return short.get(named[0], named[0]) if named else text.partition("\n")[0] or UNKNOWN


def bill(components: list[Component]) -> dict[str, Any]:
    """The CycloneDX document; the same components give the same document."""
    content = json.dumps([each.as_cyclonedx() for each in components], sort_keys=True)
    root = next(each for each in components if each.reference.startswith("pkg:pypi/presage@"))
    serial = uuid.UUID(bytes=hashlib.sha256(content.encode()).digest()[:16], version=4)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": root.as_cyclonedx() | {"type": "application"}},
        "components": [each.as_cyclonedx() for each in components if each is not root],
        "dependencies": [
            {"ref": each.reference, "dependsOn": list(each.needs)} for each in components
        ],
    }


def listed(components: list[Component]) -> str:
    """The list of licences: one line for each component."""
    lines = [f"{each.licence}\t{each.ecosystem}\t{each.name} {each.version}" for each in components]
    return "\n".join(sorted(lines)) + "\n"


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where sbom.cdx.json and licences.txt go")
    folder: Path = parser.parse_args().folder
    components = sorted([*crates(), *packages()])
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(bill(components), indent=2) + "\n"
    (folder / "sbom.cdx.json").write_text(text, encoding="utf-8")
    (folder / "licences.txt").write_text(listed(components), encoding="utf-8")
    unknown = [each.reference for each in components if each.licence == UNKNOWN]
    print(f"{len(components)} components: {folder}/sbom.cdx.json, {folder}/licences.txt")
    if unknown:
        print(f"no licence is known of {', '.join(unknown)}", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
