"""Calls between two groups, and ranks that start others."""
