"""Faults that are like others: what roles are, and what a report says of faults left out."""
