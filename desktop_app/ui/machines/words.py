"""Words for what the core knows of machines: findings of the doctor, stages of a start."""

from __future__ import annotations

from desktop_app.core.doctor import Finding
from desktop_app.core.workspaces.remote.managed import Progress
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import mark, sentences, tr, trn
from desktop_app.ui.widgets import figures

HOW = {
    "chosen": mark("the address you set"),
    "env": mark("from DOCKER_HOST"),
    "context-env": mark("from DOCKER_CONTEXT, {context}"),
    "context": mark("Docker's context {context}"),
    "default": mark("Docker's default socket"),
    "desktop": mark("Docker Desktop's socket"),
    "rootless": mark("a rootless Docker's socket"),
    "colima": mark("Colima's socket"),
    "orbstack": mark("OrbStack's socket"),
    "rancher": mark("Rancher Desktop's socket"),
    "podman": mark("Podman's socket"),
}
STAGES = {
    "engine": mark("Looking for the engine"),
    "image": mark("Building the image"),
    "create": mark("Making the machine"),
    "start": mark("Starting"),
    "connect": mark("Connecting"),
}
KEPT = {
    "keyring": mark("The key is in the system's keyring."),
    "file": mark("The key is in your key file."),
    "session": mark("The key is kept for this session only."),
    "environment": mark("The key comes from E2B_API_KEY."),
    "variable": mark("The key comes from a variable of the environment."),
}


def how(finding: Finding) -> str:
    """Why an engine was tried at its address."""
    text = HOW.get(finding.params.get("how", ""), "")
    return tr(text).format_map({"context": finding.params.get("context", "")}) if text else ""


def product(name: str) -> str:
    """An engine's name for itself, in short: ``Docker Engine - Community``, ``Engine``."""
    short = name.removesuffix(" - Community")
    return f"Docker {short}" if short in ("Engine", "") else short


def finding_title(finding: Finding) -> str:
    """One line for what was found."""
    params = finding.params
    if finding.error is not None and finding.what != "other":
        words = describe_error(finding.error)
        return sentences(words.title, words.reason) if words.reason else words.title
    match finding.what:
        case "engine":
            return tr(
                "{product} {version} answers, {how}",
                product=product(params["product"]),
                version=params["version"],
                how=how(finding),
            )
        case "other":
            if finding.error is None:
                return tr("Also there: {how}", how=how(finding))
            return tr(
                "{how}: {reason}", how=how(finding), reason=describe_error(finding.error).title
            )
        case "disk":
            free = figures.size(params["free"])
            if finding.verdict == "good":
                return tr("{size} free on the disk", size=free)
            return tr("Only {size} free; an image and its files need about 3 GB", size=free)
        case "key":
            if params["typed"]:
                if params["place"] == "keyring":
                    return tr("The key will be kept in the system's keyring.")
                if params["place"] == "file":
                    return tr("The key will be kept in your key file.")
                return tr("There is no keyring: you choose where the key is kept.")
            return tr(KEPT[params["kept"]])
        case "account":
            return trn(
                "E2B accepts the key; {n} sandbox in the account",
                "E2B accepts the key; {n} sandboxes in the account",
                params["sandboxes"],
            )


def finding_detail(finding: Finding) -> str:
    """What to do about it, or where it is; may be empty."""
    if finding.error is not None:
        words = describe_error(finding.error)
        if finding.what == "other":
            return f"{words.reason} {words.fix}".strip()
        return words.fix
    return str(finding.params.get("url") or finding.params.get("path") or "")


def stage(progress: Progress) -> str:
    """Where a start is, with its step."""
    text = tr(STAGES[progress.stage])
    if progress.steps:
        return tr("{stage}, step {n} of {of}", stage=text, n=progress.step, of=progress.steps)
    return text
