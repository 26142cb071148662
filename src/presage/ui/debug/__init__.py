"""`presage debug`: commands in, text out. What they do is the business of `presage.debug`.

`console` reads and writes; `commands` knows what a command is called; the other modules hold the
commands themselves, each a function of the console and of what was typed behind its name.
"""
