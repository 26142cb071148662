"""Who rides with whom: the elevator of AIPS 2000, as one process that gives all orders."""

from systems.beem.commands import put

INSIDE = -1


def model(puzzle):
    """A state: where each person is, where the cabin is, and whether all is done."""
    return (puzzle.start, 0, False), lambda state: successors(state, puzzle)


def successors(state, puzzle):
    people, at, done = state
    if done:
        return []
    inside = [person for person, place in enumerate(people) if place == INSIDE]
    in_a, in_b, alone = (
        len({*inside} & {*group}) for group in (puzzle.in_a, puzzle.in_b, puzzle.not_alone)
    )
    found = [(people, floor, False) for floor in range(puzzle.floors)]
    if not any(people):
        found.append((people, at, True))
    for person, place in enumerate(people):
        own = person in puzzle.not_alone
        if place == at and len(inside) < puzzle.capacity:
            apart = not (person in puzzle.in_a and in_b) and not (person in puzzle.in_b and in_a)
            if apart and (not own or inside):
                found.append((put(people, person, INSIDE), at, False))
        elif place == INSIDE and (len(inside) > 2 or alone - own == 0):
            found.append((put(people, person, at), at, False))
    return found
