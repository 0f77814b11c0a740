"""Counting tokens: near the truth on every kind of content, never the network, never a crash."""

from __future__ import annotations

import base64
import json
import os
import random
import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core import resources
from desktop_app.core.context import tokens
from desktop_app.core.context.classes import PRICES, estimate, family
from desktop_app.core.context.images import UNKNOWN, data_tokens, image_size, image_tokens
from desktop_app.core.context.said import GAP
from desktop_app.core.context.tokens import (
    ClassCounter,
    CountCache,
    RankCounter,
    load_counter,
)
from desktop_app.core.messages import Base64Source, DataBlock, URLSource
from desktop_app.core.models.base import ModelInfo

O200K = ModelInfo("openai:x", "x", 128_000, 8192, tokenizer="o200k_base")


def contents() -> dict[str, str]:
    rng = random.Random(7)
    rows = [{"id": i, "name": f"user{i}", "score": rng.random(), "ok": True} for i in range(300)]
    return {
        "english": "The quick brown fox didn't jump over the lazy dog; it was asleep. " * 80,
        "chinese": "请整理这些文件，不要删除任何原件，然后把结果写到摘要里。" * 80,
        "python": (resources.root().parent / "desktop_app/core/messages.py").read_text("utf-8")
        if (resources.root().parent / "desktop_app").is_dir()
        else "def f(x):\n    return x + 1\n" * 100,
        "json": json.dumps(rows, separators=(",", ":")),
        "pretty json": json.dumps(rows, indent=2),
        "log": "\n".join(
            f"2026-01-02T14:05:{i % 60:02}.{i * 37 % 1000:03}Z INFO [worker-{i % 7}] "
            f"request id={rng.getrandbits(64):016x} took {i * 13 % 977}ms status=200"
            for i in range(300)
        ),
        "base64": base64.b64encode(rng.randbytes(9000)).decode(),
        "paths": "\n".join(
            f"/usr/lib/python3/dist-packages/mod{i}/core_{i}.py" for i in range(300)
        ),
        "table": "\n".join(f"| row {i}    |   {i * 7}     | yes |" for i in range(300)),
    }


async def test_estimates_lie_near_an_exact_tokenizer_on_every_kind_of_content() -> None:
    exact = await load_counter(O200K)
    assert isinstance(exact, RankCounter)
    for kind, text in contents().items():
        truth = exact.count(text)
        assert 0.85 <= estimate(text, PRICES["gpt"]) / truth <= 1.35, kind
        assert 0.8 <= estimate(text) / truth <= 1.5, kind  # of no family


