"""Rules of users compared with what nodes do: each message, and each two, that can arrive at once.

The kernel calls `arrived` for each local state that it meets with each message that can arrive
there, and with each two of them, once. Both orders of two messages are run here, and compared as
far as the world can tell: the values of the node, what was sent, and what observers make of what
was recorded. Deliveries that do nothing count, also where the search skips them.

Invariant: a rule is asked only about messages that one state of the search has in flight together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from presage._core import UP
from presage.errors import BadSystem, PresageError, WrongRule
from presage.execution.sandbox import Sandbox
from presage.model.choice import NOT_THEIRS
from presage.model.service.automaton import Automaton
from presage.model.service.down import Down
from presage.model.service.local_state import Outcome, Values, unchanged
from presage.model.source import place_of, raised
from presage.model.world.event import Envelope
from presage.model.world.observers import observed
from presage.model.world.rules import Rules
from presage.model.world.system import System
from presage.model.world.view import node_view
from presage.records import NamedTuple
from presage.search.kernel.difference import first_effect
from presage.trace.show import show

Fresh = Callable[[], Values]
Key = tuple[int, int, int]  # of the local state and of one or two messages
Message = tuple[int, Any]  # its source, by index, and what it says
WHAT = {  # what a right rule may leave out
    "discards": "deliveries that do nothing",
    "independent": "pairs that commute",
    "local_impact": "notices after which nothing is sent",
}


class _Place(NamedTuple):
    """Where messages arrive: a node in one of its local states."""

    node: Automaton
    fresh: Fresh

    def envelope(self, message: Message) -> Envelope:
        return Envelope(self.node.names[message[0]], self.node.name, message[1])

    def shown(self) -> str:
        values = self.fresh()
        named = [(name, values[at]) for name, at in self.node.positions.items()]
        return ", ".join(f"{name}={show(value)}" for name, value in named) or "no fields"


class RuleCheck:
    """What the rules of one system say, and whether it is so."""

    def __init__(self, system: System, sandbox: Sandbox) -> None:
        self._system = system
        self._run = sandbox.run
        self._met: dict[Key, bool] = {}
        self.right: Counter[tuple[str, str]] = Counter()  # (rules, kind): it was so, and said
        self.facts: Counter[tuple[str, str]] = Counter()  # it was so

    def arrived(
        self,
        key: Key,
        node: int,
        fresh: Fresh,
        messages: Sequence[Message],
        observers: list[Any] | None,
    ) -> bool:
        """Compare rules with one message, or two, that can arrive at a node.

        True: a rule says that two may change places, and only their records differ. Then it is to
        be asked again with the states of the `observers`.
        """
        place = _Place(self._system.automata[node], fresh)
        rules = [each for each in self._system.rules if issubclass(place.node.service, each.of)]
        if observers is not None:
            self._judge_observed(rules, place, messages, observers)
            return True
        if key not in self._met:
            self._met[key] = False
            if rules and fresh()[0][0] == UP:
                judge = self._judge_pair if len(messages) == 2 else self._judge_one
                self._met[key] = judge(rules, place, messages)
        return self._met[key]

    def notes(self) -> Iterator[str]:
        """How much of what is so each right rule leaves out."""
        for rules in self._system.rules:
            for kind in rules.given:
                at = (rules.name, kind)
                left = self.facts[at] - self.right[at]
                yield (
                    f"rules `{rules.name}`: `{kind}` leaves out {left:,} of {self.facts[at]:,}"
                    f" {WHAT[kind]}; nothing was left out of the search for it"
                )

    # -- one message -------------------------------------------------------------------------

    def _judge_one(self, rules: list[Rules], place: _Place, messages: Sequence[Message]) -> bool:
        [message] = messages
        outcomes = self._step(place.node, place.fresh, message)
        if not outcomes:
            return False  # its guard does not let it in
        for each in rules:
            if each.discards is not None:
                self._judge_discard(each, place, message, outcomes)
            if each.local_impact is not None and isinstance(message[1], Down):
                self._judge_impact(each, place, message, outcomes)
        return False

    def _judge_discard(
        self, rules: Rules, place: _Place, message: Message, outcomes: list[Outcome]
    ) -> None:
        before = [unchanged(place.fresh()) for _ in outcomes]
        difference = self._difference(place.node, before, outcomes)
        said = self._asked(rules, "discards", place, place.envelope(message))
        self._count(rules, "discards", fact=difference is None, said=said)
        if said and difference is not None:
            raise _wrong(
                rules,
                "discards",
                place,
                (place.envelope(message),),
                f"before and after it, the node {difference}",
                {"after it": outcomes},
            )

    def _judge_impact(
        self, rules: Rules, place: _Place, message: Message, outcomes: list[Outcome]
    ) -> None:
        sends = any(outcome.sends for outcome in outcomes)
        said = self._asked(rules, "local_impact", place, message[1])
        self._count(rules, "local_impact", fact=not sends, said=said)
        if said and sends:
            raise _wrong(
                rules,
                "local_impact",
                place,
                (place.envelope(message),),
                "the node sends something when it hears of the crash",
                {"after it": outcomes},
            )

    # -- two messages ------------------------------------------------------------------------

    def _judge_pair(self, rules: list[Rules], place: _Place, messages: Sequence[Message]) -> bool:
        rules = [each for each in rules if each.independent is not None]
        one, other = messages
        if not rules or not all(self._step(place.node, place.fresh, each) for each in messages):
            return False  # a guard does not let one of them in
        ends = self._ends(place, one, other), self._ends(place, other, one)
        difference = self._apart(place.node, *ends)
        mute = [None if end is None else _unrecorded(end) for end in ends]
        only_records = difference is not None and self._apart(place.node, *mute) is None
        names = place.envelope(one), place.envelope(other)
        asked_again = False
        for each in rules:
            said = self._independent(each, place, names)
            self._count(each, "independent", fact=difference is None, said=said)
            if said and only_records:
                asked_again = True
            elif said and difference is not None:
                raise _wrong(each, "independent", place, names, difference, _orders(ends))
        return asked_again

    def _judge_observed(
        self,
        rules: list[Rules],
        place: _Place,
        messages: Sequence[Message],
        observers: list[Any],
    ) -> None:
        """Whether observers in these states end alike after both orders."""
        one, other = messages
        ends = self._ends(place, one, other), self._ends(place, other, one)
        encoded = [self._system.codec.encode(state) for state in observers]
        first, second = (
            [self._observed(place.node, encoded, outcome) for outcome in end or []] for end in ends
        )
        difference = self._difference(place.node, first, second)
        names = place.envelope(one), place.envelope(other)
        for each in rules:
            if difference is not None and self._independent(each, place, names):
                fact = f"for observers at {show(observers)} the two orders {difference}"
                raise _wrong(each, "independent", place, names, fact, _orders(ends))

    def _observed(self, node: Automaton, states: Sequence[bytes], outcome: Outcome) -> Outcome:
        """The same outcome; for its records stands what observers make of them."""
        after = observed(self._system, states, node.name, outcome.records)
        return outcome._replace(records=[self._system.codec.decode(state) for state in after])

    def _ends(self, place: _Place, one: Message, other: Message) -> list[Outcome] | None:
        """What the two do in this order, each end once; None if `other` may be kept out by it."""
        node, encode = place.node, self._system.codec.encode
        ends: dict[bytes, Outcome] = {}
        for early in self._step(node, place.fresh, one) or []:
            between = partial(self._system.codec.decode, encode(early.values))
            lates = self._step(node, between, other)
            if not lates:
                return None
            for late in lates:
                end = unchanged(late.values)._replace(
                    sends=self._sent([*early.sends, *late.sends]),
                    records=[*early.records, *late.records],
                )
                ends[encode((end.values, end.sends, end.records))] = end
        return list(ends.values())

    def _apart(
        self, node: Automaton, one: list[Outcome] | None, other: list[Outcome] | None
    ) -> str | None:
        if one is None or other is None:
            return "after one of them a guard keeps the other out"
        difference = self._difference(node, one, other)
        return None if difference is None else f"the two orders {difference}"

    def _independent(self, rules: Rules, place: _Place, names: tuple[Envelope, Envelope]) -> bool:
        """Whether a rule says so, in whichever order it is asked."""
        one, other = names
        return self._asked(rules, "independent", place, one, other) or self._asked(
            rules, "independent", place, other, one
        )

    # -- user code ---------------------------------------------------------------------------

    def _step(self, node: Automaton, fresh: Fresh, message: Message) -> list[Outcome] | None:
        """What a delivery does; records are nothing where nobody observes."""
        codec = self._system.codec
        stimulus = codec.decode(codec.encode(("deliver", *message)))
        outcomes: list[Outcome] | None = self._run(node.branches, fresh, stimulus)
        if outcomes is None or self._system.observers:
            return outcomes
        return _unrecorded(outcomes)

    def _asked(self, rules: Rules, kind: str, place: _Place, *about: Any) -> bool:
        predicate = rules.given[kind]
        try:
            return bool(self._run(predicate, node_view(place.node, place.fresh()), *about))
        except (PresageError, *NOT_THEIRS):
            raise
        except BaseException as error:
            where = raised(error.__traceback__)
            raise BadSystem(
                f"{where[0] if where else place_of(predicate)}: `{kind}` of rules `{rules.name}`"
                f" raised {type(error).__name__}: {error}",
                "a message of another class than the rule expects",
                "ask first what it is: `isinstance(message.message, Vote) and ...`",
            ) from error

    # -- what is compared --------------------------------------------------------------------

    def _difference(
        self, node: Automaton, ones: list[Outcome], others: list[Outcome]
    ) -> str | None:
        return first_effect(node, self._system.network, ones, others)

    def _sent(self, sends: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        """What is in flight afterwards: where messages stay, each once."""
        if self._system.network != "duplicating":
            return sends
        return list({self._system.codec.encode(send): send for send in sends}.values())

    def _count(self, rules: Rules, kind: str, *, fact: bool, said: bool) -> None:
        self.facts[rules.name, kind] += fact
        self.right[rules.name, kind] += fact and said


def _unrecorded(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome._replace(records=[]) for outcome in outcomes]


def _orders(ends: Sequence[list[Outcome] | None]) -> dict[str, list[Outcome]]:
    named = zip(("in this order", "in the other"), ends, strict=True)
    return {order: end for order, end in named if end is not None}


def _wrong(
    rules: Rules,
    kind: str,
    place: _Place,
    messages: tuple[Envelope, ...],
    difference: str,
    ends: dict[str, list[Outcome]],
) -> WrongRule:
    """The error of a rule that is not so."""
    events = tuple(f"{show(each.message)} from {each.source}" for each in messages)
    lines = [f"{order}: {_end(place, outcomes[0])}" for order, outcomes in ends.items()]
    return WrongRule(
        rules.name, kind, (place.node.name, place.shown()), events, difference, tuple(lines)
    )


def _end(place: _Place, outcome: Outcome) -> str:
    """A local state and what was sent, in words."""
    node = place.node
    state = _Place(node, lambda: outcome.values).shown()
    sent = ", ".join(f"{show(message)} -> {node.names[to]}" for to, message in outcome.sends)
    return f"{state}; sends {sent or 'nothing'}"
