"""Confinement: where paths lead, what is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools import paths
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.read import Read
from desktop_app.core.tools.write import Write
from tests.helpers.tools import make_context


@pytest.mark.parametrize(
    "given_",
    ["/etc/passwd", "../x", "a/../../x", "link/x", "link/new/deep/file", "deadlink", "chain/x"],
)
async def test_what_leads_outside_is_asked(ctx: ToolContext, folder: Path, given_: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    os.symlink(outside, folder / "link")
    os.symlink(outside / "not-there", folder / "deadlink")
    os.symlink("link", folder / "chain")
    read = await Read().check({"file_path": given_}, ctx)
    assert (read.behavior, read.reasons[0][0], read.safety) == ("ask", "path.outside", False)
    write = await Write().check({"file_path": given_, "content": ""}, ctx)
    assert (write.behavior, write.safety, write.rule) == ("ask", True, None)


async def test_inside(ctx: ToolContext, folder: Path) -> None:
    (folder / "d").mkdir()
    os.symlink("d", folder / "inner")
    read = await Read().check({"file_path": "inner/new"}, ctx)
    assert (read.behavior, read.subjects) == ("allow", ("d/new",))
    write = await Write().check({"file_path": f"{folder}/d/new", "content": ""}, ctx)
    assert (write.behavior, write.safety, write.subjects) == ("ask", False, ("d/new",))
    assert write.reasons == (("file.write", {"path": "d/new"}),)
    assert write.rule is not None
    assert write.rule["rule_content"] == "d/new"


async def test_root_and_extra_directories_are_inside(folder: Path) -> None:
    root, extra = folder.parent / "root", folder.parent / "extra"
    for d in (root, extra):
        d.mkdir()
    ctx = make_context(folder, root=str(root), extra_dirs=(str(extra),))
    for given_ in (f"{root}/notes/x", f"{extra}/x"):
        assert (await Read().check({"file_path": given_}, ctx)).behavior == "allow"
        assert not (await Write().check({"file_path": given_, "content": ""}, ctx)).safety
    kept = await Write().check(
        {"file_path": f"{root}/sessions/s/context.jsonl", "content": ""}, ctx
    )
    assert kept.safety
    sibling = await Read().check({"file_path": f"{extra}-other/x"}, ctx)
    assert sibling.behavior == "ask"
    await ctx.backend.close()


@pytest.mark.parametrize(
    ("path", "read", "write"),
    [
        (".env", True, True),
        ("deep/.env.local", True, True),
        (".env.example", False, False),
        (".ssh/config", True, True),
        (".SSH/Config", True, True),
        ("id_rsa", True, True),
        ("certs/site.pem", True, True),
        (".git/config", True, True),
        (".git/hooks/pre-commit", False, True),
        (".GIT/HEAD", False, True),
        ("sub/.git/config", True, True),
        (".bashrc", False, True),
        (".vscode/tasks.json", False, True),
        (".mcp", False, True),
        (".gitignore", False, False),
        ("environment.md", False, False),
        ("src/keys.py", False, False),
    ],
)
async def test_names_that_are_asked_for(
    ctx: ToolContext, path: str, read: bool, write: bool
) -> None:
    r = await Read().check({"file_path": path}, ctx)
    w = await Write().check({"file_path": path, "content": ""}, ctx)
    assert (r.safety, w.safety) == (read, write)
    assert (r.behavior == "ask") is read


async def test_a_link_to_a_secret_is_a_secret(ctx: ToolContext, folder: Path) -> None:
    (folder / ".env").write_text("x")
    os.symlink(".env", folder / "harmless.txt")
    assert (await Read().check({"file_path": "harmless.txt"}, ctx)).safety


async def test_what_was_checked_is_what_is_used(ctx: ToolContext, folder: Path) -> None:
    """``..`` after a link is taken as text by the check and by the reading alike."""
    outside = folder.parent / "outside" / "deep"
    outside.mkdir(parents=True)
    (outside.parent / "f").write_text("outside")
    (folder / "f").write_text("inside")
    os.symlink(outside, folder / "link")
    verdict = await Read().check({"file_path": "link/../f"}, ctx)
    text = (await Read().run({"file_path": "link/../f"}, ctx)).text
    assert (verdict.behavior, "inside" in text) == ("allow", True)


NAMES = st.lists(st.sampled_from(["..", ".", "a", "link", "b", "", "up", "~", "dead"]), max_size=7)


@given(NAMES, st.booleans())
def test_nothing_allowed_ever_leaves(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], absolute: bool
) -> None:
    import asyncio

    base = tmp_path_factory.getbasetemp() / "fixed"
    folder = base / "work"
    if not folder.exists():
        (folder / "a" / "b").mkdir(parents=True)
        (base / "elsewhere").mkdir()
        os.symlink(base / "elsewhere", folder / "link")
        os.symlink("..", folder / "up")
        os.symlink("../elsewhere/none", folder / "dead")
    given_ = ("/" if absolute else "") + "/".join(names)

    async def check() -> None:
        ctx = make_context(folder)
        try:
            verdict = await Read().check({"file_path": given_}, ctx)
            resolved = await paths.resolve(ctx, given_)
        except ToolFailure:
            return
        finally:
            await ctx.backend.close()
        real = os.path.realpath(os.path.normpath(os.path.join(folder, given_)))
        inside = real == str(folder) or real.startswith(f"{folder}/")
        assert (verdict.behavior == "allow") == inside
        assert resolved.real == real

    asyncio.run(check())


def test_rules_suggested_for_odd_names_match_only_them() -> None:
    from desktop_app.core.tools.globs import matches

    resolved = paths.Resolved("a[1]*.txt", "/w/a[1]*.txt", "a[1]*.txt", "cwd", "a[1]*.txt")
    rule = paths.verdict("Write", resolved, "write").rule
    assert rule is not None
    assert matches(rule["rule_content"], "a[1]*.txt")
    assert not matches(rule["rule_content"], "a1x.txt")


@pytest.mark.parametrize(
    ("tool", "path", "content"),
    [
        ("Read", "/x/y/f", "/x/y/**"),
        ("Read", "/x/f", "/x/f"),
        ("Read", "/f", "/f"),
        ("Glob", "/etc", "/etc/**"),
        ("Grep", "/", None),
    ],
)
def test_rules_for_outside_stay_narrow(tool: str, path: str, content: str | None) -> None:
    outside = paths.Resolved(path, path, path, "outside", path.lstrip("/"))
    rule = paths.verdict(tool, outside, "read").rule
    assert (rule and rule["rule_content"]) == content
