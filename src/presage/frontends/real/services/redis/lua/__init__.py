"""The part of Lua that scripts for Redis are written in.

Scripts are how programs make several commands one. They are short and in plain Lua: this runs
them without Lua. Not here: patterns of `string.find` and its kin, metatables, coroutines, goto.
What is not here is refused by name.

    tokens.py    text to tokens
    parser.py    tokens to a tree
    values.py    what Lua's values are here
    machine.py   runs the tree, at most so many steps
    library.py   `string`, `table`, `math`, `cjson` and the basic functions
"""
