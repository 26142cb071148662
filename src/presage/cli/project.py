"""The files of a new project, by name; `$name` stands for that of its module."""

SERVICE = '''\
"""An election: the nodes ask `a` for its vote, and `a` votes once, whatever crashes."""

from presage import Faults, Service, System, always, durable, on


class Node(Service):
    vote: str = durable("")  # try `vote: str = ""`: after a crash `a` votes again
    leads: bool = False

    def start(self) -> None:
        self.send("a", "vote for me")

    @on(str)
    def heard(self, word: str, source: str) -> None:
        if word == "elected":
            self.leads = True
        elif not self.vote:
            self.vote = source
            self.send(source, "elected")


@always
def one_leader(world) -> bool:
    return sum(node.leads for node in world.nodes) <= 1


def system(nodes: int = 3) -> System:
    names = "abcdefgh"[:nodes]
    return System(
        {name: Node() for name in names},
        faults=Faults(crash=1, restart=1),
        properties=[one_leader],
    )
'''

TEST = '''\
"""Every order of messages, crashes and restarts, on every run of the tests."""

from $name import system
from presage import check


def test_at_most_one_node_leads():
    check(system()).assert_holds()
'''

README = """\
# $name

A service, a claim about it, and a test that checks it under every order of messages and crashes.

    presage run-once $name.py    # show one ordinary run
    presage check $name.py       # check all of them
    presage check $name.py --set nodes=4
    presage check $name.py --sweep nodes=2..8 --budget 1m
    pytest    # the same, as a test

Take `durable` away in `$name.py` and check again. What was found is a file below
`.presage/traces`; the lines marked `help` are the commands that replay it, step through it, and
show it as a page for a browser.
"""

WORKFLOW = """\
name: check
on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install -r requirements.txt
      - run: presage check . --budget 10m --junit presage.xml
      - run: pytest
"""

FILES = {
    "$name.py": SERVICE,
    "test_$name.py": TEST,
    "README.md": README,
    "requirements.txt": "presage\npytest\n",
    ".gitignore": ".presage/\npresage.xml\n__pycache__/\n",
    ".github/workflows/check.yml": WORKFLOW,
}
