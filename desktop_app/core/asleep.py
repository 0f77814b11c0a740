"""Messages that are still the JSON they were stored as: each is read when somebody asks for more of
it than its id and role, and is a plain ``Msg`` from then on.

A long session has thousands of messages of which few are ever looked at again. Whoever holds one
sees no difference: it is the same object before and after, and equal to what reading it at once
gives. What is written of one that nobody looked at is its own bytes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, cast

from .messages import AnyBlock, Msg, Role

_LOCK = threading.RLock()  # the window and a thread that plans may ask for the same message


class Stored:
    """The bytes of the messages of one context, one after the other: number ``n`` is ``sizes[n]``
    bytes long, from byte ``start`` of ``data`` on, with one byte between two."""

    def __init__(self, data: bytes, start: int, sizes: Sequence[int]) -> None:
        self._view = memoryview(data)
        self._starts = list(accumulate([size + 1 for size in sizes], initial=start))
        # By number, the blocks that a message began with when it was read.
        self.woken: dict[int, list[AnyBlock]] = {}
        self.numbers: dict[int, int] = {}  # of those that woke up, by the id of their object

    def view(self, number: int) -> memoryview:
        """A message's own JSON."""
        return self._view[self._starts[number] : self._starts[number + 1] - 1]

    def raw(self, number: int) -> bytes:
        return bytes(self.view(number))

    def messages(
        self, ids: Sequence[str], roles: Sequence[Role], empty: Sequence[int]
    ) -> list[Msg]:
        """All of them, asleep. ``empty`` are the numbers of those that have no blocks."""
        made: list[Msg] = []
        new, nothing = object.__new__, set(empty)
        for number, (name, role) in enumerate(zip(ids, roles, strict=True)):
            msg = new(Asleep)
            fields = vars(msg)
            fields["id"], fields["role"] = name, role
            fields["_stored"], fields["_number"] = self, number
            made.append(msg)
        for number in nothing:
            vars(made[number])["_empty"] = True
        return made


class Asleep(Msg):
    """See the module. Made by ``Stored``."""

    def __getattr__(self, name: str) -> Any:
        _wake(self)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _wake(self)
        setattr(self, name, value)

    def __delattr__(self, name: str) -> None:
        _wake(self)
        delattr(self, name)

    def __eq__(self, other: object) -> bool:
        _wake(self)
        wake(other)
        return self == other

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __iter__(self) -> Any:
        _wake(self)
        return iter(self)

    def __repr__(self) -> str:
        _wake(self)
        return repr(self)

    def __str__(self) -> str:
        _wake(self)
        return str(self)

    def __copy__(self) -> Any:
        _wake(self)
        return self.__copy__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        _wake(self)
        return self.__deepcopy__(memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _wake(self)
        return self.__reduce_ex__(protocol)

    def model_copy(self, *args: Any, **how: Any) -> Any:
        _wake(self)
        return self.model_copy(*args, **how)

    def model_dump(self, *args: Any, **how: Any) -> Any:
        _wake(self)
        return self.model_dump(*args, **how)

    def model_dump_json(self, *args: Any, **how: Any) -> str:
        _wake(self)
        return self.model_dump_json(*args, **how)

    def to_json(self) -> str:
        stored = self.__dict__.get("_stored")
        if stored is None:  # it woke up meanwhile
            return Msg.to_json(self)
        return cast(Stored, stored).raw(self.__dict__["_number"]).decode()


def wake(msg: object) -> None:
    """Read a message that is still asleep; needed only by what looks past its attributes."""
    if isinstance(msg, Asleep):
        _wake(msg)


def asleep(msg: Msg) -> bool:
    """Whether nobody has looked at a message yet: then it is as it was stored."""
    return type(msg) is Asleep


def number_of(msg: Msg, stored: Stored) -> int | None:
    """The number of a message that is asleep among these; None of any other."""
    fields = vars(msg)
    return fields["_number"] if fields.get("_stored") is stored else None


def awake(messages: Sequence[Msg]) -> list[int]:
    """Which of many are not asleep."""
    return [n for n, m in enumerate(messages) if type(m) is not Asleep]


def has_blocks(msg: Msg) -> bool:
    """Whether there is anything in a message, without reading it."""
    fields = msg.__dict__
    return "_empty" not in fields if "_stored" in fields else bool(msg.content)


def may_hold(msg: Msg, *words: str) -> bool:
    """Whether one of some plain words may stand in a message: False is certain, and told of one
    that is asleep without reading it."""
    raw = stored_json(msg)
    if raw is None:
        return True
    text = bytes(raw)
    return any(json.dumps(word)[1:-1].encode() in text or word.encode() in text for word in words)


def with_blocks(messages: Iterable[Msg]) -> list[Msg]:
    """Those of many in which there is something, without reading them."""
    return [
        m
        for m in messages
        if ("_empty" not in own if "_stored" in (own := vars(m)) else own["content"])
    ]


def stored_json(msg: Msg) -> memoryview | None:
    """The JSON of a message that is asleep; None of one that is not."""
    fields = msg.__dict__
    if (stored := fields.get("_stored")) is None:
        return None
    return cast(Stored, stored).view(fields["_number"])


class Sleepers:
    """Which of some messages are asleep now, and what they are then, whatever becomes of them:
    one that wakes up gets other fields, and its former ones say where its bytes are."""

    def __init__(self, messages: Sequence[Msg]) -> None:
        self._fields: list[dict[str, Any]] = [vars(m) for m in messages]
        # Numbers of those that are awake.
        self.awake = [n for n, own in enumerate(self._fields) if "_stored" not in own]

    def get(self, number: int) -> memoryview | None:
        """The JSON of one that was asleep."""
        own = self._fields[number]
        if "_stored" not in own:
            return None
        return cast(Stored, own["_stored"]).view(own["_number"])

    def take(self, number: int) -> memoryview | None:
        """The same, once."""
        raw, self._fields[number] = self.get(number), {}
        return raw


def read(raw: bytes | memoryview) -> Msg:
    """A message from its JSON. ValueError for what is none."""
    raw = bytes(raw)
    try:
        return Msg.model_validate_json(raw)
    except ValueError:  # half a character is escaped: pydantic's reader refuses it
        return Msg.model_validate(json.loads(raw))


def _wake(msg: Msg) -> None:
    with _LOCK:
        fields = msg.__dict__
        stored = fields.get("_stored")
        if isinstance(stored, Stored):
            number: int = fields["_number"]
            fresh = read(stored.raw(number))
            stored.woken[number], stored.numbers[id(msg)] = list(fresh.content), number
            put = object.__setattr__
            for name in _SLOTS:
                put(msg, name, getattr(fresh, name))
            put(msg, "__dict__", fresh.__dict__)  # at once: who reads it meanwhile finds all
        if type(msg) is Asleep:
            object.__setattr__(msg, "__class__", Msg)


_SLOTS = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
