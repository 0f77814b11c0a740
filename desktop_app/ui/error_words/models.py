"""Words for errors of models."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "model.unreachable": (
        mark("The model cannot be reached"),
        mark("There is no connection to “{model}”. Your message is saved."),
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
        mark("Enter a valid key for this model."),
        "manage_models",
    ),
    "model.no_key": (
        mark("A key is missing"),
        mark("There is no key for “{model}”. Nothing was sent."),
        mark("Enter a key for this model."),
        "manage_models",
    ),
    "model.keyring": (
        mark("The keyring does not answer"),
        mark("The key of “{model}” lies in the system's keyring, which gave no answer."),
        mark("Unlock the keyring and try again."),
        "",
    ),
    "model.no_variable": (
        mark("A variable is not set"),
        mark(
            "The key of “{model}” is to come from {variable}, which is not set. Nothing was sent."
        ),
        mark("Set it and start the program anew, or enter a key for this model."),
        "manage_models",
    ),
    "model.quota": (
        mark("The account has no credit left"),
        mark("The provider of “{model}” says: {detail}"),
        mark("Add credit there, or choose another model."),
        "choose_model",
    ),
    "model.overloaded": (
        mark("The provider is overloaded"),
        mark("“{model}” cannot answer now. Your message is saved."),
        mark("Try again in a moment, or choose another model."),
        "retry",
    ),
    "model.unavailable": (
        mark("The provider has a failure"),
        mark("The provider of “{model}” answered with status {status}. Your message is saved."),
        mark("Try again in a moment, or choose another model."),
        "retry",
    ),
    "model.timeout": (
        mark("The model did not answer in time"),
        mark("“{host}” accepted the request and then said nothing. Your message is saved."),
        mark("Try again."),
        "retry",
    ),
    "model.stalled": (
        mark("The answer stopped"),
        mark("“{model}” went silent in the middle of its answer. What arrived is kept."),
        mark("Try again, or ask to go on."),
        "retry",
    ),
    "model.certificate": (
        mark("The connection is not safe"),
        mark("The certificate of “{host}” is not trusted here: {detail}. {certificate}"),
        mark(
            "Check the address. If the certificate is right, trust it for this host, or its issuer "
            "in the system's store or by a file under Models, Network."
        ),
        "trust_certificate",
    ),
    "model.certificate_changed": (
        mark("The server shows another certificate than the one that you trust"),
        mark("“{host}” shows: {certificate}"),
        mark(
            "It may have been renewed, or somebody may be listening in. Ask whoever runs the "
            "server before you trust this one."
        ),
        "trust_certificate",
    ),
    "model.proxy": (
        mark("The proxy does not let us through"),
        mark("Calls to “{model}” go through the proxy “{proxy}”: {detail}"),
        mark("Check the proxy under Models, Network, or name the host among those without it."),
        "manage_models",
    ),
    "model.ca_file": (
        mark("The certificates cannot be read"),
        mark("“{path}”: {reason}"),
        mark("Choose a file with certificates in PEM format."),
        "manage_models",
    ),
    "model.process": (
        mark("The models process ended"),
        mark("The part of the program that talks to models ended unexpectedly. {detail}"),
        mark("Try again: it is started anew."),
        "retry",
    ),
    "model.no_schema": (
        mark("The model takes no schema"),
        mark("“{model}” cannot be held to the shape of an answer."),
        mark("Choose another model."),
        "choose_model",
    ),
    "model.shapeless": (
        mark("The answer has not the shape that was asked for"),
        mark("“{model}”: {detail}"),
        mark("Try again, or choose another model."),
        "choose_model",
    ),
    "model.not_found": (
        mark("The provider does not know this model"),
        mark("“{model}”: {detail}"),
        mark("Check the model's name and the address."),
        "manage_models",
    ),
    "model.rejected": (
        mark("The provider refused the request"),
        mark("“{model}”: {detail}"),
        mark("Change what it complains about, or choose another model."),
        "choose_model",
    ),
    "model.overflow": (
        mark("Too much for the model"),
        mark("The request does not fit into the window of “{model}”."),
        mark("Compact the context, or choose a model with a larger window."),
        "compact",
    ),
    "model.max_output": (
        mark("The model does not answer at such length"),
        mark("“{model}”: {detail}"),
        mark("Set a shorter longest answer for this model, or choose another one."),
        "manage_models",
    ),
    "model.length": (
        mark("The answer reached its longest length"),
        mark("“{model}” had to stop in the middle. What it wrote is kept."),
        mark("Let it go on, or allow longer answers in the model's settings."),
        "",
    ),
    "model.thought_out": (
        mark("The model thought until its answer was full"),
        mark("“{model}” spent the longest answer that it may give on thinking and said nothing."),
        mark("Let it go on, allow longer answers in the model's settings, or ask for less effort."),
        "",
    ),
    "model.window_full": (
        mark("The window filled up in the middle of the answer"),
        mark("“{model}” had no room left. What it wrote is kept; room is made before it goes on."),
        mark("Let it go on, or choose a model with a larger window."),
        "",
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
    "model.retry": (
        mark("Trying again"),
        mark("“{model}”: {why}. The next try is in {seconds} s."),
        "",
        "",
    ),
    "model.fallback": (
        mark("Another model answers"),
        mark("“{model}” cannot answer now; “{other}” does, for this turn."),
        "",
        "",
    ),
}
