"""The critical transition of a suspect, told: which step, on what evidence, and what recovers.

The kernel walks; here its word is tested. The beginning of the suspect up to a little after the
critical step is replayed on live code, the property asked after every step from there on; so is
the execution that recovers and has most in common with it.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from presage._core import Suspect
from presage._results import CriticalStep, Finding
from presage.execution.budget import Budget
from presage.execution.confirm import Confirmed, confirmed, follow
from presage.execution.sandbox import Sandbox
from presage.limits import Effort
from presage.model.world.system import System
from presage.search.hunt.settings import Hunt
from presage.search.progress import Tell
from presage.trace.show import plural

DOUBT = 0.05  # the chance that is accepted of taking a state for dead that is not


class Located(Struct, frozen=True):
    """What is known of a suspect."""

    confirmed: Confirmed  # the beginning of the suspect, to a little after the critical step
    walked: int  # how long the suspect was
    critical: int | None
    states: int | None  # that can follow the critical step, if all were searched
    recovery: tuple[tuple[int, int, int], ...]  # (steps, walks that recovered, walks)
    evidence: str
    seconds: float  # that it took
    alternate: Confirmed | None  # the nearest execution that recovers
    found: int | None = None  # the critical step as it was found, if steps before it were left out

    def after(self, first: Located) -> Located:
        """This, told as a shorter way to what was located `first`."""
        seconds = self.seconds + first.seconds
        return replace(self, walked=first.walked, seconds=seconds, found=first.critical)


def locate(
    system: System,
    sandbox: Sandbox,
    suspect: Suspect,
    settings: Hunt,
    budget: Budget,
    progress: Tell = None,
) -> Located:
    """Find the critical transition of `suspect`, and confirm it on live code."""
    effort = Effort(settings.recovery_walks, settings.region, settings.samples)
    found = suspect.locate(effort, budget.remaining(), progress)
    turn = found.tried if found.critical is None else found.critical
    kept = len(suspect) if suspect.at_rest else min(len(suspect), turn + settings.tail)
    finding = suspect.finding(kept)
    run = follow(system, sandbox, finding, lacking=found.critical)
    alternate = None if found.alternate is None else _alternate(system, sandbox, found.alternate)
    return Located(
        confirmed(run, finding, run.lacks()),
        len(suspect),
        found.critical,
        found.states,
        tuple(found.shares),
        evidence(found, settings),
        found.seconds,
        alternate,
    )


def _alternate(system: System, sandbox: Sandbox, finding: Finding) -> Confirmed:
    run = follow(system, sandbox, finding)
    holds = None if run.lacks() else f"holds again after {len(run.steps):,} steps"
    return confirmed(run, finding, holds)


def evidence(found: CriticalStep, settings: Hunt) -> str:
    """On what the claim rests, in one sentence."""
    walks, length = settings.recovery_walks, found.length
    if not found.in_time:
        return (
            f"time ran out; walks still recovered after step {found.live:,}: allow more"
            " `--seconds`, or fewer walks from each place, to find the critical transition"
        )
    if found.slow:
        return (
            f"after step {found.tried:,} none of {walks} walks of {length:,} steps recovered,"
            " but a longer one did: raise the walk length to find the critical transition, if"
            " there is one"
        )
    if found.critical is None and found.tried == 0:
        return (
            f"not even walks from the start recovered ({walks} of {length:,} steps): either it"
            " never holds, or walks are too short; raise the walk length to find out"
        )
    if found.critical is None:
        return (
            f"walks still recovered after step {found.live:,}, and less than half a walk was"
            " left then: it may recover yet; raise the walk length to find out"
        )
    if found.states is not None:
        return (
            f"exact: it holds in none of the {found.states:,} states that can follow without"
            " further faults"
        )
    return f"none of {_walks(found)} recovered{confidence(walks)}"


def confidence(walks: int) -> str:
    """What it says that none of so many walks recovered."""
    share = 1 - DOUBT ** (1 / walks)
    return f": with {1 - DOUBT:.0%} confidence fewer than {share:.1%} would"


def _walks(found: CriticalStep) -> str:
    """The walks from the critical place: how many, and how they ended."""
    rested, walks, most = found.rested, found.walks, found.rested_within
    length = f"{found.length:,} steps"
    if not rested:
        return f"{walks} walks of {length}"
    at_rest = f"came to rest within {plural(most, 'step')}"
    if rested == walks:
        return f"{walks} walks, which all {at_rest},"
    return f"{walks} walks, of which {rested} {at_rest} and the others were {length} long,"
