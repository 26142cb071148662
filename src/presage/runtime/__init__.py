"""Services on real sockets: the automaton that is checked, run live.

Everything but the files that hold sockets is without input and output: objects that take stimuli,
frames and a time, and give effects. So one process can run all nodes on a virtual clock.
"""
