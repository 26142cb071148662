"""The options of the command line: what they are called, and which values they take."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from presage.errors import BadTarget, did_you_mean
from presage.systems import SHIPPED
from presage.ui.terminal import columns

if TYPE_CHECKING:
    from presage.search.options import Option

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}  # of times
SEED_MAX = 2**64 - 1
RANKS_MAX = 1_000
WIDTH_UNKNOWN = 80
EXIT_USAGE = 2
TRUST = "run the code that the file names, whoever made it"
WAITS = "whether sends wait for their receives; default: zero, they do"


class Parser(argparse.ArgumentParser):
    """Speaks of usage errors as presage speaks of all others."""

    given: Sequence[str] = ()
    begin: Callable[[Parser], None] | None = None  # adds what every command has
    _fill: Callable[[Parser], None] | None = None

    def __init__(self, **named: Any) -> None:
        self._named = {"formatter_class": _formatter, **named}  # of most commands no more is asked

    def __getattr__(self, name: str) -> Any:
        if "_named" not in vars(self):
            raise AttributeError(name)
        self._make()
        return getattr(self, name)

    @property
    def fill(self) -> Callable[[Parser], None] | None:
        """Adds the options, once they are asked for."""
        self._make()
        return self._fill

    @fill.setter
    def fill(self, fill: Callable[[Parser], None] | None) -> None:
        self._fill = fill

    def _make(self) -> None:
        if "_named" in vars(self):
            super().__init__(**vars(self).pop("_named"))
            if self.begin is not None:
                self.begin(self)

    def error(self, message: str) -> NoReturn:
        meant, prog = self._meant(message), self.prog
        if message.startswith("unrecognized") and (command := self._command()) is not None:
            prog = command.prog
        self.exit(EXIT_USAGE, f"error: {meant}\n  way out: `{prog} --help` tells more\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.given = list(sys.argv[1:] if args is None else args)
        return super().parse_args(args, namespace)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)
        return super().parse_known_args(args, namespace)

    def _command(self) -> argparse.ArgumentParser | None:
        """The parser of the command that was given; None if this is it, or there is none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                named = [each for each in self.given if each in action.choices]
                return action.choices[named[0]] if named else None
        return None

    def _meant(self, message: str) -> str:
        """`message`, with the name that was probably meant."""
        if found := re.match(r"unrecognized arguments: (--?[\w-]+)", message):
            known = [*self._option_string_actions]
            if (command := self._command()) is not None:
                known += command._option_string_actions
            return message + did_you_mean(found[1], known)
        if found := re.match(r"(.*): invalid choice: '(.*?)' \(choose from (.*)\)", message):
            where, given, listed = found.groups()
            known = [each.strip("' ") for each in listed.split(",")]
            hint = did_you_mean(given, known)
            if "COMMAND" in where and not hint and did_you_mean(given, SHIPPED):
                hint = f"; did you mean `presage check {given}`?"
            what = where.removeprefix("argument ")
            return f"{what}: there is no {given!r}{hint or ''} (choose from {', '.join(known)})"
        if message.endswith("are required: TARGET"):
            return f"{message}, such as `paxos`, which is shipped, or `path/to/file.py`"
        return message


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=26, width=columns(WIDTH_UNKNOWN) - 2)


def add_options(
    parser: Parser,
    settings: type,
    names: Sequence[str] | None = None,
    *,
    group: str = "",
    shown: bool = True,
) -> None:
    """The flags of what `settings` declares, or of some of it; None, unless they are given."""
    from presage.search.options import options

    groups: dict[str | None, Any] = {each.title: each for each in parser._action_groups}
    groups[""] = parser
    for name, declared, default in options(settings):
        if declared.kind == "object" or (names is not None and name not in names):
            continue
        title = declared.group or group
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        how: dict[str, Any] = {"metavar": declared.metavar, "type": partial(_value, declared)}
        if declared.kind == "switch":
            how = {"action": "store_true", "default": None}
        elif declared.kind == "words":
            how = {"metavar": declared.metavar, "choices": tuple(declared.words)}
        elif declared.kind == "on_off":
            how = {"choices": ("on", "off")}
        hidden = declared.rare or not shown
        text = argparse.SUPPRESS if hidden else declared.help_with(default)
        flag = f"--{declared.flag or name.replace('_', '-')}"
        groups[title].add_argument(flag, dest=name, help=text, **how)


