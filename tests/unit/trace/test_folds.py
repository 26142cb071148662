"""What a reader may skip, and how many walks recovered where."""

from unit.ui.samples import join, step, trace

from presage.trace.folds import Fold, folds
from presage.trace.recovery import Share, shares
from presage.trace.trace import Trace, TraceStep


def rounds(count: int, first: int = 1) -> list[TraceStep]:
    found: list[TraceStep] = []
    for index in range(first, first + 2 * count, 2):
        found += [step(index, "n0", "timer", "retry"), join(index + 1, "n1", "n0")]
    return found


def test_rounds_are_folded_around_what_is_named() -> None:
    assert folds(trace(rounds(5), step=0)) == (Fold(1, 10, "cycle", 2),)
    assert folds(trace(rounds(5))) == (Fold(1, 8, "cycle", 2),)  # the bad step stays
    assert folds(trace(rounds(10), critical=8, step=0)) == (
        Fold(1, 6, "cycle", 2),
        Fold(9, 20, "cycle", 2),
    )
    assert folds(trace(rounds(20), critical=8, step=0))[-1] == Fold(19, 40, "tail", 1)
    assert folds(trace(rounds(2), step=0)) == ()
    assert Fold(1, 8, "cycle", 2).text == "8 steps: 4 rounds of 2 steps"


def test_a_lasso_is_folded_as_a_whole() -> None:
    told = trace([step(1, "n1", "timer"), *rounds(3, 2)], loop=4)
    assert folds(told) == (Fold(4, 7, "lasso", 4),)
    assert folds(told)[0].text == "4 steps that repeat for ever"


def test_steps_of_one_node_that_touch_nobody_are_folded() -> None:
    alone = [step(index, "n0", "timer", str(index)) for index in range(1, 7)]
    assert folds(trace(alone, step=0)) == (Fold(1, 6, "local", 1),)
    assert folds(trace(alone, notes=((5, "look"),), step=0)) == (Fold(1, 4, "local", 1),)
    assert folds(trace(alone[:3], step=0)) == ()


def measured(*recovery: tuple[int, int, int], **more: object) -> Trace:
    return trace(rounds(4), recovery=recovery, **more)


def test_shares_are_measured_or_stand_between_two_that_are() -> None:
    assert shares(measured()) == {}
    found = shares(measured((0, 10, 10), (4, 5, 10)))
    assert found[0] == Share(1.0, True) and found[4] == Share(0.5, True)
    assert found[2] == Share(0.75, False) and found[8] == Share(0.5, False)


def test_nothing_recovers_from_the_critical_step_on() -> None:
    found = shares(measured((0, 10, 10), (2, 6, 10), (6, 0, 10), critical=5))
    assert [found[at].share for at in range(9)] == [1.0, 1.0, 0.6, 0.6, 0.6, 0, 0, 0, 0]
    assert found[6].measured and not found[5].measured
