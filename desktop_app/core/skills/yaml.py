"""The typed wrapper of ruamel.yaml: safe loading of small documents."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

__all__ = ["YAMLError", "line_of", "load"]


def load(text: str) -> Any:
    """The value of one document; YAMLError when it does not parse. Makes plain Python values."""
    return YAML(typ="safe", pure=True).load(text)  # pyright: ignore[reportUnknownMemberType]


def line_of(error: YAMLError) -> int:
    """The line of a syntax error, from 0."""
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return int(getattr(mark, "line", 0))
