"""What a user writes, and what a state is: services, systems, worlds and what can happen in them.

Everything here is deterministic: the only source of difference between two runs is the list of
choices they are given. Above `errors` and `_core`, below `props`.
"""
