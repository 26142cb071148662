"""Faults that are left out as like others: which are, what is audited, what the report says."""

import json
from dataclasses import dataclass

import pytest

from presage import Delay, Faults, Service, System, check
from presage.errors import BadSystem, Nondeterminism, NotState
from presage.model.service.declare import action, durable, ghost, on
from presage.props.property import always, sometimes
from presage.systems import paxos, raft

SKIP = {"search": "delay", "skip": "symmetric-faults", "traces": None}


@dataclass(frozen=True)
class Vote:
    term: int


class Member(Service):
    """Counts up to three; a crash at two leaves something behind that breaks the claim."""

    level: int = durable(0)
    bad: bool = durable(False)

    @action(when=lambda self: self.level < 3)
    def grow(self):
        self.level += 1

    def start(self):
        self.bad = self.level == 2


class Blind(Member):
    """A wrong key: what breaks depends on the level."""

    def recovery(self):
        return None


class Sighted(Member):
    def recovery(self):
        return (self.name, self.level)


@always
def never_bad(world):
    return not any(node.bad for node in world.nodes)


def system(service, **faults):
    nodes = {"a": service(), "b": service()}
    budgets = {"crash": 1, "restart": 1} | faults
    return System(nodes, faults=Faults(**budgets), properties=[never_bad])


def test_a_wrong_key_is_reported_by_the_audit_with_the_field_to_return():
    report = check(system(Blind), keep_going=True, **SKIP)
    [found] = report.violations
    assert found.prop == "never_bad" and found.trace is not None
    first = report.skipped.not_alike[0]
    assert (first.fault, first.why) == ("crash", "`never_bad` breaks after it")
    assert [where.partition(".")[2] for where, _, _ in first.fields] == ["level"]
    assert "; let `recovery` return `level`" in str(first)
    assert f"not alike: {first}" in str(report)


def test_without_an_audit_a_wrong_key_misses_what_it_is_blind_to():
    report = check(system(Blind), audit=0, **SKIP)
    assert report.violations == () and report.skipped.audited == 0
    assert report.skipped.skipped > 0 and not report.exhausted


def test_a_key_that_tells_states_apart_finds_it_itself():
    report = check(system(Sighted), audit=0, **SKIP)
    assert [found.prop for found in report.violations] == ["never_bad"]


class Restful(Service):
    """What the crash leaves shows at rest only, and no property speaks of it."""

    level: int = durable(0)
    scar: int = durable(0)

    @action(when=lambda self: self.level < 2)
    def grow(self):
        self.level += 1

    def start(self):
        self.scar = self.level

    def recovery(self):
        return None


def test_rest_that_only_a_skipped_fault_leads_to_is_not_alike():
    members = {"a": Restful(), "b": Restful()}
    report = check(System(members, faults=Faults(crash=1, restart=1)), **SKIP)
    whys = {found.why for found in report.skipped.not_alike}
    assert whys == {"the system comes to rest after it as nowhere else"}
    assert any("`level`" in str(found) for found in report.skipped.not_alike)
    assert report.violations == () and report.exit_status == 0


def test_the_report_makes_its_reservation_everywhere():
    report = check(raft.system(crashes=1, terms=1), **SKIP)
    text, skipped = str(report), report.skipped
    assert text.startswith("no violation found up to ")
    share = f"{skipped.skipped:,} of {skipped.places:,} places for faults were skipped as alike"
    assert f"heuristic: {share}" in text
    assert "exhaustively" not in text and " held" not in text
    assert set(report.properties.values()) == {"unknown", "reached"}
    assert not report.exhausted and report.stopped_by is None
    assert report.exit_status == 0
    with pytest.raises(AssertionError, match="heuristic: "):
        report.assert_holds()
    report.assert_holds(allow_partial=True)
    told = json.loads(json.dumps(report.to_json()))
    assert told["exhausted"] is False
    assert told["skip"] == {
        "what": "symmetric-faults",
        "exact": False,
        "places": skipped.places,
        "skipped": skipped.skipped,
        "audited": skipped.audited,
        "audit_states": skipped.audit_states,
        "not_alike": [found.to_json() for found in skipped.not_alike],
    }


