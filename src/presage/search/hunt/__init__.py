"""Hunts: executions that never recover, and the critical transition of each."""
