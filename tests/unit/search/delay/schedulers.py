"""Schedulers for tests, some of which break their contract."""

from itertools import count

from presage import Scheduler


class Nodes(Scheduler):
    """Round robin over nodes: the state is whose turn it is, and how many tasks were put off."""

    def start(self, tasks):
        return ("", 0)

    def next(self, state, tasks):
        turn, delayed = state
        after = [task for task in tasks if task.node > turn]
        ordered = [*after, *(task for task in tasks if task not in after)]
        return ordered[delayed % len(ordered)]

    def delay(self, state, tasks):
        return (state[0], state[1] + 1)

    def step(self, state, ran):
        return (ran.task.node if ran.task is not None else state[0], 0)


class SlowNode(Scheduler):
    """What happens at one node comes last."""

    base = "rr"

    def __init__(self, node):
        self.node = node

    def rank(self, task):
        return 1 if task.node == self.node else 0


class Forgets(Nodes):
    """Never comes to the last task."""

    def delay(self, state, tasks):
        return (state[0], (state[1] + 1) % max(1, len(tasks) - 1))


class Elsewhere(Nodes):
    """Names what is not possible."""

    def next(self, state, tasks):
        return "nothing"


class Wavers(Nodes):
    """Answers otherwise when it is asked again."""

    asked = count()

    def step(self, state, ran):
        return ("", next(self.asked))


class Remembers(Nodes):
    """Has a state that can be changed."""

    def start(self, tasks):
        return [""]


class Half(Scheduler):
    """Has `next` and nothing else."""

    def next(self, state, tasks):
        return tasks[0]


class High(Scheduler):
    def rank(self, task):
        return 256
