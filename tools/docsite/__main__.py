"""Build the site: arrange its sources, let Sphinx write it, look at what it wrote."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from docsite.pages import Site
from docsite.sources import arrange

CLICKS_MAX = 2


def build(folder: Path) -> list[str]:
    """Build the site in `folder`, all of it; return what is wrong with it."""
    sources, made = (folder.with_name(f"{folder.name}-{name}") for name in ("source", "made"))
    arrange(sources)
    for earlier in (folder, made):  # a page that is not read again does not warn again
        shutil.rmtree(earlier, ignore_errors=True)
    options = ["-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    places = ["-c", str(Path(__file__).parent), "-d", str(made), str(sources), str(folder)]
    command = [sys.executable, "-m", "sphinx", *options, *places]
    if subprocess.run(command, check=False).returncode != 0:
        return ["Sphinx warned, as above"]
    site = Site.read(folder)
    away = site.clicks()
    far = [name for name in site.pages if away.get(name, CLICKS_MAX + 1) > CLICKS_MAX]
    return [
        *(f"dead link: {each}" for each in site.dead()),
        *(f"loaded from outside: {each}" for each in site.outside()),
        *(f"more than {CLICKS_MAX} clicks away from the front page: {each}" for each in far),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="docsite", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the site goes")
    folder: Path = parser.parse_args().folder
    if folder.exists() and any(folder.iterdir()) and not (folder / "_static").is_dir():
        parser.error(f"{folder} is not empty, and no site: it would be removed")
    problems = build(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        site = Site.read(folder)
        links = sum(len(page.links) for page in site.pages.values())
        print(f"{len(site.pages)} pages, {links} links, none dead: {folder}/index.html")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
