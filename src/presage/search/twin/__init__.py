"""A second process, under another hash seed, runs the steps of a search again.

A set that a handler makes itself is arranged by the hashes of its elements; those of texts depend
on the hash seed, those of plain objects on where they are in memory. No second order within one
process shows that, so a second process does. It is given steps and verdicts in canonical form, and
tells which of them come out differently there. Where nothing names the system to another process,
this one runs them again with all sets backwards.

Reading order: `wire` (what the two tell each other), `rerun` (the second process), `compare` (the
first), `suspects` (whether it is worth that), `here` (this process in its place), `verdicts`
(worlds that predicates were asked about).
"""
