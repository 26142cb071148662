"""The communicators that scripts hold: of one group, of a grid, of two groups."""
