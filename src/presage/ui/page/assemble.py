"""One self-contained HTML page: template, styles, scripts and data put together.

Nothing in it comes from elsewhere, and a content-security policy says so: the script and the style
run because their digests are in it, and nothing else may be loaded or run. Data is text to the
page: `<` cannot occur in it, and the script only ever sets text.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from presage.records import NamedTuple

MARK = re.compile("@([A-Z]+)@")
DANGEROUS = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


class Part(NamedTuple):
    """A file of a page, and the package that holds it."""

    package: str
    name: str

    def text(self) -> str:
        return files(self.package).joinpath(self.name).read_text(encoding="utf-8")


def assembled(
    template: Part,
    styles: Sequence[Part],
    scripts: Sequence[Part],
    allowed: str,
    parts: Mapping[str, str],
) -> str:
    """The page; `allowed` adds to its policy, `parts` are what its marks stand for."""
    style, script = ("\n".join(part.text() for part in group) for group in (styles, scripts))
    policy = (
        f"default-src 'none'; base-uri 'none'; {allowed};"
        f" style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    every = {"POLICY": policy, "STYLE": style, "SCRIPT": script, **parts}
    # In one pass, so that nothing in the data is taken for a mark.
    return MARK.sub(lambda mark: every[mark[1]], template.text())


def embedded(data: Any) -> str:
    """`data` as JSON that no HTML parser takes for anything but text."""
    text = msgspec.json.encode(data).decode()
    for character, escaped in DANGEROUS.items():
        text = text.replace(character, escaped)
    return text


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
