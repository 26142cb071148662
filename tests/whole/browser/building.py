"""Pages for the browser: of shipped systems, and made up ones of any length and any text."""

import importlib
from pathlib import Path

from presage import Hunt, check
from presage.execution.frames import Frame, PropertyStatus, frames
from presage.trace.plain import plain, shortened
from presage.trace.trace import Sent, Trace, TraceStep
from presage.ui.page.data import page_data
from presage.ui.page.page import render

WALKS = 60_000
NODES = ("n0", "n1", "n2", "n3")


def hunted(module: str, name: str, seed: int = 0, executions: str = "all"):
    """What a hunt finds of a bug of the catalogue: the system and the violation."""
    bugs = importlib.import_module(f"presage.systems.{module}.bugs").BUGS
    bug = next(each for each in bugs if each.id == name)
    system = importlib.import_module(f"presage.systems.{module}").system(**bug.parameters)
    system.properties = tuple(prop for prop in system.properties if prop.name == bug.property)
    hunt = Hunt(executions=executions)
    report = check(system, search="hunt", walks=WALKS, seed=seed, hunt=hunt, traces=None)
    return system, report.violations[0]


def data_of(system, violation):
    """The data of the page of a violation, with its live path if it has one."""
    others = []
    if violation.live is not None:
        live = (violation.live, frames(system, violation.live))
        others = [("nearest live path", "live", live)]
    return page_data((violation.trace, frames(system, violation.trace)), others, command="presage")


def made_up(length: int, text: str = "Join", nodes=NODES, **more) -> tuple[Trace, list[Frame]]:
    """A trace of messages that go round, with a timer now and then, and its states."""
    steps, scenes, waiting = [], [], []
    state = {node: {"count": 0, "last": None, "up": True} for node in nodes}
    network = {"messages": {"": "messages"}}
    verdict = {"all_joined": PropertyStatus(False, shortened(f"{text} is missing"), "eventually")}
    scenes.append(Frame(0, None, {**state, "network": network}, verdict))
    for index in range(1, length + 1):
        node = nodes[index * 7 % len(nodes)]
        mail = next((each for each in waiting if each.to == node), None) if index % 3 else None
        to = nodes[(index * 5 + 1) % len(nodes)]
        sends = (Sent(node, to, f"{text}(n={index})"),) if to != node else ()
        facts = {"kind": "timer", "label": f"retry {text}", "detail": "retry"}
        if mail is not None:
            waiting.remove(mail)
            label = f"{text} {mail.source} -> {node}"
            facts = {"kind": "deliver", "label": label, "source": mail.source}
            facts["detail"] = mail.message
        step = TraceStep(
            index=index,
            node=node,
            sends=sends,
            logs=(f"{text} {index}",),
            fingerprint=index,
            **facts,
        )
        waiting.extend(sends)
        state = state | {node: {"count": index, "last": plain(text), "up": True}}
        steps.append(step)
        scenes.append(Frame(index, step, {**state, "network": network}, verdict, logs=step.logs))
    facts = {"critical": length // 2, "kind": "liveness", "message": f"{text} is missing"} | more
    trace = Trace(
        target=None, system=f"Made {text}", nodes=tuple(nodes), prop="all_joined", step=length,
        initial=1, steps=tuple(steps), **facts,
    )  # fmt: skip
    return trace, scenes


def write(path: Path, data) -> Path:
    path.write_text(render(data), encoding="utf-8")
    return path
