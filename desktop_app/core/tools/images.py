"""Pictures and PDFs told from their first bytes; the size of a picture from its header.

Formats: PNG (W3C PNG 3, IHDR), GIF89a, JPEG (ITU T.81 frame headers), WebP (RFC 9649).
"""

from __future__ import annotations

import struct

MEDIA = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def kind_of(head: bytes) -> str | None:
    """``png``, ``jpeg``, ``gif``, ``webp``, ``pdf`` or None."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head.startswith(b"%PDF-"):
        return "pdf"
    return None


def size_of(data: bytes, kind: str) -> tuple[int, int] | None:
    """Width and height in pixels, or None when the header does not say."""
    try:
        match kind:
            case "png":
                return struct.unpack(">II", data[16:24])
            case "gif":
                return struct.unpack("<HH", data[6:10])
            case "jpeg":
                return _jpeg(data)
            case "webp":
                return _webp(data)
            case _:
                return None
    except (struct.error, IndexError):
        return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    pos = 2
    while pos + 9 < len(data):
        if data[pos] != 0xFF:
            return None
        marker = data[pos + 1]
        if marker == 0xFF:
            pos += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[pos + 5 : pos + 9])
            return width, height
        pos += 2 + struct.unpack(">H", data[pos + 2 : pos + 4])[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        return width, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if form == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    return None
