"""What a user writes, and what a state is: services, systems, worlds and what can happen in them.

Everything here is deterministic: the only source of difference between two runs is the list of
choices they are given. Above `errors` and `_core`, below `props`.

`service` is one node as a function; `world` is nodes together, on top of it. Beside them stands
what both need: choices, weights, and where code is written.
"""