def _value(declared: Option, text: str) -> Any:
    if declared.kind == "text" or text in declared.words:
        return text
    if declared.kind == "seconds":
        return duration(text)
    return between(declared.least, declared.most, text)


def given(args: argparse.Namespace, settings: type) -> dict[str, Any]:
    """The options that `settings` declares, as far as they were given."""
    from presage.search.options import options

    values = {name: vars(args).get(name) for name, _, _ in options(settings)}
    return {name: value for name, value in values.items() if value is not None}


def add_trace(parser: Parser) -> None:
    """The options of what is done to a whole trace."""
    parser.add_argument("trace", metavar="TRACE", help="a file that `presage check` saved")
    _add_source(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_source(parser: Parser) -> None:
    parser.add_argument("--target", help="the system, instead of the one that the trace names")
    parser.add_argument("--trust", action="store_true", help=TRUST)


def add_debug(parser: Parser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a file that `presage check` saved")
    _add_source(parser)
    parser.add_argument("--at", metavar="N", type=_whole, help="begin there, not where it breaks")
    does = "do this and end; may be given several times"
    parser.add_argument("--do", metavar="COMMAND", action="append", default=[], help=does)


def add_predict(parser: Parser) -> None:
    names = "a trace, or a snapshot: a trace without steps"
    parser.add_argument("trace", metavar="TRACE", help=names)
    _add_source(parser)
    parser.add_argument("--at", metavar="N", type=_whole, help="the step; default: the last")
    seconds = "look ahead for so long; default: 1"
    parser.add_argument("--seconds", metavar="S", type=duration, default=1.0, help=seconds)
    memory = "MiB that this may add to the process; default: 64"
    parser.add_argument("--memory", metavar="M", type=positive, default=64, help=memory)
    threads = "1 or 2; default: 2 where there are two cores"
    parser.add_argument("--threads", metavar="N", type=positive, help=threads)
    parser.add_argument("--save", metavar="FILE", help="write the predicted trace there")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_graph(parser: Parser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a file that `presage check` saved")
    parser.add_argument("--first", metavar="N", type=positive, default=1, help="default: 1")
    last = "default: the last step, but of a dead end the tenth after its critical transition"
    parser.add_argument("--last", metavar="N", type=positive, help=last)


def add_doctor(parser: Parser) -> None:
    add_target(parser)
    parser.add_argument("--transcript", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--twin", action="store_true", help=argparse.SUPPRESS)


def add_simulate(parser: Parser) -> None:
    add_target(parser)
    parser.add_argument(
        "--platform", metavar="FILE", required=True, help="hosts, links and routes, in TOML"
    )
    add_script(parser, ("zero", "eager"), WAITS)
    parser.add_argument("--seed", metavar="N", type=_seed, default=0, help="of choices; default: 0")
    parser.add_argument("--until", metavar="S", type=duration, help="virtual time to stop at")
    parser.add_argument("--chrome", metavar="FILE", help="write a trace for chrome://tracing there")


def add_script(parser: Parser, bufferings: tuple[str, ...], waits: str) -> None:
    """The options of mpi4py scripts; where `waits` is not shown, only the first is."""
    shown = waits != argparse.SUPPRESS
    mpi = parser.add_argument_group("mpi4py scripts") if shown else parser
    mpi.add_argument("--mpi", metavar="N", type=_ranks, help="run TARGET, a script, by N ranks")
    mpi.add_argument("--buffering", metavar="KIND", choices=bufferings, help=waits)
    args = "an argument of the script; may be repeated" if shown else waits
    mpi.add_argument("--arg", metavar="ARG", action="append", default=[], help=args)


def add_target(parser: Parser, *, json: bool = True) -> None:
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="a name, `module:name`, `file.py:name`, or -- COMMAND",
    )
    add_setting(parser)
    parser.add_argument(
        "--nodes",
        metavar="N",
        dest="set",
        action="append",
        type=lambda count: ("nodes", count),
        help=argparse.SUPPRESS,  # of a command: how many processes run it
    )
    if json:
        parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_setting(parser: Parser) -> None:
    """`--set`, as often as it is given."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        type=_setting,
        help="a parameter of the system; may be repeated",
    )


def add_run_once(parser: Parser) -> None:
    from presage.search.settings import Settings

    add_target(parser)
    add_options(parser, Settings, ("seed", "traces"))
    steps = "at most; default: 50, of programs 10,000"
    parser.add_argument("--steps", metavar="N", type=positive, help=steps)
    parser.add_argument("--faults", action="store_true", help="let faults happen, too")
    add_script(parser, ("zero", "eager"), WAITS)


def add_explore(parser: Parser) -> None:
    add_target(parser, json=False)
    add_script(parser, ("zero", "eager"), WAITS)
    parser.add_argument("--port", metavar="N", type=_port, default=0, help="default: any")
    parser.add_argument("--open", action="store_true", help="show the page in a browser")


EXPORTS = {
    "shiviz": "a log with vector clocks, for ShiViz",
    "perfetto": "Chrome-trace JSON, for Perfetto",
    "mermaid": "a sequence diagram, for Mermaid",
    "itf": "the states in Apalache's trace format",
    "pytest": "a test that replays the trace",
}


def add_report(parser: Parser) -> None:
    parser.add_argument("trace", metavar="TRACE", help="a file that `presage check` saved")
    parser.add_argument("--out", metavar="FILE", help="the page; default: TRACE's name with .html")
    parser.add_argument("--open", action="store_true", help="show the page in a browser")
    other = "another trace, to be shown beside this one"
    parser.add_argument("--with", dest="other", metavar="OTHER.trace", help=other)
    _add_source(parser)
    for name, what in EXPORTS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=f"write {what}, instead of the page")


def add_mpirun(parser: Parser) -> None:
    """The options of `presage mpirun`; what follows the script is the script's."""
    parser.add_argument("-n", "--np", dest="ranks", metavar="N", type=_ranks, default=1)
    parser.add_argument("--tag-output", action="store_true", help="the rank before each line")
    parser.add_argument("script", metavar="SCRIPT", help="a script that uses mpi4py")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="of the script")


def positive(text: str) -> int:
    from presage.search.options import COUNT_MAX

    return between(1, COUNT_MAX, text)


def size(text: str) -> int:
    from presage.search.options import COUNT_MAX

    return between(0, COUNT_MAX, text)


def between(least: int, most: int, text: str) -> int:
    number = _whole(text)
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text} is not between {least} and {most}")
    return number


_ranks = partial(between, 1, RANKS_MAX)
_port = partial(between, 0, 65_535)
_seed = partial(between, 0, SEED_MAX)


def _whole(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def duration(text: str) -> float:
    """`90`, `90s`, `10m`, `1.5h` or `2d`, in seconds."""
    from presage.search.options import SECONDS_MAX

    unit = UNITS.get(text[-1:], 0)
    try:
        seconds = float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
    if not 0 < seconds <= SECONDS_MAX:
        most = f"{SECONDS_MAX:,.0f}"
        raise argparse.ArgumentTypeError(
            f"{text} is not a positive number of seconds, up to {most}"
        )
    return seconds


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    return name, value


def settings_of(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What `--set` was given; refuses a name that is set twice."""
    settings = dict(pairs)
    for name in settings:
        if sum(given == name for given, _ in pairs) > 1:
            raise BadTarget(
                f"`{name}` is set more than once",
                "a command line put together from parts",
                f"keep one `--set {name}=VALUE`",
            )
    return settings
