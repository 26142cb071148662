"""The last lines of a check: what held, what it cost, and what was not covered.

A pass is only worth what was looked at, so the limits are said in the same breath: which limit
ended the search, which fault never happened, which property was never reached.
"""

from __future__ import annotations

from presage.search.report import Report
from presage.ui.theme import Span, Theme, cells

COLLISION_TOLD = 1e-9  # below this probability, missed states are not worth a word

LOCATING_TOLD = 1.0  # seconds

STOPPED = {
    "depth": "whatever lies beyond depth {depth}",
    "states": "whatever lies beyond the first {unique} states",
    "runs": "whatever lies beyond the first {executions} runs",
    "spins": "whatever a process does once it has tested in vain more often than it was let",
    "seconds": "whatever {seconds} did not reach",
    "memory": "whatever did not fit into memory",
    "interrupt": "whatever was left when it was interrupted",
    "violation": "whatever comes after the violation; `--keep-going` looks on",
}


def render(report: Report, theme: Theme) -> str:
    """The closing lines of `report`, without a newline at the end."""
    lines = [_headline(report, theme), *marks(report.properties, theme)]
    lines += _wrapped("error", report.errors, "bad", theme)
    lines += _wrapped("warning", _warnings(report), "warn", theme)
    lines += _wrapped("not covered", _not_covered(report), "", theme)
    notes = [*_faults(report), *_collisions(report), *_saved(report), *report.notes]
    lines += _wrapped("note", notes, "dim", theme)
    return "\n".join(lines)


def _headline(report: Report, theme: Theme) -> str:
    spans = []
    if report.violations:
        spans.append(Span(_plural(len(report.violations), "violation"), "bad"))
    if report.errors:
        text = _plural(len(report.errors), "property") + " could not be judged"
        spans.append(Span(f"{', ' if spans else ''}{text}", "bad"))
    good = sum(status in ("held", "reached") for status in report.properties.values())
    held = f"{_plural(good, 'property')} held{_extent(report)}"
    if not report.properties:
        held = f"no exception{_extent(report)}; there are no properties"
    elif not good:
        held = "nothing held"
    if good or not spans:
        spans.append(Span(f"{', ' if spans else ''}{held}", "strong"))
    numbers = [_plural(report.unique, "state"), _plural(report.generated, "transition")]
    if report.hunted is not None:  # it remembers some of the states it meets
        del numbers[0]
    if report.search == "tree":
        numbers[0] = _plural(report.traces, "trace")
    if report.exhausted:
        numbers.append(f"depth {report.depth:,}")
    if report.search == "tree":
        blocked = report.executions - report.traces
        numbers += [f"{_plural(blocked, 'run')} cut short"] if blocked else []
    elif report.executions and (report.hunted is None or report.violations or not good):
        numbers.insert(0, _plural(report.executions, "execution"))
    numbers += [_seconds(report), *_locating(report), f"seed {report.seed}"]
    head = "".join(span.text for span in spans)
    joined = ", ".join(numbers)
    painted = "".join(theme.paint(span.text, span.style) for span in spans)
    if len(head) + 2 + len(joined) <= theme.width:
        return f"{painted}  {joined}"
    return "\n".join([painted, *theme.wrap("  ", joined)])


def _extent(report: Report) -> str:
    """How far what held was looked at; how long a walk was says nothing of that."""
    if report.exhausted:
        return ", exhaustively"
    if report.hunted is not None and report.violations:
        return " so far"
    if report.hunted is not None:
        return f" in {_plural(report.executions, 'execution')}"
    return f", to depth {report.depth:,}"


def marks(properties: dict[str, str], theme: Theme) -> list[str]:
    """Every property with its mark, as many to a line as fit."""
    lines: list[str] = []
    row: list[Span] = []
    room = theme.width
    for name, status in properties.items():
        span = mark(name, status, theme)
        columns = cells(span.text) + 2
        if row and columns > room:
            lines.append(theme.line(*row))
            row, room = [], theme.width
        row.append(Span(f"  {span.text}", span.style))
        room -= columns
    return [*lines, theme.line(*row)] if row else lines


def mark(name: str, status: str, theme: Theme) -> Span:
    """A property's name with the sign of its status, understood without colour."""
    name = theme.clean(name)
    if status in ("held", "reached"):
        told = " reached" if status == "reached" else ""
        return Span(f"{theme.symbol('holds')} {name}{told}")
    if status == "violated":
        return Span(f"{theme.symbol('fails')} {name}", "bad")
    if status == "unreached":
        return Span(f"? {name} not reached", "warn")
    if status == "open":  # while the search is still running
        return Span(f"? {name}", "dim")
    return Span(f"! {name} {status}", "bad")


def _warnings(report: Report) -> list[str]:
    told = [
        f"no {fault} ever happened, although the system allows it: nothing here says how the"
        f" system takes it"
        for fault, times in report.faults.items()
        if times == 0
    ]
    broken = {violation.prop for violation in report.violations}
    for name, status in report.properties.items():
        if status == "unreached" and name not in broken:
            told.append(f"{name} was not reached by what was explored")
    return told


def _not_covered(report: Report) -> list[str]:
    if report.stopped_by is None:
        if report.hunted is not None and not report.exhausted:
            return ["other executions: a hunt proves nothing; `--search bfs` does, where it ends"]
        return [] if report.exhausted else ["whatever the search did not come across"]
    text = STOPPED.get(report.stopped_by, f"the rest; the search ended by {report.stopped_by}")
    return [
        text.format(
            depth=f"{report.depth:,}",
            unique=f"{report.unique:,}",
            executions=f"{report.executions:,}",
            seconds=_seconds(report),
        )
    ]


def _faults(report: Report) -> list[str]:
    happened = [f"{fault} {times:,}" for fault, times in report.faults.items() if times]
    return [f"faults that happened: {', '.join(happened)}"] if happened else []


def _saved(report: Report) -> list[str]:
    told = []
    if report.resumed_from is not None:
        told.append(f"resumed from a checkpoint of {_plural(report.resumed_from, 'state')}")
    if report.checkpoints:
        told.append(f"{_plural(report.checkpoints, 'checkpoint')} written")
    return [", ".join(told)] if told else []


def _collisions(report: Report) -> list[str]:
    chance = report.collision_probability
    if chance < COLLISION_TOLD:
        return []
    return [f"the chance that two states shared a fingerprint and one was missed is {chance:.0e}"]


def _wrapped(lead: str, texts: list[str], style: str, theme: Theme) -> list[str]:
    lines = []
    for text in texts:
        lines += [theme.paint(line, style) for line in theme.wrap(f"  {lead}: ", text)]
    return lines


def _seconds(report: Report) -> str:
    return f"{report.seconds:.{2 if report.seconds < 1 else 1}f} s"


def _locating(report: Report) -> list[str]:
    """What a hunt did after its search, where that took a while."""
    if report.hunted is None or report.hunted.locating < LOCATING_TOLD:
        return []
    return [f"{report.hunted.locating:.1f} s more to find the critical transition"]


def _plural(count: int, noun: str) -> str:
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"
