"""Pieces of what a person wrote, told apart quickly."""

from __future__ import annotations

import random

from desktop_app.core.context.cuts import Cuts
from desktop_app.core.context.entities import plain
from desktop_app.core.context.pieces import shapes_of
from desktop_app.core.context.said import Said, fit
from desktop_app.core.context.tokens import ClassCounter, CountCache

from .test_running import SAID

PARTS = ("a", "B", "  ", " ", "\t", "\x1c", "\r", "é", "ß", ".", "\n", "\x0b", "\x85", "Word")


def test_shapes_made_at_once_are_those_made_one_by_one() -> None:
    rng = random.Random(1)
    for _ in range(5000):
        texts = tuple(
            "".join(rng.choices(PARTS, k=rng.randrange(5))) for _ in range(rng.randrange(1, 4))
        )
        assert shapes_of(texts) == tuple(plain(text).casefold() for text in texts)


def _said(rng: random.Random, number: int) -> Said:
    kind = rng.random()
    if kind < 0.1:
        text = rng.choice(("ok", "Go on.", SAID[2]))
    elif kind < 0.15:
        text = "One more line of a log that somebody pasted, with port 8443 in it.\n" * 400
    else:
        own = f"The rule about db_{rng.randrange(9)} holds. And what of it?"
        text = " ".join([own, *(rng.choice(SAID) for _ in range(rng.randrange(9)))])
    return Said(id=str(number), text=text, edited=rng.random() < 0.05)


def test_words_chosen_as_they_came_are_those_chosen_at_once_and_fit_their_room() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        said, count, cuts = list[Said](), CountCache(ClassCounter()), Cuts()
        for number in range(rng.randrange(2, 30)):
            said.append(_said(rng, number))
            if rng.random() < 0.3:
                cuts = cuts.grown(said, count)
                cuts.shared = rng.random() < 0.5
        whole = sum(count(one.text) for one in said)
        room = whole * rng.random()
        kept, gone = fit(said, room, count, "f", cuts)
        assert (kept, gone) == fit(said, room, CountCache(ClassCounter()), "f")
        assert len(kept) + gone == len(said)
        ends = (said[0].id, said[-1].id)
        between = [one for one in kept if one.id not in ends]
        assert sum(count(one.text) for one in between) <= room
        for one in between:
            if "the whole message is in f" not in one.text:
                was = plain(said[int(one.id)].text)
                assert all(plain(piece) in was for piece in one.text.split("[…]"))
