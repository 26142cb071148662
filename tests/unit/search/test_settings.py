"""One declaration of each option: keywords, flags, defaults, refusals and limits follow from it."""

import argparse
import inspect
from dataclasses import MISSING, FrozenInstanceError, fields

import pytest

from presage import Hunt, Process, Program, Service, System, check
from presage._core import FAULTS
from presage.cli.check_options import add_check, add_hunt, check_options
from presage.cli.options import Parser, add_run_once
from presage.errors import BadSystem
from presage.limits import Limits, Weighing
from presage.search.options import PROGRAM_SEARCHES, SEARCHES, options
from presage.search.settings import Settings


class Idle(Service):
    n: int = 0


SYSTEM = System({"a": Idle()})
PROGRAM = Program({"a": Process(print)})
# A value of each option that asks for something.
VALUES = {
    "threads": 2,
    "calm": True,
    "hunt": Hunt(),
    "spins": 3,
    "symmetry": True,
    "audit": 9,
    "memory_mib": 9_999,
    "states": 5,
    "walks": 5,
    "checkpoint": "kept",
    "checkpoint_seconds": 1.5,
    "resume": True,
    "trust": True,
    "spill": "kept",
}


def flags(fill) -> dict[str, argparse.Action]:
    parser = Parser()
    fill(parser)
    return {action.dest: action for action in parser._actions}


def test_the_keywords_of_check_are_the_settings():
    taken = inspect.signature(check).parameters.values()
    keywords = {each.name: each.default for each in taken if each.name != "system"}
    assert keywords == {each.name: each.default for each in fields(Settings)}
    assert MISSING not in keywords.values()


def test_settings_cannot_be_written_to():
    with pytest.raises(FrozenInstanceError):
        Settings().depth = 4


@pytest.mark.parametrize("declaration", [Settings, Hunt])
def test_every_option_has_a_flag_of_check_and_no_default_of_its_own(declaration):
    known = flags(add_check)
    for name, declared, _ in options(declaration):
        if declared.kind == "object":
            assert name not in known
        else:
            assert f"--{declared.flag or name.replace('_', '-')}" in known[name].option_strings
            assert known[name].default is None


def test_hunt_and_run_once_take_their_flags_from_the_same_declaration():
    checked, hunted, once = flags(add_check), flags(add_hunt), flags(add_run_once)
    same = {name for name, declared, _ in options(Settings) if declared.hunts}
    assert {"seconds", "memory_mib", "traces"} < same < set(hunted)
    for name in same:
        assert hunted[name].option_strings == checked[name].option_strings
        assert hunted[name].help == checked[name].help
    assert {"spill", "calm", "search"}.isdisjoint(hunted)
    assert {name for name, _, _ in options(Hunt)} < set(hunted)
    assert once["seed"].help == checked["seed"].help
    assert once["traces"].help == checked["traces"].help


def test_only_what_was_given_becomes_a_keyword():
    def given(fill, *words):
        parser = Parser()
        fill(parser)
        return check_options(parser.parse_args(["counter", *words]))

    assert given(add_check) == {}
    assert given(add_check, "--symmetry", "on", "--threads", "auto", "--memory", "70") == {
        "symmetry": True,
        "threads": "auto",
        "memory_mib": 70,
    }
    assert given(add_hunt, "--storm", "3") == {"search": "hunt", "hunt": Hunt(storm=3)}
    assert given(add_check, "--storm", "3") == {"hunt": Hunt(storm=3)}


@pytest.mark.parametrize("program", [False, True])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", VALUES)
def test_an_option_is_refused_where_it_is_not_for(name, search, program):
    declared = {name: each for name, each, _ in options(Settings)}[name]
    searches = declared.use.programs if program else declared.use.services
    kinds = PROGRAM_SEARCHES if program else SEARCHES
    together = {"resume": {"checkpoint": "kept"}, "spill": {"memory_mib": 9_999}}.get(name, {})
    if name == "audit" or (name, search) == ("symmetry", "delay"):
        together = {"skip": "symmetric-faults"}
    settings = Settings(search=search, **{name: VALUES[name]}, **together)
    if search in kinds and search in searches:
        assert settings.validated(program=program) is settings
        return
    with pytest.raises(BadSystem) as refused:
        settings.validated(program=program)
    fact, cause, remedy = str(refused.value).splitlines()
    assert cause.startswith("  usual cause: ") and len(cause) > 30
    assert remedy.startswith("  way out: leave ")


def test_an_option_that_is_not_for_every_search_says_why():
    for name, declared, _ in options(Settings):
        for use in (declared.use, *declared.words.values()):
            some = use.services not in ((), SEARCHES)
            some = some or use.programs not in ((), PROGRAM_SEARCHES)
            assert bool(use.because) == some, name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": -1}, "`seed` is -1"),
        ({"seed": 2**64}, "from 0 to 18,446,744,073,709,551,615"),
        ({"depth": "9"}, "`depth` is '9'"),
        ({"depth": True}, "`depth` is True"),
        ({"spins": -1}, "`spins` is -1"),
        ({"checkpoint_seconds": 0}, "`checkpoint_seconds` is 0"),
        ({"handler_seconds": float("inf")}, "above 0, up to 1,000,000,000"),
        ({"reduction": "ample"}, "use one of `none`, `sleep`, `dpor`, `sdpor`, `odpor`"),
        ({"spill": "there", "memory_mib": 9_999, "symmetry": True}, "`spill` together with"),
    ],
)
def test_values_that_make_no_sense_are_refused(given, said):
    with pytest.raises(BadSystem) as refused:
        check(SYSTEM, traces=None, **given)
    assert said in str(refused.value)


def test_options_of_the_other_kind_are_refused_by_name_and_flag():
    with pytest.raises(BadSystem, match=r"`memory_mib` \(`--memory`\) was given for a program"):
        check(PROGRAM, memory_mib=900, traces=None)
    with pytest.raises(BadSystem, match="`spins` was given for a system"):
        check(SYSTEM, spins=1, traces=None)


def test_what_is_left_out_follows_from_the_rest():
    def whole(*, program=False, **given):
        return Settings(**given).with_defaults(program=program)

    def search(**given):
        settings = whole(**given)
        return settings.search, settings.reduction, settings.depth, settings.walks

    assert search() == ("bfs", "none", None, None)
    assert search(program=True) == ("tree", "odpor", 100_000, None)
    assert search(program=True, search="bfs") == ("bfs", "none", None, None)
    assert search(reduction="sleep") == ("bfs", "sleep", None, None)
    assert search(reduction="sdpor") == ("tree", "sdpor", 100_000, None)
    assert search(search="walk") == ("walk", "none", 200, 1_000)
    assert search(search="walk", seconds=3.0) == ("walk", "none", 200, None)
    assert search(search="hunt", walks=7) == ("hunt", "none", None, 7)
    assert whole().hunt == Hunt() and whole(spins=0).spins == 0 and whole().spins == 2
    assert whole(seconds=3.0).budget.seconds == 3.0


def test_the_limits_of_the_kernel_are_those_of_the_settings():
    given = {"depth": 4, "states": 5, "memory_mib": 6, "threads": 7, "seed": 8, "walks": 9}
    weights = Weighing([0] * len(FAULTS), [])
    limits = Settings(**given, keep_going=True).with_defaults(program=False).limits(1.5, weights)
    assert limits == Limits(seconds=1.5, keep_going=True, weights=weights, **given)
