"""A Redis server: its tables, its commands and its wire protocol, in memory.

A test of a program that talks to Redis needs a Redis whose every state is known. This one holds
all it knows in tables that can be read as plain values, so states can be merged.

It keeps no task and no global: a connection is an `asyncio.Protocol`, a command is a function.
The replies are those of Redis 7.0, which a differential test compares it with.

    resp.py      bytes to commands, replies to bytes
    errors.py    failures, worded as Redis words them
    database.py  keys, values and expiry of one database
    session.py   what the server knows of one connection
    server.py    all databases and sessions: watching, blocking, publishing, expiry
    wire.py      one connection on a transport; `serve`
    lua/         the part of Lua that scripts are written in
    commands/    what each command does
"""
