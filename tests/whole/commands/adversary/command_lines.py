"""Random command lines that are meant to work, and what a shell must never see of them.

Systems are small: whatever a search leaves out, it ends by itself. What each system is known to
have is counted once in this process, plainly: breadth first, on one thread, without limits.
"""

import json
import random
from functools import cache

from whole.commands.harness import Ended

from presage import check
from presage.cli.target.load import load

SERVICES = {
    "counter": [{}, {"locked": "true"}, {"threads": "3"}],
    "ping_pong": [{}, {"network": "lossless"}],
    "single_copy": [{}, {"clients": "2"}],
    "two_phase_commit": [{"rms": "2"}, {"rms": "3"}],
    "abd": [{}, {"network": "ordered"}],
}
PROGRAMS = ["simgrid.random_bug", "simgrid.waitany", "simgrid.bugged1", "simgrid.electric_fence"]
SEARCHES = ("bfs", "bfs", "bfs", "dfs", "walk", "hunt", "tree")
STATUSES = (0, 1, 2)  # 3 would be nondeterminism, 4 our fault; none is to be seen here
NEVER = ("Traceback", "presage itself failed", "panicked")


@cache
def known(target, settings):
    """The numbers of an exhaustive search, and what became of each property."""
    system = load(target, dict(settings)).system
    report = check(system, keep_going=True, liveness="rest", traces=None, search="bfs")
    assert report.exhausted
    return report.unique, report.generated, report.depth, report.properties


def command_line(seed):
    """The words of a random command, and the system that it is about."""
    dice = random.Random(seed)
    if dice.random() < 0.15:
        return [
            "check",
            dice.choice(PROGRAMS),
            "--json",
            *_limits(dice, ("--depth", "--walks")),
        ], None
    target = dice.choice(list(SERVICES))
    settings = dice.choice(SERVICES[target])
    words = [f"--set={name}={value}" for name, value in settings.items()]
    about = (target, tuple(settings.items()))
    kind = dice.random()
    if kind < 0.1:
        return ["doctor", target, *words], None
    if kind < 0.25:
        more = ["--json"] * dice.randrange(2) + ["--faults"] * dice.randrange(2)
        seed = str(dice.randrange(100))
        return [
            "run-once",
            target,
            *words,
            "--seed",
            seed,
            *more,
            *_limits(dice, ("--steps",)),
        ], None
    return ["check", target, *words, "--json", *_how(dice)], about


def _how(dice):
    search = dice.choice(SEARCHES)
    words = ["--search", search] if dice.random() < 0.9 else []
    options = {
        "--seed": str(dice.randrange(1_000)),
        "--threads": dice.choice("123"),
        "--reduction": dice.choice(("none", "sleep", "odpor", "sdpor", "dpor")),
        "--symmetry": dice.choice(("on", "off")),
        "--liveness": dice.choice(("exact", "rest")),
        "--handler-seconds": dice.choice(("1", "20")),
        "--traces": dice.choice(("kept", "a/b c")),
    }
    for name, value in options.items():
        if dice.random() < 0.25:
            words += [name, value]
    for flag in ("--keep-going", "--ascii", "--no-color"):
        words += [flag] if dice.random() < 0.3 else []
    if search in ("walk", "hunt"):
        words += ["--walks", str(dice.choice((1, 7, 60)))]
    if dice.random() < 0.15:
        words += ["--checkpoint", "checkpoint", "--checkpoint-seconds", "0.05"]
        words += ["--resume"] if dice.random() < 0.5 else []
    return [*words, *_limits(dice, ("--depth", "--states", "--seconds", "--memory"))]


def _limits(dice, names):
    values = {
        "--depth": lambda: dice.choice((1, 2, 9, 400)),
        "--states": lambda: dice.choice((1, 10, 100_000)),
        "--seconds": lambda: dice.choice((0.01, 0.5, 30)),
        "--memory": lambda: dice.choice((1, 4_000)),
        "--walks": lambda: dice.choice((1, 20)),
        "--steps": lambda: dice.choice((1, 5, 200)),
    }
    chosen = [name for name in names if dice.random() < 0.2]
    return [word for name in chosen for word in (name, str(values[name]()))]


def judge(words, about, ended: Ended):
    """Refuse what a user must not see; gives whether totals were compared."""
    said = f"presage {' '.join(words)}\nstatus {ended.returncode}\n{ended.stdout}{ended.stderr}"
    assert ended.returncode in STATUSES, said
    assert not any(text in ended.stdout + ended.stderr for text in NEVER), said
    if ended.returncode == 2 and not _came_to_no_end(words, ended):
        assert ended.stderr.startswith("error: "), said
        return False
    if "--json" not in words:
        assert ended.stdout.strip(), said
        return False
    report = json.loads(ended.stdout)
    if about is None or words[0] != "check":
        return False
    assert (ended.returncode == 1) == bool(report["violations"]), said
    if ended.returncode == 2:
        assert report["executions"] == 0 and not report["exhausted"], said
        return False
    return _totals(report, about, said)


def _came_to_no_end(words, ended: Ended):
    """Whether a limit cut every execution short, which is told on standard output."""
    if "--json" not in words:
        return "no execution came to its end" in ended.stdout
    return bool(ended.stdout) and json.loads(ended.stdout)["stopped_by"] is not None


def _totals(report, about, said):
    unique, generated, depth, properties = known(*about)
    states = report["states"]
    whole = report["reduction"] == "none" and not report["symmetry"]
    if report["search"] not in ("bfs", "dfs"):
        return False
    assert states["unique"] <= unique, said
    if not report["exhausted"]:
        assert report["stopped_by"] is not None, said
        return False
    for name, status in properties.items():
        assert report["properties"][name] == status, said
    if whole:
        assert (states["unique"], states["generated"]) == (unique, generated), said
        assert report["search"] == "dfs" or states["depth"] == depth, said
    return True