async def test_exact_counts_need_no_network_and_leave_no_trace_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import socket

    def refuse(*_args: object, **_kw: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(tokens, "_loaded", {})
    counter = await load_counter(O200K)
    assert counter.count("hello world") == 2
    assert counter.count("<|endoftext|>") > 1  # plain text here, not a control token
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


async def test_damaged_ranks_fall_back_to_the_estimate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(tokens, "_loaded", {})
    monkeypatch.setitem(tokens.RANKS, "o200k_base", ("README.md", "0" * 64))
    readme = resources.path("tokenizers", "README.md")
    before = readme.read_bytes()
    assert isinstance(await load_counter(O200K), ClassCounter)
    assert readme.read_bytes() == before


async def test_both_encodings_ship_and_a_long_text_is_sampled_near_the_truth() -> None:
    old = await load_counter(replace(O200K, tokenizer="cl100k_base"))
    new = await load_counter(O200K)
    assert (old.name, new.name) == ("ranks-cl100k_base", "ranks-o200k_base")
    assert old.count("我们整理文件") > new.count("我们整理文件")
    text = contents()["log"] * 9
    assert len(text) > tokens.WHOLE
    step = tokens.CHUNK
    whole = sum(new.count(text[at : at + step]) for at in range(0, len(text), step))
    assert new.count(text) == pytest.approx(whole, rel=0.02)


async def test_a_model_without_a_known_encoding_is_estimated() -> None:
    assert isinstance(await load_counter(ModelInfo("guide", "Guide", 32_768, 4096)), ClassCounter)


def test_families_are_priced_by_what_their_tokenizers_do_differently() -> None:
    digits, chinese = "1234567890 " * 9, "请整理这些文件" * 9
    plain = ClassCounter("deepseek:chat")
    assert ClassCounter("openai:qwen3-8b").count(digits) > 1.5 * plain.count(digits)
    assert ClassCounter("anthropic:claude-x").count(chinese) > 1.4 * plain.count(chinese)
    names = {ClassCounter(m).name for m in ("x:qwen", "anthropic:claude-x", "openai:gpt-5", "y")}
    assert len(names) == 4  # each learns a ratio of its own
    assert ClassCounter("y").spread > ClassCounter("x:qwen").spread


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("openai:gpt-6", "gpt"),
        ("anthropic:claude-opus-4-7", "claude"),
        ("openrouter:qwen/qwen3.5-32b", "qwen-3.5"),
        ("ollama:qwen3:8b", "qwen"),
        ("openai_chat:deepseek-v4", "deepseek"),  # who serves it says nothing of the tokenizer
        ("dashscope:glm-4.7", "glm"),
        ("ollama:deepseek-r1-distill-llama-8b", "llama"),
        ("mistral:mistral-large", "qwen"),  # splits every digit, too
        ("google:gemini-3-pro", "gemini"),
        ("lmstudio:my-own-model", ""),
        ("guide", ""),
    ],
)
def test_a_model_belongs_to_the_family_that_its_own_name_tells(model: str, known: str) -> None:
    assert family(model) == known


async def test_a_million_spaces_do_not_break_the_exact_counter() -> None:
    counter = await load_counter(O200K)
    assert counter.count(" " * 1_100_000) > 1000


@given(st.text(max_size=300), st.text(max_size=300))
def test_an_estimate_is_finite_not_negative_and_grows_with_the_text(a: str, b: str) -> None:
    # Where they join, one piece of each class may be saved, and a run of marks become a ruler.
    most = 30.0
    for prices in PRICES.values():
        assert 0 <= estimate(a, prices) < 30 * len(a) + 1
        assert estimate(a + b, prices) >= estimate(a, prices) - most


@pytest.mark.parametrize("text", ["", "\ud800", "\x00" * 50, "a" * 300_000, "=" * 300_000])
def test_odd_texts_are_counted(text: str) -> None:
    assert (estimate(text) > 0) == (text.strip("\x00") != "")


def test_a_text_is_counted_once_whatever_object_holds_it() -> None:
    cache = CountCache(ClassCounter())
    text = "some words " * 50
    again = "".join(list(text))
    assert cache.count(text) == cache.count(again) == estimate(text)
    assert cache.counted == 1


def test_the_cache_of_counts_does_not_grow_without_end() -> None:
    cache = CountCache(ClassCounter(), limit=10_000)
    for n in range(500):
        cache.count(f"{n} " * 100)
    assert cache._held <= 10_000 + 500 * 4 + 64
    assert len(cache._known) < 100


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + head
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


def jpeg(width: int, height: int, exif: int = 40_000) -> bytes:
    return (
        b"\xff\xd8\xff\xe1"
        + struct.pack(">H", exif + 2)
        + b"x" * exif
        + b"\xff\xc0\x00\x11\x08"
        + struct.pack(">HH", height, width)
        + b"\x00" * 20
    )


def image(data: bytes, media: str = "image/png") -> DataBlock:
    return DataBlock(source=Base64Source(data=base64.b64encode(data).decode(), media_type=media))


def test_sizes_are_read_from_the_heads_of_image_files() -> None:
    assert image_size(png(640, 480)) == (640, 480)
    assert image_size(jpeg(4032, 3024)) == (4032, 3024)
    assert image_size(b"GIF89a" + struct.pack("<HH", 12, 34)) == (12, 34)
    webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (99).to_bytes(3, "little")
    assert image_size(webp + (49).to_bytes(3, "little")) == (100, 50)
    assert image_size(b"not an image") is None


