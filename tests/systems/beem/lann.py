"""Leader election for a token ring (Le Lann), over one-place channels."""

from systems.beem.commands import put

WAIT, CRITICAL, GOT = "wait", "critical", "got"
ALPHA, BETA, GAMMA = 0, 1, 2
TOKEN = 255


def model(n, *, discard, once):
    """`discard`: larger claims are not passed on; `once`: one claim at a time until it returns."""
    nodes = tuple((CRITICAL if at == 0 else WAIT, ALPHA, 0, 0) for at in range(n))
    return (nodes, ((False, 0),) * n), lambda state: successors(state, discard, once)


def successors(state, discard, once):
    nodes, links = state
    found = []

    def step(at, node, sends=None):
        """Node `at` becomes `node`; what it sends needs an empty link to its neighbour."""
        after, ahead = links, (at + 1) % len(nodes)
        if sends is not None:
            if links[ahead][0]:
                return
            after = put(links, ahead, (True, sends))
        found.append((put(nodes, at, node), after))

    for at, (place, status, value, sent) in enumerate(nodes):
        own = ((at + 9) * (at + 7) + 42) % 27
        if place == WAIT:
            full, arriving = links[at]
            if full:
                emptied = put(links, at, (False, arriving))
                found.append((put(nodes, at, (GOT, status, arriving, sent)), emptied))
            if status == ALPHA and not (once and sent):
                step(at, (WAIT, BETA, value, int(once)), own)
        elif place == CRITICAL:
            step(at, (WAIT, ALPHA, value, sent), TOKEN)
        elif value == TOKEN:
            step(at, (CRITICAL, status, value, sent))
        elif value > own:
            step(at, (WAIT, status, value, sent), None if discard else value)
        elif value < own and status != GAMMA:
            step(at, (WAIT, GAMMA if status == BETA else ALPHA, value, sent), value)
        elif value == own:
            place, status = (CRITICAL, BETA) if status == BETA else (WAIT, ALPHA)
            step(at, (place, status, value, 0))
    return found


def one_critical(state):
    return sum(place == CRITICAL for place, *_ in state[0]) == 1
