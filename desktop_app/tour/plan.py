"""The steps of the tour, by name, in order."""

from __future__ import annotations

FIRST, SECOND = "first", "second"

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
