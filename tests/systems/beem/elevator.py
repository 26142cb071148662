"""An elevator that serves people floor by floor, going on from where it let the last one out."""

from systems.beem.commands import put

OUT, WAITING, INSIDE = "out", "waiting", "inside"
FLOORS, PEOPLE = 4, 2


def model():
    people = ((OUT, 0),) * PEOPLE
    clerk = (False, 0, 0)  # whether a call is being noted, its floor, its caller
    lift = ("choose", 0, 0, 0)  # place, going to, serving, who
    return (people, clerk, lift, ((),) * FLOORS, 0), successors


def successors(state):
    people, clerk, lift, queues, current = state
    place, going, serving, who = lift
    found = []
    for at, (where, floor) in enumerate(people):
        if where == OUT and not clerk[0]:
            waiting = put(people, at, (WAITING, floor))
            found.append((waiting, (True, floor, at), lift, queues, current))
    if clerk[0]:
        _, floor, caller = clerk
        noted = put(queues, floor, (*queues[floor], caller))
        found.append((people, (False, floor, caller), lift, noted, current))

    def move(lift, people=people, queues=queues, current=current):
        found.append((people, clerk, lift, queues, current))

    if place == "choose":
        if not queues[serving] and any(queues):
            move(("choose", going, (serving + 1) % FLOORS, who))
        if queues[serving]:
            move(("move", going, serving, who))
    elif place == "move" and serving != current:
        move(lift, current=current + (1 if serving > current else -1))
    elif place == "move":
        first, *rest = queues[current]
        move(("open", going, serving, first), queues=put(queues, current, tuple(rest)))
    elif place == "open" and people[who][0] == WAITING:
        for floor in range(FLOORS):
            if floor != people[who][1]:
                inside = put(people, who, (INSIDE, people[who][1]))
                move(("carry", floor, serving, who), people=inside)
    elif place == "carry" and going != current:
        move(lift, current=current + (1 if going > current else -1))
    elif place == "carry" and people[who][0] == INSIDE:
        move(("choose", 0, current, 0), people=put(people, who, (OUT, current)))
    return found


def first_inside(state):
    return state[0][0][0] == INSIDE
