"""Words for errors of files and disks."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "file.missing": (
        mark("File not found"),
        mark("There is no “{path}”."),
        mark("It may have been moved, renamed or deleted."),
        "",
    ),
    "file.denied": (
        mark("No permission"),
        mark("“{path}” may not be opened by this user."),
        mark("Change its permissions, or choose another place."),
        "",
    ),
    "file.exists": (
        mark("It exists already"),
        mark("There is a “{path}” already; it was left as it is."),
        mark("Choose another name."),
        "",
    ),
    "file.changed": (
        mark("The file changed meanwhile"),
        mark("“{path}” was changed by something else after it was read; it was not overwritten."),
        mark("Read it again, then make the change."),
        "",
    ),
    "file.not_read": (
        mark("Not read yet"),
        mark("“{path}” exists and was not read in this session, so it was not overwritten."),
        mark("Read it first."),
        "",
    ),
    "file.is_dir": (
        mark("This is a folder"),
        mark("“{path}” is a folder, a file was expected."),
        mark("Give the path of a file."),
        "",
    ),
    "file.not_dir": (
        mark("This is not a folder"),
        mark("“{path}” is not a folder."),
        mark("Give the path of a folder."),
        "",
    ),
    "file.not_empty": (
        mark("The folder is not empty"),
        mark("“{path}” still holds files; nothing was removed."),
        mark("Empty it first."),
        "",
    ),
    "file.special": (
        mark("Not an ordinary file"),
        mark("“{path}” is a device, a pipe or a socket; reading it could wait for ever."),
        mark("Choose an ordinary file."),
        "",
    ),
    "file.bad_name": (
        mark("Unusable name"),
        mark("“{path}” cannot be a file name on this system."),
        mark("Choose another name."),
        "",
    ),
    "file.too_large": (
        mark("The file is too large"),
        mark("“{path}” has {size}; at most {limit} are read at once."),
        mark("Read a part of it, or search in it."),
        "",
    ),
    "file.busy": (
        mark("The file is in use"),
        mark("“{path}” is held by another program."),
        mark("Close it there and try again."),
        "retry",
    ),
    "file.loop": (
        mark("Links in a circle"),
        mark("“{path}” is a link that leads back to itself."),
        mark("Repair or remove the link."),
        "",
    ),
    "file.failed": (
        mark("The file could not be used"),
        mark("“{path}”: {detail}"),
        "",
        "",
    ),
    "file.binary": (
        mark("A binary file"),
        mark("“{path}” holds data, not text; it is not shown as text."),
        mark("Use a program that knows this kind of file."),
        "",
    ),
    "file.encoding": (
        mark("Unreadable characters"),
        mark("“{path}” starts like {encoding} but is not."),
        mark("Save it as UTF-8 and try again."),
        "",
    ),
    "file.unencodable": (
        mark("A character does not fit"),
        mark(
            "“{path}” is written in {encoding}, which has no “{character}” (line "
            "{line}); it was not changed."
        ),
        mark("Leave the character out, or convert the file to UTF-8."),
        "",
    ),
    "path.outside": (
        mark("Outside of the workspace"),
        mark("“{path}” lies outside of this workspace."),
        mark("Use a path inside of it."),
        "",
    ),
    "path.bad": (
        mark("Unusable path"),
        mark("“{path}” is not a usable path."),
        mark("Give a path relative to the workspace."),
        "",
    ),
    "id.unsafe": (
        mark("Unusable id"),
        mark("“{id}” cannot be used as an id ({kind}): it could reach outside of its folder."),
        "",
        "",
    ),
    "read.past_end": (
        mark("Beyond the end"),
        mark("“{path}” has only {total} lines."),
        mark("Read an earlier part."),
        "",
    ),
    "read.pdf_pages": (
        mark("Which pages?"),
        mark("“{path}” has {total} pages; at most 20 of them are read at a time."),
        mark("Name the pages, such as 1-10."),
        "",
    ),
    "read.pdf_encrypted": (
        mark("A protected PDF"),
        mark("“{path}” is protected by a password."),
        mark("Save a copy without the password."),
        "",
    ),
    "read.pdf_broken": (
        mark("A damaged PDF"),
        mark("“{path}” cannot be read as a PDF: {detail}"),
        mark("Open it in another program and save it again."),
        "",
    ),
    "read.pdf_slow": (
        mark("The PDF takes too long"),
        mark("“{path}” was not read within {seconds} seconds."),
        mark("Read fewer pages, or convert it to text first."),
        "",
    ),
    "read.pdf_too_large": (
        mark("The PDF is too large"),
        mark("“{path}” has {bytes} bytes; PDFs are read up to 64 MB."),
        mark("Take out the pages that matter first."),
        "",
    ),
    "disk.full": (
        mark("The disk is full"),
        mark("There is no room left to write “{path}”. What was saved before is safe."),
        mark("Free some space, then try again."),
        "retry",
    ),
    "disk.readonly": (
        mark("Read-only"),
        mark("“{path}” is in a place where nothing may be written."),
        mark("Choose another place, or make it writable."),
        "",
    ),
    "disk.failed": (
        mark("The disk reported an error"),
        mark("“{path}”: {reason}"),
        mark("Check the disk; what was saved before is safe."),
        "retry",
    ),
    "system.too_many_files": (
        mark("Too many open files"),
        mark("The system allows no more open files; “{path}” was not opened."),
        mark("Close other programs, then try again."),
        "retry",
    ),
}
