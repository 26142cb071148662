"""The problem matcher that the docs give to editors reads what a check says of a violation."""

import json
import re
from pathlib import Path

from unit.cli.command import run, write

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "notebooks-and-editors.md"


def test_the_matcher_finds_file_line_and_message(tmp_path, monkeypatch) -> None:
    [block] = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    [task] = json.loads(block)["tasks"]
    matcher = task["problemMatcher"]["pattern"]
    assert task["command"].startswith("GITHUB_ACTIONS=true presage check . ")
    monkeypatch.chdir(tmp_path)
    write("""
        from presage import Service, System, action, always

        class Counter(Service):
            count: int = 0

            @action(when=lambda self: self.count < 3)
            def increment(self) -> None:
                self.count += 1

        @always
        def small(world):
            return all(node.count < 3 for node in world.nodes)

        system = System({"n0": Counter()}, properties=[small])
    """)
    said = run("check", ".", "--no-color", GITHUB_ACTIONS="true").stderr
    found = [re.match(matcher["regexp"], line) for line in said.splitlines()]
    [match] = filter(None, found)
    names = ("severity", "file", "line", "message")
    severity, file, line, message = (match[matcher[name]] for name in names)
    assert (severity, file) == ("error", "counter.py")
    assert "def small" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert message == "small fails at step 3"
