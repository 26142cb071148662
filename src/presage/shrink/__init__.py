"""Fewer steps with the same outcome: one loop, and what to keep."""
