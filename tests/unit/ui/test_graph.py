"""The event graph: who does what when, which message goes where, and what becomes of it."""

from msgspec import structs

from presage.trace.trace import Sent, Trace, TraceStep
from presage.ui.graph import render
from presage.ui.theme import Theme

STEPS = (
    TraceStep(
        index=1, node="n0", kind="timer", label="tick", detail="tick()", fingerprint=1,
        sends=(Sent("n0", "n2", "Ping()"), Sent("n0", "n1", "Ping()"), Sent("n0", "n0", "Me()")),
    ),
    TraceStep(
        index=2, node="n2", kind="deliver", label="Ping n0 -> n2", source="n0", detail="Ping()",
        sends=(Sent("n2", "n0", "Pong()"),), logs=("hello",), fingerprint=2,
    ),
    TraceStep(index=3, node="n1", kind="crash", label="crash", fingerprint=3),
    TraceStep(
        index=4, node="n0", kind="drop", label="Pong n2 -> n0", source="n2", detail="Pong()",
        fingerprint=4,
    ),
    TraceStep(
        index=5, node="n0", kind="deliver", label="Me n0 -> n0", source="n0", detail="Me()",
        failure="ValueError: no", fingerprint=5,
    ),
)  # fmt: skip


def trace(**more):
    facts = {"prop": "alive", "kind": "liveness", "message": "why", "step": 5, "critical": 3} | more
    facts = {"steps": STEPS} | facts
    return Trace(target=None, system="s", nodes=("n0", "n1", "n2"), initial=0, **facts)


def test_lanes_arrows_losses_and_failures():
    assert render(trace(), Theme(width=70)).splitlines() == [
        "alive never holds again after step 3",
        "",
        "  step  n0  n1  n2",
        "     1  *   .   .   timer      tick",
        "        o------->     Ping() -> n2  [delivered 2]",
        "        o---?   .     Ping() -> n1  [under way]",
        "        ^   .   .     Me() -> n0  [delivered 5]",
        "     2  .   .   *   deliver    Ping n0 -> n2  (sent 1)",
        "        x-------o     Pong() -> n0  [dropped 4]",
        "                      hello",
        ">    3  .   X   .   crash      critical transition",
        "     4  *   .   .   drop       Pong n2 -> n0  (sent 2)",
        "     5  X   .   .   deliver    Me n0 -> n0  (sent 1)",
        "                      ! ValueError: no",
    ]


def test_a_part_says_what_is_left_out():
    lines = render(trace(), Theme(width=70), first=2, last=3).splitlines()
    assert lines[3].split() == ["\u2026", "1", "step", "before"]
    assert lines[-1].split() == ["\u2026", "2", "steps", "after"]
    assert not any("tick" in line for line in lines)


def test_long_after_a_critical_transition_nothing_is_drawn_unless_asked_for():
    tick = {"node": "n0", "kind": "timer", "label": "tick"}
    ticks = [TraceStep(index=index, fingerprint=index, **tick) for index in range(1, 31)]
    dead = trace(steps=tuple(ticks))
    lines = render(dead, Theme(width=70)).splitlines()
    assert lines[-2].startswith("    13  *")
    assert lines[-1].endswith("17 steps after; --last 30 draws them")
    assert render(dead, Theme(width=70), first=20).splitlines()[-1].startswith("    30  *")
    assert len(render(dead, Theme(width=70), last=30).splitlines()) == 3 + 30
    assert len(render(trace(steps=tuple(ticks), loop=20), Theme(width=70)).splitlines()) == 3 + 30


def test_a_live_trace_says_so_and_nothing_is_longer_than_the_line():
    text = render(trace(kind="live", message="holds again", critical=None), Theme(width=40))
    assert text.startswith("alive: holds again")
    assert max(map(len, text.splitlines())) <= 40


