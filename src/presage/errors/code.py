"""What checked code did that it may not: in handlers, guards, properties and observers."""

from __future__ import annotations

from presage.errors.base import EXIT_NONDETERMINISM, PresageError, did_you_mean, explain


class NotState(PresageError):
    """Cause: a value that cannot be copied exactly is part of a state, a message or a record.

    Remedy: keep plain values (numbers, text, containers, dataclasses, Enums) and rebuild the rest.
    """

    def __init__(self, path: str, type_name: str, reason: str, where: str = "") -> None:
        self.path = path
        self.type_name = type_name
        self.reason = reason
        self.where = where
        self.position = 0  # of the field among the values of a node, where there are several
        place = f"{where}{path}" or "the value"
        cause = "a socket, lock, open file, generator or function is kept in a field or message"
        remedy = "keep plain values, and rebuild the object from them where it is used"
        if "contains itself" in reason:
            cause = "a link back to what holds it: a parent, a ring, a list appended to itself"
            remedy = "keep the name, index or key of the other object instead of the object"
        fact = f"`{place}` holds a `{type_name}`, which cannot be state: {reason}"
        super().__init__(fact, cause, remedy)

    def at(self, where: str) -> NotState:
        """The same error, told from further out: `where` is put in front of the path."""
        return NotState(self.path, self.type_name, self.reason, where + self.where)


class NotCopied(PresageError, ValueError):
    """Cause: elements of a set, or keys of a dict, are equal in a copy that are not in the state.

    Remedy: let `__eq__` and `__hash__` depend on the state of an object alone, which stays as it is
    while the object is in there.
    """

    def __init__(self) -> None:
        super().__init__(
            "two different elements of a set, or keys of a dict, became equal in a copy",
            "an object that was changed after it was put there, or that its address makes equal",
            "let `__eq__` and `__hash__` depend on the state of the object alone; take it out, and"
            " put it back, to change it",
        )


class Sharing(PresageError):
    """Cause: one mutable object is reachable by two paths of a node's state.

    Remedy: keep a copy in one of the two places.
    """

    def __init__(
        self, first: tuple[int, str], second: tuple[int, str], type_name: str, where: str = ""
    ) -> None:
        self.first = first  # position of the field among the values of the node, path from there
        self.second = second
        self.type_name = type_name
        super().__init__(where or f"a `{type_name}` is reachable by two paths")

    def at(self, where: str, fields: tuple[str, ...]) -> Sharing:
        """The same error, with the names of `fields`; `where` says whose they are."""
        paths = [
            f"self.{'timers' if position == 0 else fields[position - 1]}{path}"
            for position, path in (self.first, self.second)
        ]
        text = explain(
            f"{where}: `{paths[0]}` and `{paths[1]}` are one mutable object, a `{self.type_name}`",
            "an object kept in a second place without copying it: a state is rebuilt from values"
            " before each step, so a later change of one place would not be seen in the other",
            "keep a copy in one of the two places (`copy.deepcopy`), or an immutable value",
        )
        return Sharing(self.first, self.second, self.type_name, text)


class UnknownNode(PresageError):
    """Cause: a message was sent to, or a world was asked for, a name no node has.

    Remedy: use a key of `System(nodes=...)`.
    """

    def __init__(self, name: object, nodes: tuple[str, ...], where: str) -> None:
        self.name = name
        shown = ", ".join(nodes[:8]) + (", ..." if len(nodes) > 8 else "")
        super().__init__(
            f"{where}: there is no node {name!r}; the nodes are {shown}"
            f"{did_you_mean(name, nodes) if isinstance(name, str) else ''}",
            "a misspelt name, or a node object where its name is meant",
            "use a key of `System(nodes=...)`; inside a handler `self.name` is one",
        )


class UnknownObserver(PresageError):
    """Cause: a property asks for an observer the system does not have.

    Remedy: use a key of `System(observers=...)`.
    """


