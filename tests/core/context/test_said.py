"""Pieces of what a person wrote, told apart quickly."""

from __future__ import annotations

import random

from desktop_app.core.context.entities import plain
from desktop_app.core.context.said import shapes_of

PARTS = ("a", "B", "  ", " ", "\t", "\x1c", "\r", "é", "ß", ".", "\n", "\x0b", "\x85", "Word")


def test_shapes_made_at_once_are_those_made_one_by_one() -> None:
    rng = random.Random(1)
    for _ in range(5000):
        texts = tuple(
            "".join(rng.choices(PARTS, k=rng.randrange(5))) for _ in range(rng.randrange(1, 4))
        )
        assert shapes_of(texts) == tuple(plain(text).casefold() for text in texts)
