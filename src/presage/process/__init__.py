"""Processes: sequential code that blocks, checked through the operations it asks for.

ops         what a process can ask, and what it is answered
context     what a process sees of the world
fence       time, chance and output under control
live        real code, run from one operation to the next
program     the processes that run together
payload     what they send each other
world       all of it at one moment, live
"""
