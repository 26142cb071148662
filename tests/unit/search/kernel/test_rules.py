"""Rules of users against what handlers do: wrong ones are refused, right ones are weighed."""

from dataclasses import dataclass

import pytest

from presage import (
    Down,
    Faults,
    Rules,
    Seal,
    Service,
    System,
    Timed,
    always,
    check,
    durable,
    ghost,
    on,
    state,
)
from presage.errors import BadSystem, WrongRule
from presage.search.doctor import transcribe

# -- the election of ZooKeeper's leader, as far as its votes go ---------------------------------


@dataclass(frozen=True)
class Vote:
    leader: int


class Voter(Service):
    """Tells all whom it votes for; a better vote is taken over, any vote is counted."""

    id: int
    quorum: int = 2
    vote: int = 0
    received: dict[str, int] = state(dict)
    elected: int | None = None

    def start(self) -> None:
        self.vote = self.id
        self._tell()

    def _tell(self) -> None:
        self.received[self.name] = self.vote
        for peer in ("n1", "n2", "n3"):
            if peer != self.name:
                self.send(peer, Vote(self.vote))

    @on(Vote)
    def voted(self, vote: Vote, source: str) -> None:
        if self.elected is not None:
            return
        self.received[source] = vote.leader
        if vote.leader > self.vote:
            self.vote = vote.leader
            self._tell()
        if sum(each == self.vote for each in self.received.values()) >= self.quorum:
            self.elected = self.vote


def new_vote(node, message) -> bool:
    return message.message.leader > node.vote


def election(*rules, **more) -> System:
    nodes = {f"n{at}": Voter(id=at) for at in (1, 2, 3)}
    return System(nodes, rules=rules, **more)


def test_the_published_rule_of_the_election_is_refused():
    """Table 1 of the paper has `pd = !newVote`: a vote that does not win is discarded.

    It is stored all the same, and may complete a quorum.
    """
    with pytest.raises(WrongRule) as wrong:
        check(election(Rules(of=Voter, discards=lambda *seen: not new_vote(*seen))), traces=None)
    error = wrong.value
    assert (error.rules, error.kind) == ("Voter", "discards")
    node, fields = error.state
    assert node in ("n1", "n2", "n3")
    assert "received={" in fields
    assert "`received`" in error.difference
    [message] = error.messages
    assert message.startswith("Vote(leader=")
    assert len(error.ends) == 1
    assert "way out: let `discards` say no there" in str(error)


def test_votes_that_do_not_win_are_refused_where_they_complete_a_quorum():
    def stored_already(node, message) -> bool:
        return node.received.get(message.source) == message.message.leader

    def lost(node, message) -> bool:  # right where the vote is known; wrong for the quorum
        return not new_vote(node, message) and len(node.received) == 2

    with pytest.raises(WrongRule, match="`elected`|`received`"):
        check(election(Rules(discards=lost)), traces=None)
    check(election(Rules(discards=stored_already)), traces=None).assert_holds()


def test_a_right_rule_is_weighed_against_all_that_commute():
    done = Rules(
        of=Voter,
        name="done",
        discards=lambda node, message: node.elected is not None,
        independent=lambda node, one, other: node.elected is not None,
    )
    report = check(election(done), traces=None)
    assert report.exhausted
    notes = [note for note in report.notes if note.startswith("rules")]
    assert len(notes) == 2
    assert "`discards` leaves out" in notes[0]
    assert "pairs that commute" in notes[1]
    assert report.unique == check(election(), traces=None).unique


# -- two messages -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Add:
    n: int


@dataclass(frozen=True)
class Put:
    n: int


class Sender(Service):
    messages: tuple[object, ...]

    def start(self) -> None:
        for message in self.messages:
            self.send("cell", message)


class Cell(Service):
    n: int = 0
    seen: int = ghost(0)
    last: tuple[int, ...] = durable(())
    log: bool = False

    @on(Add)
    def add(self, message: Add) -> None:
        self.seen += 1
        self.n += message.n

    @on(Put)
    def put(self, message: Put) -> None:
        self.n = message.n


