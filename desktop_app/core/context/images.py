"""What an image costs, from its size in pixels and the maker's published formula.

Never from the length of its base64: a 1 MB screenshot would count as 333,000 tokens.
Formulas: the providers' vision pages; see each function. Without a size: ``UNKNOWN``.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from math import ceil, sqrt

from desktop_app.core.messages import Base64Source, DataBlock

UNKNOWN = 1600
_HEAD = 256 << 10  # characters of base64 that are looked at; a JPEG's size may follow its EXIF


def image_size(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the first bytes of a PNG, GIF, WebP or JPEG, or None."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    if head[:2] == b"\xff\xd8":
        return _jpeg_size(head)
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X" and len(head) >= 30:
        return (
            int.from_bytes(head[24:27], "little") + 1,
            int.from_bytes(head[27:30], "little") + 1,
        )
    if kind == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    """The frame header (SOF) behind any number of segments."""
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        if 0xD0 <= marker <= 0xD9 or marker == 0x01:  # these stand alone
            at += 2
            continue
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


def image_tokens(width: int, height: int, model_id: str = "") -> int:
    """Tokens of an image for the model that will see it; ``model_id`` as in ``ModelInfo.id``."""
    if width <= 0 or height <= 0:
        return UNKNOWN
    model = model_id.lower()
    if "claude" in model or model.startswith("anthropic"):
        return _claude(width, height, model)
    if "gemini" in model or model.startswith("google"):
        return _gemini(width, height, model)
    if "qwen" in model:
        return _qwen(width, height, model)
    if model.startswith("openai") or "gpt" in model or _O_SERIES.search(model):
        return _openai(width, height, model)
    return max(UNKNOWN, _claude(width, height, model))


_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?")


def _claude(width: int, height: int, model: str) -> int:
    """w * h / 750 and what frames it, after fitting: long edge 1568 and 1.2 megapixels up to
    version 4.6, 2000 and 3 megapixels from 4.7 on (Anthropic, "Vision"; the numbers behind it
    measured over the API, data set JOHNISKING/image-token-cost)."""
    found = _VERSION.search(model)
    new = found is not None and (int(found.group(1)), int(found.group(2) or 0)) >= (4, 7)
    edge, most = (2000, 3.0e6) if new else (1568, 1.2e6)
    scale = min(1.0, edge / max(width, height), sqrt(most / (width * height)))
    return ceil(width * scale * height * scale / 750) + 90


def _qwen(width: int, height: int, model: str) -> int:
    """A token for 28 x 28 pixels, from Qwen3-VL on for 32 x 32 (Qwen, model cards)."""
    side = 32 if re.search(r"qwen-?3", model) else 28
    return max(4, min(16_384, ceil(width / side) * ceil(height / side)))


def _gemini(width: int, height: int, model: str) -> int:
    """258 a tile of 768 pixels, one tile up to 384; a flat rate from version 3 on."""
    if "gemini-3" in model:
        return 1120
    if width <= 384 and height <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


_O_SERIES = re.compile(r"\bo[134]\b|\bo[134]-")
# OpenAI, "Images and vision": patches of 32 pixels, at most 1536, times a factor …
_PATCHES = (
    (re.compile(r"gpt-(?:4\.1|5)-mini"), 1.62),
    (re.compile(r"gpt-(?:4\.1|5)-nano"), 2.46),
    (re.compile(r"o4-mini"), 1.72),
)
# … or a base and so much a tile of 512 pixels.
_TILES = (
    (re.compile(r"gpt-4o-mini"), 2833, 5667),
    (re.compile(r"gpt-4(?:o|-turbo|-vision|\.1|\.5)"), 85, 170),
    (re.compile(r"\bo[13]\b|\bo[13]-"), 75, 150),
    (re.compile(r"gpt-5(?:$|-chat|-20|-pro|-codex)"), 70, 140),
)
_PATCH_FACTOR = 1.2  # of later models, without a cap (measured, data set as above)


def _openai(width: int, height: int, model: str) -> int:
    patches = ceil(width / 32) * ceil(height / 32)
    for pattern, factor in _PATCHES:
        if pattern.search(model):
            return ceil(min(1536, patches) * factor)
    for pattern, base, tile in _TILES:
        if pattern.search(model):
            return _tiles(width, height, base, tile)
    return ceil(patches * _PATCH_FACTOR)


def _tiles(width: int, height: int, base: int, tile: int) -> int:
    """Fit 2048, short side 768, then ``base`` and so much a tile."""
    scale = min(1.0, 2048 / max(width, height))
    width, height = ceil(width * scale), ceil(height * scale)
    scale = min(1.0, 768 / min(width, height))
    return base + tile * ceil(width * scale / 512) * ceil(height * scale / 512)


def data_tokens(block: DataBlock, model_id: str = "") -> int:
    """Tokens of a data block. What is no image, or lies elsewhere, gets the flat ``UNKNOWN``."""
    source = block.source
    if not isinstance(source, Base64Source) or not source.media_type.startswith("image/"):
        return UNKNOWN
    head = source.data[: _HEAD - _HEAD % 4]
    try:
        size = image_size(base64.b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError, struct.error):
        return UNKNOWN
    return image_tokens(*size, model_id) if size else UNKNOWN
