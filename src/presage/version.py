"""The version, in one place that imports nothing until it is asked for the build."""

import sys

VERSION = "0.1.0"


def build_text() -> str:
    """What `presage --version` prints; the first line is the version alone, for scripts."""
    from presage._core import build_info

    core = dict(build_info())
    python = ".".join(map(str, sys.version_info[:3]))
    return "\n".join(
        [
            f"presage {VERSION}",
            f"core {core['version']}: {core['profile']}, {core['features']}",
            f"built by {core['rustc']} for {core['target']}",
            f"running on {sys.implementation.name} {python}, {sys.platform}",
        ]
    )
