"""How reports name messages, waiting ranks and races."""
