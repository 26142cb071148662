"""What happened, as plain data: the story one reads, saves and replays.

A trace holds text and numbers only, never a live object, so it outlives the process and the code
that made it. Reads the model's steps; knows nothing of searches, terminals or commands.
"""
