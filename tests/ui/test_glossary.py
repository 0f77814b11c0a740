"""One thing has one Chinese name, in the window and in the help.

``TERMS``: where an English text names the thing (the pattern), its Chinese names it by the word.
``OTHERS``: words that would be a second name for one of these, or a first one for something else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

RESOURCES = Path(__file__).parents[2] / "resources"

# Pattern in English, the word, English texts that use the pattern for something else.
TERMS: dict[str, tuple[str, str, str]] = {
    "offload": (r"\boffload", "卸载", ""),
    "compaction": (r"\bcompact(?!\|)", "压缩", r"^Compact$"),
    "workspace": (r"(?<!/)\bworkspaces?\b", "工作区", ""),
    "session": (r"\bsessions?\b", "会话", r"kept for this session only"),
    "skill": (r"\bskills?\b(?!\.md)", "技能", ""),
    "call": (r"\bcalls?\b", "调用", r"\bis meant, and the rest\b"),
    "context": (r"\bcontexts?\b", "上下文", r"DOCKER_CONTEXT"),
    "context window": (r"\bcontext window\b", "上下文窗口", ""),
    "window": (r"\b(?:context|larger|smaller|whole|model's) window\b", "窗口", ""),
    "prompt": (r"\bprompts?\b", "提示词", ""),
    "ledger": (r"\bledgers?\b", "台账", ""),
    "summary": (r"\bsummar(?:y|ies)\b", "摘要", ""),
    "constraint": (r"\bconstraints?\b", "约束", ""),
    "rule": (r"\brules?\b", "规则", ""),
    "pending": (r"\bpending items?\b", "待办", ""),
    "pin": (r"\b(?:un)?pin(?:ned)?\b", "固定", r"^Pin to the top$|^Unpin$"),
    "mark": (r"\b(?:danger |first |second |the )marks?\b", "标线", ""),
    "proposal": (r"\bproposals?\b", "方案", ""),
    "undo": (r"\bundo\b", "撤销", ""),
    "journal": (r"\bjournals?\b", "日志", ""),
    "notes": (r"\bnotes\b(?!\.md)", "笔记", ""),
    "agent": (r"\bagents?\b(?!scope)", "智能体", ""),
    "approval": (r"\bapprov(?:al|e)\b", "批准", ""),
    "sandbox": (r"\bsandbox(?:es)?\b", "沙箱", ""),
    "container": (r"\bcontainers?\b", "容器", ""),
    "rescue copy": (r"\brescue cop(?:y|ies)\b", "救援副本", ""),
    "trash": (r"\btrash\b", "回收站", ""),
    "keyring": (r"\bkeyrings?\b", "密钥环", ""),
    "key file": (r"\bkey file\b", "密钥文件", ""),
    "passphrase": (r"\bpassphrase\b", "口令", ""),
    "branch": (r"\bbranch\b", "分支", ""),
}
OTHERS = {
    "钥匙串": "密钥环",
    "转存": "卸载",
    "外置": "卸载",
    "移出内容": "卸载",
    "卸载技能": "停用（卸载 is for what leaves the context）",
    "卸载此技能": "停用",
    "精简": "压缩",
    "工作空间": "工作区",
    "语境": "上下文",
    "账本": "台账",
    "小结": "摘要",
    "提案": "方案",
    "草案": "方案",
    "沙盒": "沙箱",
    "审批": "批准",
    "废纸篓": "回收站",
    "撤回": "撤销",
    "抢救": "救援",
    "道线": "标线",
    "危险线": "标线",
    "代理程序": "智能体",
    "您": "你",
}


def catalogue() -> dict[str, str]:
    merged: dict[str, str] = {}
    for path in sorted((RESOURCES / "i18n" / "zh_CN").glob("*.json")):
        merged |= json.loads(path.read_text("utf-8"))
    return merged


def plain(english: str) -> str:
    """A key of the catalogue as it is read: without its context, and without what is filled in."""
    return re.sub(r"\{\w+\}", "", english.partition("|")[2] or english)


@pytest.mark.parametrize("name", TERMS)
def test_a_thing_is_called_by_its_one_name(name: str) -> None:
    pattern, word, exempt = TERMS[name]
    named = [
        (english, chinese)
        for english, chinese in catalogue().items()
        if re.search(pattern, plain(english), re.IGNORECASE)
        and not (exempt and re.search(exempt, english))
    ]
    assert named, "a term of the glossary is used"
    assert [pair for pair in named if word not in pair[1]] == []


def test_no_second_name_is_in_use() -> None:
    texts = {**catalogue()}
    for page in sorted((RESOURCES / "help").glob("*.zh_CN.md")):
        texts[page.name] = page.read_text("utf-8")
    assert len(texts) > 1000
    found = [
        f"{text[:60]}: {wrong}, not {right}"
        for text, chinese in texts.items()
        for wrong, right in OTHERS.items()
        if wrong in chinese
    ]
    assert found == []


def test_every_help_page_in_chinese_names_what_its_english_names() -> None:
    pages = sorted((RESOURCES / "help").glob("*.zh_CN.md"))
    assert pages
    for page in pages:
        english = page.with_name(page.name.replace(".zh_CN", "")).read_text("utf-8")
        chinese = page.read_text("utf-8")
        prose = re.sub(r"```.*?```", "", english, flags=re.DOTALL)
        for name in ("offload", "workspace", "session", "agent", "journal"):
            pattern, word, _ = TERMS[name]
            if re.search(pattern, prose, re.IGNORECASE):
                assert word in chinese, f"{page.name}: {name}"
