"""`System`: what is checked. Nodes, the network between them, faults, workload, claims.

Everything that can be known to be wrong before a search is refused here. A system never changes;
its prototypes are encoded when it is made, so changing one afterwards changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, Protocol, TypeVar, runtime_checkable

from presage._core import Codec
from presage.errors import (
    BadObserver,
    BadProperty,
    BadPrototype,
    BadSystem,
    Nondeterminism,
    NotState,
    UnknownNode,
    did_you_mean,
)
from presage.model.functions import check_call
from presage.model.keywords import named_arguments
from presage.model.service.automaton import Automaton
from presage.model.service.calls import Call as Call
from presage.model.service.calls import checked_calls
from presage.model.service.clocks import CLOCK, Clocks, Shielded, Timed
from presage.model.service.down import notices
from presage.model.service.node import Exposed
from presage.model.service.service import Service
from presage.model.service.stream import Streams
from presage.model.source import place_of
from presage.model.weights import Weights
from presage.model.world.faults import UNLIMITED as UNLIMITED
from presage.model.world.faults import Faults as Faults
from presage.model.world.faults import checked_faults
from presage.model.world.lane import lane_of
from presage.model.world.network import NETWORKS
from presage.model.world.rules import Rules, checked_rules
from presage.model.world.seals import checked_seals
from presage.model.world.symmetry import Symmetric
from presage.model.world.symmetry import symmetric as checked_symmetric

C = TypeVar("C")


@runtime_checkable
class Observer(Protocol):
    """Watches what nodes `record`; its state is part of the world. Both methods are pure."""

    def initial(self) -> Any:
        """The state before any record."""

    def observe(self, state: Any, node: str, record: Any, /) -> Any:
        """The state after `node` recorded `record`."""


AT_REST = ("deadlock", "eventually")  # kinds of properties judged where nothing more happens


@runtime_checkable
class Claim(Protocol):
    """What a system needs to know of a property; the rest is the business of `props`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...


