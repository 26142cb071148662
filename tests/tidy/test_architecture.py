"""ARCHITECTURE.md and the notes beside it agree with the disk, and the private words die out."""

import re
import sys
from collections import Counter
from pathlib import Path

from presage.cli import main

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PICTURE = TEXT.split("```")[1].removeprefix("text")
FILES_MAX = 12

# Words of a private English, with how often they are left. Lower a number when you can.
LEAVING = {
    "door": 11,
    "haunt": 0,
    "haunted": 7,
    "heed": 0,
    "hindered": 1,
    "journey": 0,
    "lapse": 10,
    "owed": 31,
    "owing": 2,
    "retell": 0,
    "settled": 31,
    "shifting": 0,
    "stifle": 0,
    "stifled": 0,
    "stifles": 0,
    "territory": 0,
    "told": 226,
    "vigil": 0,
    "whoever": 37,
}


def folders(root: Path) -> set[str]:
    return {each.name for each in root.iterdir() if each.is_dir() and each.name != "__pycache__"}


def test_the_picture_shows_every_folder_and_no_other() -> None:
    package, core = PICTURE.split("rust/src")
    named = re.compile(r"(?<![\w/])([a-z_]+)/(?![\w])")
    inside = {"kernel", "hunt", "checkpoint", "coverage", "mpi", "service", "world"}
    assert set(named.findall(package)) - inside == folders(ROOT / "src/presage") - {"systems"}
    assert set(named.findall(core)) - {"por"} == folders(ROOT / "rust/src")


def way() -> list[str]:
    section = TEXT.split("## The way of one check")[1].split("##")[0]
    return re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE)


def test_a_check_goes_through_the_files_that_are_listed_in_that_order(capsys) -> None:
    files = way()
    assert len(files) <= FILES_MAX
    assert all((ROOT / file).is_file() for file in files)
    met: list[str] = []

    def note(frame, event, argument) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.endswith(".py") and "/presage/" in file:
            name = "src/presage/" + file.rsplit("/presage/", 1)[1]
            if name in files and met[-1:] != [name]:
                met.append(name)

    sys.setprofile(note)
    try:
        status = main(["check", "paxos", "--set", "clients=2", "--set", "bug=last_promise"])
    finally:
        sys.setprofile(None)
    capsys.readouterr()
    assert status == 1
    left = iter(met)
    for file in files:
        assert file.endswith(".rs") or file in left, f"{file} is not met in its turn"


def test_each_native_file_of_the_way_knows_the_next() -> None:
    native = [file for file in way() if file.endswith(".rs")]
    for one, other in zip(native, native[1:], strict=False):
        text, name = (ROOT / one).read_text(encoding="utf-8"), Path(other).stem
        assert re.search(rf"\b{name}\b", text), f"{one} does not name {name}"


def test_two_decisions_never_share_a_number() -> None:
    numbers = [each.name.split("-")[0] for each in (ROOT / "docs/decisions").glob("0*.md")]
    assert len(numbers) == len(set(numbers))


def test_words_on_their_way_out_become_fewer() -> None:
    words = re.compile(rf"\b({'|'.join(LEAVING)})\b", re.IGNORECASE)
    left = dict.fromkeys(LEAVING, 0) | Counter(
        word.lower()
        for folder in ("src/presage", "rust/src")
        for suffix in ("*.py", "*.pyi", "*.rs")
        for path in (ROOT / folder).rglob(suffix)
        if path.stem != "elevator_door"  # it has a real one
        for word in words.findall(path.read_text(encoding="utf-8"))
    )
    assert left == LEAVING
