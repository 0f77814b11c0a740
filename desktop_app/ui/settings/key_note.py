"""Where the key of a model lies, in words for the line below its field."""

from __future__ import annotations

from typing import Any

from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.secrets import Secrets
from desktop_app.ui.i18n import mark


async def key_note(secrets: Secrets, one: ModelDefinition) -> tuple[str, dict[str, Any]]:
    """The English words for ``tr``, and what they name."""
    if one.model and (name := await secrets.variable(one.service)):
        if await secrets.get(one.service):
            return mark("Taken from the variable {name}."), {"name": name}
        return mark("To be taken from the variable {name}, which is not set."), {"name": name}
    lies = await secrets.lies(one.service) if one.model else None
    if lies == "session":
        return mark("A key is known until the program ends."), {}
    if lies == "file" and await secrets.file_state() == "locked":
        words = mark("A key lies in your key file, which is locked. Leave empty to keep it.")
    elif lies == "file":
        words = mark("A key lies in your key file. Leave empty to keep it.")
    elif lies == "keyring":
        words = mark("A key lies in the system's keyring. Leave empty to keep it.")
    elif one.model and secrets.silent(one.service):
        words = mark("The system's keyring does not answer: unlock it, then look here again.")
    else:
        words = _WHERE[await secrets.place()]
    return words, {}


_WHERE: dict[str, str] = {
    "keyring": mark(
        "Kept in the system's keyring, nowhere else; ${NAME} takes it from that variable."
    ),
    "file": mark("Kept in your key file; ${NAME} takes it from that variable."),
    "session": mark(
        "No keyring here: you choose where a key is kept; ${NAME} takes it from that variable."
    ),
}
