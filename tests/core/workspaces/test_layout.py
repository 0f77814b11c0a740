"""Generations told by shape, on real workspaces of three releases and on folders that only look
alike; ``.mcp`` with its faults; URLs of payloads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import SessionError, WorkspaceError
from desktop_app.core.ids import check_id, is_safe_name
from desktop_app.core.workspaces.layout import detect
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.mcp_file import forget_session, parse_mcp, read_mcp
from desktop_app.core.workspaces.paths import (
    command_path,
    is_inside,
    resolve_url,
    session_dir,
    tool_result_path,
)

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SHA = "10a7227ade22bb007518dbb14d064d2f3b0d5a282264d6d94a8682d68866650a.png"


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("gen-a-2.0.4", "A"),
        ("gen-b-2.0.6", "B"),
        ("gen-c-2.0.11", "C"),
        ("gen-b-migrated-to-c", "C"),
    ],
)
async def test_samples_are_used_in_place(name: str, generation: str) -> None:
    folder = str(SAMPLES / name)
    found = await detect(LocalBackend(folder), folder)
    assert (found.generation, found.root, found.foreign) == (generation, folder, True)


@pytest.mark.parametrize("gone", [".mcp", "skills", "sessions"])
async def test_a_is_told_without_one_of_its_parts(tmp_path: Path, gone: str) -> None:
    shutil.copytree(SAMPLES / "gen-a-2.0.4", tmp_path / "w")
    part = tmp_path / "w" / gone
    part.unlink() if part.is_file() else shutil.rmtree(part)
    found = await detect(LocalBackend(tmp_path / "w"), str(tmp_path / "w"))
    assert found.foreign
    # Without a message nothing tells A from B; B is what its last programs understand.
    assert found.generation == ("B" if gone == "sessions" else "A")


@pytest.mark.parametrize(
    ("sample", "skill", "generation"),
    [
        ("gen-c-2.0.11", "skills/agent-42/web-search", "C"),
        ("gen-b-2.0.6", "skills/web-search", "B"),
        ("gen-a-2.0.4", "skills/web-search", "A"),
        ("gen-c-2.0.11", "", "C"),
    ],
)
async def test_what_a_sandbox_leaves_without_declarations_and_template(
    tmp_path: Path, sample: str, skill: str, generation: str
) -> None:
    """Containers and sandboxes keep no index, and no ``.mcp`` or ``.seed`` before somebody needs
    one: where skills lie tells B from C."""
    folder = tmp_path / "w"
    shutil.copytree(SAMPLES / sample / "sessions", folder / "sessions")
    shutil.copytree(SAMPLES / sample / "data", folder / "data")
    if skill:
        shutil.copytree(SAMPLES / sample / skill, folder / skill)
    found = await detect(LocalBackend(folder), str(folder))
    assert (found.generation, found.root, found.foreign) == (generation, str(folder), True)


async def test_skills_in_folders_of_a_persons_own_are_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "skills/mine/cooking").mkdir(parents=True)
    (tmp_path / "skills/mine/cooking/SKILL.md").write_text("---\nname: c\ndescription: d\n---\n")
    assert not (await detect(LocalBackend(tmp_path), str(tmp_path))).foreign


async def test_a_persons_folder_that_only_looks_alike(tmp_path: Path) -> None:
    for name in ("data", "skills", "sessions"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/table.csv").write_text("a,b")
    (tmp_path / "skills/cooking.md").write_text("boil")
    (tmp_path / "sessions/monday.txt").write_text("notes")
    (tmp_path / ".mcp").write_text('{"servers": {}}')
    found = await detect(LocalBackend(tmp_path), str(tmp_path))
    assert not found.foreign
    assert not found.exists
    assert found.root == f"{tmp_path}/.slipway"


async def test_an_empty_workspace_is_one(tmp_path: Path) -> None:
    for name in ("data", "skills", "sessions"):
        (tmp_path / name).mkdir()
    assert (await detect(LocalBackend(tmp_path), str(tmp_path))).foreign


async def test_a_planted_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.slipway").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError) as caught:
        await detect(LocalBackend(tmp_path / "w"), str(tmp_path / "w"))
    assert caught.value.code == "path.outside"


def entry(**changes: object) -> dict:
    config = {"type": "stdio_mcp", "command": "python3", "args": ["x.py"], "env": {"T": "s3cret"}}
    return {"name": "demo", "is_stateful": True, "mcp_config": config} | changes


def test_mcp_reasons() -> None:
    http = {"type": "http_mcp", "url": "http://h/mcp"}
    values = [
        entry(),
        entry(),
        entry(name="b c"),
        entry(name="b\nc"),
        "words",
        entry(name="a", is_stateful=False),
        entry(name="c", mcp_config={"type": "stdio_mcp"}),
        entry(name="d", mcp_config={"type": "ws"}),
        entry(name="e", mcp_config={"type": "http_mcp", "url": "ftp://h"}),
        entry(name="f", mcp_config=http),
        entry(name="g", mcp_config=http | {"url": "https://h/sse?key=1"}),
        entry(name="h", mcp_config=None),
        entry(name="i", mcp_config={"type": "stdio_mcp", "command": "x", "args": [{}]}),
    ]
    declared = parse_mcp(b"\xef\xbb\xbf" + json.dumps(values).encode()).all()
    assert [(d.error, d.transport) for d in declared] == [
        (None, "stdio"),
        ("mcp.duplicate_name", "unknown"),
        (None, "stdio"),
        ("mcp.bad_name", "unknown"),
        ("mcp.entry_not_object", "unknown"),
        ("mcp.stdio_stateless", "unknown"),
        ("mcp.no_command", "unknown"),
        ("mcp.bad_transport", "unknown"),
        ("mcp.bad_url", "unknown"),
        (None, "http"),
        (None, "sse"),
        ("mcp.no_config", "unknown"),
        ("mcp.bad_args", "unknown"),
    ]
    assert declared[0].command == ("python3", "x.py")
    assert "s3cret" not in repr(declared)


@pytest.mark.parametrize(
    ("text", "code"),
    [("{nope", "mcp.not_json"), ("\xff", "mcp.not_json"), ('{"version": 2}', "mcp.bad_shape")],
)
async def test_mcp_that_does_not_parse(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / ".mcp"
    path.write_bytes(text.encode("latin-1"))
    backend = LocalBackend(tmp_path)
    assert (await read_mcp(backend, ".mcp")).error == code
    assert not await forget_session(backend, ".mcp", "a", "s")
    assert path.read_bytes() == text.encode("latin-1")  # never written over


async def test_mcp_by_session_and_forgetting_one(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "gen-c-2.0.11/.mcp", tmp_path / ".mcp")
    backend = LocalBackend(tmp_path)
    read = await read_mcp(backend, ".mcp")
    names = [d.name for d in read.of("agent-42", "session-abc", shared=False)]
    assert names == ["docs", "demo"]
    assert [d.transport for d in read.of("", "", shared=False)] == ["http", "sse"]
    assert read.of("agent-7", "s7", shared=False) == []
    before = json.loads((tmp_path / ".mcp").read_text())
    assert await forget_session(backend, ".mcp", "agent-42", "session-abc")
    del before["mcps"]["agent-42"]
    assert (tmp_path / ".mcp").read_text() == json.dumps(before, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (f"workspace:///data/{SHA}", f"/w/data/{SHA}"),
        (f"file:///srv/old/place/data/{SHA}", f"/w/data/{SHA}"),
        ("workspace:///data/../../etc/passwd", None),
        ("workspace:///data/%2e%2e/%2e%2e/etc/passwd", None),
        ("workspace:///data/a%2F..%2F..%2Fb", None),
        ("workspace:///data/a\\..\\b", None),
        ("workspace:///data/a%00b", None),
        ("workspace://host/data/x.png", None),
        ("workspace:///sessions/s/context.jsonl", None),
        ("workspace:///data", None),
        ("file:///etc/passwd", None),
        ("file:///data/passwd", None),
        (f"file://host/data/{SHA}", None),
        ("https://x/data/y.png", None),
        ("http://[", None),
    ],
)
def test_urls(url: str, path: str | None) -> None:
    assert resolve_url(url, "/w") == path


@pytest.mark.parametrize(
    "name",
    ["..", ".", "a/b", "a\\b", "CON", "con.txt", "LPT1", "nul", "a.", "a ", " a", "a:b", "", "a\0b",
     "-" * 121, "\u202ea", "a\n"],
)  # fmt: skip
def test_names_that_some_system_refuses_are_replaced(name: str) -> None:
    """Separators, steps up, Windows' reserved names, ends in dots and blanks: AgentScope joins all
    of them into paths as they are."""
    for path in (
        session_dir("/w", name),
        tool_result_path("/w", name, "c"),
        command_path("/w", name, "c"),
    ):
        used = path.split("/")[3]
        assert used != name
        assert is_safe_name(used)
    used = tool_result_path("/w", "s", name).rpartition("/")[2]
    assert used.endswith(".txt")
    assert is_safe_name(used.removeprefix("tool_result-").removesuffix(".txt"))
    with pytest.raises(SessionError):
        check_id("session", name)


@given(st.text())
def test_no_id_leads_out(text: str) -> None:
    """Invariant 10 for every id that becomes a path."""
    assert is_inside(session_dir("/w", text), "/w/sessions")
    assert session_dir("/w", text).count("/") == 3
    path = tool_result_path("/w", "s", text, 1)
    assert path.startswith("/w/sessions/s/tool_result-")
    assert path.count("/") == 4


@given(st.text(), st.sampled_from(["workspace:///data/", "file:///x/data/", "workspace:///", ""]))
def test_no_url_leads_out(text: str, prefix: str) -> None:
    path = resolve_url(prefix + text, "/w")
    assert path is None or (is_inside(path, "/w/data") and path != "/w/data")
