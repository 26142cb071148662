"""Searches over the kernel, and everything that turns what they find into a trusted report.

`check` is the way in. Reads the layers below; knows nothing of terminals or commands.
"""
