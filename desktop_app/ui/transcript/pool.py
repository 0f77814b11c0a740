"""Paragraphs and code blocks that are laid out, kept to be used again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt

from .codebox import CodeBox
from .inline import Styled
from .items import Item
from .para import Para
from .style import Style


def code_caption(info: str) -> tuple[str, str]:
    """Language and caption of a fence's info: ``python scripts/a.py`` and ``python:a.py``."""
    info = info.strip().strip("{}").strip()
    words = info.split(None, 1)
    if not words:
        return "", ""
    language, rest = words[0].lstrip("."), words[1] if len(words) > 1 else ""
    if ":" in language and not rest:
        language, _, rest = language.partition(":")
    rest = re.sub(r"^(?:title|file(?:name)?)\s*=\s*", "", rest).strip("\"' ")
    return language.lower(), f"{language} \u00b7 {rest}" if rest else language


class Pool:
    """Laid-out paragraphs and code blocks of the former flow, to be used again."""

    def __init__(self, old: Sequence[Item] = ()) -> None:
        self.paras: dict[tuple[object, ...], list[Para]] = {}
        self.codes: list[CodeBox] = []
        for item in old:
            if isinstance(item, Para):
                self.paras.setdefault(item.key(), []).append(item)
            elif isinstance(item, CodeBox):
                self.codes.append(item)

    def para(
        self,
        styled: Styled,
        role: str,
        token: str,
        width: int,
        style: Style,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> Para:
        found = self.paras.get((styled, role, token, width, align))
        if found:
            para = found.pop(0)
            para.caret = False
            return para
        para = Para(styled=styled, role=role, token=token, align=align)
        para.lay(width, style)
        return para

    def code(self, info: str, text: str, width: int, style: Style, growing: bool) -> CodeBox:
        language, caption = code_caption(info)
        found = self.codes.pop(0) if self.codes else None
        if found is None or (found.language, found.caption) != (language, caption):
            found = CodeBox(language=language, caption=caption)
        found.growing = growing
        found.caret = False
        found.set_text(text)
        found.lay(width, style)
        return found