class UndeclaredField(PresageError):
    """Cause: a handler, or a prototype, has a field its class does not declare.

    Remedy: declare it with an annotation in the class body; then it is part of the state.
    """

    def __init__(self, service: str, field: str, where: str, fact: str = "sets") -> None:
        self.service = service
        self.field = field
        super().__init__(
            f"{where} {fact} `{field}`, which `{service}` does not declare as a field",
            "a misspelt name, or a field created on the fly",
            f"declare it in the class body: `{field}: ... = ...`, or `= state(factory)`",
        )


class DeletedField(UndeclaredField):
    """Cause: a handler deleted a declared field, so the state has a hole.

    Remedy: set it to None instead.
    """

    def __init__(self, service: str, field: str, where: str) -> None:
        PresageError.__init__(
            self,
            f"{where} deletes the field `{service}.{field}`",
            "`del self.field` used to mean `no value`",
            f"set `self.{field} = None`",
        )
        self.service = service
        self.field = field


class BadCall(PresageError):
    """Cause: a handler used a `self` operation wrongly: no options, an unknown timer, a bad value.

    Remedy: the text names the operation and what it takes.
    """


class NotEnumerable(BadCall):
    """Cause: a draw has too many possible results to try them all (`random.random()`, 2**64).

    Remedy: choose among the few values that matter, with `self.choose`.
    """


class BadChoice(PresageError):
    """Cause: a path supplies a choice that does not exist, too few of them, or too many.

    Remedy: the path belongs to another system or to an older version of it; search again.
    """

    def __init__(self, k: int | None, n: int | None) -> None:
        self.k = k
        self.n = n
        if k is None:
            fact = f"the path ends before a choice among {n}"
        elif n is None:
            fact = f"the path supplies a choice ({k}) that nobody asks for"
        else:
            fact = f"the path takes option {k} of a choice among {n}, counted from 0"
        super().__init__(
            fact,
            "the path was recorded from another system, or before the code was changed",
            "search again, with `presage check`",
        )


class GuardError(PresageError):
    """Cause: a guard (`when`) or `over` raised, or `over` gave no collection.

    Remedy: a guard is a total, pure function of the node's state; correct it at the given line.
    """


class BadLane(PresageError):
    """Cause: a message does not tell which lane it takes: its property `lane` raised.

    Remedy: correct the property; for a datagram it gives None.
    """


class GhostRead(PresageError):
    """Cause: a property reads a ghost field, whose value differs between equal states.

    Remedy: make it a plain field, or leave it out of the property.
    """


class ReadOnly(PresageError):
    """Cause: a property changes the world it looks at.

    Remedy: compute on copies; a property only reads.
    """


class Nondeterminism(PresageError):
    """Cause: the same step gave two different results, so no result can be trusted.

    Remedy: take every source of chance from `self.choose`, `self.random` and timers.
    """

    exit_status = EXIT_NONDETERMINISM

    def __init__(self, what: str) -> None:
        super().__init__(
            what,
            "a handler reads the clock, `random`, `id()`, a global, or the order of a set",
            "use `self.choose`, `self.random`, timers, `sorted(...)`; `presage doctor` finds"
            " the field",
        )


class BadView(PresageError):
    """Cause: the `view` of a real node raised, or returned other fields than at first.

    Remedy: let it return the same names in every state, with plain values.
    """


class ProgramDiffers(Nondeterminism):
    """Cause: a program did two different things after the same history.

    Remedy: find what it learns from outside: `presage doctor` runs it in several ways.
    """

    def __init__(self, what: str) -> None:
        PresageError.__init__(
            self,
            what,
            "it depends on addresses (`id`, the order of a set of plain objects), on memory that"
            " processes share (a compiled module), or on a clock that presage does not see",
            "`presage doctor` tells which step; give such sets an order, or keep the module out",
        )


