"""Packages written for one test."""

import textwrap

import pytest


@pytest.fixture
def library(tmp_path):
    """Writes packages into a folder of their own."""

    def write(files: dict[str, str], folder: str = "lib") -> str:
        home = tmp_path / folder
        for name, text in files.items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text), encoding="utf-8")
        return str(home)

    return write
