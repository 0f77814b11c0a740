"""Words for errors of where keys are kept."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "secrets.passphrase": (
        mark("That is not the passphrase"),
        mark("The key file does not open with it. Nothing was changed."),
        mark("Try again. Without its passphrase nobody can open the file, this program neither."),
        "",
    ),
    "secrets.short": (
        mark("The passphrase is too short"),
        mark("It needs {least} characters or more."),
        mark("A few words that you will remember are better than one word with signs in it."),
        "",
    ),
    "secrets.locked": (
        mark("The key file is locked"),
        mark("{path} holds the key and is not open in this run."),
        mark("Unlock it with its passphrase."),
        "unlock_keys",
    ),
    "secrets.damaged": (
        mark("The key file is damaged"),
        mark("{path} cannot be read: {reason}. It is left as it is, and its backup is no better."),
        mark("Put a copy of it back, or make a new one: the damaged one is then put aside."),
        "",
    ),
    "secrets.restored": (
        mark("The key file was damaged"),
        mark("Its backup took its place: what was changed last may be missing."),
        mark("The damaged one is kept as {path}."),
        "",
    ),
    "secrets.newer": (
        mark("The key file is of a newer version"),
        mark("{path} was written by a later version of this program. It is left as it is."),
        mark("Update the program to use the keys in it."),
        "",
    ),
    "secrets.unreadable": (
        mark("The key file cannot be read"),
        mark("{path}: {reason}. It is left as it is."),
        mark("Give yourself the right to read it."),
        "",
    ),
    "secrets.exists": (
        mark("There is a key file already"),
        mark("Another window made {path} meanwhile."),
        mark("Unlock that one with its passphrase."),
        "unlock_keys",
    ),
    "secrets.gone": (
        mark("The key file is gone"),
        mark("{path} is not there any more. Keys last until the program ends."),
        mark("Put it back, or make a new one in the settings, under Keys."),
        "",
    ),
    "secrets.busy": (
        mark("The key file is in use"),
        mark("Another process holds {path}. Nothing was changed."),
        mark("Try again in a moment."),
        "retry",
    ),
    "secrets.unwritable": (
        mark("The key file cannot be written"),
        mark("{path}: {reason}. What was in it is still there; the key lasts for this run."),
        mark("Make room, or give yourself the right to write there, then save it again."),
        "",
    ),
    "model.keys_locked": (
        mark("The key file is locked"),
        mark("The key of “{model}” lies in it. Nothing was sent."),
        mark("Unlock it with its passphrase."),
        "unlock_keys",
    ),
    "mcp.keys_locked": (
        mark("The key file is locked"),
        mark("The tokens of “{name}” lie in it; the server was not asked without them."),
        mark("Unlock it in the settings, under Keys, then start the server again."),
        "",
    ),
    "mcp.keyring": (
        mark("The keyring does not answer"),
        mark("The tokens of “{name}” lie in the system's keyring, which gave no answer."),
        mark("Unlock the keyring. It is asked again by itself."),
        "",
    ),
    "workspace.keys_locked": (
        mark("The key file is locked"),
        mark("The environment variables of “{name}” lie in it; it is not opened without them."),
        mark("Unlock it in the settings, under Keys, then open the workspace again."),
        "",
    ),
}
