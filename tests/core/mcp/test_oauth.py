"""Signing in to a server over HTTP, against a real authorization server on this computer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from desktop_app.core.errors import ToolFailure
from desktop_app.core.mcp.asks import Ask, Asker, Reply, Visit
from desktop_app.core.mcp.connection import Connection
from desktop_app.core.mcp.loopback import Loopback
from desktop_app.core.mcp.oauth import Kept, SignIn, secret_name
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.secrets import KeyFile, Secrets
from desktop_app.core.secrets.sealed import Cost
from tests.helpers.mcp import QUICK, Bench, call, free_port, serving, until


class Ring:
    """A keyring in memory, as the system's would be."""

    priority = 5

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.held.get(name)

    def set_password(self, service: str, name: str, key: str) -> None:
        self.held[name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.held[name]


class Silent(Ring):
    """One whose person does not let anybody in yet."""

    def __init__(self, held: dict[str, str]) -> None:
        super().__init__()
        self.held = held
        self.answers = False

    def get_password(self, service: str, name: str) -> str | None:
        if not self.answers:
            raise PermissionError("locked")
        return super().get_password(service, name)


class Place:
    """The server, a keyring, and a browser that follows redirects."""

    def __init__(self, mcp: Bench, port: int, notes: Path) -> None:
        self.mcp, self.port, self.notes = mcp, port, notes
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.ring = Ring()
        self.visited: list[str] = []
        self.pages: list[str] = []

    def connect(
        self,
        ring: Ring | None = None,
        ask: Asker | None = None,
        secrets: Secrets | None = None,
        **spec: Any,
    ) -> Connection:
        secrets = secrets or Secrets(lambda: ring)
        name = f"g{len(self.mcp.connections)}"
        made = Connection(
            ServerSpec(name, "streamable_http", url=self.url, **spec),
            self.mcp.runner, "/", lambda _: None, QUICK, ask, secrets,
        )  # fmt: skip
        self.mcp.connections.append(made)
        made.start()
        return made

    async def browse(self, url: str) -> None:
        self.visited.append(url)

        async def follow() -> None:
            async with httpx2.AsyncClient(follow_redirects=True) as client:
                self.pages.append((await client.get(url)).text)

        self.task = asyncio.ensure_future(follow())

    def mode(self, text: str) -> None:
        self.notes.with_suffix(".mode").write_text(text)

    def seen(self) -> str:
        return self.notes.read_text() if self.notes.exists() else ""

    async def forget(self, query: str = "") -> None:
        async with httpx2.AsyncClient() as client:
            await client.post(f"http://127.0.0.1:{self.port}/forget{query}")

    async def signed_in(self, ring: Ring | None, ask: Asker | None = None) -> Connection:
        c = self.connect(ring, ask)
        await until(lambda: c.status.state == "failed")
        c.sign_in(SignIn(self.browse, "Signed in, close <this>."))
        await until(lambda: c.status.state == "ok")
        return c


@pytest_asyncio.fixture
async def place(mcp: Bench, tmp_path: Path) -> AsyncIterator[Place]:
    port, notes = free_port(), tmp_path / "notes"
    async with serving(str(port), port, "guarded.py", str(notes)):
        yield Place(mcp, port, notes)


async def test_nothing_is_sent_and_nobody_asked_until_the_person_signs_in(place: Place) -> None:
    c = place.connect(place.ring)
    await until(lambda: c.status.state == "failed")
    assert c.status.code == "mcp.sign_in"
    assert c.status.params["host"] == f"127.0.0.1:{place.port}"
    assert place.seen() == ""
    c.sign_in(SignIn(place.browse, "Signed in, close <this>."))
    await until(lambda: c.status.state == "ok")
    assert (await call(c, "secret_number")).text == "42"
    assert c.status.signed_in == "keyring"
    lines = place.seen().splitlines()
    assert lines[0].startswith("register Slipway http://127.0.0.1:")
    assert lines[1:] == [f"authorize resource={place.url}", "token"]
    await until(lambda: bool(place.pages))
    assert "close &lt;this&gt;." in place.pages[0]
    (name,) = place.ring.held
    assert name == secret_name(place.url)
    kept = json.loads(place.ring.held[name])
    assert kept["tokens"]["access_token"].startswith("at-")
    assert "at-" not in repr(c.status) + repr(c.spec) + c.ring.text()


async def test_tokens_outlive_the_program_and_are_renewed_where_they_were_made(
    place: Place,
) -> None:
    place.mode("short")
    first = await place.signed_in(place.ring)
    await first.stop()
    await asyncio.sleep(1.1)  # the token ends
    again = place.connect(place.ring)
    await until(lambda: again.status.state == "ok")
    assert "renewed" in place.seen()
    assert len(place.visited) == 1  # the person was not asked again
    assert (await call(again, "secret_number")).text == "42"


async def test_without_a_keyring_they_are_kept_for_this_run_and_told(place: Place) -> None:
    c = await place.signed_in(None)
    assert c.status.signed_in == "session"
    other = place.connect(None)  # another program, as it were: it has no tokens
    await until(lambda: other.status.state == "failed")
    assert other.status.code == "mcp.sign_in"


async def test_tokens_in_a_locked_file_are_told_and_not_signed_in_over(
    place: Place, tmp_path: Path
) -> None:
    keys = KeyFile(tmp_path / "keys.json", Cost(n=1 << 4))
    secrets = Secrets(lambda: None, file=keys)
    await secrets.make_file("correct horse battery")
    c = place.connect(secrets=secrets)
    await until(lambda: c.status.state == "failed")
    c.sign_in(SignIn(place.browse, "ok"))
    await until(lambda: c.status.state == "ok")
    assert c.status.signed_in == "file"
    await c.stop()
    await secrets.lock_file()
    again = place.connect(secrets=secrets)
    await until(lambda: again.status.state == "failed")
    assert again.status.code == "mcp.keys_locked", "not: sign in"
    await secrets.unlock_file("correct horse battery")
    again.restart()
    await until(lambda: again.status.state == "ok")
    assert (await call(again, "secret_number")).text == "42"
    assert len(place.visited) == 1


async def test_a_keyring_that_gives_no_answer_is_asked_again_by_itself(place: Place) -> None:
    first = await place.signed_in(place.ring)
    await first.stop()
    ring = Silent(place.ring.held)
    again = place.connect(ring)
    await until(lambda: again.status.code == "mcp.keyring")
    assert again.status.state == "waiting"
    ring.answers = True  # the person unlocked it
    await until(lambda: again.status.state == "ok")
    assert len(place.visited) == 1, "nobody was sent to sign in"
    assert json.loads(ring.held[secret_name(place.url)])["tokens"], "and nothing was written over"


async def test_what_is_refused_asks_to_sign_in_again_and_signing_out_forgets(place: Place) -> None:
    c = await place.signed_in(place.ring)
    await place.forget("?all")
    c.restart()
    await until(lambda: c.status.state == "failed")
    assert c.status.code == "mcp.sign_in"
    assert len(place.visited) == 1
    c.sign_in(SignIn(place.browse, "ok"))
    await until(lambda: c.status.state == "ok")
    await c.sign_out()
    await until(lambda: c.status.state == "failed")
    assert (c.status.code, c.status.signed_in) == ("mcp.sign_in", None)
    assert place.ring.held == {}


async def test_a_refusal_and_giving_up_are_told(place: Place) -> None:
    place.mode("deny")
    c = place.connect(place.ring)
    await until(lambda: c.status.state == "failed")
    c.sign_in(SignIn(place.browse, "ok"))
    await until(lambda: c.status.code == "mcp.sign_in_failed")
    assert c.status.params["detail"] == "The person refused"

    async def ignore(url: str) -> None:
        place.visited.append(url)

    c.sign_in(SignIn(ignore, "ok"))
    await until(lambda: c.status.code == "mcp.signing_in")
    c.cancel_sign_in()
    await until(lambda: c.status.state == "failed")
    assert c.status.code == "mcp.sign_in"
    assert place.ring.held == {} or "at-" not in json.dumps(place.ring.held)


def scopes_of(asked: Ask) -> tuple[str, ...]:
    assert isinstance(asked.what, Visit)
    return asked.what.scopes


# -- more rights -----------------------------------------------------------------------------------


async def test_a_call_that_needs_more_rights_asks_and_goes_on(place: Place) -> None:
    asked: list[Ask] = []

    async def ask(what: Ask) -> Reply:
        asked.append(what)
        assert isinstance(what.what, Visit)
        await place.browse(what.what.url)
        return Reply("accept")

    c = await place.signed_in(place.ring, ask)
    assert (await call(c, "secret_number")).text == "42"
    assert asked == []
    assert (await call(c, "deep_number")).text == "43"
    (one,) = asked
    assert (one.tool, scopes_of(one)) == ("deep_number", ("deep",))
    assert place.seen().splitlines()[-3:] == [
        "more wanted",
        f"authorize resource={place.url} scope=plain deep",
        "token",
    ], "the rights that it had are asked for again"
    assert (await call(c, "deep_number")).text == "43"
    assert len(asked) == 1
    await c.stop()

    again = place.connect(place.ring, ask)  # another start of the program
    await until(lambda: again.status.state == "ok")
    assert (await call(again, "deep_number")).text == "43"
    assert len(asked) == 1, "the wider tokens were kept"


async def test_it_asks_too_when_the_tokens_are_of_an_earlier_run(place: Place) -> None:
    first = await place.signed_in(place.ring)
    await first.stop()

    async def ask(what: Ask) -> Reply:
        assert isinstance(what.what, Visit)
        await place.browse(what.what.url)
        return Reply("accept")

    c = place.connect(place.ring, ask)
    await until(lambda: c.status.state == "ok")
    assert (await call(c, "deep_number")).text == "43"


@pytest.mark.parametrize("how", ["decline", "cancel", "denied there", "nobody"])
async def test_without_more_rights_only_that_call_fails(place: Place, how: str) -> None:
    async def ask(what: Ask) -> Reply:
        if how == "denied there":
            place.mode("deny")
            assert isinstance(what.what, Visit)
            await place.browse(what.what.url)
            return Reply("accept")
        return Reply("decline" if how == "decline" else "cancel")

    c = await place.signed_in(place.ring, None if how == "nobody" else ask)
    with pytest.raises(ToolFailure) as caught:
        await call(c, "deep_number")
    assert caught.value.code == ("mcp.declined" if how == "decline" else "mcp.refused")
    assert c.status.state == "ok", "the connection is as good as before"
    assert (await call(c, "secret_number")).text == "42"


async def test_a_call_that_ends_takes_the_question_back(place: Place) -> None:
    asked = asyncio.Event()

    async def ask(what: Ask) -> Reply:
        asked.set()
        return Reply("accept")  # and the browser never comes back

    c = await place.signed_in(place.ring, ask)
    task = asyncio.ensure_future(call(c, "deep_number"))
    async with asyncio.timeout(20):
        await asked.wait()
    other = asyncio.ensure_future(call(c, "secret_number"))  # waits behind it
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):
        assert (await other).text == "42"


async def test_a_key_in_the_declaration_is_left_alone(place: Place) -> None:
    c = place.connect(place.ring, headers={"Authorization": "Bearer wrong"})
    await until(lambda: c.status.state == "failed")
    assert c.status.code == "mcp.auth"
    assert place.seen() == ""


async def test_the_loopback_answers_its_own_path_alone() -> None:
    loopback = Loopback("done")
    await loopback.open()
    async with httpx2.AsyncClient() as client:
        other = await client.get(loopback.url.replace("callback", "favicon.ico"))
        good = await client.get(f"{loopback.url}?code=c&state=s")
    assert (other.status_code, good.status_code) == (404, 200)
    assert await loopback.answer == {"code": "c", "state": "s"}
    await loopback.close()


def test_a_secret_that_does_not_parse_is_as_if_there_were_none() -> None:
    for text in ("", "{", "[]", '{"tokens": 1, "expires": "x"}'):
        assert Kept.of(text) == Kept()
    kept = Kept(tokens={"a": 1}, expires=5.0)
    assert Kept.of(kept.text()) == kept