def test_nothing_is_reserved_where_nothing_was_skipped():
    report = check(paxos.system(clients=1), **SKIP)  # it allows no faults
    assert report.exhausted and report.skipped.places == 0
    assert "held, exhaustively" in str(report) and "heuristic" not in str(report)
    assert check(paxos.system(clients=1)).to_json()["skip"] is None


def test_faults_that_were_skipped_did_not_happen():
    plain = check(system(Member), search="delay", keep_going=True, traces=None)
    report = check(system(Member), keep_going=True, audit=0, **SKIP)
    assert 0 < report.faults["crash"] < plain.faults["crash"]


class Settings(Service):
    """Two nodes that differ by a number that never changes, and by a ghost."""

    number: int
    peer: str
    level: int = durable(0)
    seen: int = ghost(0)

    @action(when=lambda self: self.level < 1)
    def grow(self):
        self.seen += 1
        self.level += 1


def test_names_constants_and_ghosts_do_not_count_by_default():
    nodes = {"a": Settings(number=1, peer="b"), "b": Settings(number=2, peer="a")}
    report = check(System(nodes, faults=Faults(crash=1)), **SKIP)
    # In each of four states two nodes may crash; their levels are 0 or 1, and so is the other's.
    # Of four places that are alike one leads to a state that is met in another way.
    assert (report.skipped.places, report.skipped.skipped) == (8, 3)


class Talker(Service):
    peer: str
    level: int = 0

    @action(when=lambda self: self.level < 1)
    def talk(self):
        self.level += 1
        self.send(self.peer, Vote(1))

    @on(Vote)
    def hear(self, vote):
        pass


class Deaf(Talker):
    def recovery(self):
        return self.level


@pytest.mark.parametrize(("service", "skipped"), [(Talker, 0), (Deaf, 1)])
def test_types_of_messages_count_unless_recovery_says_what_does(service, skipped):
    nodes = {"a": service(peer="b"), "b": service(peer="a", level=1)}
    faults = Faults(crash=1, nodes=["a"])
    report = check(System(nodes, faults=faults, network="ordered"), **SKIP)
    assert (report.skipped.places, report.skipped.skipped) == (3, skipped)


class Clock(Service):
    ticks: int = 0

    @action(when=lambda self: self.ticks < 2)
    def tick(self):
        self.ticks += 1


class Backup(Service):
    pass


def test_a_restart_waits_until_a_role_has_changed():
    nodes = {"clock": Clock(), "backup": Backup()}
    faults = Faults(crash=1, restart=1, nodes=["backup"])
    whole = check(System(nodes, faults=faults), search="delay", traces=None)
    report = check(System(nodes, faults=faults), audit=0, delay=Delay(fault_delays=0), **SKIP)
    # It may be down while the clock stands at 0, 1 or 2. At 0 it has just crashed.
    assert whole.faults == {"crash": 3, "restart": 3}
    assert report.faults == {"crash": 3, "restart": 2}


def test_a_restart_does_not_wait_where_nothing_will_ever_change():
    alone = System({"backup": Backup()}, faults=Faults(crash=1, restart=1))
    report = check(alone, **SKIP)
    assert report.exhausted and report.faults == {"crash": 1, "restart": 1}


@sometimes
def somebody_is_down(world):
    return len(world.up()) < len(world.nodes)


def test_walks_are_reserved_too():
    members = System(
        {"a": Member(), "b": Member()},
        faults=Faults(crash=2, restart=2),
        properties=[somebody_is_down, never_bad],
    )
    report = check(members, search="walk", skip="symmetric-faults", walks=20, traces=None)
    assert report.skipped.skipped > 0 and report.skipped.audited == 0
    assert report.properties["somebody_is_down"] == "reached"
    assert report.is_partial


