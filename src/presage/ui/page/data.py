"""What the page is given: a trace as one JSON object. docs/reference/report.md describes it.

The first state is there in full, then what each step changed, and every `KEY_EVERY` steps the full
state again, so that any state is a few changes away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.execution.frames import Frame
from presage.trace.causes import Causes
from presage.trace.diff import Change, diff
from presage.trace.folds import folds
from presage.trace.labels import body_and_ends, told_apart
from presage.trace.plain import TYPE, Plain, shortened
from presage.trace.recovery import shares
from presage.trace.show import plural
from presage.trace.trace import Trace, TraceStep
from presage.ui.page.arrows import Arrows
from presage.ui.page.histories import histories
from presage.ui.page.sources import Places
from presage.ui.story import violation_of
from presage.ui.violation import marked_step
from presage.version import VERSION

FORMAT, PAGE_VERSION = "presage-page", 1
KEY_EVERY = 100
LABEL_MAX = 120  # characters of an event in a few words, and of a title
ROOMS = (12, 24, 40, 64, 100, 160, 400)  # characters of an event's text, from least to most
TUPLE = "tuple"
COMPARED_MAX = 400  # steps, from where two traces part, whose states are compared

Shown = tuple[Trace, Sequence[Frame]]


def page_data(
    main: Shown, others: Sequence[tuple[str, str, Shown]] = (), *, command: str = ""
) -> dict[str, Any]:
    """The data of a page about `main`; of each of `others`: label, kind (live or with), trace."""
    trace, scenes = main
    violation, places = violation_of(trace), Places(trace.target)
    scenes = places.in_remarks(scenes)
    fact = f"{trace.prop}: {trace.message}" if trace.kind == "live" else violation.fact
    nodes = len(trace.nodes)
    stories = [main, *(other for *_, other in others)]
    code = sorted({scene.source for _, scenes in stories for scene in scenes})
    code += [said.source for said in scenes[0].verdicts.values()]
    return {
        "format": FORMAT,
        "version": PAGE_VERSION,
        "build": f"presage {VERSION}",
        "title": _cut(trace.system),
        "fact": shortened(places.text(fact)),
        "property": shortened(trace.prop),
        "kind": trace.kind,
        "why": "" if trace.kind == "live" else shortened(places.text(trace.message)),
        "evidence": "" if trace.evidence == "exact" else shortened(trace.evidence),
        "source": places.place(trace.source),
        "sources": places.excerpts(code),
        "numbers": f"{len(trace.steps):,} steps, {plural(nodes, 'node')}, seed {trace.seed}",
        "command": command,
        "coverage": trace.coverage,
        "remarks": [[lead, shortened(places.text(text))] for lead, text in trace.remarks],
        "opens": marked_step(violation) or trace.loop or trace.step,
        "main": story(trace, scenes, places),
        "others": [_other(scenes, *other, places) for other in others],
    }


def story(trace: Trace, scenes: Sequence[Frame], places: Places) -> dict[str, Any]:
    """One trace: its lanes, its steps, what to fold, and its states."""
    causes = Causes(trace.with_steps(s.step for s in scenes if s.step), scenes[0].sends)
    between = next(reversed(scenes[0].state))  # the nodes come first, what is between them last
    arrows = Arrows(causes.trace, causes.flow)
    says: list[list[Any]] = []
    numbers: dict[tuple[Any, ...], int] = {}
    share = shares(trace)
    texts, ladders = _texts(scenes)
    steps = [_step(scene, scenes, causes, arrows, places) for scene in scenes]
    for scene, step in zip(scenes, steps, strict=True):
        known = share.get(scene.index)
        step["recover"] = None if known is None else [round(known.share, 4), known.measured]
        step["verdicts"], step["text"] = [], texts[scene.index]
        for said in scene.verdicts.values():
            key = (said.holds, places.text(said.why))
            if key not in numbers:
                numbers[key] = len(says)
                says.append(list(key))
            step["verdicts"].append(numbers[key])
    used = [*trace.nodes, *dict.fromkeys(causes.lanes.values())]
    return {
        "nodes": list(dict.fromkeys(used)),
        "props": list(scenes[0].verdicts),
        "kinds": [said.kind for said in scenes[0].verdicts.values()],
        "claims": [places.place(said.source) for said in scenes[0].verdicts.values()],
        "critical": trace.critical,
        "bad": None if trace.kind == "live" else marked_step(violation_of(trace)),
        "loop": trace.loop,
        "says": says,
        "keys": {str(s.index): _marked(s.state) for s in scenes if s.index % KEY_EVERY == 0},
        "texts": ladders,
        "histories": histories(scenes, between),
        "steps": steps,
        "arrows": arrows.as_data(),
        "between": between,
        "folds": [fold._asdict() | {"text": fold.text} for fold in folds(trace)],
        "down": _down(trace, scenes),
        "notes": [[step, shortened(text)] for step, text in trace.notes],
    }


def _step(
    scene: Frame, scenes: Sequence[Frame], causes: Causes, arrows: Arrows, places: Places
) -> dict[str, Any]:
    step = scene.step
    data: dict[str, Any] = {
        "i": scene.index,
        "node": "" if step is None else causes.lanes[step.index],
        "at": "" if step is None else step.node,
        "kind": "start" if step is None else step.kind,
        "label": "initial state" if step is None else _cut(step.label),
        "detail": "" if step is None else shortened(step.detail),
        "sends": arrows.sent.get(scene.index, []),
        "recv": arrows.handled.get(scene.index),
        "source": places.place(scene.source),
        "log": [places.text(line) for line in _log(scene)],
        "failure": None
        if step is None or step.failure is None
        else shortened(places.text(step.failure)),
        "causes": [] if step is None else list(causes.direct[step.index]),
        "row": 0 if step is None else causes.rows[step.index],
        "changes": [],
    }
    if step is not None:
        data["changes"] = changes(scenes[scene.index - 1].state, scene.state)
    return data


def changes(before: Plain, after: Plain) -> list[list[Any]]:
    """What differs, as [mark, path, before, after]."""
    return [_change(change) for change in diff(before, after)]


def _change(change: Change) -> list[Any]:
    return [change.mark, list(change.path), _marked(change.before), _marked(change.after)]


def _marked(value: Plain) -> Plain:
    """`value` as JSON can tell it: tuples are objects, and 1.0 is no 1."""
    if isinstance(value, dict):
        return {name: _marked(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_marked, value))
    if isinstance(value, tuple):
        return {TYPE: TUPLE, "items": list(map(_marked, value))}
    return {TYPE: repr(value)} if isinstance(value, float) and value.is_integer() else value


def _texts(scenes: Sequence[Frame]) -> tuple[list[int], list[list[str]]]:
    """The number of each step's text, and the texts: each from its shortest form to its longest.

    No form of one event is a form of another, so rows of any width differ if their events do.
    """
    events = [("initial state", "") if s.step is None else _event(s.step) for s in scenes]
    numbers = {event: number for number, event in enumerate(dict.fromkeys(events))}
    forms: dict[str, list[str]] = {body: [] for body, _ in numbers}
    owners: dict[str, str] = {}
    for room in reversed(ROOMS):
        for body, text in told_apart(forms, room).items():
            form = shortened(text, ROOMS[-1])
            if owners.setdefault(form, body) == body and form not in forms[body]:
                forms[body].append(form)
    ladders = [[form + ends for form in sorted(forms[body], key=len)] for body, ends in numbers]
    return [numbers[event] for event in events], ladders


def _event(step: TraceStep) -> tuple[str, str]:
    body, ends = body_and_ends(step)
    return body or step.label, ends


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_MAX else text[: LABEL_MAX - 3] + "..."


def _log(scene: Frame) -> list[str]:
    records = scene.step.records if scene.step else ()
    node = f"{scene.step.node}: " if scene.step else ""
    lines = [f"{node}{text}" for text in scene.logs]
    return [shortened(text) for text in [*lines, *(f"{node}records {each}" for each in records)]]


def _down(trace: Trace, scenes: Sequence[Frame]) -> list[list[Any]]:
    """Where nodes are not up, as [node, from step, to step]; None: to the end."""
    found: list[list[Any]] = []
    for node in trace.nodes:
        since: int | None = None
        for scene in scenes:
            part = scene.state.get(node)  # a process may be created later
            up = isinstance(part, dict) and part.get("(up)", part.get("up")) is True
            if not up and since is None:
                since = scene.index
            elif up and since is not None:
                found.append([node, since, scene.index])
                since = None
        if since is not None:
            found.append([node, since, None])
    return found


def _other(
    scenes: Sequence[Frame], label: str, kind: str, path: Shown, places: Places
) -> dict[str, Any]:
    """Another trace, where it parts from the page's, and how states differ from there on."""
    trace, others = path[0], places.in_remarks(path[1])
    pairs = zip(scenes, others, strict=False)
    common = next(
        (one.index for one, other in pairs if not _alike(one, other)),
        min(len(scenes), len(others)),
    )
    compared = scenes[common : common + COMPARED_MAX]
    return {
        "label": label,
        "kind": kind,
        "from": common,
        "compared": common + len(compared) - 1,
        "story": story(trace, others, places),
        "diffs": {
            str(scene.index): changes(others[min(scene.index, len(others) - 1)].state, scene.state)
            for scene in compared
        },
    }


def _alike(one: Frame, other: Frame) -> bool:
    if one.step is None or other.step is None:
        return changes(one.state, other.state) == []
    return one.step.fingerprint == other.step.fingerprint and one.step.label == other.step.label
