"""Hand-made steps, traces and violations, each in one line."""

from presage.search.report import Violation
from presage.trace.trace import Trace, TraceStep

CHEATING = """
import time
from presage import Service, System, action

class Node(Service):
    looked: int = 0
    cheated: int = 0

    @action
    def look(self) -> None:
        self.looked += 1

    @action
    def cheat(self) -> None:
        if self.cheated:
            time.time()
        self.cheated += 1

def system() -> System:
    return System({"n0": Node()})
"""  # a system whose second `cheat` is refused


def step(index: int, node: str, kind: str, label: str = "", **more: object) -> TraceStep:
    return TraceStep(  # type: ignore[arg-type]
        **{"index": index, "node": node, "kind": kind, "fingerprint": index, "label": label} | more
    )


def join(index: int, source: str, to: str, **more: object) -> TraceStep:
    facts = {"label": f"Join {source} -> {to}", "detail": "Join(ttl=3)", "source": source}
    return step(index, to, "deliver", **facts | more)


def trace(steps: list[TraceStep], **more: object) -> Trace:
    facts: dict[str, object] = {
        "target": "examples/randtree.py:system",
        "system": "RandTree",
        "nodes": ("n0", "n1", "n2"),
        "prop": "one_root",
        "kind": "safety",
        "message": "n0 and n2 each believe they are root",
        "step": len(steps),
        "initial": 1,
        "steps": tuple(steps),
        "source": "examples/randtree.py:88",
        "signature": "def one_root(world)",
    }
    return Trace(**facts | more)  # type: ignore[arg-type]


def violation(of: Trace, **more: object) -> Violation:
    facts: dict[str, object] = {
        "prop": of.prop,
        "kind": of.kind,
        "message": of.message,
        "step": of.step,
        "steps": len(of.steps),
        "trace": of,
        "trace_path": f".presage/traces/{of.prop}-7f3a21bc.trace",
        "source": of.source,
        "signature": of.signature,
    }
    return Violation(**facts | more)  # type: ignore[arg-type]
