"""Words for errors of compaction and settings."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "compaction.mismatch": (
        mark("The compaction does not fit"),
        mark("The session changed meanwhile; nothing was changed by it."),
        mark("Compact again."),
        "compact",
    ),
    "compaction.not_newest": (
        mark("Not the newest compaction"),
        mark("Only the newest compaction can be undone."),
        mark("Undo the newest one first, or branch from before it."),
        "",
    ),
    "compaction.paused": (
        mark("Compaction pauses"),
        mark("The window fills again at once; {label} takes most of it, {tokens} tokens."),
        mark("Take it out of the prompt, or compact yourself."),
        "compact",
    ),
    "context.no_ref": (
        mark("Nothing of that name"),
        mark("“{ref}” is not in this conversation."),
        "",
        "",
    ),
    "compaction.stale": (
        mark("The proposal is out of date"),
        mark("The conversation has changed since it was made. Nothing was changed by it."),
        mark("Have a new one made."),
        "compact",
    ),
    "compaction.stopped": (
        mark("The compaction was stopped"),
        mark("Nothing was changed."),
        "",
        "compact",
    ),
    "compaction.unknown": (
        mark("There is no such compaction"),
        mark("“{id}” is not in this session, or was taken back."),
        "",
        "",
    ),
    "context.not_live": (
        mark("It is not in the prompt any more"),
        mark("What you chose has left the context, or belongs to another session."),
        mark("Look for it among what was offloaded."),
        "",
    ),
    "context.nothing_to_offload": (
        mark("Nothing to take out"),
        mark("It is small, pinned, or out of the prompt already."),
        "",
        "",
    ),
    "session.no_fork": (
        mark("No branch could be made"),
        mark("This session is not part of a data folder."),
        "",
        "",
    ),
    "settings.unreadable": (
        mark("The settings cannot be read"),
        mark(
            "“{path}”: {reason}. The file is left as it is and the program goes on "
            "with its defaults; before anything is saved the file is set aside."
        ),
        mark("Correct the file, or set everything anew."),
        "show_file",
    ),
    "settings.unwritable": (
        mark("The settings cannot be saved"),
        mark("“{path}”: {reason}"),
        mark("Check that the folder can be written."),
        "",
    ),
    "settings.invalid": (
        mark("A setting is not right"),
        mark("“{name}”: {reason}"),
        mark("The default is used instead."),
        "open_settings",
    ),
    "compaction.cannot_fit": (
        mark("It would not fit even then"),
        mark(
            "After a compaction {needed} tokens would be needed, {usable} are "
            "usable. Nothing was changed."
        ),
        mark("Offload large results, or choose a model with a larger window."),
        "choose_model",
    ),
    "compaction.cut": (
        mark("The summary was not used"),
        mark("It was cut off at {tokens} tokens. Nothing changed."),
        mark("Compact once more."),
        "compact",
    ),
    "compaction.empty": (
        mark("The summary was not used"),
        mark("It held nothing that could be kept. Nothing changed."),
        mark("Compact once more."),
        "compact",
    ),
    "compaction.failed": (
        mark("The compaction failed"),
        mark("{reason} Nothing changed."),
        mark("Compact once more."),
        "compact",
    ),
    "compaction.none": (
        mark("Nothing to undo"),
        mark("This session has no compaction that could be undone."),
        "",
        "",
    ),
    "compaction.not_smaller": (
        mark("The compaction would not save anything"),
        mark("It would take {after} tokens instead of {before}. Nothing changed."),
        mark("Go on; it is offered again when there is more to compact."),
        "",
    ),
    "compaction.would_not_fit": (
        mark("It does not fit any more"),
        mark(
            "With all messages back there would be {tokens} tokens, {usable} fit. Nothing changed."
        ),
        mark("What left stays in the session's files, where you and the agent can read it."),
        "",
    ),
    "offload.unknown": (
        mark("This session offloaded nothing of that name"),
        mark("It may belong to another session, or to a part of it that was left behind."),
        mark("Open the list of offloads again."),
        "",
    ),
    "offload.refused": (
        mark("What left the context is not where you keep it yet"),
        mark("Your offloader answered: {kind} ({detail})"),
        mark("Nothing is lost: the session keeps it and tries again by itself."),
        "",
    ),
    "context.over_window": (
        mark("Too much for the window"),
        mark(
            "The request may reach {upper} tokens, {usable} are usable. The largest"
            " part is {biggest} with {biggest_tokens}. Nothing was sent."
        ),
        mark("Offload or remove it, or compact."),
        "compact",
    ),
    "context.fixed_over_window": (
        mark("What is always sent fills the window"),
        mark(
            "System prompt, tools, servers and skills take {needed} tokens, {share} % of the "
            "window; {usable} are usable. The largest parts: {biggest} with {biggest_tokens}, "
            "{second} with {second_tokens}. Nothing was sent."
        ),
        mark(
            "Switch tools, servers or skills off in the Context tab, or choose a model with a "
            "larger window. A compaction cannot help."
        ),
        "choose_model",
    ),
    "context.too_large": (
        mark("Too much for the window"),
        mark("The request has {tokens} tokens, {limit} fit. Nothing was sent."),
        mark("Compact, or choose a model with a larger window."),
        "compact",
    ),
}

# Why a model's notes came to nothing: the parameter ``reason`` of ``compaction.failed``.
NOTES_FAILED: dict[str, str] = {
    "timeout": mark("The model took longer than {seconds} seconds."),
    "tool_call": mark("The model called a tool instead of writing notes."),
    "too_long": mark("The model wrote far more than it was asked for."),
    "protected": mark("Something that must stay would have been lost."),
}
