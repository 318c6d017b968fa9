"""Polars, where it is installed: the command and what needs no frame work without it."""

from __future__ import annotations

from types import ModuleType


def polars() -> ModuleType:
    """The package, or an error that says how to install it."""
    try:
        import polars
    except ImportError as error:
        how = "pip install 'riddlemill[frames]'"
        raise ImportError(f"tables come as frames of Polars, which is not installed: {how}") from error
    return polars
