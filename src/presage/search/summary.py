"""The last lines of a check as plain sentences: what held, how far that was looked at, what not.

A pass is only worth what was looked at, so the limits are said in the same breath. `ui` paints and
wraps these sentences; `print(report)` shows them as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage._results import StopReason
from presage.trace.show import plural

if TYPE_CHECKING:
    from presage.search.report import Report

COLLISION_TOLD = 1e-9  # below this probability, missed states are not worth a word

LOCATING_TOLD = 1.0  # seconds

# Of notebooks.
MARKS = {"held": "✓", "reached": "✓", "violated": "✗"}
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
PAGE = "<code>presage.page(system, report)</code> shows it step by step"

# Reasons that are called like the limits which they name.
LIMITS = (
    StopReason.DEPTH,
    StopReason.SECONDS,
    StopReason.RUNS,
    StopReason.STATES,
    StopReason.DELAYS,
)

STOPPED = {
    StopReason.DEPTH: "whatever lies beyond depth {depth}",
    StopReason.STATES: "whatever lies beyond the first {unique} states",
    StopReason.RUNS: "whatever lies beyond the first {executions} runs",
    StopReason.SPINS: (
        "whatever a process does once it has tested in vain more often than it was let"
    ),
    StopReason.SECONDS: "whatever {seconds} did not reach",
    StopReason.DELAYS: "whatever needs more than {delays}",
    StopReason.MEMORY: "whatever did not fit into memory",
    StopReason.INTERRUPT: "whatever was left when it was interrupted",
    StopReason.LOST: "what workers were doing that were lost",
    StopReason.VIOLATION: "whatever comes after the violation; `--keep-going` looks on",
}


def plain(report: Report) -> str:
    """The whole summary, without colours or line breaks in sentences."""
    head = "".join(text for text, _ in verdict(report))
    lines = [f"{head}  {', '.join(numbers(report))}"]
    lines += [f"  {name}: {status}" for name, status in report.properties.items()]
    for lead, texts in sentences(report).items():
        lines += [f"  {lead}: {' '.join(text.split())}" for text in texts]
    return "\n".join(lines)


def html(report: Report) -> str:
    """The same for a notebook: without scripts, and without colours, for it has its theme."""
    head = _escaped("".join(text for text, _ in verdict(report)))
    counts, name = _escaped(", ".join(numbers(report))), _escaped(report.system)
    lines = [f"<p>{name and f'{name}: '}<b>{head}</b><br><small>{counts}</small></p>", "<table>"]
    for name, status in report.properties.items():
        cells = (MARKS.get(status, "?"), _escaped(name), status)
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    lines.append("</table>")
    for found in report.violations:
        fact, story = _escaped(found.fact), _escaped(found.explanation())
        lines.append(f"<details><summary>✗ {fact}</summary><pre>{story}</pre>{PAGE}</details>")
    for lead, texts in sentences(report).items():
        escaped = (_escaped(" ".join(text.split())) for text in texts)
        lines += [f"<p><small>{lead}: {text}</small></p>" for text in escaped]
    return "\n".join(["<div>", *lines, "</div>"])


def _escaped(text: str) -> str:
    return text.translate(ESCAPES)


def sentences(report: Report) -> dict[str, list[str]]:
    """What is said below the headline, by how each line begins."""
    return {
        "assumes": list(report.assumes),
        "heuristic": [report.skipped.share()] if report.skipped and report.is_heuristic else [],
        "not alike": [str(found) for found in report.skipped.not_alike] if report.skipped else [],
        "known": [f"{prop} is broken: {cause}" for prop, cause in report.known],
        "error": list(report.errors),
        "order": [str(found) for found in report.orders if not found.is_outside],
        "memory": [str(found) for found in report.orders if found.is_outside],
        **_coverage(report),
        "not covered": not_covered(report),
        "note": [
            *_faults(report),
            *_collisions(report),
            *_saved(report),
            *_compared(report),
            *report.notes,
        ],
    }


def remarks(report: Report) -> tuple[tuple[str, str], ...]:
    """What a reader of a trace should know of the search that found it, its counts aside.

    Also what never ran, and which claims said nothing, of a search that a violation ended.
    """
    groups = sentences(report)
    if report.coverage is not None:
        coverage, lead = report.coverage, f"never ran{report.coverage.so_far}"
        groups |= {lead: [never] if (never := coverage.never_ran()) else []}
        groups["warning"] = list(dict.fromkeys([*groups["warning"], *coverage.warnings()]))
    groups.pop("coverage", None)
    return tuple((lead, " ".join(text.split())) for lead in groups for text in groups[lead])


def _coverage(report: Report) -> dict[str, list[str]]:
    """What never ran, and which claims say nothing; a search that a violation ended met less."""
    found, coverage = warnings(report), report.coverage
    if coverage is None or report.stopped_by is StopReason.VIOLATION:
        return {"warning": found}
    never, counts = coverage.never_ran(), coverage.counts()
    return {
        f"never ran{coverage.so_far}": [never] if never else [],
        "warning": [*found, *coverage.warnings()],
        "coverage": [counts] if counts else [],
    }


def verdict(report: Report) -> list[tuple[str, str]]:
    """The beginning of the headline, in pieces of one style each."""
    pieces = []
    if report.violations:
        pieces.append((plural(len(report.violations), "violation"), "bad"))
    if report.known:
        pieces.append((plural(len(report.known), "known violation"), "warn"))
    if report.errors:
        pieces.append((plural(len(report.errors), "property") + " could not be judged", "bad"))
    statuses = list(report.properties.values())
    good = sum(status in ("held", "reached") for status in statuses)
    if report.is_heuristic:
        if not pieces:
            pieces.append((f"no violation found{_extent(report)}", "strong"))
        return _joined(pieces)
    if report.nothing_ended:
        pieces.append(("no execution came to its end", "bad"))
    elif good or not pieces:
        pieces.append((_held(report, good, first=not pieces), "strong"))
    if unknown := statuses.count("unknown"):
        pieces.append((plural(unknown, "property") + " unknown", "warn"))
    return _joined(pieces)


def _joined(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"{', ' if at else ''}{text}", style) for at, (text, style) in enumerate(pieces)]


def _held(report: Report, good: int, *, first: bool) -> str:
    """What held, and how far it was looked at; what a limit ended begins with that."""
    extent = _extent(report)
    if report.assumes:
        extent += f", under {plural(len(report.assumes), 'assumption')}"
    so_far = report.is_partial and first
    if not report.properties:
        held = f"no exception{extent}; there are no properties"
        return f"held so far: {held}" if so_far else held
    if not good:
        return "held so far: nothing" if so_far else "nothing held"
    if so_far:
        return f"held so far: {plural(good, 'property')}{extent}"
    return f"{plural(good, 'property')} held{extent}"


def _extent(report: Report) -> str:
    """How far what held was looked at; how long a walk was says nothing of that."""
    if report.orders:
        return f" in {_one_of_many(report)[0]}"
    if report.exhausted:
        return ", exhaustively"
    if report.leaves_out and report.stopped_by is None:
        return ", in the orders that were tried"
    if report.hunted is not None and report.violations:
        return " so far"
    if report.search in ("hunt", "walk", "semantic"):
        return f" in {plural(report.executions, 'execution')}"
    if report.delayed is not None:
        done = report.delayed.done
        delays = "" if done is None else f" up to {plural(done, 'delay')}"
        return f"{delays}, to depth {report.depth:,}" if report.delayed.cut else delays
    return f", to depth {report.depth:,}"


def _one_of_many(report: Report) -> tuple[str, str]:
    """What a search took one of, where code depends on it; and all others."""
    if all(found.is_outside for found in report.orders):
        kept = "what the checked code keeps outside of fields"
        return f"one history of {kept}", f"other histories of {kept}"
    others = "other orders of sets and dicts, on which the checked code depends"
    return "one order of sets and dicts", others


def numbers(report: Report) -> list[str]:
    """What the search did and cost."""
    texts = [plural(report.unique, "state"), plural(report.generated, "transition")]
    # A hunt remembers some of the states it meets; parts of a divided search share none.
    if report.hunted is not None or not report.unique:
        del texts[0]
    if report.search == "tree":
        texts[0] = plural(report.traces, "trace")
    if report.exhausted:
        texts.append(f"depth {report.depth:,}")
    good = any(status in ("held", "reached") for status in report.properties.values())
    if report.search == "tree":
        blocked = report.executions - report.traces
        texts += [f"{plural(blocked, 'run')} cut short"] if blocked else []
    elif report.executions and (report.violations or not good):
        texts.insert(0, plural(report.executions, "execution"))
    return [*texts, seconds(report), *_locating(report), f"seed {report.seed}"]


def warnings(report: Report) -> list[str]:
    """What makes a pass worth less than it seems."""
    texts = [
        f"no {fault} ever happened, although the system allows it: nothing here says how the"
        f" system takes it"
        for fault, times in report.faults.items()
        if times == 0
    ]
    broken = {violation.prop for violation in report.violations}
    for name, status in report.properties.items():
        if status == "unreached" and name not in broken:
            texts.append(f"{name} was not reached by what was explored")
    if report.nothing_ended:
        texts.append(
            f"every execution was cut short by `{report.stopped_by}`: nothing was checked to its"
            f" end; allow more `--{report.stopped_by}`, or leave it out"
            if report.stopped_by in LIMITS
            else "every execution was cut short: nothing was checked to its end"
        )
    return texts


def not_covered(report: Report) -> list[str]:
    """What nobody looked at."""
    if report.orders and report.stopped_by is None:
        return [_one_of_many(report)[1]]
    if report.stopped_by is None:
        if report.is_heuristic and report.search == "delay":
            return ["whatever only the faults lead to that were skipped as alike"]
        if report.hunted is not None and not report.exhausted:
            return ["other executions: a hunt proves nothing; `check` does, where it ends"]
        if report.leaves_out:
            return list(report.leaves_out)
        return [] if report.exhausted else ["whatever the search did not come across"]
    text = STOPPED.get(report.stopped_by, f"the rest; the search ended by {report.stopped_by}")
    return [
        *report.leaves_out,
        text.format(
            depth=f"{report.depth:,}",
            unique=f"{report.unique:,}",
            executions=f"{report.executions:,}",
            seconds=seconds(report),
            delays=plural(report.delayed.reached, "delay") if report.delayed else "",
        ),
    ]


def _faults(report: Report) -> list[str]:
    happened = [f"{fault} {times:,}" for fault, times in report.faults.items() if times]
    return [f"faults that happened: {', '.join(happened)}"] if happened else []


def _saved(report: Report) -> list[str]:
    texts = []
    if report.resumed_from is not None:
        texts.append(f"resumed from a checkpoint of {plural(report.resumed_from, 'state')}")
    if report.checkpoints:
        texts.append(f"{plural(report.checkpoints, 'checkpoint')} written")
    return [", ".join(texts)] if texts else []


def _compared(report: Report) -> list[str]:
    return [] if report.compared is None else [report.compared.note()]


def _collisions(report: Report) -> list[str]:
    chance = report.collision_probability
    if chance < COLLISION_TOLD:
        return []
    return [f"the chance that two states shared a fingerprint and one was missed is {chance:.0e}"]


def seconds(report: Report) -> str:
    return f"{report.seconds:.{2 if report.seconds < 1 else 1}f} s"


def _locating(report: Report) -> list[str]:
    """What a hunt did after its search, where that took a while."""
    if report.hunted is None or report.hunted.locating < LOCATING_TOLD:
        return []
    return [f"{report.hunted.locating:.1f} s more to find the critical transition"]
