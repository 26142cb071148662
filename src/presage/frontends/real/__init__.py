"""Unmodified programs as nodes: the operating system is simulated, their code is not."""
