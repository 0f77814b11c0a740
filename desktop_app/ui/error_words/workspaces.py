"""Words for errors of workspaces and their backends."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "workspace.missing": (
        mark("The folder is not there"),
        mark("“{path}” cannot be found. It may have been moved, or its disk is not connected."),
        mark(
            "Connect the disk, put the folder back, or say where it is now. Its sessions are kept."
        ),
        "locate_folder",
    ),
    "workspace.unreadable": (
        mark("The folder cannot be read"),
        mark("This user may not read “{path}”."),
        mark("Change its permissions, then look again."),
        "retry",
    ),
    "workspace.there": (
        mark("The folder is where it was"),
        mark("“{path}” can be read again, so the workspace goes on there."),
        "",
        "",
    ),
    "workspace.taken": (
        mark("That folder is another workspace's"),
        mark("“{path}” belongs to “{name}”, and two workspaces cannot share a folder."),
        mark("Choose another folder, or go on in that workspace."),
        "",
    ),
    "workspace.readonly": (
        mark("The folder is read-only"),
        mark(
            "Nothing may be written in “{path}”. The agent can read there; results "
            "are kept in the program's own folder."
        ),
        mark("Make it writable to let the agent change files."),
        "",
    ),
    "workspace.in_use": (
        mark("Another program is using this folder"),
        mark(
            "{program} (process {pid}) has “{where}” in use. Everything can be read here; "
            "nothing is written."
        ),
        mark("End that program, or open anyway: what one writes the other may write over."),
        "open_anyway",
    ),
    "workspace.used_since": (
        mark("Another program may be using this folder"),
        mark(
            "“{where}” changed {minutes} min ago, since {program} (process {pid}) runs, an "
            "AgentScope program. Everything can be read here; nothing is written."
        ),
        mark("End that program, or open anyway: what one writes the other may write over."),
        "open_anyway",
    ),
    "workspace.just_changed": (
        mark("Another program may be using this folder"),
        mark(
            "“{where}” changed {minutes} min ago, not by Slipway: a service in a container or on "
            "another computer may be at work. Everything can be read here; nothing is written."
        ),
        mark("Wait until it is quiet for ten minutes, or open anyway."),
        "open_anyway",
    ),
    "workspace.theirs": (
        mark("AgentScope made this machine"),
        mark(
            "“{machine}” belongs to an AgentScope workspace. While it runs everything can be read "
            "here; it is not changed, started, stopped or removed."
        ),
        mark("Open anyway to work in it: what one writes the other may write over."),
        "open_anyway",
    ),
    "workspace.volatile": (
        mark("The files here are in memory"),
        mark(
            "The working directory of “{machine}” is a tmpfs: everything in it is gone when the "
            "container stops, sessions, data and skills too."
        ),
        mark("Make a rescue copy before it stops, or make a container whose files stay."),
        "",
    ),
    "workspace.rescue_failed": (
        mark("The rescue copy could not be made"),
        mark("“{name}” ends soon, and its files with it: {reason}"),
        mark("Extend its lease on the Workspaces page, or make a copy there."),
        "",
    ),
    "workspace.theirs_gone": (
        mark("AgentScope's machine is not there"),
        mark(
            "AgentScope removes it when it closes the workspace, and makes it again. Slipway never "
            "makes one in its place."
        ),
        mark("Open the workspace in AgentScope, then try again."),
        "retry",
    ),
    "workspace.machine_gone": (
        mark("Its machine is gone"),
        mark(
            "“{machine}” is not there any more: it ended or was removed, with the files that were "
            "only in it. The sessions are kept, and so are rescue copies."
        ),
        mark("Start makes a new one, without those files."),
        "",
    ),
    "workspace.not_ours": (
        mark("AgentScope made this machine"),
        mark("Only AgentScope knows how “{name}” is made; it cannot be rebuilt or set up here."),
        "",
        "",
    ),
    "migrate.current": (
        mark("Nothing to move"),
        mark("“{path}” has the newest layout already."),
        "",
        "",
    ),
    "migrate.bad_mcp": (
        mark("The declarations cannot be read"),
        mark("“{path}” is not the JSON that AgentScope writes; moving it could lose what it says."),
        mark("Correct the file, then try again."),
        "show_file",
    ),
    "migrate.link": (
        mark("A part of the workspace is a link"),
        mark("“{path}” leads elsewhere; what is there is not moved."),
        mark("Put the real folder or file in its place, then try again."),
        "",
    ),
    "migrate.space": (
        mark("Not enough space for the copy"),
        mark("The copy needs {size} beside the workspace."),
        mark("Make room on that disk, then try again. Nothing was changed."),
        "retry",
    ),
    "migrate.backup": (
        mark("The copy could not be made"),
        mark("“{path}”: {reason}"),
        mark("Nothing was changed. Make the folder beside the workspace writable, then try again."),
        "retry",
    ),
    "migrate.changed": (
        mark("The workspace changed meanwhile"),
        mark("While “{path}” was copied, another program wrote in it."),
        mark("Nothing was changed. End that program, then try again."),
        "retry",
    ),
    "migrate.not_here": (
        mark("Not a folder of this computer"),
        mark("“{path}” is inside a container or sandbox; its own program moves it."),
        "",
        "",
    ),
    "migrate.running": (
        mark("An agent works in this workspace"),
        mark("“{path}” can be moved when no agent runs in it."),
        mark("Stop it or wait for it, then try again."),
        "",
    ),
    "workspace.failed": (
        mark("The workspace did not open"),
        mark("“{path}”: {reason}"),
        "",
        "retry",
    ),
    "workspace.kind": (
        mark("A workspace of an unknown kind"),
        mark("“{name}” is of the kind “{kind}”, which this version of Slipway does not know."),
        mark("Update Slipway. Its sessions are kept and can be read."),
        "",
    ),
    "workspace.no_machine": (
        mark("This workspace has no machine"),
        mark("“{name}” is a folder of this computer: there is nothing to start or stop."),
        "",
        "",
    ),
    "workspace.asleep": (
        mark("Its machine stands still"),
        mark("“{name}” is paused or stopped. What runs in it goes on when it is started."),
        mark("Start it, or send a message: the agent starts it when it needs it."),
        "",
    ),
    "workspace.nothing_kept": (
        mark("There is nothing to rescue yet"),
        mark("No session has kept anything in “{name}”."),
        "",
        "",
    ),
    "transfer.differs": (
        mark("A file did not come over whole"),
        mark("“{path}” in “{folder}” is not the same on both sides."),
        mark("Try again. If it changed meanwhile, stop what writes it first."),
        "retry",
    ),
    "transfer.broken": (
        mark("The transfer broke off"),
        mark("What came was not whole: {detail}. Nothing was kept of it."),
        mark("Try again."),
        "retry",
    ),
    "gateway.failed": (
        mark("The MCP gateway did not start"),
        mark("It runs inside the container or sandbox and said: {detail}"),
        mark("Try again. Everything but MCP servers works without it."),
        "retry",
    ),
    "gateway.install": (
        mark("The MCP gateway could not be installed"),
        mark("pip said inside the container or sandbox: {detail}"),
        mark("Check the network there, then try again."),
        "retry",
    ),
    "http.failed": (
        mark("The MCP gateway does not answer"),
        mark("Port {port}: {detail}"),
        mark("It is being started again."),
        "retry",
    ),
    "http.timeout": (
        mark("The MCP gateway takes too long"),
        mark("There was no answer on port {port}."),
        mark("It is being started again."),
        "retry",
    ),
    "backend.closed": (
        mark("The workspace is closed"),
        mark("It was closed while something still ran in it."),
        mark("Open it again."),
        "retry",
    ),
    "backend.unreachable": (
        mark("The workspace does not answer"),
        mark(
            "“{path}” cannot be reached. The session is saved; what could not be delivered waits."
        ),
        mark("Check the connection, then try again."),
        "retry",
    ),
    "data.not_base64": (
        mark("Broken data"),
        mark("A block ({block}) holds data that cannot be decoded; it was kept as it is."),
        "",
        "",
    ),
    "exec.missing": (
        mark("Program not found"),
        mark("“{program}” is not installed, or not in the PATH."),
        mark("Install it, or give its whole path."),
        "",
    ),
    "exec.denied": (
        mark("The program may not be run"),
        mark("“{program}” is not executable for this user."),
        mark("Change its permissions."),
        "",
    ),
    "exec.failed": (
        mark("The program did not start"),
        mark("“{program}”: {detail}"),
        "",
        "",
    ),
    "exec.too_long": (
        mark("The command is too long"),
        mark("The system does not take so long a command for “{program}”."),
        mark("Put the content into a file and pass its name."),
        "",
    ),
}
