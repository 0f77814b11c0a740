"""Words for errors of models."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "model.unreachable": (
        mark("The model cannot be reached"),
        mark("There was no answer from “{model}”. Your message is saved."),
        mark("Check the connection, then try again."),
        "retry",
    ),
    "model.rate_limited": (
        mark("Too many requests"),
        mark("The provider of “{model}” asks to wait. Your message is saved."),
        mark("Wait a moment and try again, or choose another model."),
        "retry",
    ),
    "model.auth": (
        mark("The key was not accepted"),
        mark("The provider of “{model}” refused the key."),
        mark("Enter a valid key in the settings."),
        "open_settings",
    ),
    "model.overflow": (
        mark("Too much for the model"),
        mark("The request has {tokens} tokens, the window holds {window}. Nothing was sent."),
        mark("Compact the context, or choose a model with a larger window."),
        "compact",
    ),
    "model.empty": (
        mark("The model said nothing"),
        mark("The answer was empty. Your message is saved; nothing was run twice."),
        mark("Try again."),
        "retry",
    ),
    "model.cut": (
        mark("The answer was cut off"),
        mark("The connection ended in the middle. What arrived is kept."),
        mark("Try again, or ask to go on."),
        "retry",
    ),
    "model.refused": (
        mark("The model declined"),
        mark("The provider did not answer this request."),
        mark("Put it in other words, or choose another model."),
        "choose_model",
    ),
    "model.failed": (
        mark("The model failed"),
        mark("{detail}"),
        mark("Try again, or choose another model."),
        "retry",
    ),
    "model.unknown": (
        mark("Unknown model"),
        mark("“{model}” is not among the models of this program."),
        mark("Choose another one."),
        "choose_model",
    ),
}
