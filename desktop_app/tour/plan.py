"""The steps of the tour, by name, in order."""

from __future__ import annotations

FIRST, SECOND, DOCKER, E2B = "first", "second", "docker", "e2b"
MAIN = "main"  # the first and the second part: one story with a kill in its middle

STEPS: dict[str, str] = {
    "welcome": "the first start shows what can be done",
    "workspace": "a folder of documents is opened as a workspace",
    "listed": "the agent lists what is in it",
    "searched": "the agent searches its files and shows where it found what",
    "chinese": "the same in Chinese, the window too",
    "offloaded": "a result too long for the context window is kept whole in the workspace",
    "asked": "writing a file waits for an approval, with the whole difference",
    "written": "after Y the file is written",
    "compacted": "the context window fills and is compacted",
    "xray": "the X-ray shows who uses the window and what can be done about it",
    "previewed": "a compaction is looked at as a proposal, before anything is changed",
    "accepted": "it is accepted and done",
    "undone": "that compaction is taken back, and the conversation is as it was",
    "stopped": "an answer is stopped; what was written stays",
    "killed": "the program is killed in the middle of an answer",
    "resumed": "started again, it shows what was kept of that answer",
    "continued": "and goes on where it was",
    "closed": "it closes in order",
}

IN_DOCKER: dict[str, str] = {
    "docker-new": "a new workspace in a container is filled in, the engine was looked at",
    "docker-building": "its image is built, told as it goes",
    "docker-made": "the container runs and a session in it is open",
    "docker-asked": "a command inside it waits for an approval",
    "docker-written": "the agent wrote a file, in the container and nowhere else",
    "docker-live": "the Workspaces page shows it among all, measured live",
    "docker-files": "its files are looked into, one is uploaded",
    "docker-logs": "what its main process said",
    "docker-paused": "it is paused",
    "docker-resumed": "and goes on with its files as they were",
    "docker-server": "an MCP server is added and runs inside it, behind the gateway",
    "docker-called": "the agent uses that server",
    "docker-loss": "before it is removed: what would be lost, what stays",
    "docker-removed": "it is removed, at the engine too",
}

IN_E2B: dict[str, str] = {
    "e2b-new": "a new workspace in a sandbox is filled in, the key is accepted",
    "e2b-key": "without a keyring the person chooses where the key is kept: in a key file",
    "e2b-made": "the sandbox runs and a session in it is open",
    "e2b-written": "the agent wrote a file in it, and a long result was kept there",
    "e2b-counted": "its time left is shown, and is extended",
    "e2b-paused": "it is paused",
    "e2b-resumed": "and resumed with the disk as it was",
    "e2b-orphan": "a sandbox that no workspace here has is found, and ended",
    "e2b-rescued": "what the agent kept in it is copied onto this computer",
    "e2b-loss": "before it is removed: what would be lost, what stays",
    "e2b-offline": "the copy is opened when the sandbox is gone",
}

PLANS = {MAIN: STEPS, DOCKER: IN_DOCKER, E2B: IN_E2B}
PARTS_OF = {MAIN: (FIRST, SECOND), DOCKER: (DOCKER,), E2B: (E2B,)}
PARTS = tuple(part for parts in PARTS_OF.values() for part in parts)
NAMES = {MAIN: "a folder", DOCKER: "a container", E2B: "a sandbox"}
