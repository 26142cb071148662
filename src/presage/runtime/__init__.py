"""Services that run for real: nodes as processes on real sockets, and what looks ahead of them."""
