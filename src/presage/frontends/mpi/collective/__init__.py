"""Collective calls: what members say to each other, and what they compute."""
