"""From a model request to what the Guide does next."""

from __future__ import annotations

import re
from dataclasses import replace

from desktop_app.core.models.base import ModelRequest

from . import summary
from .engine import Answer, Want, World, replay
from .info import GUIDE
from .intents import recognise
from .steps import filled, pronoun, several, single
from .talk import introduce, lost
from .text import mask
from .transcript import Transcript, read_transcript
from .words import word


def decide(request: ModelRequest) -> Want | Answer:
    """The next calls, or the answer. A pure function of the request."""
    if request.purpose == "summary":
        return Answer(summary.summarise(request.messages, request.max_output or GUIDE.max_output))
    if request.purpose == "title":
        return Answer(summary.title(request.messages))
    transcript = read_transcript(request.messages)
    return _reply(transcript, frozenset(t.name for t in request.tools))


def _reply(transcript: Transcript, tools: frozenset[str]) -> Want | Answer:
    asked = recognise(transcript.request)
    if re.match(r"\W*(?:thanks|thank you|thx|谢谢|多谢)", transcript.request, re.I):
        return Answer(word(asked.lang, "thanks"))
    if asked.intent == "explain" or not transcript.request:
        return Answer(introduce(asked.lang))
    spoken = asked.slots.get("refers") or pronoun(asked.slots.get("file"))
    if spoken and transcript.last_file and asked.intent != "plan":
        asked = filled(asked, [Answer("", files=[transcript.last_file])])
    world = World(asked, transcript, tools)
    plan = several(world) if asked.intent == "plan" else single(world)
    if plan is None:
        return _lost(transcript)
    result = replay(plan, transcript.done)
    if isinstance(result, Want):
        missing = next((c.name for c in result.calls if c.name not in tools), None)
        if missing:
            return Answer(word(asked.lang, "notool", tool=missing), failed=True)
        if result.say.strip() in transcript.said or (transcript.said and "|" not in result.say):
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
    delete = re.search(r"\b(?:delete|remove|erase|trash)\b|删除|删掉|清空", masked.text, re.I)
    return Answer(lost(masked.lang, query, file, delete=delete is not None))
