"""The simulated operating system of one process."""
