"""What a server may ask for while a call of its tools runs, and what it is answered.

A server can ask the person's model (*sampling*), ask the person to fill in a form, or ask them to
visit an address. Nothing of it happens by itself: an ``Ask`` goes to whoever holds the session and
comes back as a ``Reply``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from desktop_app.core.messages import Msg

from .forms import Field


@dataclass(frozen=True, slots=True)
class Sampling:
    """Let the person's model answer. ``messages`` and ``system`` are what would be sent, whole;
    ``max_tokens`` bounds the answer, which ends before any text of ``stop``."""

    messages: tuple[Msg, ...]
    system: str
    max_tokens: int
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """Fill in ``fields``; ``message`` is the server's reason."""

    message: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Visit:
    """Open ``url`` in a browser, for what the server must not be told through us. Whoever agrees
    opens it; the core never does. ``scopes``: the person lets the server do more there, these
    names of rights are new."""

    message: str
    url: str
    scopes: tuple[str, ...] = ()


What = Sampling | Form | Visit


@dataclass(frozen=True, slots=True)
class Ask:
    """``server`` asks for ``what`` while ``tool`` runs as our operation ``op_id``."""

    server: str
    tool: str
    op_id: str
    what: What


Action = Literal["accept", "decline", "cancel", "failed"]


@dataclass(frozen=True, slots=True)
class Reply:
    """``content`` is a form's values, ``text`` and ``model`` a model's answer, ``stop`` why it
    ended; ``why`` says what failed, in words for the server. Values are in no ``repr``."""

    action: Action
    content: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    text: str = field(default="", repr=False)
    model: str = ""
    stop: Literal["endTurn", "maxTokens", "stopSequence"] = "endTurn"
    why: str = ""


Asker = Callable[[Ask], Awaitable[Reply]]
