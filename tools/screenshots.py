"""Pictures of the report page, for the documentation: taken of real findings, in Chromium.

Run it again when the page has changed. Pictures are small, so that the repository stays so.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
BROWSERS = ("chromium", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text"]
SIZE = {"width": 1200, "height": 600}
BYTES_MAX = 150_000

BLOCK = re.compile(r"^```python\n(# (\w+\.py)\n.*?)^```", re.MULTILINE | re.DOTALL)

# Each picture shows the page of what a command finds, in a folder with the files of a document.
PICTURES = {
    "report": ("index.md", "check paxos --set clients=2 --set bug=last_promise"),
    "dead-state": (
        "howto/read-a-violation.md",
        "hunt transport.py --walks 60000 --executions random",
    ),
}


def page_of(document: str, command: str, folder: Path) -> Path:
    """Run a command that finds something, and write the report page of that."""
    for text, name in BLOCK.findall((DOCS / document).read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    _presage(1, folder, *command.split(), "--traces", "traces")
    # The other trace is that of the nearest good run, which the page shows beside it.
    traces = folder.glob("traces/*.trace")
    trace = max(traces, key=lambda path: b'"live":"' in path.read_bytes())
    _presage(0, folder, "report", str(trace), "--out", "page.html")
    return folder / "page.html"


def _presage(status: int, folder: Path, *arguments: str) -> None:
    # What is signed here is thrown away, and so is the key.
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "presage", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")


@contextmanager
def browser_page() -> Iterator[Page]:
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    if binary is None:
        sys.exit("no browser: the pictures are taken in Chromium; `apt-get install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=ARGUMENTS)
        yield browser.new_page(viewport=SIZE, bypass_csp=True)
        browser.close()


def take(name: str, page: Page, folder: Path) -> Path:
    """Take a picture, and return its file."""
    path = folder / f"{name}.png"
    with tempfile.TemporaryDirectory() as place:
        page.goto(page_of(*PICTURES[name], Path(place)).as_uri())
        page.wait_for_function("width => presage.view.width === width", arg=SIZE["width"])
        page.screenshot(path=path)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="take the pictures of the report page")
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS / "images")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with browser_page() as page:
        paths = [take(name, page, folder) for name in PICTURES]
    large = [path.name for path in paths if path.stat().st_size > BYTES_MAX]
    for path in paths:
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    if large:
        print(f"larger than {BYTES_MAX:,} bytes: {', '.join(large)}", file=sys.stderr)
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
