"""The Guide: the built-in model. Rules, not intelligence, and it says so.

``GuideModel`` is loaded when first asked for: its rules are hundreds of patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .info import GUIDE

if TYPE_CHECKING:
    from .model import GuideModel

__all__ = ["GUIDE", "GuideModel"]


def __getattr__(name: str) -> Any:
    if name == "GuideModel":
        from .model import GuideModel

        return GuideModel
    raise AttributeError(name)
