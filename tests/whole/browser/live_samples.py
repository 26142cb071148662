"""A running system that is none: an operator that shows what a test wants to see."""

import threading
from contextlib import contextmanager

from presage.runtime.board import (
    Board,
    EventSeen,
    FilterSeen,
    LinkSeen,
    NodeSeen,
    PredictionSeen,
    ProgressSeen,
    RefusalSeen,
)
from presage.ui.live.server import LiveServer

NAMES = [f"n{number:02}" for number in range(25)]
HOSTILE = "<img src=x onerror=alert(1)>"


class Shown:
    """Shows 25 nodes; what is asked of it is written down, and becomes what it shows."""

    def __init__(self):
        self.asked = []
        self.down = set()
        self.steps = 0
        self.filters = ()
        self.predictions = ()

    def board(self):
        self.steps += 1
        nodes = tuple(
            NodeSeen(
                name=name,
                status="down" if name in self.down else "up",
                pid=100 + at,
                life=1,
                steps=self.steps if at == 3 else 7,
                fields={"parent": repr(NAMES[at // 2]), "children": HOSTILE},
                timers=("recovery",),
                methods=("join", "leave"),
            )
            for at, name in enumerate(NAMES)
        )
        links = tuple(
            LinkSeen(nodes=(NAMES[at // 2], name), waiting=(at % 2, 0))
            for at, name in enumerate(NAMES)
            if at
        )
        return Board(
            system="randtree",
            at=12.5,
            nodes=nodes,
            links=links,
            predictions=self.predictions,
            filters=self.filters,
            refusals=(RefusalSeen(node="n01", text="Join from n02", why="disjoint", at=3.0),),
            progress=(ProgressSeen(prop="joined", ago=None),),
        )

    def foresee(self):
        events = (
            EventSeen(node="n01", text="timer recovery"),
            EventSeen(node="n02", text="receive Probe", source="n01", cause=0),
            EventSeen(node="n03", text=HOSTILE, source="n02", cause=1),
        )
        self.predictions = (
            PredictionSeen(
                key=7, node="n01", prop="disjoint", at=10.0, events=events, answer="filter"
            ),
        )
        self.filters = (FilterSeen(node="n02", text="Probe from n01", left=4.5),)

    def prediction(self, key):
        return f"path {key}" if key == 7 else None

    def kill(self, node):
        self.asked.append(("kill", node))
        self.down.add(node)

    def start(self, node):
        self.asked.append(("start", node))
        self.down.discard(node)

    def cut(self, node, peer):
        self.asked.append(("cut", node, peer))

    def call(self, node, method, args):
        self.asked.append((method, node, args))
        return f"{method} answered {args}"


@contextmanager
def served(operator):
    with LiveServer(operator, 0, lambda trace: f"<p>{trace}</p>") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
