"""Words for errors of the agents that a person makes."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "agent.name": (
        mark("The agent needs a name"),
        mark("A name is one line of at most {most} characters."),
        "",
        "",
    ),
    "agent.taken": (
        mark("There is an agent of that name"),
        mark("“{name}” would not be told from the other one."),
        mark("Choose another name."),
        "",
    ),
    "agent.long": (
        mark("The instructions are too long"),
        mark("They have {chars} characters, and every call to the model would carry them."),
        mark("Keep to {most}; put longer material into a skill or a file of the workspace."),
        "",
    ),
    "agent.mode": (
        mark("No agent can begin in that mode"),
        mark("“{mode}” can only be chosen in a session."),
        "",
        "",
    ),
    "agent.builtin": (
        mark("The built-in agent cannot be changed"),
        mark("It is there for sessions without an agent of their own."),
        mark("Duplicate it and change the copy."),
        "",
    ),
}