def cell(*messages, rules=(), **more) -> System:
    nodes = {"sender": Sender(messages=messages), "cell": Cell()}
    return System(nodes, rules=rules, **more)


def always_independent(node, one, other) -> bool:
    return True


@pytest.mark.parametrize("network", ["unordered", "duplicating"])
def test_increments_commute_and_assignments_do_not(network):
    rules = Rules(of=Cell, independent=always_independent)
    report = check(cell(Add(1), Add(2), rules=[rules], network="unordered"), traces=None)
    assert any("`independent` leaves out 0 of 1 pairs" in note for note in report.notes)
    with pytest.raises(WrongRule) as wrong:
        check(cell(Put(1), Put(2), rules=[rules], network=network), traces=None)
    assert wrong.value.difference == "the two orders differed in `n`: 2 and 1"
    assert wrong.value.messages == ("Put(n=1) from sender", "Put(n=2) from sender")
    assert [end[:24] for end in wrong.value.ends] == [
        "in this order: n=2, seen",
        "in the other: n=1, seen=",
    ]


def test_messages_that_are_never_in_flight_together_are_no_pair():
    report = check(
        cell(Put(1), Put(2), rules=[Rules(independent=always_independent)], network="ordered"),
        traces=None,
    )
    assert any("leaves out 0 of 0 pairs" in note for note in report.notes)


def test_two_equal_assignments_commute_though_the_second_is_skipped():
    class Twice(Sender):
        pass

    nodes = {"a": Twice(messages=(Put(1),)), "b": Twice(messages=(Put(1),)), "cell": Cell()}
    rules = Rules(of=Cell, independent=always_independent, discards=lambda node, m: node.n == 1)
    report = check(System(nodes, rules=[rules]), traces=None)
    assert any("`independent` leaves out 0 of 1 pairs" in note for note in report.notes)
    assert any("`discards` leaves out 0 of 2 deliveries" in note for note in report.notes)


def test_a_message_that_does_nothing_yet_is_no_reason_to_say_independent():
    class Wary(Cell):
        @on(Add)
        def add(self, message: Add) -> None:
            if self.n:
                self.n += message.n

    nodes = {"sender": Sender(messages=(Add(1), Put(1))), "cell": Wary()}
    rule = Rules(of=Wary, independent=lambda node, one, other: node.n == 0)
    with pytest.raises(WrongRule, match="the two orders differed in `n`"):
        check(System(nodes, rules=[rule]), traces=None)


def test_a_guard_that_shuts_makes_two_messages_depend_on_each_other():
    class Once(Cell):
        @on(Add, when=lambda self: self.n == 0)
        def add(self, message: Add) -> None:
            self.n += message.n

    nodes = {"sender": Sender(messages=(Add(1), Put(1))), "cell": Once()}
    with pytest.raises(WrongRule, match="a guard keeps the other out"):
        check(System(nodes, rules=[Rules(independent=always_independent)]), traces=None)


# -- observers --------------------------------------------------------------------------------


class Recording(Cell):
    @on(Add)
    def add(self, message: Add) -> None:
        self.record(message.n)


class Total:
    def initial(self):
        return 0

    def observe(self, state, node, record):
        return state + record


class History(Total):
    def initial(self):
        return ()

    def observe(self, state, node, record):
        return (*state, record)


def recording(**observers) -> System:
    nodes = {"sender": Sender(messages=(Add(1), Add(2))), "cell": Recording()}
    rules = Rules(of=Recording, independent=always_independent)
    return System(nodes, rules=[rules], observers=observers, skip_noops=False)


def test_the_order_of_records_matters_to_those_who_observe_it():
    check(recording(), traces=None).assert_holds()
    check(recording(total=Total()), traces=None).assert_holds()
    with pytest.raises(WrongRule, match="for observers at .* differed in what it recorded"):
        check(recording(history=History()), traces=None)


# -- crashes ----------------------------------------------------------------------------------


class Survivor(Service):
    alarmed: bool = False
    answers: bool = False

    @on(Down)
    def peer_down(self, notice: Down) -> None:
        self.alarmed = True
        if self.answers:
            self.send(self.name, Add(1))

    @on(Add)
    def add(self, message: Add) -> None: ...


