"""What a rank knows, and what a communicator is; the mistakes of scripts."""
