"""Names in the environment by which processes of presage hand things to each other."""

CHILD = "PRESAGE_CHILD"  # from the parent to the command: process id of the parent, descriptors
SEED = "PRESAGE_HASH_SEED"  # from `doctor`, which compares two, to the parent of each
