"""A module imported within a new copy of its package."""

import importlib

from presage.frontends.real.isolate import Isolation


def boot(isolation: Isolation, name: str = "cluster"):
    copy = isolation.take()
    with copy.inside():
        module = importlib.import_module(name)
    return copy, module