def test_a_long_message_keeps_to_whom_it_goes():
    send = Sent("n0", "n2", f"Ping({'x' * 90})")
    step = TraceStep(index=1, node="n0", kind="timer", label="tick", fingerprint=1, sends=(send,))
    drawn = render(trace(steps=(step,), critical=None), Theme(width=70)).splitlines()
    assert drawn[-1].endswith("x…) -> n2  [under way]")
    assert drawn[-2].startswith("        o-------?     Ping(xxx")
    assert max(map(len, drawn)) <= 70


def test_a_step_shows_what_its_message_holds_and_goes_on_below_where_it_is_long():
    detail = "Append(term=2, entries=[Entry(term=1, command='put'), Entry(term=2, command='get')])"
    facts = {"kind": "deliver", "label": "Append n0 -> n2", "source": "n0", "fingerprint": 1}
    step = TraceStep(index=1, node="n2", detail=detail, **facts)
    for width in (70, 90, 200):
        drawn = render(trace(steps=(step,), critical=None), Theme(width=width)).splitlines()[3:]
        assert max(map(len, drawn)) <= width
        assert " ".join(line.strip(" 1.*") for line in drawn).endswith(
            "n0 -> n2  (sent at the start)"
        )
        assert "Append(term=2" in drawn[0]
    assert detail in drawn[0] and len(drawn) == 1


def test_lanes_that_leave_no_room_have_the_text_below_them():
    names = tuple(f"member {at}" for at in range(8))
    step = TraceStep(
        index=1,
        node="member 7",
        kind="deliver",
        label="Ask member 0 -> member 7",
        detail="Ask(number=1)",
        source="member 0",
        fingerprint=1,
    )
    drawn = render(
        structs.replace(trace(steps=(step,), critical=None), nodes=names), Theme(width=80)
    )
    assert drawn.splitlines()[-1] == (
        "        deliver    Ask(number=1) member 0 -> member 7  (sent at the start)"
    )


def test_two_different_events_never_look_the_same():
    long = [
        f"Put(entries=[{', '.join(f'Entry({at}, {last})' for at in range(30))}])" for last in (1, 2)
    ]
    facts = {"node": "n1", "kind": "deliver", "label": "Put n0 -> n1", "source": "n0"}
    steps = [
        TraceStep(index=at, detail=text, fingerprint=at, **facts) for at, text in enumerate(long, 1)
    ]
    drawn = render(trace(steps=tuple(steps), critical=None), Theme(width=70))
    first, second = drawn.split("     2  ")
    assert first.split("     1  ")[1].strip() != second.strip()


def test_hostile_text_stays_text():
    bad = TraceStep(index=1, node="n\x1b[31m", kind="timer", label="a\nb", fingerprint=1)
    drawn = Trace(
        target=None,
        system="s",
        prop="p",
        kind="safety",
        message="",
        step=1,
        initial=0,
        steps=(bad,),
    )
    assert "\x1b[31m" not in render(drawn, Theme(width=70))


def test_a_message_of_nobody_in_the_trace_has_a_lane_of_its_own():
    sent = TraceStep(
        index=1, node="n0", kind="timer", label="tick", fingerprint=1,
        sends=(Sent("\x1b[31m", "n0", "Ping()"),),
    )  # fmt: skip
    text = render(trace(steps=(sent,), step=1, critical=None), Theme(width=70))
    assert "Ping() -> n0" in text and "\x1b" not in text


def test_long_names_have_room_where_there_is_some_and_keep_their_ends_where_there_is_none():
    names = [f"spawn {job} rank {rank}" for job in (1, 2) for rank in range(4)]
    steps = [
        TraceStep(index=at, node=name, kind="x", label="x", fingerprint=at)
        for at, name in enumerate(names, 1)
    ]
    few, many = (
        structs.replace(trace(steps=tuple(steps[:count])), nodes=tuple(names[:count]))
        for count in (2, 8)
    )
    assert "spawn 1 rank 0  spawn 1 rank 1" in render(few, Theme(width=80))
    head = next(line for line in render(many, Theme(width=120)).splitlines() if "step  " in line)
    shown = [each for each in head.split("  ") if each.startswith("sp")]
    assert [each[-1] for each in shown] == ["0", "1", "2", "3"] * 2
    assert all(len(each) <= 8 for each in shown)
