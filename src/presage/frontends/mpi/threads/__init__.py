"""Threads that a rank starts: greenlets of its process, one at a time."""
