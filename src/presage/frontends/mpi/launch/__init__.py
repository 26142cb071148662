"""A script as a program of ranks, and what a rank finds around it."""