@pytest.mark.parametrize("answers", [False, True])
def test_a_crash_has_local_impact_if_nothing_is_sent_when_it_is_heard_of(answers):
    rules = Rules(of=Survivor, local_impact=lambda node, crash: crash.node == "b")
    nodes = {"a": Survivor(answers=answers), "b": Survivor(answers=answers)}
    system = System(nodes, faults=Faults(crash=1, notices=True), rules=[rules])
    if answers:
        with pytest.raises(WrongRule, match="sends something when it hears of the crash"):
            check(system, traces=None)
    else:
        report = check(system, traces=None)
        assert any("`local_impact` leaves out 1 of 2 notices" in note for note in report.notes)


# -- every search -----------------------------------------------------------------------------

SEARCHES = [
    {"search": "bfs", "threads": 3},
    {"search": "bfs", "reduction": "sleep"},
    {"search": "dfs"},
    {"search": "delay"},
    {"search": "walk"},
    {"search": "hunt", "seconds": 20},
    {"search": "tree"},
    {"search": "tree", "reduction": "none"},
]


@pytest.mark.parametrize("how", SEARCHES, ids=lambda how: "-".join(map(str, how.values())))
def test_each_search_refuses_a_wrong_rule(how):
    system = cell(Put(1), Put(2), rules=[Rules(of=Cell, independent=always_independent)])
    with pytest.raises(WrongRule, match="the two orders differed in `n`"):
        check(system, traces=None, **how)


def test_the_doctor_refuses_a_wrong_rule():
    with pytest.raises(WrongRule, match="the two orders differed in `n`"):
        transcribe(cell(Put(1), Put(2), rules=[Rules(independent=always_independent)]))
    sound = transcribe(cell(Add(1), Add(2), rules=[Rules(independent=always_independent)]))
    assert sound.findings == ()


def test_a_right_rule_changes_nothing_of_a_search():
    @always
    def small(world) -> bool:
        return world["cell"].n < 3

    right = cell(Add(1), Add(2), rules=[Rules(independent=always_independent)])
    plain = check(cell(Add(1), Add(2), properties=[small]), traces=None)
    ruled = check(cell(Add(1), Add(2), properties=[small], rules=list(right.rules)), traces=None)
    assert [v.prop for v in ruled.violations] == [v.prop for v in plain.violations] == ["small"]
    assert (ruled.unique, ruled.generated) == (plain.unique, plain.generated)


def rested(world) -> bool:
    return not world.messages()


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Rules(), "say nothing"),
        (lambda: Rules(of="cell", discards=always_independent), "names no class of services"),
        (lambda: Rules(discards=lambda node: True), "cannot be called with node, message"),
        (lambda: Rules(independent=True), "cannot be called with node, one, other"),
        (lambda: cell(rules=[always_independent]), "which is not a `Rules`"),
        (lambda: cell(rules=[Rules(of=Voter, discards=new_vote)]), "no node is a `Voter`"),
        (lambda: cell(rules=[Rules(discards=new_vote)] * 2), "two rules are called `Service`"),
        (lambda: cell(rules=[Rules(local_impact=new_vote)]), "hear of no crash"),
        (lambda: cell(rules=[Rules(discards=new_vote)], streams=True), "with streams"),
        (lambda: cell(rules=[Rules(discards=new_vote)], clock=Timed()), "with clocks"),
        (
            lambda: cell(rules=Rules(discards=new_vote), seals=[Seal(when=rested, only=Add)]),
            "with seals",
        ),
    ],
)
def test_rules_that_cannot_be_asked_are_refused(make, text):
    with pytest.raises(BadSystem, match=text):
        make()


def test_a_rule_that_raises_is_named_with_its_line():
    def clumsy(node, message) -> bool:
        return message.leader > 0

    with pytest.raises(
        BadSystem, match=r"test_rules\.py:\d+: `discards` of rules `Service` raised"
    ):
        check(cell(Add(1), rules=[Rules(discards=clumsy)]), traces=None)
