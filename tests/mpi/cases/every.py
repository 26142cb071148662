"""All labelled cases."""

from mpi.cases import arguments, gathers, orders, points, requests


def every():
    return [
        case for module in (points, gathers, orders, requests, arguments) for case in module.cases()
    ]
