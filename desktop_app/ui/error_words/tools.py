"""Words for errors of tools and skills."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "tool.bad_arguments": (
        mark("The call was not right"),
        mark("The agent called “{tool}” with arguments that do not fit: {problems}"),
        mark("It is told why and may try again."),
        "",
    ),
    "tool.bad_answer": (
        mark("The answer does not fit"),
        mark("The answer holds something that was not asked or offered."),
        mark("Answer once more."),
        "",
    ),
    "edit.same": (
        mark("Nothing to change"),
        mark("The old and the new text of “{path}” are the same."),
        "",
        "",
    ),
    "edit.line_ends": (
        mark("Only line ends differ"),
        mark(
            "The old and the new text of “{path}” differ only in their line ends, "
            "which are kept as they are."
        ),
        "",
        "",
    ),
    "edit.not_found": (
        mark("The text to replace was not found"),
        mark("“{path}” does not hold it exactly; nothing was changed."),
        mark("Read the file again."),
        "",
    ),
    "edit.ambiguous": (
        mark("Found more than once"),
        mark("The text to replace is {count} times in “{path}”; nothing was changed."),
        mark("Give more of its surroundings."),
        "",
    ),
    "search.bad_pattern": (
        mark("Unusable pattern"),
        mark("“{pattern}” cannot be searched for: {detail}"),
        mark("Correct the pattern."),
        "",
    ),
    "search.unknown_type": (
        mark("Unknown file type"),
        mark("There is no file type “{type}”."),
        "",
        "",
    ),
    "task.unknown": (
        mark("Unknown task"),
        mark("There is no task {id}."),
        "",
        "",
    ),
    "task.cycle": (
        mark("Tasks in a circle"),
        mark("Task {id} would wait for itself."),
        "",
        "",
    ),
    "skill.unknown": (
        mark("Unknown skill"),
        mark("There is no skill “{name}” here."),
        "",
        "",
    ),
    "skill.not_loaded": (
        mark("The skill cannot be used"),
        mark("“{name}”: {reason}"),
        mark("Correct its SKILL.md."),
        "show_file",
    ),
    "skill.bad_tools": (
        mark("The list of tools is not right"),
        mark("“allowed-tools” is neither a text nor a list of names."),
        mark("Correct it in SKILL.md."),
        "show_file",
    ),
    "skill.encoding": (
        mark("Unreadable characters"),
        mark("SKILL.md is not written in {encoding}."),
        mark("Save it as UTF-8."),
        "show_file",
    ),
    "skill.no_front_matter": (
        mark("No head"),
        mark("SKILL.md does not begin with “---” and its fields."),
        mark("Add name and description at the top."),
        "show_file",
    ),
    "skill.front_matter_open": (
        mark("The head does not end"),
        mark("The second “---” is missing in SKILL.md."),
        mark("Add it after the fields."),
        "show_file",
    ),
    "skill.front_matter_large": (
        mark("The head is too large"),
        mark("It has {size}; at most {limit} are read."),
        mark("Move text below the second “---”."),
        "show_file",
    ),
    "skill.no_name": (
        mark("The skill has no name"),
        mark("“name” is missing in SKILL.md."),
        mark("Add it."),
        "show_file",
    ),
    "skill.no_description": (
        mark("The skill has no description"),
        mark("“description” is missing in “{name}”; the agent cannot know when to use it."),
        mark("Add it."),
        "show_file",
    ),
    "skill.bad_yaml": (
        mark("The head cannot be read"),
        mark("Line {line} of SKILL.md is not valid YAML."),
        mark("Correct the line."),
        "show_file",
    ),
    "search.failed": (
        mark("The search failed"),
        mark("{detail}"),
        "",
        "",
    ),
    "read.image_too_large": (
        mark("The image is too large"),
        mark("“{path}” has {bytes}, more than a model takes."),
        mark("Make a smaller copy of it."),
        "",
    ),
    "shell.no_background": (
        mark("Nothing can run in the background here"),
        mark("The session has no place for background commands."),
        "",
        "",
    ),
    "shell.no_command": (
        mark("Unknown background command"),
        mark("There is no background command {id}."),
        "",
        "",
    ),
    "shell.too_many": (
        mark("Too many background commands"),
        mark("{n} commands run in the background of this session already."),
        mark("Stop one of them."),
        "",
    ),
}
