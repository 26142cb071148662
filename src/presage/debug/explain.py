"""A trace explained in one paragraph, for a colleague who has not seen it.

What is false, and of which nodes; the step that made it so, and what that step changed; which of
the steps before it matter, and which faults; and where the nearest good run goes another way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from presage.debug.branch import Branch, Taken
from presage.debug.service_branch import ServiceBranch
from presage.debug.session import Session
from presage.debug.walk import until_live
from presage.execution.chance import Dice
from presage.execution.confirm import RAISED
from presage.execution.conjuncts import Part, asserted
from presage.execution.nearest import nearest_to
from presage.execution.prefix import events_of
from presage.execution.protocol import NO_EXCEPTION
from presage.model.world.event import FAULT_KINDS
from presage.shrink.essential import EssentialSteps
from presage.trace.diff import Change, diff
from presage.trace.plain import Plain, text_of
from presage.trace.trace import Trace, TraceStep, common

SECONDS_MAX = 10.0
CHANGES_MAX = 3
WALKS, LENGTH, PLACES = 5, 300, 4  # to find a good run where none was saved
TEXT_MAX = 160
BETWEEN = (("messages",), ("streams",), ("faults left",), ("mailboxes",))
WAITING_MAX = 800


class Difference(Struct, frozen=True):
    """Where the nearest good run goes another way."""

    step: int  # the first that differs
    instead: str  # what it does there
    outcome: str  # how it goes on: " and is well again after step 15"
    changes: tuple[Change, ...]  # from this trace to it, after that step


class Explanation(Struct, frozen=True):
    fact: str
    failed: tuple[Part, ...]
    step: int
    changes: tuple[Change, ...]
    needed: EssentialSteps
    difference: Difference | None
    text: str
    silent: bool = False  # the property itself does not say why it fails

    @property
    def brief(self) -> str:
        """Which part is false, and which steps and faults matter; not what a table shows."""
        parts = [f"`{part.text}` is false" for part in self.failed[:1] if self.silent]
        if len(self.needed.steps) < self.needed.of and self.needed.complete:
            some = "none of the steps before the loop matters"
            if self.needed.steps:
                some = f"of the steps only {_list(self.needed.steps)} matter"
            parts.append(some)
        if self.needed.spare:
            parts.append(f"the faults of step {_list(self.needed.spare)} are not needed")
        return "; ".join(parts)


def explain(
    session: Session, fact: str, live: Trace | None = None, seconds: float = SECONDS_MAX
) -> Explanation:
    """Explain the trace of `session`, which stays where it is; `fact` is what broke.

    Where no good run is given as `live`, one is looked for.
    """
    found, here = explain_briefly(session, fact, seconds), session.branches["main"]
    trace, step = session.trace, found.step
    changes: tuple[Change, ...] = ()
    if step and trace.loop is None:
        changes = _inside(diff(here.state(step - 1), here.state(step)))
    difference = _difference(session, here, step, live)
    found = replace(found, changes=changes, difference=difference)
    return replace(found, text=paragraph(trace, found))


def explain_briefly(session: Session, fact: str, seconds: float) -> Explanation:
    """Explain a trace as far as its table does not."""
    trace, here = session.trace, session.branches["main"]
    step = session.critical or (trace.loop or 1) - 1
    view = here.view(step)
    prop = session.claim(trace.prop)
    failed: tuple[Part, ...] = ()
    if prop is not None and prop.kind != "step":
        failed = tuple(p for p in session.parts(prop, view) if p.holds is not True)
    elif prop is None and trace.door == "process":
        failed = tuple(_asserted(trace))
    matter = here.needed(trace, seconds)
    silent = trace.message == f"`{trace.prop}` is False"  # as traces of old say it
    return Explanation(fact, failed, step, (), matter, None, "", silent)


def _asserted(trace: Trace) -> Iterator[Part]:
    """The condition that an `assert` of a process states."""
    raised = re.search(RAISED, trace.message)
    if raised is not None and trace.message.startswith("AssertionError"):
        file, _, line = raised[1].rpartition(":")
        if text := asserted(file, int(line)):
            yield Part(text, False)


def _difference(session: Session, here: Branch, step: int, live: Trace | None) -> Difference | None:
    found = (here.begin(live), live.message) if live is not None else None
    if found is None:
        found = _good_run(session, here, step)
    if found is None:
        return None
    good, message = found
    at = common(here.steps, good.steps) + 1
    if at > min(len(here), len(good)):
        return None
    changes = diff(here.state(at), good.state(at)) if here.of_services else []
    well = session.trace.kind == "liveness"
    outcome = f" and is well again after step {len(good):,}"
    if not well:
        outcome = f", and `{session.trace.prop}` {message}"
    return Difference(at, named(good.steps[at - 1]), outcome, _inside(changes))


def _inside(changes: list[Change]) -> tuple[Change, ...]:
    """What changed in nodes; only if nothing did, what changed between them."""
    inside = tuple(change for change in changes if change.path[1:2] not in BETWEEN)
    return inside or tuple(changes)


def _good_run(session: Session, here: Branch, step: int) -> tuple[Branch, str] | None:
    """A run that comes right, with as much as possible of this one, and what it comes to."""
    claims = [prop for prop in here.properties if prop.kind == "eventually"]
    if session.trace.prop not in {prop.name for prop in claims}:
        return _kept(session, here)
    for at in range(step, max(step - PLACES, -1), -1):
        fork = here.fork(at)
        walked = until_live(
            fork.world(at), session.sandbox, Dice(session.trace.seed), claims, WALKS, LENGTH
        )
        if walked.steps:
            for taken in walked.steps:
                fork.extend(taken)
            return fork, ""
    return None


def _kept(session: Session, here: Branch) -> tuple[Branch, str] | None:
    """The nearest run of services that keeps the property which this one breaks."""
    if not isinstance(here, ServiceBranch) or session.trace.loop is not None:
        return None
    found = nearest_to(here.system, session.sandbox, session.trace)
    if found is None:
        return None
    events = events_of(found.steps)
    apart = common(here.steps, found.steps)
    fork = here.fork(apart)
    for event, choices in events[apart:]:
        fork.extend(Taken(event, choices))
    return fork, found.why


def named(step: TraceStep) -> str:
    """A step in a few words."""
    if step.source is not None:
        return cut(f"{step.kind} {step.detail or step.label} {step.source} -> {step.node}")
    label = "" if step.label == step.kind else f" {step.label}"
    return cut(f"{step.kind}{label} at {step.node}")


def paragraph(trace: Trace, explanation: Explanation) -> str:
    """Everything, in sentences."""
    parts = [f"{explanation.fact}."]
    for part in explanation.failed[:2]:
        because = f", namely {part.why}" if part.why else ""
        parts.append(sentence(f"What is not true is `{part.text}`{because}"))
    if trace.message and (not explanation.failed or trace.prop == NO_EXCEPTION):
        longest = WAITING_MAX if trace.prop == "no_deadlock" else TEXT_MAX
        reason = trace.message.replace("\n", "; ")
        parts.append(sentence(f"The reason: {reason}", longest))
    if trace.door == "process":
        parts += [_came(trace, explanation), _needed(explanation.needed, trace)]
        parts += [] if explanation.difference is None else [_other(explanation.difference)]
        return " ".join(part for part in parts if part)
    if explanation.step and explanation.changes:
        done = "; ".join(_changed(change) for change in explanation.changes[:CHANGES_MAX])
        more = len(explanation.changes) - CHANGES_MAX
        rest = f"; and {more} more parts" if more > 0 else ""
        step = named(trace.steps[explanation.step - 1])
        parts.append(f"Step {explanation.step}, {step}, changed {done}{rest}.")
    elif explanation.step and trace.loop is None:
        step = named(trace.steps[explanation.step - 1])
        parts.append(f"Step {explanation.step}, {step}, changed no state.")
    parts += [_needed(explanation.needed, trace), _faults(explanation.needed, trace)]
    if explanation.difference is not None:
        parts.append(_other(explanation.difference))
    return " ".join(part for part in parts if part)


def _came(trace: Trace, explanation: Explanation) -> str:
    """Of processes: the last step, and what it published; its variables nobody knows."""
    if not explanation.step:
        return "No step was taken before."
    step = trace.steps[explanation.step - 1]
    fields = step.changes.get(step.node, {})
    published = [each for each in explanation.changes if each.path[:1] == (step.node,)]
    published = [each for each in published if each.path[1] in fields]
    done = "; ".join(_changed(change) for change in published[:CHANGES_MAX])
    then = f"changed {done}" if done else "is what it came to"
    if trace.prop == "no_deadlock":
        then = "is the last that could happen"
    event = named(step) if step.source else cut(f"{step.kind} {step.label} of {step.node}")
    return f"Step {explanation.step}, {event}, {then}."


def _needed(found: EssentialSteps, trace: Trace) -> str:
    before = "before the loop " if trace.loop else ""
    if not found.of:
        return ""
    if not found.steps:
        return f"None of the {found.of} steps {before}matters."
    least = "" if found.complete else " (time ran out: fewer may do)"
    if len(found.steps) == found.of:
        each = "The one step" if found.of == 1 else f"Each of the {found.of} steps"
        return f"{each} {before}matters{least}."
    some = f"{len(found.steps)} of the {found.of} steps {before}matter{least}"
    return f"{some}: {_list(found.steps)}; without any one of them it does not come to this."


def _faults(found: EssentialSteps, trace: Trace) -> str:
    every = len(found.faults) + len(found.spare)
    inside = [] if trace.loop is None else trace.steps[trace.loop - 1 :]
    ongoing = [f"{step.kind} (step {step.index})" for step in inside if step.kind in FAULT_KINDS]
    if ongoing:
        return f"The loop itself takes {_list(ongoing)}, again and again."
    if not every:
        return "No fault happened."
    if not found.faults:
        return "No fault is needed for it."
    explanation = _list([f"{trace.steps[at - 1].kind} (step {at})" for at in found.faults])
    if not found.spare:
        return f"It takes {explanation}."
    return f"Of {every} faults it takes {explanation}; without the others it happens as well."


def _other(found: Difference) -> str:
    text = f"The nearest good run takes {found.instead} as step {found.step} instead{found.outcome}"
    if not found.changes:
        return f"{text}."
    shown = "; ".join(_unlike(change) for change in found.changes[:CHANGES_MAX])
    return f"{text}; there {shown}."


def _changed(change: Change) -> str:
    name = path_text(change)
    if change.mark == "A":
        return f"{name} (new{_value(change.after)})"
    if change.mark == "D":
        return f"{name} (gone{_value(change.before)})"
    return cut(f"{name} from {text_of(change.before)} to {text_of(change.after)}")


def _unlike(change: Change) -> str:
    name = path_text(change)
    if change.mark == "A":
        return f"{name} is there"
    if change.mark == "D":
        return f"{name} is not there"
    return cut(f"{name} is {text_of(change.after)}, not {text_of(change.before)}")


def _value(value: Plain) -> str:
    text = text_of(value)
    return "" if text in ("1", "'armed'") else f": {cut(text)}"


def path_text(change: Change) -> str:
    """The part that changed, as one would name it."""
    first, *rest = change.path
    if rest[:1] == ["messages"] and len(rest) == 2:
        return cut(f"message {rest[1]}")
    if rest[:1] in (["timers"], ["(timers)"]) and len(rest) == 2:
        return f"timer {rest[1]} of {first}"
    text = str(first)
    for part in rest:
        text += f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part}]"
    return cut(text)


def _list(items: Iterable[object]) -> str:
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def cut(text: str, longest: int = TEXT_MAX) -> str:
    """`text` on one line, not longer than a reader bears."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def sentence(text: str, longest: int = TEXT_MAX) -> str:
    """`text`, cut, with a full stop; the dots of a cut are one."""
    line = cut(text, longest)
    return line if line.endswith("...") else f"{line}."