@named_arguments
class System:
    """A distributed system, ready to be checked."""

    programs = False  # whether nodes may run programs, which have connections of their own

    def __init__(
        self,
        nodes: Mapping[str, Service],
        *,
        network: str = "unordered",
        faults: Faults | None = None,
        calls: Mapping[str, Sequence[Call]] | None = None,
        observers: Mapping[str, Observer] | None = None,
        properties: Sequence[Any] = (),
        skip_noops: bool | None = None,
        streams: Streams | bool | None = None,
        symmetric: Sequence[Sequence[str]] = (),
        seals: Sequence[Any] = (),
        rules: Sequence[Rules] = (),
        weights: Weights | None = None,
        clock: Timed | None = None,
        name: str | None = None,
    ) -> None:
        self.nodes: dict[str, Service] = _checked_nodes(nodes)
        self.names = tuple(self.nodes)
        self.indices = {node: index for index, node in enumerate(self.names)}
        self.network = _checked_network(network)
        self.streams = _checked_streams(streams)
        self.faults = checked_faults(
            faults or Faults(), network, self.names, self.streams, programs=self.programs
        )
        self.calls = checked_calls(calls or {}, self.nodes)
        self.clock = _checked(clock, Timed, "clock=Timed(drift=1)")
        self.clocks = Clocks(self.names, self.clock) if self.clock else None
        self.observers: dict[str, Observer] = _checked_observers(observers or {})
        if self.clocks is not None:
            self.observers = {name: Shielded(each) for name, each in self.observers.items()}
            self.observers[CLOCK] = self.clocks
        self.properties: tuple[Any, ...] = _checked_properties(properties)
        self.skip_noops = self._loses_no_rest() if skip_noops is None else bool(skip_noops)
        self.weights = _checked(weights, Weights, "weights=Weights(timer=4)")
        self.name = name or type(next(iter(self.nodes.values()))).__name__
        self.codec = Codec()
        self.pardon: Any = None  # what is known to break, and looked behind
        self.origin: Any = None  # where executions begin, if not by every `start`
        self.outside: tuple[str, ...] = ()  # nodes of which nothing is known
        self.observed_known = True  # whether observers have heard of all that was recorded
        self.automata = self.automata_of()
        _check_heard(self.faults, self.automata)
        self._observed = [self._encode_observer(*named) for named in self.observers.items()]
        self.symmetric: Symmetric = checked_symmetric(self, symmetric)
        handled = {cls for automaton in self.automata for cls in automaton.shape.handlers}
        self.seals: tuple[Any, ...] = checked_seals(seals, self.names, handled)
        self.rules: tuple[Rules, ...] = checked_rules(rules, self)

    @property
    def judged(self) -> tuple[Any, ...]:
        """All that is judged: the properties, then the conditions of the seals."""
        return (*self.properties, *(seal.claim for seal in self.seals))

    def _loses_no_rest(self) -> bool:
        """Whether deliveries that do nothing can be left out, and no verdict at rest depends on it.

        Left out, such a message stays in flight: it is never in vain. Where messages stay in any
        case, that is no difference.
        """
        if self.network in ("ordered", "duplicating"):
            return self.network == "duplicating"
        return not any(each.kind in AT_REST for each in self.properties)

    def skips(self, message: Any) -> bool:
        """Whether a delivery of `message` that does nothing is left out. In a lane none is.

        It would stand before all that is behind it for ever.
        """
        return self.skip_noops and (self.network != "lanes" or lane_of(message) is None)

    def observed(self) -> list[Any]:
        return [self.codec.decode(encoded) for encoded in self._observed]

    def index(self, node: str) -> int:
        try:
            return self.indices[node]
        except (KeyError, TypeError):
            raise UnknownNode(node, self.names, f"system `{self.name}`") from None

    def automata_of(self) -> tuple[Automaton, ...]:
        """The nodes as functions, with the faults of this system."""
        return self._automata(self.codec, timed=self.clock is not None)

    def live(self) -> tuple[Automaton, ...]:
        """The nodes as they run live: with a codec of their own, by which moments keep numbers.

        The codec of the system writes what they hold without the numbers, as a search wants it.
        """
        if self.network == "lanes":
            raise BadSystem(
                "a system whose network has lanes cannot run live",
                "live nodes have datagrams, and the streams that `self.stream` is for",
                'send by `self.stream`, with `streams=Streams()` and `network="unordered"`',
            )
        return self._automata(Codec(live=True), timed=False)

    def _automata(self, codec: Codec, *, timed: bool) -> tuple[Automaton, ...]:
        automata = tuple(
            self._automaton(index, node, prototype, codec, timed)
            for index, (node, prototype) in enumerate(self.nodes.items())
        )
        for automaton in automata:
            automaton.siblings = automata
        return automata

    def _automaton(
        self, index: int, node: str, prototype: Service, codec: Codec, timed: bool
    ) -> Automaton:
        return Automaton(index, node, prototype, **self._surroundings(node, codec, timed))

    def _surroundings(self, node: str, codec: Codec, timed: bool) -> dict[str, Any]:
        """What the automaton of a node knows of the system that it is in."""
        workload = self.calls.get(node, ())
        for call in workload:
            try:
                self.codec.encode(call.args)
            except NotState as error:
                raise error.at(f"calls[{node!r}]: {call.method}") from None
        faults, exposed = self.faults, self.faults.nodes is None or node in self.faults.nodes
        return {
            "codec": codec,
            "indices": self.indices,
            "workload": workload,
            "exposed": Exposed(
                crash=exposed and faults.crash > 0,
                restart=faults.restart > 0,
                reset=exposed and faults.reset > 0,
                silent=exposed and faults.silent_reset > 0,
                slow=exposed and faults.slow > 0,
                sever=exposed and faults.sever > 0,
                refuse=exposed and faults.refuse > 0,
                terminate=exposed and faults.terminate > 0,
            ),
            "streams": self.streams,
            "timed": timed,
            "noticed": faults.notices,
            "outside": frozenset(map(self.index, self.outside)),
        }

    def _encode_observer(self, name: str, observer: Observer) -> bytes:
        try:
            return self.codec.encode(observer.initial())
        except NotState as error:
            raise error.at(f"observer {name}: initial()") from None

    def saved_histories(self) -> bytes:
        """What another process needs to go on from states of this one, beside their values."""
        return b""

    def load_histories(self, saved: bytes) -> None:
        """Take up what `saved_histories` returned in another process."""

    def sources(self) -> list[str]:
        """Digests of code that nodes import by themselves, and that the system does not name."""
        return []

    def disagreement(self, what: str) -> Nondeterminism:
        """Live code does something else than the search said it would."""
        return Nondeterminism(what)

    def vary(self) -> None:
        """Change what programs may not depend on: the clock they start with, addresses, garbage."""

    def idle(self) -> list[str]:
        """Nodes that run programs which did nothing so far that others could see."""
        return []

    def reservations(self) -> list[str]:
        """What bounds of the nodes themselves kept from being searched, and what they leave out."""
        return []

    def __repr__(self) -> str:
        return f"System({self.name}: {', '.join(self.names)}; {self.network})"


