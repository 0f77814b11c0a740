"""GuideModel as a ChatModel: pieces, usage, limits, honesty about what it is."""

from __future__ import annotations

from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg
from desktop_app.core.models.base import Finish, ModelRequest, TextPart, ToolSchema
from desktop_app.core.models.guide import GUIDE, GuideModel
from desktop_app.core.models.guide.model import pieces, request_tokens
from desktop_app.core.models.guide.text import count_tokens


async def collect(model: GuideModel, request: ModelRequest) -> list:
    async with aclosing(model.stream(request)) as stream:
        return [part async for part in stream]


def test_it_says_that_it_is_offline_and_no_ai():
    assert (GUIDE.id, GUIDE.offline, GUIDE.is_ai) == ("guide", True, False)
    assert GuideModel().info is GUIDE


async def test_an_answer_comes_word_by_word_and_ends_with_measured_usage(guide: GuideModel):
    request = ModelRequest("You are helpful.", [Msg.user("who are you?")])
    parts = await collect(guide, request)
    texts = [p.text for p in parts if isinstance(p, TextPart)]
    assert len(texts) > 60
    assert max(len(t) for t in texts) < 120
    finish = parts[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    assert finish.usage is not None
    assert finish.usage.input_tokens == request_tokens(request)
    assert 200 < finish.usage.output_tokens <= count_tokens("".join(texts)) + len(texts)


async def test_the_pace_is_kept_between_words_and_only_for_replies():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = GuideModel(pace=0.5, sleep=sleep)
    parts = await collect(model, ModelRequest("", [Msg.user("who are you?")]))
    assert set(slept) == {0.5}
    assert len(slept) == len(parts) - 1
    slept.clear()
    await collect(model, ModelRequest("", [Msg.user("who are you?")], purpose="title"))
    assert set(slept) == {0.0}


async def test_more_than_the_window_is_refused_with_figures(guide: GuideModel):
    request = ModelRequest("", [Msg.user("list the files " + "word " * 40_000)])
    with pytest.raises(ModelError) as error:
        await collect(guide, request)
    assert error.value.code == "model.overflow"
    assert error.value.params["window"] == 32_768
    assert error.value.params["tokens"] > 32_768


async def test_an_answer_is_cut_at_the_allowed_length(guide: GuideModel):
    parts = await collect(guide, ModelRequest("", [Msg.user("help")], max_output=20))
    assert parts[-1].reason == "length"
    assert parts[-1].usage.output_tokens == 20
    assert parts[:-1]


async def test_every_part_of_a_request_counts(guide: GuideModel):
    msg = Msg.user("list the files")
    small = request_tokens(ModelRequest("", [msg]))
    assert request_tokens(ModelRequest("one two three", [msg])) > small
    assert request_tokens(ModelRequest("", [msg, Msg.user("more")])) > small
    tool = ToolSchema("Glob", "Find files.", {"type": "object", "properties": {}})
    assert request_tokens(ModelRequest("", [msg], (tool,))) > small


@given(st.text())
def test_pieces_lose_nothing(text: str):
    assert "".join(pieces(text)) == text


@given(st.text(), st.text())
def test_tokens_never_shrink_when_text_grows(a: str, b: str):
    assert count_tokens(a + b) <= count_tokens(a) + count_tokens(b) + 1
    assert count_tokens(a) >= 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("internationalisation", 4),
        ("1234", 2),
        ("你好", 2),
        ("a\nb", 3),
    ],
)
def test_the_measure_is_as_described(text: str, tokens: int):
    assert count_tokens(text) == tokens