class Once(Service):
    done: bool = False

    @action(when=lambda self: not self.done)
    def do(self):
        self.done = True


@pytest.mark.parametrize(("nodes", "states", "executions"), [(1, 2, 1), (2, 4, 2)])
def test_executions_are_runs_that_meet_something_new(nodes, states, executions):
    # Of two nodes: first one, then the other; and the other first, which leads to what is known.
    several = System({name: Once() for name in "ab"[:nodes]})
    report = check(several, search="delay", traces=None)
    assert (report.unique, report.executions) == (states, executions)


def test_until_a_violation_executions_are_those_begun():
    found = check(system(Member), search="delay", traces=None)
    assert (
        0
        < found.executions
        < check(system(Member), search="delay", keep_going=True, traces=None).executions
    )


@pytest.mark.parametrize("search", ["bfs", "dfs", "tree", "cycles", "hunt"])
def test_other_searches_refuse_it(search):
    with pytest.raises(BadSystem, match="`symmetric-faults` is given for the search"):
        check(system(Member), search=search, skip="symmetric-faults")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"search": "delay", "skip": "faults"}, "there is no skip `faults`"),
        ({"search": "delay", "symmetry": True}, "add `--skip symmetric-faults`"),
        ({"search": "delay", "audit": 9}, "nothing is skipped"),
        ({"search": "walk", "audit": 9, "skip": "symmetric-faults"}, "only a search by delays"),
        ({**SKIP, "threads": 2}, "which of two like faults comes first would be chance"),
        ({**SKIP, "symmetry": True}, "declares no interchangeable nodes"),
    ],
)
def test_what_does_not_go_together_is_refused(given, said):
    with pytest.raises(BadSystem, match=said):
        check(system(Member), **given)


def wrong(**methods):
    return system(type("Wrong", (Member,), methods))


def raises(self):
    raise KeyError("level")


def needs_more(self, more):
    return more


def holds_a_function(self):
    return lambda: 0


ANSWERS = iter(range(1_000_000))


def never_twice_the_same(self):
    return next(ANSWERS)


@pytest.mark.parametrize(
    ("method", "error", "said"),
    [
        (raises, BadSystem, "`recovery` raised KeyError: 'level'"),
        (needs_more, BadSystem, "cannot be asked what recovery depends on"),
        (holds_a_function, NotState, r"Wrong\.recovery\(\)"),
        (never_twice_the_same, Nondeterminism, "run twice in the same state, gave two results"),
    ],
)
def test_a_recovery_that_cannot_be_asked_is_an_error(method, error, said):
    with pytest.raises(error, match=said):
        check(wrong(recovery=method), **SKIP)


class Twin(Service):
    peer: str
    level: int = durable(0)

    @action(when=lambda self: self.level < 2)
    def grow(self):
        self.level += 1


def test_between_interchangeable_nodes_it_is_exact():
    nodes = {"a": Twin(peer="b"), "b": Twin(peer="a")}
    twins = System(nodes, faults=Faults(crash=1, restart=1), symmetric=[["a", "b"]])
    whole = check(twins, traces=None)
    orbits = check(twins, symmetry=True, traces=None)
    report = check(twins, symmetry=True, **SKIP)
    assert report.exhausted and report.skipped.exact and report.skipped.skipped > 0
    assert orbits.unique <= report.unique < whole.unique
    assert "exhaustively" in str(report) and "heuristic" not in str(report)
    assert "no state is missed by that" in str(report)
    report.assert_holds()


def test_a_trace_keeps_the_reservation_for_its_page(tmp_path):
    found = check(system(Blind), keep_going=True, **{**SKIP, "traces": tmp_path})
    [violation] = found.violations
    leads = [lead for lead, _ in violation.trace.remarks]
    assert "heuristic" in leads and "not alike" in leads
