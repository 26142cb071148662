"""Windows: memory that other ranks access by themselves."""
