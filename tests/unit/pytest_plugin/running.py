"""Runs pytest with the plugin on a file, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"  # the plugin is named, installed or not

BANK = """
import asyncio
import pytest

total = 0

async def bank_main():
    async def handle(reader, writer):
        global total
        while line := await reader.readline():
            total += int(line)
            writer.write(b"%d\\n" % total)
        writer.close()
    server = await asyncio.start_server(handle, "0.0.0.0", 9000)
    async with server:
        await server.serve_forever()

def view(node):
    module = node.module(__name__)
    return {"total": 0 if module is None else module.total}

async def transfer(host, amount):
    reader, writer = await asyncio.open_connection(host, 9000)
    writer.write(b"%d\\n" % amount)
    answer = int(await reader.readline())
    writer.close()
    return answer
"""


class Run:
    """What came of one run."""

    def __init__(self, result: subprocess.CompletedProcess[str]) -> None:
        self.status = result.returncode
        self.text = result.stderr + result.stdout

    def count(self, word: str) -> int:
        found = re.search(rf"(\d+) {word}", self.text.splitlines()[-1])
        return int(found[1]) if found else 0

    def covered(self, name: str) -> str:
        """What the summary says of a test."""
        found = re.search(rf"::{name}: (.*)", self.text)
        return found[1] if found else ""


def run(
    folder: Path, text: str, *options: str, plugins: tuple[str, ...] = (), path: str = ""
) -> Run:
    (folder / "test_it.py").write_text(text)
    named = [word for each in plugins for word in ("-p", each)]
    command = [sys.executable, "-m", "pytest", "-p", "presage.pytest_plugin", *named]
    environment = {**os.environ, AUTOLOAD: "1", "PYTHONPATH": path}
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
    )
    return Run(result)
