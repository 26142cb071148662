"""Nodes together: the system a user declares, what can happen in it, and the live `World`.

Reading order: `system`, `event`, `transport` (all that is between the nodes), `world`; then `view`,
a world as properties see it. The kernel does the same on integers: this is its oracle.
"""
