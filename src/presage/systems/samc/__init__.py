"""Systems of "SAMC: Semantic-Aware Model Checking" (Leesatapornwongsa et al., OSDI 2014).

The paper compares searches by how many executions they need until they meet bugs that cost several
crashes and restarts. Here are the protocols with these bugs, written anew. `system(...)` has
keyword arguments as parameters; a bug is a value of `bug`, and comes with the paper's budget of
crashes and restarts. With `fixed` the same system has the bug mended, and nothing else.

Three files serve `zle`: `zle_messages`, what its servers send; `zle_transport`, how it travels; and
`zle_server`, the server.
"""

from __future__ import annotations

MODELS: tuple[str, ...] = ("zle",)
