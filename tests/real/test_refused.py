"""Libraries whose compiled code has a loop or sockets of its own are refused, with the line."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
from presage.real import Node, RealSystem

async def serve():
    import grpc.aio
    server = grpc.aio.server()
    server.add_insecure_port("0.0.0.0:50051")
    await server.start()

def system():
    return RealSystem({"a": Node(serve, path=PATHS)})
"""


@pytest.mark.slow
def test_the_loop_of_grpc_is_refused_with_the_line(library, tmp_path: Path) -> None:
    """In a process of its own, for what it starts stays."""
    folders = [library("grpcio==1.76.0"), library("typing-extensions==4.15.0")]
    (tmp_path / "node.py").write_text(f"PATHS = {folders}\n{PROGRAM}", encoding="utf-8")
    command = [sys.executable, "-m", "presage", "check", "node.py:system"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 3, done.stderr
    assert "grpc/aio/_server.py:" in done.stderr
    assert "starts a real thread in compiled code, of `grpc`" in done.stderr