class ViewTooCoarse(Nondeterminism):
    """Cause: two histories of a real node have one view, and go on differently.

    Remedy: let the view hold what tells them apart, or merge by history.
    """

    def __init__(
        self, node: str, event: str, effects: tuple[str, str], histories: tuple[str, str]
    ) -> None:
        PresageError.__init__(
            self,
            f"{node}: two histories with one view part at {event}: {effects[0]} after"
            f" {histories[0]}; {effects[1]} after {histories[1]}",
            "the view leaves something out that the program goes on from",
            'add it to the view; or `Node(..., merge="history")`, which needs no view',
        )

    @classmethod
    def of_replay(cls, what: str, nodes: list[str]) -> ViewTooCoarse:
        """A path that the search found is none on live code."""
        error = cls.__new__(cls)
        PresageError.__init__(
            error,
            f"{what}; states were merged by the views of {', '.join(nodes)}",
            "a view leaves something out that the program goes on from",
            'add it to the view; or `Node(..., merge="history")`, which needs no view',
        )
        return error


class OrderDependence(PresageError):
    """Cause: what a step does depends on the order of a set or dict, which is no part of a state.

    Remedy: `sorted(...)` or `min(...)` where no order is meant, `OrderedDict` or a list where one
    is.
    """

    exit_status = EXIT_NONDETERMINISM


# What to do instead of what a handler or property may not do, by what that is about.
INSTEAD = {
    "clock": "`@timer` for time, `self.now()` to compare moments",
    "chance": "`self.random` or `self.choose`: a search tries every result",
    "file": "`self.disk`, a field made by `disk()`, for what a node stores; a field for what was"
    " read before",
    "environment": "read it while the module is loaded, and give it to the node as a field",
    "network": "`self.send` or `self.stream`, to a node that stands for the other side",
    "program": "make what it does a node of the system, or a choice among its results",
    "thread": "a timer, an action or another node: they run in every order",
    "hash": "the text itself, or a digest that is the same everywhere: `zlib.crc32(text.encode())`",
    "end": "raise an exception, or let the handler return",
    "own": "do that once, in the code that makes the system",
    "native": "load and call it outside of handlers, or do the same in Python",
}


class Impure(PresageError):
    """Cause: a handler, guard, property or observer asked or changed the world outside.

    Remedy: a field, a choice, a timer, a message or `self.disk` instead; the text says which.
    """

    exit_status = EXIT_NONDETERMINISM

    def __init__(
        self, what: str, location: str, kind: str = "clock", role: str = "handler"
    ) -> None:
        self.what = what
        self.location = location
        self.kind = kind
        super().__init__(
            f"{location}: a {role} calls `{what}`, which is no function of the node's state",
            "code written for a live run, where such things come from the machine",
            INSTEAD[kind],
        )


class Escaped(PresageError):
    """Cause: a process did something that presage cannot control, such as starting a thread.

    Remedy: keep that out of the process, or put what it does behind messages.
    """

    exit_status = EXIT_NONDETERMINISM

    WAY_OUT = "leave it out while checking, or make what it does a process of its own"

    def __init__(self, process: str, what: str, location: str, way_out: str | None = None) -> None:
        self.process = process
        self.what = what
        self.location = location
        super().__init__(
            f"{location}: process `{process}` {what}, which presage cannot control",
            "code written for a live run, where this is left to the operating system",
            way_out or self.WAY_OUT,
        )


class HandlerStuck(PresageError):
    """Cause: a handler or predicate did not return within the time limit.

    Remedy: look for an endless loop at the given line.
    """

    def __init__(self, location: str, seconds: float) -> None:
        self.location = location
        self.seconds = seconds
        super().__init__(
            f"{location}: still running after {seconds:g} s",
            "an endless loop, a blocking call, or a wait for something outside the model",
            "let the handler return and go on in another event (a message or a timer)",
        )


class PropertyError(PresageError):
    """Cause: a property's predicate raised, or returned neither a bool nor a `Verdict`.

    Remedy: correct it at the given line.
    """


class ObserverError(PresageError):
    """Cause: an observer raised while it took in a record.

    Remedy: correct it at the given line; `observe` is a pure function of its arguments.
    """


class NotEnabled(PresageError):
    """Cause: an event was applied to a world in which it cannot happen.

    Remedy: take events from `world.enabled()`; a trace may belong to an older system.
    """
