"""`Rules`: what a user believes about the messages of a service, to be compared with what it does.

SAMC ("SAMC: Semantic-Aware Model Checking for Fast Discovery of Deep Bugs in Cloud Systems", OSDI
2014) reduces by such predicates, written by hand. Here they reduce nothing: which events may change
places is derived from the steps. So a wrong rule costs no bug; it is refused, with the steps that
show it.

Invariant: nothing but `WrongRule` and notes of a report depends on a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from presage.errors import BadSystem
from presage.model.functions import check_call
from presage.model.service.automaton import Automaton
from presage.model.service.service import Service
from presage.records import record

Predicate = Callable[..., Any]
TAKES = {  # what each predicate is given
    "discards": ("node", "message"),
    "independent": ("node", "one", "other"),
    "local_impact": ("node", "crash"),
}


@record(frozen=True, kw_only=True)
class Rules:
    """Predicates on one node, as a property sees it, and messages that can arrive there.

    Messages are `Envelope`s: `source`, `to`, `message`. `discards(node, message)`: its delivery
    changes nothing and sends nothing. `independent(node, one, other)`: both orders of their
    deliveries end alike. `local_impact(node, crash)`: hearing of `crash`, a `Down`, sends nothing.
    """

    of: type[Service] = Service  # the nodes that they are about
    discards: Predicate | None = None
    independent: Predicate | None = None
    local_impact: Predicate | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.of, type) and issubclass(self.of, Service)):
            raise BadSystem(
                f"`Rules(of={self.of!r})` names no class of services",
                "a node or its name given instead of its class",
                "`Rules(of=Server, ...)`",
            )
        object.__setattr__(self, "name", self.name or self.of.__name__)
        if not self.given:
            raise BadSystem(
                f"rules `{self.name}` say nothing",
                "no predicate was given",
                "`Rules(discards=...)`, `independent=...` or `local_impact=...`",
            )
        for kind, predicate in self.given.items():
            _check_predicate(self.name, kind, predicate)

    @property
    def given(self) -> dict[str, Predicate]:
        """The predicates that there are, by name."""
        named = {kind: getattr(self, kind) for kind in TAKES}
        return {kind: predicate for kind, predicate in named.items() if predicate is not None}


def _check_predicate(name: str, kind: str, predicate: Any) -> None:
    takes = TAKES[kind]
    try:
        check_call(predicate, *takes)
    except TypeError:
        raise BadSystem(
            f"rules `{name}`: `{kind}` cannot be called with {', '.join(takes)}",
            "a predicate with other parameters, or a value given for it",
            f"`{kind}=lambda {', '.join(takes)}: ...`",
        ) from None
    except ValueError:  # written in C, without a signature
        return


def checked_rules(given: Any, system: Any) -> tuple[Rules, ...]:
    """The rules of a system whose nodes, network and faults are known."""
    listed: Sequence[Any] = (given,) if isinstance(given, Rules) else tuple(given)
    names: set[str] = set()
    for rules in listed:
        if not isinstance(rules, Rules):
            raise BadSystem(
                f"`rules` holds {rules!r}, which is not a `Rules`",
                "a predicate without saying which one it is",
                "`rules=[Rules(of=Server, discards=predicate)]`",
            )
        if rules.name in names:
            raise BadSystem(
                f"two rules are called `{rules.name}`",
                "one listed twice, or two about one class",
                'give one another name: `Rules(..., name="...")`',
            )
        names.add(rules.name)
        _check_applies(rules, system.automata, notices=system.faults.notices)
    if listed:
        _check_comparable(system)
    return tuple(listed)


def _check_applies(rules: Rules, automata: Iterable[Automaton], *, notices: bool) -> None:
    if not any(issubclass(automaton.service, rules.of) for automaton in automata):
        raise BadSystem(
            f"rules `{rules.name}`: no node is a `{rules.of.__name__}`",
            "rules of another system",
            "name the class of some of its nodes: `Rules(of=...)`",
        )
    if rules.local_impact is not None and not notices:
        raise BadSystem(
            f"rules `{rules.name}`: `local_impact` in a system whose nodes hear of no crash",
            "it is about the delivery of `Down`, which is only sent if there are notices",
            "`Faults(crash=1, notices=True)`, or leave it out",
        )


def _check_comparable(system: Any) -> None:
    refused = {
        "streams": system.streams is not None,
        "clocks": system.clock is not None,
        "seals": bool(system.seals),
    }
    for what, there in refused.items():
        if there:
            raise BadSystem(
                f"rules for a system with {what}",
                "what two orders of messages do there is not compared yet",
                "leave `rules` out",
            )
