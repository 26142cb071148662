"""German's cache coherence protocol: a home that grants lines, shared or exclusive, to clients.

After Steven German's challenge problem, in the form of the P distribution. The home serves one
request at a time. It takes the line away from those that stand in the way (`Invalidate`), waits
until each has let go, and grants it. A processor tells clients what to ask for.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from presage import HOLDS, Service, System, Verdict, WorldView, action, always, eventually, forall
from presage.systems.reactive.machine import Event, Machine, State, Table, altered

Bug = Literal["none", "skipinv", "oneack", "reorder", "upgrade", "drop"]
Line = Literal["shared", "exclusive"]


class Ask(Event, frozen=True):
    """The processor wants its client to have the line."""

    line: Line


class Request(Event, frozen=True):
    """A client wants the line."""

    line: Line


class Grant(Event, frozen=True):
    """The client has the line."""

    line: Line


class Invalidate(Event, frozen=True):
    """The client must let go of the line."""


class Invalidated(Event, frozen=True):
    """It has let go."""


class Processor(Service):
    """Tells any client to ask for anything, so often."""

    clients: tuple[str, ...]
    requests: int

    @action(
        when=lambda self, wish: self.requests > 0,
        over=lambda self: [(client, line) for client in self.clients for line in LINES],
    )
    def ask(self, wish: tuple[str, Line]) -> None:
        client, line = wish
        self.requests -= 1
        self.send(client, Ask(line))


LINES: tuple[Line, ...] = ("shared", "exclusive")


class Client(Machine):
    """Has no line, a shared one or an exclusive one; or waits for one (`asked`)."""

    bug: Bug = "none"
    phase: str = "invalid"

    def ask(self, event: Ask, source: str) -> None:
        if self.phase != event.line:
            self.send("home", Request(event.line))
            self.goto("upgrading" if self.phase == "shared" else "asked")

    def granted(self, event: Grant, source: str) -> None:
        self.goto(event.line)

    def let_go(self, event: Invalidate, source: str) -> None:
        self.send("home", Invalidated())
        if self.phase in LINES:
            self.goto("invalid")

    def keep(self, event: Invalidate, source: str) -> None:
        if self.bug != "upgrade":
            self.goto("asked")
            self.send("home", Invalidated())

    waits: ClassVar = State(on={Grant: granted, Invalidate: let_go}, defer=(Ask,))
    table: ClassVar[Table] = {
        "invalid": State(on={Ask: ask, Invalidate: let_go}),
        "shared": State(on={Ask: ask, Invalidate: let_go}),
        "exclusive": State(on={Invalidate: let_go}, ignore=(Ask,)),
        "asked": waits,
        "upgrading": State(on={Grant: granted, Invalidate: keep}, defer=(Ask,)),
    }


class Home(Machine):
    """Serves requests one after the other."""

    bug: Bug = "none"
    phase: str = "idle"
    sharers: tuple[str, ...] = ()
    exclusive: bool = False  # whether the one sharer has it alone
    request: tuple[Line, str] | None = None  # which is being served, and whose

    def serve(self, event: Request, source: str) -> None:
        self.request = (event.line, source)
        in_the_way = event.line == "exclusive" or (self.exclusive and self.bug != "skipinv")
        if in_the_way and self.sharers:
            for sharer in self.sharers:
                self.send(sharer, Invalidate())
            self.goto("invalidating")
        else:
            self.grant()

    def invalidated(self, event: Invalidated, source: str) -> None:
        self.exclusive = False
        self.sharers = tuple(sharer for sharer in self.sharers if sharer != source)
        if not self.sharers or self.bug == "oneack":
            self.grant()

    def grant(self) -> None:
        assert self.request is not None
        line, client = self.request
        self.request = None
        self.exclusive = line == "exclusive"
        self.sharers = tuple(sorted({*self.sharers, client}))
        self.send(client, Grant(line))
        self.goto("idle")

    def late(self, event: Invalidated, source: str) -> None:
        """Only a home that does not wait for all comes here."""
        self.sharers = tuple(sharer for sharer in self.sharers if sharer != source)

    table: ClassVar[Table] = {
        "idle": State(on={Request: serve, Invalidated: late}),
        "invalidating": State(on={Invalidated: invalidated}, defer=(Request,)),
    }


@always
def coherent(world: WorldView) -> Verdict:
    """Who has the line exclusively has it alone."""
    holders = [client for client in world.of(Client) if client.phase in LINES]
    alone = [client.name for client in holders if client.phase == "exclusive"]
    if not alone or len(holders) == 1:
        return HOLDS
    return Verdict.fails(f"{alone[0]} is not alone: {', '.join(c.name for c in holders)}")


@eventually
def served(world: WorldView) -> Verdict:
    """Who asks is served."""
    return forall(world.of(Client), lambda client: client.phase not in ("asked", "upgrading"))


def system(*, clients: int = 3, requests: int = 3, bug: Bug = "none") -> System:
    """A home, its clients, and the processor that uses them.

    clients: how many.
    requests: how often the processor asks for the line.
    bug: `skipinv` shares a line that someone has exclusively, `oneack` grants after the first of
        several has let go, `reorder` has a network in which messages overtake each other,
        `upgrade` has clients that do not let go while they wait for more, `drop` loses requests
        that come while others are served.
    """
    names = tuple(f"c{n}" for n in range(clients))
    home = altered(Home, "invalidating", defer=(), ignore=(Request,)) if bug == "drop" else Home
    return System(
        {
            "home": home(bug=bug),
            **{name: Client(bug=bug) for name in names},
            "cpu": Processor(clients=names, requests=requests),
        },
        network="unordered" if bug == "reorder" else "ordered",
        properties=[coherent, served],
        name="German",
    )
