"""The whole simulated operating system: importing this makes every part and every leaf known."""

from presage.frontends.real.machine import (
    aio,
    clock,
    escapes,
    filesystem,
    lookups,
    network,
    signals,
    threads,
    tls,
)

__all__ = [
    "aio",
    "clock",
    "escapes",
    "filesystem",
    "lookups",
    "network",
    "signals",
    "threads",
    "tls",
]
