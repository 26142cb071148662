"""A system, service or property that cannot be checked as it is declared."""

from __future__ import annotations

from presage.errors.base import PresageError


class BadSystem(PresageError):
    """Cause: a `System`, or something in it, is not put together correctly.

    Remedy: correct the argument the text names.
    """


class BadScheduler(BadSystem):
    """Cause: a user's scheduler does not keep to its contract.

    Remedy: correct the method that the text names.
    """


class BadSeal(BadSystem):
    """Cause: a seal names nothing that can happen, its condition raises, or it is never lifted.

    Remedy: correct the seal that the text names.
    """


class NoThread(PresageError):
    """Cause: the system does not let the process have as many threads as it needs.

    Remedy: fewer `--threads`, or a higher limit.
    """

    def __init__(self, which: str, cause: str, remedy: str = "raise the limit") -> None:
        super().__init__(
            f"{which} could not be started: {cause}",
            "a limit of processes or of memory (`ulimit -u`, `ulimit -v`, a container's)",
            remedy,
        )


class BadService(BadSystem):
    """Cause: a `Service` class is wrong as written; found when the class is defined.

    Remedy: correct the attribute the text names, at the given file and line.
    """

    def __init__(
        self, service: str, attribute: str, location: str, fact: str, cause: str, remedy: str
    ) -> None:
        self.service = service
        self.attribute = attribute
        self.location = location
        super().__init__(f"{location}: `{service}.{attribute}` {fact}", cause, remedy)


class BadHandler(BadService):
    """Cause: a handler, guard, timer or action has a signature presage cannot call.

    Remedy: give it the parameters the text lists.
    """


class DuplicateHandler(BadService):
    """Cause: two handlers of one class take the same message type.

    Remedy: keep one, or branch inside it.
    """


class SharedDefault(BadService):
    """Cause: a mutable default value would be one object shared by all nodes.

    Remedy: give a factory, as in `votes: set[str] = state(set)`.
    """


class BadField(BadService):
    """Cause: a field's name or declaration cannot work.

    Remedy: rename or annotate it, as the text says.
    """


class MutableMessage(BadService):
    """Cause: `@on` names a message class whose instances can be changed after sending.

    Remedy: make it frozen: `@dataclass(frozen=True)`, a `NamedTuple`, `frozen=True` on a Struct.
    """


class BadPrototype(BadSystem):
    """Cause: a node is not an instance of a `Service`, or lacks a field without a default.

    Remedy: give `System(nodes=...)` instances, with every required field.
    """


class BadProperty(BadSystem):
    """Cause: something in `properties` is not a property, or two have the same name.

    Remedy: decorate the predicate with `@always`, `@sometimes`, `@eventually` or `@step`.
    """


class BadObserver(BadSystem):
    """Cause: an observer lacks `initial()` or `observe(state, node, record)`.

    Remedy: give an instance that has both.
    """


class NotSymmetric(BadSystem):
    """Cause: nodes declared interchangeable, in `System(symmetric=...)`, are told apart.

    Remedy: treat them alike everywhere, or take them out of `symmetric`.
    """


class WrongRule(BadSystem):
    """Cause: a rule of the system says something of messages that their handlers do not keep to.

    Remedy: correct the predicate: the text has the local state and the messages that show it.
    """

    def __init__(
        self,
        rules: str,
        kind: str,
        state: tuple[str, str],  # the node, and its fields
        messages: tuple[str, ...],
        difference: str,
        ends: tuple[str, ...],
    ) -> None:
        self.rules = rules
        self.kind = kind
        self.state = state
        self.messages = messages
        self.difference = difference
        self.ends = ends
        node, fields = state
        lines = "".join(f"\n  {end}" for end in ends)
        super().__init__(
            f"rules `{rules}`: `{kind}` says yes to {' and '.join(messages)} at {node}, but"
            f" {difference}\n  at {node}: {fields}{lines}",
            "a message that is taken for one without effect and is stored, counted or answered",
            f"let `{kind}` say no there; nothing was left out of the search for it",
        )


# -- nodes that run live -----------------------------------------------------------------------


class BadCluster(PresageError):
    """Cause: a cluster file is damaged, does not fit its system, or is not safe to run.

    Remedy: correct the line and the field that the text names.
    """


class NotRunning(PresageError):
    """Cause: a command is meant for a node, or for `presage up`, that does not answer.

    Remedy: `presage status` lists what runs; `--data` names another folder.
    """


class CannotListen(PresageError):
    """Cause: a node cannot have its address, or its certificate cannot be used.

    Remedy: end what has the address, or give another one in the cluster file.
    """


class CommandRefused(PresageError):
    """Cause: a node got a command and does not do it. Remedy: the text says."""