def _checked_nodes(nodes: Any) -> dict[str, Service]:
    if not isinstance(nodes, Mapping):
        kinds = [type(each) for each in nodes] if isinstance(nodes, list | tuple) else [type(nodes)]
        named = ", ".join(f'"n{at}": {kind.__name__}()' for at, kind in enumerate(kinds[:3]))
        raise BadSystem(
            f"`nodes` is a `{type(nodes).__name__}`, not a mapping from names to services",
            "services without names: messages are sent to names",
            f"`System({{{named}}})`",
        )
    if not nodes:
        raise BadSystem(
            "the system has no nodes",
            "an empty mapping",
            '`System({"n0": Server(), "n1": Server()})`',
        )
    for name, prototype in nodes.items():
        if not isinstance(name, str) or not name:
            raise BadSystem(
                f"{name!r} is not the name of a node",
                "numbers or objects used as keys of `nodes`",
                f'name it by a text, such as "n{name}"',
            )
        if isinstance(prototype, Service) and type(prototype) is not Service:
            continue
        if type(prototype) is Service:
            fact = f"node `{name}` is a bare `Service`, which does nothing"
        elif isinstance(prototype, type) and issubclass(prototype, Service):
            fact = f"node `{name}` is the class `{prototype.__name__}`, not an instance of it"
        else:
            fact = f"node `{name}` is a `{type(prototype).__name__}`, not a `Service`"
        raise BadPrototype(
            fact,
            "the parentheses or the base class `Service` left out",
            "give an instance of a class derived from `Service`, with its field values",
        )
    return dict(nodes)


def _checked_network(network: Any) -> str:
    if network in NETWORKS:
        return str(network)
    known = ", ".join(f"`{name}`" for name in NETWORKS)
    hint = did_you_mean(str(network).lower(), NETWORKS)
    raise BadSystem(
        f"there is no network {network!r}{hint}",
        "a misspelt name, or one of another tool",
        f"use one of {known}; messages of one sender keep their order on `ordered`",
    )


def _checked_streams(streams: Any) -> Streams | None:
    if streams is None or isinstance(streams, bool):
        return Streams() if streams else None
    if isinstance(streams, Streams):
        return streams
    raise BadSystem(
        f"`streams` is a `{type(streams).__name__}`",
        "the size of the queues given for it, or the class for an instance",
        "`streams=Streams(queue_size=2)`, or `streams=True` for queues without limit",
    )


def _check_heard(faults: Faults, automata: Sequence[Automaton]) -> None:
    """Refuse notices that nobody would get."""
    crashing = [each for each in automata if each.exposed.crash]
    if faults.notices and not any(notices(each.name, each.index, automata) for each in crashing):
        raise BadSystem(
            "`Faults(notices=True)`, and no node handles the notice of another's crash",
            "a service without `@on(Down)`, or the one node that has it is the only one to crash",
            "`@on(Down)` above `def peer_down(self, notice)`, or leave `notices` out",
        )


def _checked(given: Any, kind: type[C], example: str) -> C | None:
    if given is None or isinstance(given, kind):
        return given
    raise BadSystem(
        f"`{example.partition('=')[0]}` is a `{type(given).__name__}`",
        "a dict, a number or a class given for it",
        f"`{example}`",
    )


def _checked_observers(observers: Any) -> dict[str, Observer]:
    if not isinstance(observers, Mapping):
        raise BadObserver(
            f"`observers` is a `{type(observers).__name__}`, not a mapping",
            "observers without names: a property asks for one by its name",
            '`observers={"history": Linearizable(...)}`',
        )
    for name, observer in observers.items():
        if isinstance(observer, type) or not isinstance(observer, Observer):
            raise BadObserver(
                f"observer `{name}` is {observer!r}, which cannot observe",
                "a class given for an instance, or a missing method",
                "give an object with `initial()` and `observe(state, node, record)`",
            )
        _check_observer(name, observer)
    return dict(observers)


def _check_observer(name: str, observer: Observer) -> None:
    try:
        check_call(observer.initial)
        check_call(observer.observe, None, "", None)
    except TypeError as error:
        raise BadObserver(
            f"observer `{name}`: {type(observer).__name__} cannot be called so: {error}",
            "parameters left out or added",
            "`def initial(self)` and `def observe(self, state, node, record)`",
        ) from None
    except ValueError:  # written in C, without a signature
        return


def _checked_properties(properties: Any) -> tuple[Any, ...]:
    single = isinstance(properties, Claim | str) or not isinstance(properties, Iterable)
    properties = (properties,) if single else tuple(properties)
    seen: set[str] = set()
    for claim in properties:
        if not isinstance(claim, Claim) or isinstance(claim, type):
            raise BadProperty(
                f"`properties` holds {_shown(claim)}, which is not a property",
                "a predicate without its decorator",
                "put `@always`, `@sometimes`, `@eventually` or `@step` above it",
            )
        if claim.name in seen or claim.name == "no_exception":
            raise BadProperty(
                f"two properties are called `{claim.name}`",
                "one listed twice, or two functions with one name"
                if claim.name in seen
                else "`no_exception` is always checked",
                'give one another name: `always(predicate, name="...")`',
            )
        seen.add(claim.name)
    return tuple(properties)


def _shown(claim: Any) -> str:
    if isinstance(claim, FunctionType):
        return f"the function `{claim.__name__}` of {place_of(claim)}"
    return repr(claim)