def test_images_are_priced_by_pixels_and_the_makers_formula_never_by_their_bytes() -> None:
    # What the makers' APIs were measured to charge (data set JOHNISKING/image-token-cost) …
    for size, older, newer, gpt in (
        ((512, 512), 426, 438, 308),
        ((1024, 1024), 1434, 1446, 1229),
        ((1920, 1080), 1625, 2768, 2448),
        ((4032, 3024), 1661, 4005, 14364),
    ):
        for model, charged in (
            ("anthropic:claude-sonnet-4-5", older),
            ("anthropic:claude-opus-4-7", newer),
            ("openai:gpt-6.1", gpt),
        ):
            assert image_tokens(*size, model) == pytest.approx(charged, rel=0.06), (size, model)
    # … and what their formulas give.
    assert image_tokens(1024, 1024, "openai:gpt-4o") == 765
    assert image_tokens(1024, 1024, "openai:gpt-4o-mini") == 2833 + 4 * 5667
    assert image_tokens(1024, 1024, "openai:o3") == 75 + 4 * 150
    assert image_tokens(1024, 1024, "openai:gpt-5") == 70 + 4 * 140
    assert image_tokens(1024, 1024, "openai:gpt-5-mini") == 1659
    assert image_tokens(4096, 4096, "openai:gpt-4.1-nano") == 3779
    assert image_tokens(1024, 1024, "qwen:qwen2.5-vl") == pytest.approx(1369, rel=0.01)
    assert image_tokens(1024, 1024, "dashscope:qwen3-vl-plus") == 1024
    assert image_tokens(300, 300, "google:gemini-2.5-pro") == 258
    small = data_tokens(image(png(64, 64) + os.urandom(400_000)), "anthropic:claude")
    assert small < 200
    assert data_tokens(image(b"\x00" * 10)) == UNKNOWN
    assert data_tokens(image(jpeg(800, 600), "image/jpeg"), "openai:gpt-4o") == 765
    link = URLSource(url="workspace:///data/x.png", media_type="image/png")
    assert data_tokens(DataBlock(source=link)) == UNKNOWN


@given(st.text(alphabet="aB1 .,-\n中文é\t", max_size=200), st.sampled_from(["", "gpt-5", "claude"]))
def test_a_text_that_is_counted_by_its_lines_counts_what_it_does_as_a_whole(
    text: str, model: str
) -> None:
    texts = CountCache(ClassCounter(model))
    by_lines, whole = texts.count_lines(text), texts.count(text)
    assert by_lines >= whole - 1e-6
    if text.isascii():
        assert by_lines == pytest.approx(whole, abs=1e-6)
    assert texts.count_lines(text) == by_lines


def test_a_line_of_counted_pieces_counts_what_it_would_count_by_itself() -> None:
    rng, signs = random.Random(3), 'ab Cd3 45.x-[]()…"\'/_ ---- ===== ok. go! {"k":1} CamelCase x9'
    for family_id in ("", "openai:gpt-4o", "anthropic:claude", "qwen", "gemini"):
        counter = ClassCounter(family_id)
        for _ in range(300):
            pieces = ["".join(rng.choices(signs, k=rng.randrange(1, 30))) for _ in range(4)]
            pieces = [p for p in (" ".join(p.split()) for p in pieces) if p and p.isascii()]
            seams = [rng.choice((" ", GAP)) for _ in pieces]
            behind = rng.random() < 0.3
            text = GAP.lstrip() if behind else ""
            for place, (piece, seam) in enumerate(zip(pieces, seams, strict=True)):
                text += f"{seam if place else ''}{piece}"
            gaps = behind + seams[1:].count(GAP)
            spaced = sum(p[0].isdigit() for p in (pieces if behind else pieces[1:]))
            if pieces:
                joined = counter.joined([counter.count(p) for p in pieces], gaps, spaced)
                assert joined == pytest.approx(counter.count(text), abs=1e-9), text
