"""Where the key of a model lies, in words for the line below its field."""

from __future__ import annotations

from typing import Any

from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.secrets import Secrets
from desktop_app.ui.i18n import mark


async def key_note(secrets: Secrets, one: ModelDefinition) -> tuple[str, dict[str, Any]]:
    """The English words for ``tr``, and what they name."""
    place = await secrets.place()
    known = bool(one.model and await secrets.get(one.service))
    if one.model and (name := await secrets.variable(one.service)):
        if known:
            return mark("Taken from the variable {name}."), {"name": name}
        return mark("To be taken from the variable {name}, which is not set."), {"name": name}
    if one.model and secrets.silent(one.service):
        words = mark("The system's keyring does not answer: unlock it, then look here again.")
    elif place == "session" and known:
        words = mark("A key is known until the program ends; this system has no keyring.")
    elif place == "session":
        words = mark(
            "No keyring here: a key lasts until the program ends; ${NAME} takes it from that "
            "variable."
        )
    elif known:
        words = mark("A key lies in the system's keyring. Leave empty to keep it.")
    else:
        words = mark(
            "Kept in the system's keyring, nowhere else; ${NAME} takes it from that variable."
        )
    return words, {}
