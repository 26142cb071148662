"""The module that saved tests of traces import."""

from presage.cli.target.traced import load_traced

__all__ = ["load_traced"]
