"""SKILL.md as people write it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import SettingsError
from desktop_app.core.skills.parse import body_of, parse_skill

GOOD = b"---\nname: web-search\ndescription: Search the web.\n---\n# Body\n\ntext\n"


def code(data: bytes) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse_skill(data)
    return caught.value


def test_plain() -> None:
    parsed = parse_skill(GOOD)
    assert (parsed.name, parsed.description) == ("web-search", "Search the web.")
    assert body_of(GOOD) == "# Body\n\ntext\n"


def test_bom_and_crlf() -> None:
    data = b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n")
    parsed = parse_skill(data)
    assert (parsed.name, parsed.description) == ("web-search", "Search the web.")
    assert body_of(data) == "# Body\r\n\r\ntext\r\n"


@pytest.mark.parametrize(
    ("front", "name", "description", "warnings"),
    [
        ("name: 3000\ndescription: x", "3000", "x", ()),
        ("name: a\ndescription: |\n  two\n  lines", "a", "two\nlines", ()),
        ('name: "q"\ndescription: "a: b # c"', "q", "a: b # c", ()),
        ("name: 数据\ndescription: 分析。", "数据", "分析。", ()),
        ("name: a\ndescription: [x, y]", "a", "x, y", ("skill.description_not_text",)),
        (
            "name: a\ndescription: fix C # issue",
            "a",
            "fix C",
            ("skill.comment_in_description",),
        ),
        ("name: a\ndescription: x\nargument-hint: [topic: foo | bar]", "a", "x", ()),
        ("name: a\ndescription: x\nmetadata:\n  version: 1.0", "a", "x", ()),
    ],
)
def test_accepted(front: str, name: str, description: str, warnings: tuple[str, ...]) -> None:
    parsed = parse_skill(f"---\n{front}\n---\nbody".encode())
    assert (parsed.name, parsed.description, parsed.warnings) == (name, description, warnings)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"# no front", "skill.no_front_matter"),
        (b"", "skill.no_front_matter"),
        (b"---\nname: a\n", "skill.front_matter_open"),
        (b"+++\nname = 'a'\n+++\n", "skill.no_front_matter"),
        ("---\nname: a\n---\n".encode("utf-16"), "skill.encoding"),
        ("---\nname: 数据\n---\n".encode("gbk"), "skill.encoding"),
        (b"---\nname: a\ndescription: use when: x\n---\n", "skill.bad_yaml"),
        (b"---\n\tname: a\n---\n", "skill.bad_yaml"),
        (b"---\nname: [a\n---\n", "skill.bad_yaml"),
        (b"---\n- a\n---\n", "skill.bad_yaml"),
        (b"---\nname: a\nname: b\n---\n", "skill.bad_yaml"),
        (b"---\ndescription: x\n---\n", "skill.no_name"),
        (b"---\nname: null\ndescription: x\n---\n", "skill.no_name"),
        (b"---\nname: a\n---\n", "skill.no_description"),
        (b"---\nname: a\ndescription: ''\n---\n", "skill.no_description"),
        (b"---\nname: a\ndescription: x\nallowed-tools: {Read: 1}\n---\n", "skill.bad_tools"),
        (b"---\nname: a\ndescription: " + b"{a,b}" * 9000 + b"\n---\n", "skill.front_matter_large"),
    ],
)
def test_refused_with_a_reason(data: bytes, expected: str) -> None:
    assert code(data).code == expected


def test_the_line_of_a_fault_is_told() -> None:
    assert code(b"---\nname: a\ndescription: use when: x\n---\n").params["line"] == 3


def test_tools_that_are_allowed() -> None:
    front = "---\nname: a\ndescription: x\nallowed-tools: {}\n---\n"
    assert parse_skill(front.format("Read, Grep").encode()).allowed_tools == ("Read", "Grep")
    assert parse_skill(front.format("[Read]").encode()).allowed_tools == ("Read",)
    assert parse_skill(GOOD).allowed_tools is None


def test_hostile_yaml_is_quick() -> None:
    started = time.thread_time()
    bomb = "a: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a]\n" for n in range(300))
    for front in (bomb, "x: " + "[" * 5000, "x: " + "{a,b} " * 1500):
        with pytest.raises(SettingsError):
            parse_skill(f"---\n{front}\n---\n".encode())
    assert time.thread_time() - started < 10


@given(st.binary(max_size=300))
def test_any_bytes_parse_or_are_refused(data: bytes) -> None:
    for content in (data, b"---\n" + data + b"\n---\n"):
        name, code = "", ""
        try:
            name = parse_skill(content).name
        except SettingsError as error:
            code = error.code
        assert name or code.startswith("skill.")


@given(st.from_regex(r"[A-Za-z\u4e00-\u9fff][A-Za-z0-9 ,.()'\u4e00-\u9fff-]{0,30}", fullmatch=True))
def test_the_quick_way_reads_as_yaml_does(text: str) -> None:
    from desktop_app.core.skills.yaml import load

    value = load(f"description: {text}")["description"]
    if not isinstance(value, str):
        return
    parsed = parse_skill(f"---\nname: a\ndescription: {text}\n---\n".encode())
    assert parsed.description == value.strip()
