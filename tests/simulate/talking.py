"""Short names for what processes of these tests do, and platforms with round numbers.

Sizes, speeds and latencies are powers of two, so that times are exact and compared with `==`.
"""

from typing import Any

from presage.process.context import blocking, exchange, post, sleep, wait_any
from presage.process.ops import Recv, Response, Send

MB = 2.0**20
GF = 2.0**30
TICK = 2.0**-10  # seconds


def put(box: str, payload: Any = None, size: float = MB, **more: Any) -> None:
    blocking(exchange(Send(box, payload, size=size, **more)))


def get(box: str) -> Any:
    return blocking(exchange(Recv(box)))[0]


def put_async(box: str, payload: Any = None, size: float = MB, **more: Any) -> int:
    return blocking(post(Send(box, payload, size=size, **more)))


def get_async(box: str) -> int:
    return blocking(post(Recv(box)))


def wait(*slots: int, timeout: float | None = None) -> Response:
    return blocking(wait_any(slots, timeout))


def compute(flops: float) -> None:
    blocking(sleep(0.0, flops))


def rest(seconds: float) -> None:
    blocking(sleep(seconds))


def pair(latency: float = 0.0, bandwidth: float = MB, **link: Any) -> dict[str, Any]:
    """Hosts `a` and `b`, one link."""
    return {
        "hosts": {"a": {"speed": GF}, "b": {"speed": GF}},
        "links": {"wire": {"bandwidth": bandwidth, "latency": latency, **link}},
        "default_route": {"links": ["wire"]},
    }


def single(cores: int = 1, speed: float = GF) -> dict[str, Any]:
    """One host."""
    return {"hosts": {"a": {"speed": speed, "cores": cores}}}
