"""All labelled cases."""

from mpi.cases import arguments, gathers, orders, points, requests, spawned


def every():
    return [
        case
        for module in (points, gathers, orders, requests, arguments, spawned)
        for case in module.cases()
    ]
