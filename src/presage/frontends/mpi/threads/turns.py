"""Which thread of a rank is next.

Where messages are delivered as MPI allows, who is first is guessed (`Guessed`): of the threads that
can go on and those that wait for the world, one is chosen, and if it waits, the rank waits for what
it waits for. If that never comes though another thread could have gone on, the guess was wrong, and
the search drops that run, as it does for `Waitany` (`point/guesses.py`).

Where the order of messages is fixed, tests are exact (`Exact`): it is chosen among the threads that
can go on, those included for which something has come. In one plain run nothing is chosen: threads
take turns, and time passes while they sleep.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.mistakes import unsupported
from presage.frontends.mpi.threads.thread import RankThread
from presage.frontends.mpi.threads.threads import Threads
from presage.process import ops
from presage.process.ops import NONE, Choose, Pick, Poll, Probe, Response, Sleep, Switch, WaitAny
from presage.records import NamedTuple

Turn = tuple[RankThread, Any]  # who is next, and what it is answered
LOOKS = 10  # how often a sleep is interrupted to look for messages
MOMENT = 1e-6


def able(threads: Threads) -> list[tuple[RankThread, bool]]:
    """The threads that can go on, and whether something within the rank is as they wanted."""
    found = []
    for each in threads.alive:
        if threads.is_exhausted(each):
            continue
        if each.can_go_on:
            found.append((each, True))
        elif each.ready is not None and each.deadline is not None:
            found.append((each, False))
    return found


class Option(NamedTuple):
    """A thread that may be next: it can go on, or waits for the world (`at`: for which slot)."""

    thread: RankThread
    is_ready: bool
    at: int | None = None


class Guessed:
    """For a search over deliveries as weak as MPI's."""

    has_time = False

    def __init__(self, preemptions: int) -> None:
        self._left = preemptions

    def next(self, threads: Threads) -> Turn:
        ready = [Option(*each) for each in able(threads)]
        waits = [
            Option(each, False, at)
            for each in threads.alive
            for at in range(_alternatives(each.wait))
        ]
        option = self._chosen(threads, self._allowed(threads, [*ready, *waits]))
        if option is None:
            threads.wait_for_ever(is_wrong=bool(ready))
        elif option.at is None:
            return self.went_on(threads, option.thread, option.is_ready)
        else:
            others = [each for each in waits if each != option]
            return option.thread, self._arrived(threads, option, bool(ready), others)
        raise AssertionError("it waits for ever")

    def _allowed(self, threads: Threads, options: list[Option]) -> list[Option]:
        """Those that may be next; a thread that can go on is stopped so many times in a rank."""
        last = [each for each in options if each.thread is threads.last and each.at is None]
        if last and last[0].is_ready and not self._left:
            return last
        return [each for each in options if not self._sleeps(threads, each)]

    def _chosen(self, threads: Threads, options: list[Option]) -> Option | None:
        if len(options) < 2:
            return options[0] if options else None
        first = [each for each in options if each.at is None and each.thread.post is not None]
        options = [*first, *(each for each in options if each not in first)]
        names = tuple(each.thread.name for each in options)
        option = options[threads.put(Switch(len(names), names)).choice]
        is_able = any(each.thread is threads.last and each.is_ready for each in options)
        if option.thread is not threads.last and is_able:
            self._left -= 1
        for each in options[: options.index(option)]:
            if each in first:
                each.thread.sleeps = True
        return option

    @staticmethod
    def _sleeps(threads: Threads, option: Option) -> bool:
        """Whether it would only do what it might as well have done before."""
        return option.thread.sleeps and option.at is None

    @staticmethod
    def went_on(threads: Threads, thread: RankThread, is_ready: bool) -> Turn:
        threads.chosen(thread)
        return thread, is_ready

    @staticmethod
    def _arrived(
        threads: Threads, option: Option, others_can: bool, others: list[Option]
    ) -> Response:
        """Wait for what it waits for, as was guessed."""
        thread, at = option.thread, option.at
        assert at is not None
        op, threads.asker = thread.wait, thread
        others_can = others_can or any(isinstance(each.thread.wait, Probe) for each in others)
        if isinstance(op, Probe):
            is_guess = bool(others) or others_can
            return threads.put(Probe(op.mailbox, op.want, True, op.claim, op.polled or is_guess))
        assert isinstance(op, WaitAny)
        groups = [*(op.rivals or ())]
        if others_can:
            groups.append(())
        else:
            groups += [(each.thread.wait.slots[each.at],) for each in others]  # type: ignore
        waited = WaitAny((op.slots[at],), None, tuple(groups) or None)
        response = threads.put(waited)
        return Response(at, response.payload, response.key)

    @staticmethod
    def beside_others(threads: Threads, op: Any) -> Any:
        """A wait of the thread that goes on, where others could go on instead."""
        if isinstance(op, Probe) or threads.is_alone:
            return op
        return WaitAny(op.slots, op.timeout, (*(op.rivals or ()), ()), op.polled)

    @staticmethod
    def forced(op: Any) -> tuple[Any, Any]:
        """What is asked instead of a test that was made too often: it finds something."""
        if isinstance(op, Poll):
            return None, Choose(op.n)
        return None, Pick(op.mailbox, op.want, op.channels)

    @staticmethod
    def yielded(threads: Threads) -> None:
        """A test that found nothing gives way at the next point."""


