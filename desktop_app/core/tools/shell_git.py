"""git's part of the table: subcommands that only read, the settings under which they run, and
whether a repository's own settings would make git run something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .shell_lex import Word
from .shell_spec import Spec, names

_LOG_LONG = names(
    "oneline stat shortstat numstat dirstat summary graph all branches tags remotes decorate "
    "no-decorate name-only name-status no-merges merges reverse patch no-patch abbrev-commit "
    "first-parent follow no-color cached staged ignore-all-space ignore-space-change "
    "ignore-space-at-eol ignore-blank-lines no-ext-diff no-textconv no-renames check raw minimal "
    "patience histogram full-index topo-order date-order author-date-order left-right cherry-pick "
    "boundary merge-base quiet exit-code function-context pickaxe-all pickaxe-regex "
    "invert-grep regexp-ignore-case relative-date parents children compact-summary no-prefix "
    "pretty no-notes no-abbrev-commit binary text left-only right-only cherry "
    "simplify-by-decoration extended-regexp fixed-strings perl-regexp cc no-mailmap "
    "use-mailmap no-walk walk-reflogs"
)
_LOG_VALUE = names(
    "since until after before author committer grep max-count skip date diff-filter "
    "pretty format max-parents min-parents diff-algorithm inter-hunk-context word-diff-regex"
)
_LOG_OPTIONAL = names(
    "color stat unified word-diff decorate abbrev color-words find-renames find-copies relative "
    "color-moved diff-merges"
)
# %G… asks gpg about signatures.
_FORMAT = r"(?!.*%[-+ ]?G)[^\0]*"
_REF_FORMAT = r"(?!.*%\(\*?signature)[^\0]*"
_VALUES = (("pretty", _FORMAT), ("format", _FORMAT))
_LOG = Spec(
    "piwbuszqacmRrEFPgW", "nSG", _LOG_LONG, _LOG_VALUE, _LOG_OPTIONAL, _VALUES, "UMC", digits=True
)
_REF = r"(?:HEAD|main|master|stash|[\w-]+/[\w./-]+)(?:@\{[0-9]{1,6}\})?"


def _listing(*heads: tuple[str, ...], options: str = "", name: str = "") -> Spec:
    """A subcommand with fixed first words, then listed options and, with ``name``, words of it."""
    allowed = names(options)

    def custom(args: Sequence[Word]) -> list[Word] | None:
        words = [w.text for w in args]
        if any(w.glob for w in args):
            return None
        for head in sorted(heads, key=len, reverse=True):
            if tuple(words[: len(head)]) == head:
                rest = words[len(head) :]
                plain = [w for w in rest if w not in allowed]
                fits = all(name and not w.startswith("-") and re.fullmatch(name, w) for w in plain)
                return [] if fits else None
        return None

    return Spec(custom=custom)


def _tags(args: Sequence[Word]) -> list[Word] | None:
    """``git tag``, ``git tag -l 'v1.*'``; a name without ``-l`` would make a tag."""
    words = [w.text for w in args]
    if any(w.glob for w in args):
        return None
    listing = words[:1] in (["-l"], ["--list"])
    for word in words:
        if word.startswith("-"):
            if not re.fullmatch(r"-l|--list|-n[0-9]{0,3}|--no-column|--sort=-?[\w:]+", word):
                return None
        elif not listing:
            return None
    return []


GIT: dict[str, Spec] = {
    "status": Spec(
        "sbvz", "", names("short branch long ignored no-color show-stash no-renames verbose "
                           "ahead-behind no-ahead-behind column no-column"),
        frozenset(), names("porcelain untracked-files ignored column"),
        short_optional="u",
    ),
    "log": _LOG,
    "show": _LOG,
    "diff": _LOG,
    "whatchanged": _LOG,
    "shortlog": Spec("snec", "", names("summary numbered email no-merges all"),
                     names("since until author")),
    "rev-list": Spec("", "n", names("count all oneline no-merges merges reverse left-right "
                                    "first-parent parents objects"),
                     names("max-count since until author"), digits=True, positional="required"),
    "rev-parse": Spec("", "", names("show-toplevel abbrev-ref verify git-dir is-inside-work-tree "
                                    "show-prefix show-cdup symbolic-full-name is-bare-repository "
                                    "show-superproject-working-tree quiet local-env-vars"),
                      frozenset(), names("short abbrev-ref")),
    "ls-files": Spec("cdmoiksuvtz", "x", names("cached deleted modified others ignored stage "
                                               "exclude-standard directory full-name unmerged "
                                               "error-unmatch no-empty-directory"),
                     names("exclude abbrev")),
    "ls-tree": Spec("drtlz", "", names("name-only name-status full-name full-tree long"),
                    positional="required"),
    "blame": Spec("lstfnpewcMC", "L", names("line-porcelain porcelain root show-stats show-name "
                                            "show-number show-email color-lines"),
                  names("since date"), values=(("L", r"[0-9]+,\+?[0-9]+"),), positional="required"),
    "describe": Spec("", "", names("tags all always contains long exact-match first-parent"),
                     names("match exclude candidates"), names("abbrev")),
    "cat-file": Spec("tspe", "", positional="two"),
    "name-rev": Spec("", "", names("tags name-only all always")),
    "merge-base": Spec("a", "", names("all is-ancestor octopus independent fork-point"),
                       positional="required"),
    "show-ref": Spec("sd", "", names("tags heads head dereference verify quiet")),
    "for-each-ref": Spec("", "", frozenset(), names("count sort points-at merged no-merged "
                                                    "contains format"),
                         values=(("format", _REF_FORMAT),)),
    "diff-tree": Spec("rpstvmcz", "", _LOG_LONG | names("root no-commit-id"), _LOG_VALUE,
                      _LOG_OPTIONAL, _VALUES, positional="required"),
    "count-objects": Spec("vH", "", names("verbose human-readable"), positional="none"),
    "check-ignore": Spec("vqn", "", names("verbose quiet non-matching no-index"),
                         positional="required"),
    "grep": Spec("aiIwvhHEGPFnlLcopqW", "ABCm",
                 names("cached ignore-case word-regexp invert-match extended-regexp fixed-strings "
                       "perl-regexp line-number files-with-matches name-only count "
                       "show-function function-context break heading all-match and or not no-color "
                       "column full-name basic-regexp files-without-match only-matching quiet "
                       "text"),
                 names("max-depth context after-context before-context max-count"),
                 names("color"), digits=True, positional="pattern"),
    "branch": Spec("arvl", "", names("all remotes list verbose show-current no-color no-column "
                                     "ignore-case merged no-merged contains no-contains"),
                   names("sort contains no-contains merged no-merged points-at format"),
                   names("color column"),
                   values=(("format", _REF_FORMAT),), positional="none"),
    "tag": Spec(custom=_tags),
    "remote": _listing((), ("-v",), ("--verbose",)),
    "stash": _listing(("list",), ("show",), options="--oneline --stat -p --patch --name-only "
                      "--name-status -n5 -n10", name=r"(?:stash@\{)?[0-9]+\}?"),
    "worktree": _listing(("list",), options="-v --porcelain"),
    "reflog": _listing((), ("show",), options="-n5 -n10 -n20 -5 -10 -20 --oneline --all --date=iso "
                       "--date=relative", name=_REF),
    "config": _listing(("--get",), ("get",), name=r"(?:user|core|branch|init|pull|push|color)"
                       r"\.[\w./-]+"),
    "symbolic-ref": _listing(("HEAD",), ("--short", "HEAD")),
    "version": _listing((), options="--build-options"),
    "--version": _listing(()),
}  # fmt: skip
# ``git remote get-url`` and ``remote -v`` show addresses, which the config check keeps free of
# anything that runs; fetching, ``submodule`` and ``ls-remote`` go elsewhere and are not listed.

# Options before the subcommand that change only how it prints.
GLOBAL = frozenset({"--no-pager", "--no-optional-locks"})

# Sections and keys of a repository's own config that make git run nothing.
_CONFIG_PLAIN = {
    "core": {
        "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
        "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "longpaths",
        "hidedotfiles", "abbrev", "compression",
    },
    "remote": {"url", "fetch", "pushurl", "tagopt", "prune", "gh-resolved"},
    "branch": {"remote", "merge", "rebase", "description", "vscode-merge-base",
               "github-pr-owner-number"},
    "user": {"name", "email"},
    "init": {"defaultbranch"},
    "pull": {"rebase", "ff"},
    "push": {"default", "autosetupremote"},
    "fetch": {"prune"},
    "color": {"ui"},
    "submodule": {"active", "url"},
    "lfs": {"repositoryformatversion"},
}  # fmt: skip
_SETTINGS = {
    # what the table allows must not write locks, page, wait for a password, look into submodules,
    # or take a directory that only looks like a repository for one
    "core.fsmonitor": "false",
    "diff.ignoreSubmodules": "all",
    "core.hooksPath": "/dev/null",
    "log.showSignature": "false",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
GIT_ENV: dict[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{i}": key for i, key in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{i}": value for i, value in enumerate(_SETTINGS.values())},
}

# ``.gitmodules`` may say that a submodule is to be looked into, whatever the settings are; its own
# settings would count there. Only the command's own option is stronger.
GIT_WRAPPER = (
    'git() { while :; do case "$1" in --no-pager|--no-optional-locks) shift;; *) break;; esac;'
    " done;"
    ' case "$1" in status|diff) _c="$1"; shift; command git "$_c" --ignore-submodules=all "$@";;'
    ' *) command git "$@";; esac; }\n'
)


def git_spec(args: Sequence[Word]) -> tuple[Spec, Sequence[Word]] | None:
    """The row of a git command and the words after its subcommand."""
    rest = list(args)
    while rest and rest[0].text in GLOBAL and not rest[0].quoted:
        rest = rest[1:]
    if not rest or rest[0].quoted or rest[0].glob:
        return None
    spec = GIT.get(rest[0].text)
    return None if spec is None else (spec, rest[1:])


def git_config_plain(text: str) -> bool:
    """Whether a repository's own config holds nothing that makes git run a program.

    Only listed keys pass; includes, aliases, filters, drivers, hooks and whatever is new do not.
    """
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            head = re.fullmatch(r'\[([A-Za-z0-9.-]+)(?:\s+"[^"\\\n]*")?\]', line)
            if head is None:
                return False
            section = head.group(1).lower()
            continue
        key = line.partition("=")[0].strip().lower()
        if line.endswith("\\") or key not in _CONFIG_PLAIN.get(section, ()):
            return False
    return True


_LENT = re.compile(r"://[^/\s]*@|extraheader|password|token", re.IGNORECASE)


def config_holds_secret(text: str) -> bool:
    """Whether a repository's config carries a password or token."""
    return _LENT.search(text) is not None
