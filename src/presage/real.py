"""Unmodified programs as nodes: `from presage.real import Node, RealSystem`."""

from presage.frontends.real import services
from presage.frontends.real.here import here
from presage.frontends.real.machine.packets import Datagram, Segment
from presage.frontends.real.node import Node
from presage.frontends.real.system import RealSystem

__all__ = ["Datagram", "Node", "RealSystem", "Segment", "here", "services"]
