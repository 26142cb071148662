"""Servers that programs need, as ordinary asyncio code: on real sockets and as nodes."""

from presage.frontends.real.services.redis.node import Redis as Redis
