"""On random programs: what a session tells, what it told before, and which steps have influence."""

import random

import pytest
from unit.debug.samples import session

from presage import Process, Program, check
from presage.execution.describe import Words
from presage.execution.frames import frames
from presage.execution.influence import past
from presage.execution.processes import ProcessExecution
from presage.execution.sandbox import Sandbox
from presage.process.context import blocking, cancel, post, wait_any
from presage.process.context import test_any as tested
from presage.process.fence import Fence
from presage.process.ops import ANY, Cancel, Choose, Create, Join, Kill, Probe, Publish, Recv, Send
from presage.process.world import ProcessWorld
from presage.trace.trace import Trace

BOXES = ("x", "y")
KINDS = ("send", "buffered", "recv", "keyed", "wait", "wait", "late", "test", "probe", "cancel")
RARE = ("choose", "publish", "create", "kill", "join", "print", "fail", "peek")


def asking(op):
    response = yield op
    return response


def act(script):
    """Follow a script of (kind, mailbox, number)."""
    open_slots = []
    for kind, box, number in script:
        match kind:
            case "send" | "buffered":
                op = Send(box, number, (0, number % 2), kind == "buffered")
                open_slots.append(blocking(post(op)))
            case "recv" | "keyed":
                want = (ANY, number % 2) if kind == "keyed" else (ANY, ANY)
                open_slots.append(blocking(post(Recv(box, want))))
            case "wait" | "late" | "test" if open_slots:
                timeout = 1.0 if kind == "late" else None
                slots = tuple(open_slots)
                way = tested(slots) if kind == "test" else wait_any(slots, timeout)
                choice = blocking(way).choice
                if choice >= 0:
                    open_slots.pop(choice)
            case "cancel" if open_slots:
                if blocking(cancel(open_slots[0])):
                    open_slots.pop(0)
            case "print":
                print(f"at {number}")
            case "fail" if number == 0:
                raise RuntimeError("as it is written")
            case _:
                seldom(kind, box, number)


def seldom(kind, box, number):
    ops = {
        "probe": Probe(box),
        "peek": Probe(box, blocking=True),
        "choose": Choose(2),
        "publish": Publish(box, number),
        "kill": Kill(f"p{number % 2}"),
        "join": Join(f"p{number % 2}"),
    }
    if kind == "create" and number == 0:
        ops["create"] = Create("child", act, ((("send", "x", 1), ("wait", "x", 1)),))
    if kind in ops:
        blocking(asking(ops[kind]))


def random_program(seed):
    rng = random.Random(seed)
    processes = {}
    for number in range(rng.choice((2, 3))):
        kinds = rng.choices(KINDS + RARE, k=rng.randint(2, 6))
        # Only the first may create, so that there is one child at most.
        kinds = [kind for at, kind in enumerate(kinds) if kind != "create" or number + at == 0]
        script = [
            (kind, rng.choice(BOXES), 0 if kind == "create" else rng.randrange(3)) for kind in kinds
        ]
        processes[f"p{number}"] = Process(act, tuple(script))
    return Program(processes, name=f"random {seed}")


def random_run(program, rng):
    """A trace of some run, whatever comes of it."""
    with Sandbox() as sandbox, Fence():
        execution = ProcessExecution(program, sandbox)
        while (enabled := execution.world.enabled()) and len(execution) < 40:
            execution.take(rng.choice(enabled))
        steps = execution.trace_steps()
        return execution, Trace(
            target=None,
            system=program.name,
            nodes=tuple(execution.world.members),
            door="process",
            prop="no_exception",
            kind="exception",
            message="",
            step=len(steps),
            initial=execution.initial,
            steps=steps,
        )


@pytest.mark.parametrize("seed", range(60))
def test_a_session_tells_of_every_step_what_a_page_tells(seed):
    program, rng = random_program(seed), random.Random(seed)
    _, trace = random_run(program, rng)
    scenes = frames(program, trace)
    with session(program, trace) as opened:
        for _ in range(12):
            step = rng.randrange(len(trace.steps) + 1)
            opened.jump(step)
            assert opened.state() == scenes[step].state
            assert opened.judge() == scenes[step].verdicts
            if opened.options() and rng.random() < 0.5:
                opened.random()
                assert opened.here.world(opened.step).fingerprint == opened.current.fingerprint
                opened.switch("main")
        opened.jump(len(trace.steps))
        assert tuple(opened.here.steps) == trace.steps
        for execution in opened.branches.values():
            for step in range(len(execution) + 1):
                assert execution.world(step).fingerprint == execution.fingerprint(step)


@pytest.mark.parametrize("seed", range(150))
def test_the_steps_that_had_influence_are_enough_to_come_to_a_step(seed):
    program, rng = random_program(seed), random.Random(seed)
    execution, trace = random_run(program, rng)
    taken, words = execution.taken, Words(program)
    for step in range(1, len(taken) + 1):
        kept = past(taken, step)
        with Fence():
            world = ProcessWorld(program)
            for at in kept:
                [choice] = [
                    each
                    for each in world.enabled()
                    if each.process == taken[at - 1].process
                    and each.choice == choice_of(taken[at - 1])
                ]
                now = world.take(choice)
        assert words.step(now) == words.step(taken[step - 1])
        assert now.logs == taken[step - 1].logs


def choice_of(taken):
    """As it was chosen; probes and cancellations answer with something else."""
    return 0 if isinstance(taken.op, Probe | Cancel | str) else taken.response.choice


def test_random_programs_are_not_all_alike():
    kinds = {step.kind for seed in range(150) for step in run_of(seed).steps}
    assert kinds >= {"send", "recv", "receive", "wait", "test", "timeout", "probe", "cancel"}
    assert kinds >= {"choose", "publish", "create", "kill", "join", "dies"}
    assert any(check(random_program(seed), traces=None).violations for seed in range(10))


def run_of(seed):
    return random_run(random_program(seed), random.Random(seed))[1]
