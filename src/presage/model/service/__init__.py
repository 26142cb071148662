"""One node as a function: the class a user writes, and what one run of its code does.

Reading order: `declare` (marks), `fields` and `shape` (a class, read once), `service`, `run` (what
`self` can do), `node`, `automaton`. Nothing here knows of other nodes but by name.
"""
