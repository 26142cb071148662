"""A message that comes in vain: never left out without a word where a verdict depends on it."""

import pytest

from presage import Service, System, always, check, eventually, no_deadlock, on, sometimes
from presage.search.assumptions import NEVER_IN_VAIN


class Client(Service):
    def start(self) -> None:
        self.send("server", "begin")
        self.send("server", "end")


class Server(Service):
    stage: str = "idle"

    @on(str)
    def heard(self, word: str) -> None:
        if (self.stage, word) in (("idle", "begin"), ("busy", "end")):
            self.stage = {"begin": "busy", "end": "done"}[word]


DONE = eventually(lambda world: world["server"].stage == "done", name="is_done")
IDLE_FIRST = always(lambda world: world["server"].stage != "none", name="idle_first")
WAITS = always(
    lambda world: len(world.messages()) > 0 or world["server"].stage == "done", name="waits"
)
EMPTY = sometimes(lambda world: not world.messages(), name="empty")
STUCK = no_deadlock(unless=lambda world: world["server"].stage == "done")


def verdict(prop, **more):
    system = System({"client": Client(), "server": Server()}, properties=[prop], **more)
    report = check(system, traces=None)
    assert report.exhausted or report.violations
    return report.properties[prop.name], report.assumes


@pytest.mark.parametrize("prop", [DONE, STUCK], ids=lambda prop: prop.name)
def test_what_is_judged_at_rest_sees_messages_that_came_in_vain(prop):
    assert verdict(prop) == verdict(prop, skip_noops=False) == ("violated", ())
    assert verdict(prop, skip_noops=True) == ("held", (NEVER_IN_VAIN,))


def test_where_messages_stay_nothing_is_lost():
    assert verdict(DONE, network="duplicating") == ("held", ())
    assert verdict(DONE, network="duplicating", skip_noops=False) == ("held", ())


def test_claims_about_nodes_alone_assume_nothing():
    assert verdict(IDLE_FIRST) == verdict(IDLE_FIRST, skip_noops=False) == ("held", ())


def test_a_claim_about_messages_holds_under_an_assumption():
    assert verdict(WAITS) == ("held", (NEVER_IN_VAIN,))
    assert verdict(WAITS, skip_noops=False) == ("violated", ())
    assert verdict(EMPTY) == ("reached", ())


def test_an_assumption_outlives_an_interruption(tmp_path):
    def begun(**more):
        system = System({"client": Client(), "server": Server()}, properties=[WAITS])
        return check(system, traces=None, checkpoint=tmp_path / "kept", **more)

    assert begun(states=3).stopped_by is not None
    report = begun(resume=True)
    assert report.exhausted and report.assumes == (NEVER_IN_VAIN,)
