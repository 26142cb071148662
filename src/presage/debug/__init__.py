"""A trace to walk about in, on live code: forward, backward, and where it did not go.

Holds everything that `presage debug` does and prints nothing: answers are data, which `ui` writes
down. Uses searches; knows nothing of terminals or commands.
"""
