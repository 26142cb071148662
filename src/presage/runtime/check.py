"""The immediate check: a step is run, looked at, and committed only if it breaks nothing.

Properties are asked about the node's new state, beside what is known of its neighbours. A step is
dangerous if it breaks a property that held before it, or that the node by itself did not break
while another did. It is refused if its event can be: a message can be late, a timer too. News of a
broken connection and the start of a process cannot be refused; what they break is counted as
*unpreventable*.

A verdict that rests on an old checkpoint of a neighbour may be wrong: such a danger names the
neighbours to ask. Who does not answer may be cut off, so what was known of it counts for a while
longer; then it is forgotten, since nobody may wait for the dead for ever.

Invariant: nothing is refused that the network or the clock could not have kept away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from presage._core import FAILED, UP, Codec
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Stimulus
from presage.model.service.stream import Connect, Lost
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.runtime.verdicts import Broken, Runner, Verdicts

KEPT = 60.0  # seconds for which what is known of a neighbour counts
DELIVER, TIMER, ACTION, CALL = "deliver", "timer", "action", "call"
BEGINNINGS = ("start", "restart")


class Danger(NamedTuple):
    """Why a step is refused."""

    prop: str
    why: str
    stale: tuple[str, ...] = ()  # neighbours whose state is too old to rely on


class Neighbour(NamedTuple):
    """What is known of another node."""

    local: Local  # as the checker writes it
    time: float  # when it was so, by the clock of the node that asks


def can_be_refused(node: int, stimulus: Stimulus) -> bool:
    """Whether the network or the clock may keep `stimulus` away from the node."""
    kind = stimulus[0]
    if kind != DELIVER:
        return kind in (TIMER, ACTION, CALL)
    _, source, message = stimulus
    return source != node and not isinstance(message, Lost | Connect)


class ImmediateCheck:
    """Judges the steps of one node before they are committed."""

    def __init__(
        self,
        system: System,
        automaton: Automaton,
        now: Callable[[], float],
        *,
        age_max: float,
        run: Runner | None = None,
    ) -> None:
        """`age_max`: seconds after which what is known of a neighbour is old."""
        self._system = system
        self._node = automaton.index
        self._codec: Codec | None = None if automaton.codec is system.codec else automaton.codec
        self._now = now
        self._age_max = age_max
        self.verdicts = Verdicts(system, run) if run else Verdicts(system)
        self._known: list[Neighbour | None] = [None] * len(system.names)
        self.checked = 0
        self.unpreventable = 0
        self.broken: dict[str, str] = {}  # by what was let happen, as far as it is so still
        self._states = {each.name for each in system.properties if each.kind == "always"}

    def learn(self, name: str, local: Local, time: float) -> None:
        """A neighbour's state, as the checker writes it, and when it was so."""
        index = self._system.index(name)
        known = self._known[index]
        if index != self._node and (known is None or known.time <= time):
            self._known[index] = Neighbour(local, time)

    def judge(self, before: Local, after: Local, stimulus: Stimulus) -> Danger | None:
        """Why the step is to be refused; None: it may be committed."""
        if before == after:
            return None
        self.checked += 1
        new = self.breaks(before, after, begins=stimulus[0] in BEGINNINGS)
        if self.broken:
            self.standing({each.prop for each in self.verdicts.broken(self._with(after))})
        if not new:
            return None
        if not can_be_refused(self._node, stimulus):
            self.unpreventable += 1
            self.broken.update((each.prop, each.why) for each in new)
            return None
        return self._danger(new)

    def standing(self, broken: Collection[str]) -> None:
        """Forget what is broken no longer: of all properties of states, `broken` are."""
        self.broken = {
            prop: why
            for prop, why in self.broken.items()
            if prop in broken or prop not in self._states
        }

    def breaks(self, before: Local, after: Local, *, begins: bool = False) -> list[Broken]:
        """What a step breaks that held before it; where it `begins` a process, no step came before.

        In the model a node is not up before that, so properties of single steps do not speak of it.
        """
        before, after = self._plain(before), self._plain(after)
        bad = self.verdicts.broken(self._with(after))
        new = self._broken_step(before, after, begins)
        if bad:
            broken = {each.prop for each in self.verdicts.broken(self._with(before))}
            new += [each for each in bad if each.prop not in broken]
            if any(each.prop in broken for each in bad):
                new += self._masked(broken, before, after)
        return new

    def _masked(self, broken: set[str], before: Local, after: Local) -> list[Broken]:
        """What the node breaks by itself, of properties that somebody breaks already."""
        known: list[Local | None] = [None] * len(self._known)
        known[self._node] = before
        alone = {each.prop for each in self.verdicts.broken(known)}
        known[self._node] = after
        every = self.verdicts.broken(known)
        return [each for each in every if each.prop in broken and each.prop not in alone]

    def _broken_step(self, before: Local, after: Local, begins: bool) -> list[Broken]:
        """Properties of single steps; a handler that raises breaks one that every system has."""
        decode = self._system.codec.decode
        was, (status, _, _, failure) = decode(before[0])[0], decode(after[0])
        if was == UP and status == FAILED:
            return [Broken("no_exception", failure or "", frozenset({self._node}))]
        if was != UP or status != UP or begins:
            return []
        return self.verdicts.broken_step(self._node, before, after)

    def _danger(self, new: list[Broken]) -> Danger:
        """The danger that rests on the freshest knowledge."""
        now = self._now()

        def stale(each: Broken) -> tuple[str, ...]:
            known = ((at, self._known[at]) for at in sorted(each.nodes) if at != self._node)
            return tuple(
                self._system.names[at]
                for at, one in known
                if one and now - one.time > self._age_max
            )

        prop, why, old = min(
            ((each.prop, each.why, stale(each)) for each in new), key=lambda one: len(one[2])
        )
        return Danger(prop, why, old)

    def _with(self, local: Local) -> list[Local | None]:
        oldest = self._now() - KEPT
        known: list[Local | None] = [
            None if one is None or one.time < oldest else one.local for one in self._known
        ]
        known[self._node] = local
        return known

    def _plain(self, local: Local) -> Local:
        """A local state as the checker writes it."""
        if self._codec is None:
            return local
        values = [self._codec.decode(value) for value in local]
        return tuple(self._system.codec.encode_fields(values))
