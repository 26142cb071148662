"""Run the doctor's transcript in processes that differ in nothing but their hash seed.

A hash seed is fixed when an interpreter starts, so each needs a process of its own.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from presage.cli.seeded import start
from presage.environ import SEED
from presage.search.doctor import Transcript

SEEDS = (1, 2)


class Failed(Exception):
    """A process ended without a transcript; it has already said why, in `text`."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def transcripts(arguments: Sequence[str]) -> dict[int, Transcript]:
    """What `presage doctor` with `arguments` writes down under each hash seed."""
    with tempfile.TemporaryDirectory(prefix="presage-") as folder:
        files = {seed: Path(folder) / f"{seed}.json" for seed in SEEDS}
        running = {
            seed: start(
                [*arguments, "--transcript", str(files[seed])],
                {SEED: str(seed)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            for seed in SEEDS
        }
        failures = [failed for process in running.values() if (failed := _end(process))]
        if failures:
            raise failures[0]
        return {
            seed: msgspec.json.decode(file.read_bytes(), type=Transcript)
            for seed, file in files.items()
        }


def write(transcript: Transcript, path: str) -> None:
    """Leave `transcript` where the process that asked for it looks."""
    Path(path).write_bytes(msgspec.json.encode(transcript))


def _end(process: subprocess.Popen[bytes]) -> Failed | None:
    _, complaint = process.communicate()
    text = complaint.decode(errors="backslashreplace")
    return Failed(process.returncode, text) if process.returncode else None
