"""Long searches: what is kept of them, and whether a search may resume from it."""
