"""Options that make a program run another one, write elsewhere or obey another file: a rule for the
program does not cover them.

From the programs' manuals. A long option is meant in every abbreviation of at least four
characters, as GNU's and git's own parsers take; a short one also within a cluster (``-qp`` is
``-q -p``).
"""

from __future__ import annotations

import re

_C = ("-wrapper", "-fplugin", "-B", "-specs", "@", "-o", "-Xclang", "-load")
_JS_CONFIG = ("-c", "--config", "--plugin", "--require", "-r", "--import", "--loader", "-o",
              "--output-file", "--outputFile", "--outFile", "--outDir")  # fmt: skip

_ESCAPES: dict[str, tuple[str, ...]] = {
    "git": ("-c", "-C", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--output",
            "--ext-diff", "--textconv", "--upload-pack", "--receive-pack", "--exec", "-x",
            "--open-files-in-pager", "-O", "--no-index", "--template", "--config",
            "--show-signature"),
    "npm": ("--script-shell", "--prefix", "-C", "--node-options", "--userconfig", "--globalconfig"),
    "pnpm": ("--script-shell", "--dir", "-C", "--shell-emulator"),
    "yarn": ("--cwd", "--use-yarnrc"),
    "make": ("-f", "--file", "--makefile", "-C", "--directory", "--eval", "-E", "-I",
             "--include-dir", "-e", "--environment-overrides", "NAME="),
    "cargo": ("--config", "--manifest-path", "-Z", "-C", "--target-dir"),
    "go": ("-exec", "-toolexec", "-C", "-overlay", "-modfile", "-vettool", "-o", "-coverprofile",
           "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-trace", "-outputdir",
           "-ldflags", "-gccgoflags"),
    "pip": ("--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--python", "--target",
            "-t", "--prefix", "--root", "--global-option", "--config-settings"),
    "uv": ("--python", "-p", "--directory", "--project", "--config-file", "--index-url", "--index",
           "--extra-index-url", "--default-index", "--find-links", "-f", "-i"),
    "docker": ("-v", "--volume", "--mount", "--privileged", "--device", "--pid", "--network",
               "--cap-add", "-H", "--host", "--config", "--entrypoint"),
    "kubectl": ("--kubeconfig", "--server", "-s", "--as", "--token", "--filename", "-f",
                "--cache-dir"),
    "systemctl": ("-H", "--host", "-M", "--machine", "--root", "--image"),
    "apt": ("-o", "--option", "-c", "--config-file"),
    "apt-get": ("-o", "--option", "-c", "--config-file"),
    "mvn": ("-f", "--file", "-s", "--settings", "-gs", "-D", "-t"),
    "gradle": ("-I", "--init-script", "-p", "--project-dir", "-b", "-c", "-g", "-D", "-P",
               "--include-build"),
    "dotnet": ("-logger", "--logger", "-l", "-p", "--property", "-o", "--output", "@"),
    "cmake": ("-P", "-E", "-C", "-D", "--install", "-S", "-B"),
    "ninja": ("-f", "-C", "-t"),
    "pytest": ("-p", "-c", "--config-file", "--rootdir", "-o", "--override-ini", "--confcutdir",
               "--basetemp", "--import-mode", "--junitxml", "--junit-xml", "--log-file",
               "--pdbcls", "--pastebin", "--tx", "--px", "--rsyncdir", "--cov-config",
               "--cov-report", "--html", "--debug"),
    "tox": ("-c", "--conf", "--workdir", "--root", "-x", "--override"),
    "nox": ("-f", "--noxfile"),
    "ruff": ("--config", "--output-file", "-o"),
    "black": ("--config", "-c", "--code"),
    "mypy": ("--config-file", "--python-executable", "--cache-dir", "--install-types",
             "--junit-xml", "--html-report", "--xml-report", "--txt-report"),
    "eslint": (*_JS_CONFIG, "--rulesdir", "--resolve-plugins-relative-to", "-f", "--format",
               "--parser"),
    **dict.fromkeys(("prettier", "jest", "vitest", "mocha", "vite", "webpack", "rollup", "tsc"),
                    _JS_CONFIG),
    "zip": ("-T", "-TT", "--unzip-command"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _C),
}  # fmt: skip
_ESCAPES["pip3"] = _ESCAPES["pip"]
# Their long options have one dash, so that letters of a word are no options (``-count``).
_ONE_DASH = {"go", "mvn", "dotnet", "gcc", "g++", "cc", "c++", "clang", "clang++", "cmake"}
_LETTERS = re.compile(r"-([A-Za-z]+)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\s*[:+?!]*=")


def escapes(program: str, word: str) -> bool:
    """Whether an argument of ``program`` makes it something else than a rule for it says."""
    name = word.partition("=")[0]
    letters = found.group(1) if (found := _LETTERS.match(word)) else ""
    for escape in _ESCAPES.get(program, ()):
        if name == escape:
            return True
        if escape == "NAME=":  # make: a variable takes the place of any command of its file
            if _VARIABLE.match(word):
                return True
        elif escape == "@":
            if word.startswith("@"):
                return True
        elif escape.startswith("--"):
            if len(name) >= 4 and escape.startswith(name):
                return True
        elif len(escape) == 2 and (
            word.startswith(escape) if program in _ONE_DASH else escape[1] in letters
        ):
            return True
    return False
