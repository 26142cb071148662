"""Failures of commands, worded as Redis words them.

Clients tell errors apart by their first word, and programs by more than that. So the wording is
Redis' own.
"""


class CommandError(Exception):
    """A command that is refused; its text is the reply."""

    @property
    def text(self) -> str:
        return str(self.args[0])


SYNTAX = "ERR syntax error"
NOT_INTEGER = "ERR value is not an integer or out of range"
NOT_FLOAT = "ERR value is not a valid float"
NO_KEY = "ERR no such key"
OUT_OF_RANGE = "ERR index out of range"
WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
OVERFLOW = "ERR increment or decrement would overflow"
NOT_NUMBER = "ERR increment would produce NaN or Infinity"


def arity(name: str) -> CommandError:
    return CommandError(f"ERR wrong number of arguments for '{name}' command")


def unknown_command(name: bytes, arguments: list[bytes]) -> CommandError:
    beginning, room = "", 128
    for argument in arguments:
        if len(beginning) >= room:
            break
        beginning += f"'{plain(argument[: room - len(beginning)])}' "
    return CommandError(
        f"ERR unknown command '{plain(name[:128])}', with args beginning with: {beginning}"
    )


def unknown_subcommand(command: str, name: bytes) -> CommandError:
    return CommandError(f"ERR unknown subcommand '{plain(name)}'. Try {command.upper()} HELP.")


def expire_time(name: str) -> CommandError:
    return CommandError(f"ERR invalid expire time in '{name}' command")


def plain(text: bytes) -> str:
    """As text for a reply: up to the first null byte, no line breaks."""
    return text.split(b"\0")[0].decode("latin-1").replace("\r", " ").replace("\n", " ")
