"""Words for MCP servers: their declarations, their connections, their calls; and for skills."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "mcp.not_json": (
        mark("The list of MCP servers cannot be read"),
        mark(".mcp is not valid JSON (line {line}, column {column}). It is left as it is."),
        mark("Correct the file."),
        "show_file",
    ),
    "mcp.bad_shape": (
        mark("The list of MCP servers cannot be read"),
        mark(".mcp is neither a list nor an object with “mcps”. It is left as it is."),
        mark("Correct the file."),
        "show_file",
    ),
    "mcp.entry_not_object": (
        mark("The entry is no server"),
        mark("An entry in .mcp is not an object."),
        mark("Correct the file."),
        "show_file",
    ),
    "mcp.bad_name": (
        mark("The server's name cannot be used"),
        mark("“{name}” is empty, too long or has characters that cannot be seen."),
        mark("Give it another name."),
        "",
    ),
    "mcp.duplicate_name": (
        mark("Two servers of one name"),
        mark("“{name}” is declared already; only the first one is used."),
        mark("Give one of them another name."),
        "",
    ),
    "mcp.no_config": (
        mark("The server has no settings"),
        mark("“mcp_config” is missing in its entry."),
        mark("Add it."),
        "show_file",
    ),
    "mcp.no_command": (
        mark("No command"),
        mark("The entry says not what to run."),
        mark("Give the program and its arguments."),
        "show_file",
    ),
    "mcp.bad_args": (
        mark("The arguments cannot be used"),
        mark("“args” must be a list of texts."),
        mark("Correct the file."),
        "show_file",
    ),
    "mcp.stdio_stateless": (
        mark("The entry contradicts itself"),
        mark("A server that is a program is always stateful; “is_stateful” is false."),
        mark("Set “is_stateful” to true."),
        "show_file",
    ),
    "mcp.no_url": (
        mark("No address"),
        mark("The entry says not where the server is."),
        mark("Give its address."),
        "show_file",
    ),
    "mcp.bad_url": (
        mark("The address cannot be used"),
        mark("It must begin with http:// or https:// and name a computer."),
        mark("Correct the address."),
        "show_file",
    ),
    "mcp.bad_transport": (
        mark("Unknown kind of server"),
        mark("“{type}” is neither stdio_mcp nor http_mcp."),
        mark("Correct the file."),
        "show_file",
    ),
    "mcp.not_added": (
        mark("The server was not added"),
        mark("“{name}” cannot be used: {reason}"),
        mark("Correct what you entered."),
        "",
    ),
    "mcp.not_written": (
        mark("The list of MCP servers was not changed"),
        mark("“{path}” cannot be understood ({reason}), so it is not written over."),
        mark("Correct the file, then try again."),
        "show_file",
    ),
    "mcp.busy": (
        mark("The list of MCP servers was not changed"),
        mark("Another program keeps writing “{path}”."),
        mark("Try again."),
        "retry",
    ),
    "mcp.unknown_server": (
        mark("Unknown server"),
        mark("“{name}” is not declared here any more."),
        "",
        "",
    ),
    "mcp.timeout": (
        mark("No answer in time"),
        mark("“{name}” gave no answer within {seconds} seconds. The call was cancelled."),
        mark("Try again, or restart the server."),
        "",
    ),
    "mcp.not_running": (
        mark("The server is not running"),
        mark("“{name}” could not be reached for this call."),
        mark("See why in the Tools panel, then restart it."),
        "",
    ),
    "mcp.no_tool": (
        mark("The server has no such tool"),
        mark("“{name}” runs, but offers no “{tool}” now."),
        mark("See its tools, and which of them are on, in the Tools panel."),
        "",
    ),
    "mcp.died": (
        mark("The server ended"),
        mark(
            "“{name}” ended during the call; what it had done by then stays done. "
            "It is being started again."
        ),
        "",
        "",
    ),
    "mcp.taken": (
        mark("The server was switched off"),
        mark("“{name}” was switched off during the call; what it had done by then stays done."),
        "",
        "",
    ),
    "mcp.refused": (
        mark("The server refused"),
        mark("“{name}”: {detail}"),
        "",
        "",
    ),
    "mcp.declined": (
        mark("It was not given what it asked for"),
        mark("“{name}” asked you for something during the call and gave up without it."),
        "",
        "",
    ),
    "mcp.visit": (
        mark("Something must be done in the browser first"),
        mark("“{name}” did not run the call yet. Do what the page asks, then call again."),
        "",
        "",
    ),
    "request.gone": (
        mark("This is not asked any more"),
        mark("The call that it belonged to has ended, or the server took it back."),
        "",
        "",
    ),
    "request.bad_value": (
        mark("The form is not filled in right"),
        mark("“{field}” will not do."),
        mark("Correct it and send again."),
        "",
    ),
    "request.no_model": (
        mark("There is no model to ask"),
        mark("This session has no AI model, so the server's question was refused."),
        mark("Choose a model."),
        "",
    ),
    "request.too_long": (
        mark("The question is too long"),
        mark("It is longer than this session's model can read."),
        "",
        "",
    ),
    "mcp.ended": (
        mark("The server ended"),
        mark("{detail}"),
        "",
        "retry",
    ),
    "mcp.exited": (
        mark("The server did not start"),
        mark("It ended at once: {detail}"),
        mark("Look at its output below, then restart it."),
        "retry",
    ),
    "mcp.flood": (
        mark("The server floods its output"),
        mark("“{name}” was ended: {detail}"),
        mark("Its standard output is for messages alone; a log belongs into standard error."),
        "retry",
    ),
    "mcp.whole_line": (
        mark("The whole line stands where the program's name belongs"),
        mark("No program is called that; “{program}” is meant, and the rest are its arguments."),
        mark("Split it: the entry in .mcp is changed, and the server started."),
        "",
    ),
    "mcp.no_folder": (
        mark("The server's folder is not there"),
        mark("“{path}” does not exist."),
        mark("Correct “cwd” in its entry."),
        "show_file",
    ),
    "mcp.start_timeout": (
        mark("The server does not answer"),
        mark("“{name}” was started and said nothing. {detail}"),
        mark("Restart it."),
        "retry",
    ),
    "mcp.auth": (
        mark("Not signed in"),
        mark("{host} wants a key, or the one given is wrong."),
        mark("Correct the headers of its entry."),
        "show_file",
    ),
    "mcp.sign_in": (
        mark("Sign-in needed"),
        mark("{host} wants you to sign in."),
        mark("Sign in: your browser opens a page that the server names."),
        "",
    ),
    "mcp.sign_in_failed": (
        mark("Signing in failed"),
        mark("{host}: {detail}"),
        mark("Try again, or put a key into the headers of its entry."),
        "",
    ),
    "mcp.not_mcp": (
        mark("There is no MCP server"),
        mark("{host} answered with {status}."),
        mark("Correct the address."),
        "show_file",
    ),
    "mcp.certificate": (
        mark("The connection is not safe"),
        mark("The certificate of “{host}” is not trusted here: {detail}."),
        mark(
            "Check the address. If the certificate is right, trust it for this host, or its issuer "
            "in the system's store or by a file under Models, Network."
        ),
        "trust_certificate",
    ),
    "mcp.certificate_changed": (
        mark("The server shows another certificate than the one that you trust"),
        mark("“{host}” does not show the one that you looked at."),
        mark(
            "It may have been renewed, or somebody may be listening in. Ask whoever runs the "
            "server before you trust this one."
        ),
        "trust_certificate",
    ),
    "mcp.proxy": (
        mark("The proxy does not let us through"),
        mark("The way to {host} goes through the proxy “{proxy}”: {detail}"),
        mark("Check the proxy under Models, Network, or name the host among those without it."),
        "",
    ),
    "mcp.unreachable": (
        mark("The server cannot be reached"),
        mark("{host}: {detail}"),
        mark("Check the address and the connection."),
        "retry",
    ),
    "mcp.failed": (
        mark("The connection failed"),
        mark("“{name}”: {detail}"),
        "",
        "retry",
    ),
    "mcp.no_tools": (
        mark("Connected, without tools"),
        mark("The server offers no tools."),
        "",
        "",
    ),
    "mcp.list_failed": (
        mark("Connected, but its tools cannot be listed"),
        mark("{detail}"),
        mark("Restart it."),
        "retry",
    ),
    "skill.no_file": (
        mark("No SKILL.md"),
        mark("The folder of “{name}” has no SKILL.md."),
        mark("Add one, or remove the folder."),
        "",
    ),
    "skill.file_case": (
        mark("The file has another name"),
        mark("Its file is called “{found}”; it must be SKILL.md."),
        mark("Rename the file."),
        "",
    ),
    "skill.link_outside": (
        mark("The skill is elsewhere"),
        mark("“{name}” is a link out of the workspace."),
        mark("Copy the skill into the workspace."),
        "",
    ),
    "skill.too_large": (
        mark("SKILL.md is too large"),
        mark("It has {size}."),
        mark("Move parts of it into files of their own."),
        "",
    ),
    "skill.folder_large": (
        mark("The folder is large for a skill"),
        mark("It has {files} files with {size} together."),
        mark("Choose the skill's own folder, the one with the SKILL.md."),
        "",
    ),
    "skill.comment_in_description": (
        mark("The description may be cut"),
        mark("YAML takes “ #” and what follows for a comment."),
        mark("Put the description in quotes."),
        "",
    ),
    "skill.long_name": (
        mark("The name is long"),
        mark("Some programs take at most 64 characters."),
        mark("Shorten it."),
        "",
    ),
    "skill.description_not_text": (
        mark("The description is no text"),
        mark("It was read as one."),
        mark("Write it as a text."),
        "",
    ),
    "skill.name_not_text": (
        mark("The name is no text"),
        mark("It was read as one."),
        mark("Write it in quotes."),
        "",
    ),
    "watch.too_many": (
        mark("Changes are looked for less often"),
        mark("The system watches no more folders; lists are read again every few seconds instead."),
        mark("Raise the limit of watched files of the system."),
        "",
    ),
}
