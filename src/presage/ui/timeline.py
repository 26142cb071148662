"""A simulation as text: a row per process over time, then what was used and what was said.

Every cell of a row stands for a stretch of time and shows what took most of it. The signs are ASCII
wherever the text goes; colour only repeats what they say.
"""

from __future__ import annotations

from itertools import groupby

from presage.simulate.result import KINDS, STOPPED, Interval, Simulation, Timeline, Usage
from presage.simulate.units import amount, seconds
from presage.trace.show import plural
from presage.ui.theme import Span, Theme, cells, pad

SIGNS = {"compute": "#", "send": ">", "recv": "<", "wait": ".", "sleep": "~"}
STYLES = {"compute": "strong", "send": "node", "recv": "node", "wait": "dim", "sleep": "dim"}
NAME_COLUMNS_MAX = 16
ROWS_MAX = 40  # processes, links and hosts drawn; the rest is counted
LINES_MAX = 20  # of the log
PROBLEM_LINES_MAX = 12
SHARE_COLUMNS = 9


def render(done: Simulation, theme: Theme, *, title: str | None = None) -> str:
    """The text for `done`, without a newline at its end; `title` is instead of its name."""
    blocks = [_head(done, theme, title or done.program), _chart(done, theme), _table(done, theme)]
    blocks += [_used("link", "carried", "B", done.links, done.makespan, theme)]
    blocks += [_used("host", "computed", "f", done.hosts, done.makespan, theme)]
    blocks += [_log(done, theme), _notes(done, theme)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(done: Simulation, theme: Theme, title: str) -> list[str]:
    took = seconds(done.makespan)
    counts = ", ".join(
        plural(len(things), word)
        for things, word in ((done.processes, "process"), (done.transfers, "message"))
    )
    told = {
        "finished": f"finished after {took}",
        "stopped": f"stopped at {took}",
        "deadlock": f"deadlock at {took}",
        "failed": f"failed at {took}",
    }[done.outcome]
    style = "bad" if done.exit_status else "strong"
    lines = [theme.line(Span(told, style), Span(f": {theme.clean(title)}"))]
    lines += theme.wrap("", f"{counts}, on {done.platform}")
    for part in done.problem.split("; ") if done.outcome == "deadlock" else [done.problem]:
        lines += theme.wrap("   = ", part, lines_max=PROBLEM_LINES_MAX) if part else []
    return lines


def _chart(done: Simulation, theme: Theme) -> list[str]:
    if not done.makespan:
        return []
    names = {each.process: _name(each.process, theme) for each in done.processes}
    hosts = {each.host: _name(each.host, theme) for each in done.processes}
    lead = [_widest(names.values()), _widest(hosts.values())]
    room = theme.width - sum(lead) - 4
    end = seconds(done.makespan)
    blank = " " * (sum(lead) + 4)
    lines = [theme.line(Span(f"{blank}0{end:>{room - 1}}", "dim"))]
    for each in done.processes[:ROWS_MAX]:
        head = [Span(f"{pad(names[each.process], lead[0])}  ", "node")]
        head += [Span(f"{pad(hosts[each.host], lead[1])}  ", "dim")]
        lines.append(theme.line(*head, *_row(each, done.makespan, room)))
    if len(done.processes) > ROWS_MAX:
        lines.append(_more(len(done.processes) - ROWS_MAX, "processes", theme))
    legend = "  ".join(f"{SIGNS[kind]} {kind}" for kind in KINDS)
    return [*lines, theme.line(Span(f"{blank}{legend}", "dim"))]


def _more(count: int, what: str, theme: Theme) -> str:
    end = theme.symbol("ellipsis")
    return theme.line(Span(f"{end} {count:,} more {what}; --json has them all", "dim"))


def _widest(names: object) -> int:
    return max((cells(name) for name in names), default=0)  # type: ignore[attr-defined]


def _name(name: str, theme: Theme) -> str:
    return theme.fit(theme.clean(name), NAME_COLUMNS_MAX)


def _row(each: Timeline, makespan: float, room: int) -> list[Span]:
    """What a process did, cell by cell; blanks where it did not exist."""
    most = [(0.0, "")] * room
    for kind in KINDS:
        for at, share in enumerate(_shares(each.intervals, kind, makespan, room)):
            if share > most[at][0]:
                most[at] = (share, kind)
    drawn = [kind for _, kind in most]
    return [
        Span(SIGNS.get(kind, " ") * len(list(same)), STYLES.get(kind, ""))
        for kind, same in groupby(drawn)
    ]


def _shares(intervals: tuple[Interval, ...], kind: str, makespan: float, room: int) -> list[float]:
    """How much of each cell was spent with `kind`."""
    shares = [0.0] * room
    for each in intervals:
        if each.kind != kind:
            continue
        start, end = each.start / makespan * room, each.end / makespan * room
        for at in range(int(start), min(int(end) + 1, room)):
            shares[at] += max(0.0, min(end, at + 1) - max(start, at))
    return shares


def _table(done: Simulation, theme: Theme) -> list[str]:
    if not done.makespan:
        return []
    width = max(_widest(_name(each.process, theme) for each in done.processes), len("process"))
    head = "".join(f"{kind:>{SHARE_COLUMNS}}" for kind in KINDS)
    lines = [theme.line(Span(f"{pad('process', width)}{head}  ended", "dim"))]
    for each in done.processes[:ROWS_MAX]:
        shares = "".join(f"{_percent(each.total(kind) / done.makespan)}" for kind in KINDS)
        ended = "still there" if each.ended is None else seconds(each.ended)
        if each.ended is None and done.outcome == STOPPED:
            ended = "later"
        name = pad(_name(each.process, theme), width)
        lines.append(theme.line(Span(name, "node"), Span(f"{shares}  {ended}")))
    return lines


def _percent(share: float) -> str:
    shown = f"{share * 100:.1f} %"
    return f"{shown if share else '-':>{SHARE_COLUMNS}}"


def _used(
    kind: str, verb: str, unit: str, usages: tuple[Usage, ...], makespan: float, theme: Theme
) -> list[str]:
    used = [usage for usage in usages if usage.amount]
    if not used or not makespan:
        return []
    width = max(_widest(_name(usage.name, theme) for usage in used[:ROWS_MAX]), len(kind))
    head = f"{verb:>14}{'busy':>{SHARE_COLUMNS}}{'capacity':>{SHARE_COLUMNS}}"
    lines = [theme.line(Span(f"{pad(kind, width)}{head}", "dim"))]
    for usage in used[:ROWS_MAX]:
        figures = f"{amount(usage.amount, unit):>14}{_percent(usage.busy / makespan)}"
        name = pad(_name(usage.name, theme), width)
        lines.append(theme.line(Span(name), Span(f"{figures}{_percent(usage.share)}")))
    if len(used) > ROWS_MAX:
        lines.append(_more(len(used) - ROWS_MAX, f"{kind}s", theme))
    return lines


def _log(done: Simulation, theme: Theme) -> list[str]:
    shown = done.log[-LINES_MAX:]
    times = [seconds(line.time) for line in shown]
    width = max((len(time) for time in times), default=0)
    lines = [
        theme.line(
            Span(f"{time:>{width}}  ", "dim"),
            Span(f"{_name(line.process, theme)}  ", "node"),
            Span(theme.clean(line.text)),
        )
        for time, line in zip(times, shown, strict=True)
    ]
    if len(done.log) > LINES_MAX:
        lines.insert(0, _more(len(done.log) - LINES_MAX, "lines before", theme))
    return lines


def _notes(done: Simulation, theme: Theme) -> list[str]:
    notes = []
    if done.draws:
        drawn = plural(done.draws, "choice")
        notes += theme.wrap("note: ", f"{drawn} drawn with seed {done.seed}; a check tries each")
    if done.early_tests:
        tests = plural(done.early_tests, "test")
        told = f"{tests} failed while a message was under way; a check takes it for arrived"
        notes += theme.wrap("note: ", told)
    return notes
