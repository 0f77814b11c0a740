"""Where the files that ship with the program are: translations, tokenizer ranks, prompts, help.

An installed program carries them inside the package (``desktop_app/_resources``); a clone has them
in ``resources/`` at its root. A frozen build unpacks the package, so the first place serves it too.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """The folder that holds the resources. It exists in every build; callers need no check."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_resources"
    return packaged if packaged.is_dir() else package.parent / "resources"


def path(*parts: str) -> Path:
    """A shipped file or folder: ``path("prompts", "summary.md")``."""
    return root().joinpath(*parts)
