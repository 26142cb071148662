"""The table of commands: name, function, how many arguments, where the keys are.

A module of this folder declares its commands with `@command`; the table is complete once
`commands` is imported, and nothing writes to it afterwards.
"""

from collections.abc import Callable, Mapping

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import option
from presage.frontends.real.services.redis.resp import Reply
from presage.frontends.real.services.redis.session import Session
from presage.records import record

Function = Callable[[Session, list[bytes]], Reply]


@record(frozen=True)
class Command:
    """One command; `arity` counts the name, and is negative if more may come."""

    name: str
    function: Function
    arity: int
    keys: tuple[int, int, int]
    immediate: bool
    while_subscribed: bool
    in_scripts: bool
    subcommands: Mapping[str, int] | None

    def check_arity(self, request: list[bytes]) -> None:
        if not fits(len(request), self.arity):
            raise errors.arity(self.name)
        if self.subcommands is not None and len(request) > 1:
            name = option(request[1])
            arity = self.subcommands.get(name)
            if arity is None:
                raise errors.unknown_subcommand(self.name, request[1])
            if not fits(len(request), arity):
                raise errors.arity(f"{self.name}|{name.lower()}")


def fits(count: int, arity: int) -> bool:
    return count == arity if arity > 0 else count >= -arity


COMMANDS: dict[bytes, Command] = {}


def command(
    name: str,
    arity: int,
    keys: tuple[int, int, int] = (0, 0, 0),
    *,
    immediate: bool = False,
    while_subscribed: bool = False,
    in_scripts: bool = True,
    subcommands: Mapping[str, int] | None = None,
) -> Callable[[Function], Function]:
    """Declare a command; `keys` are the first one, the last one and the step, as Redis says it.

    `immediate` commands are not queued in a transaction. `subcommands` have an arity, too.
    """

    def declare(function: Function) -> Function:
        COMMANDS[name.encode()] = Command(
            name, function, arity, keys, immediate, while_subscribed, in_scripts, subcommands
        )
        return function

    return declare


ONE = (1, 1, 1)
ALL = (1, -1, 1)
EVERY_SECOND = (1, -1, 2)
TWO = (1, 2, 1)
