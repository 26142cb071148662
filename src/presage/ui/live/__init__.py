"""The page of a running system: its nodes, what is ahead of them, and what is done about it."""
