"""`eventually` on the command line: the switch, the keys, a loop that is gone round again."""

from pathlib import Path

from whole.commands.harness import refused, run, told, write

LIGHT = """
    class Light(Service):
        on: bool = False
        @action(when=lambda self: not self.on)
        def blink(self) -> None:
            self.on = self.choose([False, True])
        @action(when=lambda self: self.on)
        def off(self) -> None:
            self.on = False

    def system(*, fairness: str = "weak", goal: bool = True) -> System:
        lit = eventually(lambda world: world["n0"].on == goal, name="lit", fairness=fairness)
        return System(nodes={"n0": Light()}, properties=[lit])
"""


def test_a_loop_is_reported_saved_and_replayed() -> None:
    write(LIGHT)
    report = told(run("check", "bad.py:system", "--json"), 1)
    [violation] = report["violations"]
    told_of = {key: violation[key] for key in ("kind", "loop", "fairness", "dead", "critical")}
    assert told_of == {
        "kind": "liveness",
        "loop": 1,
        "fairness": "weak",
        "dead": False,
        "critical": None,
    }
    assert report["exhausted"] is True
    assert report["liveness"] == {
        "lit": {"fairness": "weak", "live": 2, "unknown": 0, "dead": 0, "critical_transitions": 0}
    }
    replayed = told(run("replay", violation["trace"], "--json"), 1)
    assert (replayed["reproduced"], replayed["rounds"]) == (True, 1)
    shown = run("replay", violation["trace"])
    assert "the loop 1 more time, every state the same" in shown.stdout


def test_a_loop_that_the_code_no_longer_takes_is_not_reproduced() -> None:
    write(LIGHT)
    [violation] = told(run("check", "bad.py:system", "--json"), 1)["violations"]
    write(LIGHT.replace('world["n0"].on == goal', "True"))
    replayed = told(run("replay", violation["trace"], "--json"), 0)
    assert replayed["reproduced"] is False


def test_rest_only_is_asked_for_by_a_switch() -> None:
    write(LIGHT)
    report = told(run("check", "bad.py:system", "--json", "--liveness", "rest"), 0)
    assert (report["violations"], report["liveness"]) == ([], {})
    assert "only rest was asked for" in report["notes"][0]
    wrong = run("check", "bad.py:system", "--liveness", "fair")
    assert wrong.returncode == 2
    assert "there is no 'fair' (choose from exact, rest)" in wrong.stderr


def test_a_fairness_that_does_not_exist_is_refused() -> None:
    write(LIGHT)
    refused(run("check", "bad.py:system", "--set", "fairness=fair"), 2, "names no fairness")
    assert not Path(".presage").exists()


DOOR = """
    class Door(Service):
        open: bool = False
        locked: bool = False

        @action(when=lambda self: not self.locked)
        def push(self) -> None:
            self.open = not self.open

        @action(when=lambda self: not self.open and not self.locked)
        def lock(self) -> None:
            self.locked = True

    opens = eventually(lambda world: world["door"].open, name="opens")
    system = System(nodes={"door": Door()}, properties=[opens])
"""


def test_what_a_hunt_saves_is_replayed_the_dead_end_and_the_live_path() -> None:
    write(DOOR)
    report = told(run("check", "bad.py", "--search", "hunt", "--json"), 1)
    [found] = report["violations"]
    dead = run("replay", found["trace"])
    assert (dead.returncode, "never holds again after step" in dead.stdout) == (1, True)
    live = run("replay", found["live"])
    assert live.returncode == 0 and "violation" not in live.stdout
    assert live.stdout.startswith("replay of a trace in which opens holds again after")
    for trace in (found["trace"], found["live"]):
        assert run("graph", trace).returncode == 0
