"""The rule of timed mode once more, on absolute times, with machines of its own.

A machine has timers with whole delays; when one fires, it re-arms some timers and may send a nudge
to another machine, which arms some there. `Plain` explores that directly; `machines` makes the same
thing a presage system.
"""

from dataclasses import dataclass, replace

from presage import Service, System, Timed, on, timer

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Script:
    """Per timer: its delay, the timers it re-arms, and whom it nudges (None: nobody)."""

    delays: dict[str, int | None]
    rearms: dict[str, tuple[str, ...]]
    nudges: dict[str, int | None]
    armed_at_start: tuple[str, ...]
    armed_when_nudged: tuple[str, ...]


@dataclass(frozen=True)
class Nudge:
    pass


class Machine(Service):
    script: Script
    fired: str = ""
    fuel: int = 2

    def start(self):
        self.arm_all(self.script.armed_at_start)

    def arm_all(self, names):
        for name in names:
            self.arm(name, after=self.script.delays[name])

    def fire(self, name):
        self.fired = name
        self.arm_all(self.script.rearms[name])
        to = self.script.nudges[name]
        if to is not None and self.fuel > 0:
            self.fuel -= 1
            self.send(f"n{to}", Nudge())

    @timer
    def a(self):
        self.fire("a")

    @timer
    def b(self):
        self.fire("b")

    @timer(periodic=True)
    def c(self):
        self.fire("c")

    @on(Nudge)
    def nudged(self, nudge):
        self.arm_all(self.script.armed_when_nudged)


DECLARED = {"a": 2, "c": 3}


class Declared(Machine):
    """The same, where what a script says nothing of is as declared."""

    @timer(after=DECLARED["a"])
    def a(self):
        self.fire("a")

    @timer(periodic=True, after=DECLARED["c"])
    def c(self):
        self.fire("c")


def declared(script):
    """The script that a `Machine` needs to do what a `Declared` does by this one."""
    delays = {n: DECLARED.get(n) if each is None else each for n, each in script.delays.items()}
    return replace(script, delays=delays)


def machines(scripts, drift, machine=Machine):
    nodes = {f"n{at}": machine(script=script) for at, script in enumerate(scripts)}
    return System(nodes=nodes, clock=Timed(drift=drift), skip_noops=False)


class Plain:
    """States: per node (clock, {timer: deadline or None}, fired, fuel), and nudges (from, to)."""

    def __init__(self, scripts, drift):
        self.scripts, self.drift = scripts, drift

    def arm(self, node, at, names):
        clock, timers, fired, fuel = node
        delays = self.scripts[at].delays
        new = {n: None if delays[n] is None else clock + delays[n] for n in names}
        return (clock, timers | new, fired, fuel)

    def key(self, state):
        nodes, flying = state
        base = min(clock for clock, *_ in nodes)
        return (
            tuple(
                (
                    clock - base,
                    frozenset((t, d if d is None else d - base) for t, d in timers.items()),
                    *rest,
                )
                for clock, timers, *rest in nodes
            ),
            tuple(sorted(flying)),
        )

    def fire(self, nodes, flying, at, name):
        clock, timers, _, fuel = nodes[at]
        deadline = timers[name]
        known = [d for _, timers, *_ in nodes for d in timers.values() if d is not None]
        own = [d for d in timers.values() if d is not None]
        if deadline is not None and (
            deadline > min(own) or any(d < deadline - self.drift for d in known)
        ):
            return None
        clock = clock if deadline is None else deadline
        nodes, flying = list(nodes), list(flying)
        left = {t: d for t, d in timers.items() if t != name}
        nodes[at] = (clock, left, name, fuel)
        script = self.scripts[at]
        nodes[at] = self.arm(nodes[at], at, (*("c" * (name == "c")), *script.rearms[name]))
        if script.nudges[name] is not None and fuel > 0:
            nodes[at] = (*nodes[at][:3], fuel - 1)
            flying.append((at, script.nudges[name]))
        slowest = clock - self.drift
        nodes = [(max(c, slowest), *rest) for c, *rest in nodes]
        return nodes, flying

    def successors(self, state):
        nodes, flying = state
        for at, (_, timers, *_) in enumerate(nodes):
            for name in timers:
                after = self.fire(nodes, flying, at, name)
                if after is not None:
                    yield after
        for mail in set(flying):
            left = list(flying)
            left.remove(mail)
            told = list(nodes)
            told[mail[1]] = self.arm(
                told[mail[1]], mail[1], self.scripts[mail[1]].armed_when_nudged
            )
            yield told, left

    def explore(self, most):
        """(states, generated), or None beyond `most` states."""
        nodes = [
            self.arm((0, {}, "", 2), at, script.armed_at_start)
            for at, script in enumerate(self.scripts)
        ]
        seen, level, generated = {self.key((nodes, []))}, [(nodes, [])], 1
        while level:
            previous, level = level, []
            for state in previous:
                for new in self.successors(state):
                    generated += 1
                    if (key := self.key(new)) not in seen:
                        seen.add(key)
                        level.append(new)
            if len(seen) > most:
                return None
        return len(seen), generated
