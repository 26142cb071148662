"""All labelled cases."""

from mpi.cases import arguments, gathers, orders, points, requests, spawned, windows

MODULES = (points, gathers, orders, requests, arguments, spawned, windows)


def every():
    return [case for module in MODULES for case in module.cases()]
