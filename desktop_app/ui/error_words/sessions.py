"""Words for errors of sessions and the program's own data."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "event.unknown": (
        mark("An event that is not understood"),
        mark(
            "An event of kind “{kind}” was not accepted: kind or shape is not one of AgentScope's."
        ),
        mark("Nothing was changed. Send it again in the shape of AgentScope 2.x."),
        "",
    ),
    "message.unknown": (
        mark("The message is not there"),
        mark("The message that this answers is not loaded."),
        mark("Scroll up to it, then try again."),
        "",
    ),
    "session.exists": (
        mark("The session exists already"),
        mark("There is a session “{session}” already."),
        "",
        "new_session",
    ),
    "session.not_trashed": (
        mark("Not in the trash"),
        mark("“{session}” is not in the trash; it was not deleted."),
        mark("Move it to the trash first."),
        "",
    ),
    "journal.in_use": (
        mark("Open in another window"),
        mark("This session is being written by another window or program. You see it live here."),
        mark("Take over, or go on there."),
        "take_over",
    ),
    "journal.fenced": (
        mark("Taken over elsewhere"),
        mark("Another window took this session over. What you had here is saved."),
        mark("Take it back, or go on there."),
        "take_over",
    ),
    "journal.readonly": (
        mark("This session is read-only"),
        mark("{why}"),
        mark("Make a new session from it to go on."),
        "new_session",
    ),
    "journal.closed": (
        mark("The session is closed"),
        mark("It was closed while something was still being written."),
        mark("Open it again."),
        "retry",
    ),
    "journal.busy": (
        mark("The session's file is busy"),
        mark("Another program holds “{path}”, for instance a backup."),
        mark("Wait a moment and try again."),
        "retry",
    ),
    "journal.missing": (
        mark("The session's file is gone"),
        mark("There is no “{path}”."),
        mark("Bring it back from a backup, or remove the session from the list."),
        "show_file",
    ),
    "journal.damaged": (
        mark("The session's file is damaged"),
        mark(
            "A part of it cannot be read. All that is whole is shown; the file was left as it is."
        ),
        mark("Go on in a new session made from what is whole."),
        "continue_here",
    ),
    "journal.newer": (
        mark("Made by a newer version"),
        mark("This session was written by a newer version of the program; it opens read-only."),
        mark("Update the program."),
        "",
    ),
    "operation.repeated": (
        mark("It was done already"),
        mark(
            "“{tool}” was asked to run a second time under the same number; it did not run again."
        ),
        "",
        "",
    ),
    "blob.missing": (
        mark("Stored content is gone"),
        mark("A large content of this session ({sha256}) is not there any more."),
        mark("Bring the session's folder back from a backup."),
        "",
    ),
    "blob.corrupt": (
        mark("Stored content is damaged"),
        mark("A large content of this session ({sha256}) is not what was stored; it is not shown."),
        mark("Bring the session's folder back from a backup."),
        "",
    ),
    "appdb.newer": (
        mark("Made by a newer version"),
        mark("“{path}” was written by a newer version of the program; it was left as it is."),
        mark("Update the program."),
        "",
    ),
    "appdb.damaged": (
        mark("The list of workspaces was damaged"),
        mark("It was set aside and built anew from the sessions' own files."),
        mark("Check that your workspaces are all there."),
        "show_file",
    ),
    "appdb.busy": (
        mark("The program's data is busy"),
        mark("Another program holds it, for instance a backup."),
        mark("Wait a moment and try again."),
        "retry",
    ),
    "appdb.closed": (
        mark("The program is closing"),
        mark("Its data was closed already; nothing was changed."),
        mark("Start it again."),
        "",
    ),
    "index.busy": (
        mark("The list of sessions is busy"),
        mark("Another program holds it, for instance a backup."),
        mark("Wait a moment and try again."),
        "retry",
    ),
    "index.closed": (
        mark("The program is closing"),
        mark("The list of sessions was closed already."),
        mark("Start it again."),
        "",
    ),
    "index.damaged": (
        mark("The list of sessions was damaged"),
        mark("It only speeds up lists and search; it is built anew from the sessions."),
        mark("Wait until it is built."),
        "",
    ),
    "session.readonly": (
        mark("This session is read-only"),
        mark("{why}"),
        mark("Make a new session from it to go on."),
        "new_session",
    ),
    "session.foreign": (
        mark("A session of another program"),
        mark("Another program wrote this session here; it can be read."),
        mark("Go on in a new session that begins with it."),
        "continue_here",
    ),
    "history.damaged": (
        mark("A part of this history cannot be read"),
        mark("Line {line} is no message ({bytes}); it was left as it is."),
        "",
        "",
    ),
    "run.busy": (
        mark("It is still working"),
        mark("The agent answers in this session already."),
        mark("Stop it, or wait until it is done."),
        "",
    ),
    "run.crashed": (
        mark("The answer was broken off by a fault of the program"),
        mark("{error}: {detail}"),
        mark("What arrived is saved. Try again; the log says more."),
        "retry",
    ),
    "run.parked": (
        mark("It waits for you"),
        mark("An approval or a question is open in this session."),
        mark("Answer it first."),
        "",
    ),
    "run.not_parked": (
        mark("Nothing waits here"),
        mark("There is no open approval or question in this session any more."),
        "",
        "",
    ),
    "run.not_waiting": (
        mark("Decided already"),
        mark("This call does not wait for a decision any more."),
        "",
        "",
    ),
    "run.nothing_to_continue": (
        mark("Nothing to go on with"),
        mark("The last answer is complete."),
        mark("Write a message."),
        "",
    ),
    "run.wrong_reply": (
        mark("It belongs to another answer"),
        mark("The decision was meant for an answer that is not open any more; nothing was run."),
        "",
        "",
    ),
}
