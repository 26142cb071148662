"""Search in the order of delays: its settings, and schedulers that users write."""
