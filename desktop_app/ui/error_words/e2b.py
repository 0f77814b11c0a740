"""Words for errors of E2B and of the workspaces in its sandboxes."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "e2b.no_key": (
        mark("No E2B key"),
        mark("Sandboxes in the cloud need the API key of an E2B account."),
        mark("Enter it in the settings, or set E2B_API_KEY."),
        "",
    ),
    "e2b.key": (
        mark("E2B does not accept the key"),
        mark("E2B says: {detail}"),
        mark("Enter a valid key in the settings."),
        "",
    ),
    "e2b.rate": (
        mark("Too many requests to E2B"),
        mark("E2B says: {detail}"),
        mark("Wait a moment, then try again."),
        "retry",
    ),
    "e2b.busy": (
        mark("E2B is busy"),
        mark("E2B says: {detail}"),
        mark("Wait a moment, then try again."),
        "retry",
    ),
    "e2b.gone": (
        mark("The sandbox is gone"),
        mark("It ended or somebody removed it: {detail}"),
        mark("Try again to make a new one. The sessions are kept."),
        "retry",
    ),
    "e2b.not_running": (
        mark("The sandbox does not run"),
        mark("Its time was over, or it was paused: {detail}"),
        mark("Try again: it is resumed with its files as they were."),
        "retry",
    ),
    "e2b.unreachable": (
        mark("E2B cannot be reached"),
        mark("There was no answer: {detail}"),
        mark("Check the connection, then try again. The sessions are saved."),
        "retry",
    ),
    "e2b.refused": (
        mark("E2B refused"),
        mark("E2B says: {detail}"),
        "",
        "retry",
    ),
    "e2b.no_python": (
        mark("The sandbox has no Python"),
        mark("Slipway works in it through python3, which cannot be started: {detail}"),
        mark("Choose a template with Python 3.8 or newer."),
        "",
    ),
    "e2b.spec": (
        mark("A setting of the sandbox cannot be used"),
        mark("Its “{field}” is not valid."),
        mark("Correct it in the workspace's settings."),
        "",
    ),
    "workspace.no_lease": (
        mark("This workspace has no end"),
        mark("“{name}” is not a sandbox whose time could be extended."),
        "",
        "",
    ),
}
