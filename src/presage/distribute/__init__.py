"""One search on any number of machines: divided into plain data, done anywhere, merged in order.

`divide` says which parts a search has, `task` does one of them, `farm` hands them out and takes
what comes back, `merge` makes one report of many. `subtree` does so with a tree of executions,
`levels` with states, and `kept` keeps what was done. `ray` alone knows Ray; `Here` does the same in
this process.

Invariant: which parts there are depends on the search alone, never on how many workers there are.
So one worker and fifty find the same, and a part that is done twice does no harm. A part that did
not come back is said to be lost; no property is said to have held then.
"""
