"""From a model request to what the Guide does next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from desktop_app.core.models.base import ModelRequest

from . import looking
from .engine import Answer, Plan, Want, World, replay
from .intents import recognise
from .talk import introduce, lost
from .text import mask
from .transcript import Transcript, read_transcript
from .words import word

PLANS: dict[str, Callable[[World], Plan]] = {
    "list": looking.list_files,
    "find": looking.find,
    "search": looking.search,
    "read": looking.read,
}


def decide(request: ModelRequest) -> Want | Answer:
    """The next calls, or the answer. A pure function of the request."""
    transcript = read_transcript(request.messages)
    return _reply(transcript, frozenset(t.name for t in request.tools))


def _reply(transcript: Transcript, tools: frozenset[str]) -> Want | Answer:
    asked = recognise(transcript.request)
    if asked.intent == "explain" or not transcript.request:
        return Answer(introduce(asked.lang))
    maker = PLANS.get(asked.intent)
    if maker is None:
        return _lost(transcript)
    result = replay(maker(World(asked, transcript, tools)), transcript.done)
    if isinstance(result, Want):
        missing = next((c.name for c in result.calls if c.name not in tools), None)
        if missing:
            return Answer(word(asked.lang, "notool", tool=missing), failed=True)
        if transcript.said:
            result = replace(result, say="")
    return result


def _lost(transcript: Transcript) -> Answer:
    """What the Guide can do instead; the examples use the person's own names and words."""
    masked = mask(transcript.request)
    files = [m.text for m in masked.of("file")]
    quotes = [m.text for m in masked.of("quote")]
    zh = masked.lang == "zh"
    file = files[0] if files else transcript.last_file or ("笔记.md" if zh else "notes.md")
    query = quotes[0] if quotes else ("预算" if zh else "budget")
    return Answer(lost(masked.lang, query, file))