def _alternatives(op: Any) -> int:
    return 0 if op is None else len(op.slots) if isinstance(op, WaitAny) else 1


class Exact:
    """For runs in which messages keep one order. `chooses`: each way that is left open is tried."""

    def __init__(self, *, chooses: bool) -> None:
        self._chooses = chooses
        self.has_time = not chooses

    def next(self, threads: Threads) -> Turn:
        while True:
            ready = self._able(threads)
            waits = [each for each in threads.alive if each.is_waiting]
            at = self._chosen(threads, ready, waits)
            if at == len(ready) and waits:
                found = self._looked(threads, waits, waits_long=not ready)
                if found is not None:
                    return found
                at = self._chosen(threads, ready, []) if ready else at
            if at < len(ready):
                return Guessed.went_on(threads, *ready[at]) if self._chooses else ready[at]
            if not self._pass_time(threads, waits):
                threads.wait_for_ever()

    def _able(self, threads: Threads) -> list[tuple[RankThread, bool]]:
        if self._chooses:
            return able(threads)
        now = threads.context.clock
        found = []
        for each in threads.alive:
            is_late = each.ready is not None and each.deadline is not None and each.deadline <= now
            if each.can_go_on or is_late:
                found.append((each, each.can_go_on))
        return sorted(found, key=lambda pair: pair[0].since)

    def _chosen(self, threads: Threads, ready: Any, waits: Any) -> int:
        """The place of who goes on; behind the last: one of those that wait, if it can."""
        if not ready:
            return 0
        if not self._chooses:
            return len(ready) if waits and any(each.vain for each, _ in ready) else 0
        names = (*(each.name for each, _ in ready), *(["one that waits"] if waits else []))
        return 0 if len(names) == 1 else threads.put(Switch(len(names), names)).choice

    def _looked(self, threads: Threads, waits: list[RankThread], waits_long: bool) -> Turn | None:
        """A thread for which something has come; None: there is none by now."""
        probes = [each for each in waits if isinstance(each.wait, Probe)]
        slots = [(each, at) for each in waits for at in range(_slots_of(each.wait))]
        sleeps = self.has_time and any(each.deadline is not None for each in threads.alive)
        is_mixed = bool(probes and slots) or len(probes) > 1
        if is_mixed and waits_long and not self.has_time:
            raise unsupported("a thread probes while another waits, and messages keep one order")
        if waits_long and not sleeps and not is_mixed:
            if probes:
                return probes[0], threads.put(probes[0].wait)  # type: ignore[arg-type]
            names = tuple(each.wait.slots[at] for each, at in slots)  # type: ignore[union-attr]
            return self._told(slots, threads.put(WaitAny(names)))
        for each in probes:
            op = each.wait
            found = threads.put(Probe(op.mailbox, op.want, False))  # type: ignore[union-attr]
            if found.choice:
                return each, found
        if slots:
            names = tuple(each.wait.slots[at] for each, at in slots)  # type: ignore[union-attr]
            response = threads.put(ops.TestAny(names))
            if response.choice != NONE:
                return self._told(slots, response)
        return None

    @staticmethod
    def _told(slots: list[tuple[RankThread, int]], response: Response) -> Turn:
        thread, at = slots[response.choice]
        return thread, Response(at, response.payload, response.key)

    def _pass_time(self, threads: Threads, waits: list[RankThread]) -> bool:
        """Let time pass until somebody wakes, or something comes; False: that is never."""
        deadlines = [each.deadline for each in threads.alive if each.deadline is not None]
        if not deadlines and not waits:
            return False
        left = max(min(deadlines) - threads.context.clock, 0.0) if deadlines else 0.0
        step = max(left / LOOKS if waits else left, MOMENT)
        threads.put(Sleep(step))
        threads.context.clock += step
        return True

    @staticmethod
    def forced(op: Any) -> tuple[Any, Any]:
        """Tests are exact: wait for what is tested."""
        if isinstance(op, Probe):
            return Probe(op.mailbox, op.want, True), None
        return WaitAny(op.slots), None

    @staticmethod
    def beside_others(threads: Threads, op: Any) -> Any:
        """What a thread waits for that is complete, or will be."""
        return op

    def yielded(self, threads: Threads) -> None:
        """In one run, who has found nothing lets others go on."""
        if not self._chooses:
            threads.give_way()


def _slots_of(op: Any) -> int:
    return len(op.slots) if isinstance(op, WaitAny) else 0
