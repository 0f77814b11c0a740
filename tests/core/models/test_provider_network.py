"""Ways to providers: proxies of each kind, hosts without one, certificates, silence."""

from __future__ import annotations

import hashlib
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.models.network import (
    DIRECT,
    Network,
    is_proxy,
    passed_by,
    password_name,
    shown,
    system_proxy,
    with_password,
)
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections, ProviderModel
from desktop_app.core.models.providers import with_scheme
from desktop_app.core.models.trusted import Trusted, place_of, trusted_of, with_trusted, without
from tests.core.models.test_provider_wire import ask, call, model, text_of
from tests.helpers import providers as wire
from tests.helpers.providers import Server
from tests.helpers.proxies import HOST, Proxy, certificate

FAR = f"http://{HOST}"


@pytest.fixture(autouse=True)
def no_proxies_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


async def failing(one: ProviderModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await call(one, ask())
    return caught.value


# -- proxies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("provider", ["openai_chat", "anthropic", "google"])
async def test_calls_go_through_the_chosen_proxy(
    models_process: ModelsProcess, kind: str, provider: str
) -> None:
    answer = {
        "openai_chat": wire.chat("Hello"),
        "anthropic": wire.anthropic("Hello"),
        "google": wire.google("Hello"),
    }[provider]
    scheme = "socks5h" if kind == "socks5" else "http"
    with Server(answer) as server, Proxy(server.port, kind) as proxy:
        network = Network(f"{scheme}://127.0.0.1:{proxy.port}", stall=5)
        parts = await call(model(Connections(network, models_process), FAR, provider), ask())
        assert text_of(parts) == "Hello"
        assert proxy.asked == [HOST], "the name is looked up there, not here"


async def test_a_proxy_of_the_environment(
    models_process: ModelsProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(wire.chat("Hello")) as server, Proxy(server.port) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{proxy.port}")
        one = model(Connections(Network(stall=5), models_process), FAR)
        assert text_of(await call(one, ask())) == "Hello"


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_a_password_of_a_proxy_comes_from_the_keyring(
    models_process: ModelsProcess, kind: str
) -> None:
    asked: list[str] = []

    async def secret(name: str) -> str:
        asked.append(name)
        return "p@ss:word/1"

    with Server(wire.chat("Hello")) as server, Proxy(server.port, kind, "me:p@ss:word/1") as proxy:
        network = Network(f"{kind}://me@127.0.0.1:{proxy.port}", stall=5)
        made = Connections(network, models_process, secret)
        assert text_of(await call(model(made, FAR), ask())) == "Hello"
        assert asked == [f"proxy me@127.0.0.1:{proxy.port}"]


@pytest.mark.parametrize("far", [FAR, f"https://{HOST}"])
async def test_a_proxy_that_wants_a_password_is_named(
    models_process: ModelsProcess, far: str
) -> None:
    with Server() as server, Proxy(server.port, user="me:right") as proxy:
        network = Network(f"http://127.0.0.1:{proxy.port}", stall=5)
        error = await failing(model(Connections(network, models_process), far))
    assert (error.code, error.retryable) == ("model.proxy", False)
    assert error.params["proxy"] == f"127.0.0.1:{proxy.port}"
    assert "407" in error.params["detail"] or "Authentication" in error.params["detail"]


async def test_a_proxy_that_refuses_the_host_is_named(models_process: ModelsProcess) -> None:
    with Server() as server, Proxy(server.port) as proxy:
        network = Network(f"http://127.0.0.1:{proxy.port}", stall=5)
        error = await failing(model(Connections(network, models_process), "https://else.example"))
    assert (error.code, error.params["proxy"]) == ("model.proxy", f"127.0.0.1:{proxy.port}")


async def test_a_proxy_that_speaks_tls(models_process: ModelsProcess, tmp_path: Path) -> None:
    path, tls = certificate(tmp_path, "proxy.test")
    with Server(wire.chat("Hello")) as server, Proxy(server.port, tls=tls) as proxy:
        url = f"https://127.0.0.1:{proxy.port}"
        error = await failing(model(Connections(Network(url, stall=5), models_process), FAR))
        assert error.code == "model.certificate"
        assert error.params["host"] == f"127.0.0.1:{proxy.port}", "the proxy's own, not the model's"
        assert "CN=proxy.test" in error.params["certificate"]
        good = Connections(Network(url, ca_file=str(path), stall=5), models_process)
        assert text_of(await call(model(good, FAR), ask())) == "Hello"


def test_what_the_person_chose_counts_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://env.example:1")
    far = "https://api.example/v1"
    assert Network().route(far).proxy == "http://env.example:1"
    assert Network(DIRECT).route(far).proxy == ""
    own = Network("proxy.example:8", no_proxy="other.example, .api.example")
    assert own.route(far).proxy == ""
    assert own.route("https://else.example").proxy == "http://proxy.example:8"
    assert own.route("http://localhost:11434/v1").proxy == "", "this computer is asked directly"


@pytest.mark.parametrize(
    ("no_proxy", "address", "passed"),
    [
        ("api.example", "https://api.example/v1", True),
        ("api.example", "https://eu.api.example/v1", True),
        ("api.example", "https://myapi.example/v1", False),
        (".api.example", "https://api.example", True),
        ("*.api.example", "https://eu.api.example", True),
        ("api.example:443", "https://api.example", True),
        ("api.example:8443", "https://api.example", False),
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3:8000/v1", False),
        ("[fd00::1]", "http://[fd00::1]:8000/v1", True),
        ("fd00::/8", "http://[fd00::1]:8000/v1", True),
        ("a, ,b ,*", "https://api.example", True),
        ("", "https://api.example", False),
        ("API.example", "https://api.EXAMPLE./v1", True),
    ],
)
def test_hosts_without_a_proxy(no_proxy: str, address: str, passed: bool) -> None:
    assert passed_by(address, no_proxy) is passed
    env = {"ALL_PROXY": "socks://p.example:1", "NO_PROXY": no_proxy}
    assert system_proxy(address, env) == ("" if passed else "socks5://p.example:1")


def test_what_will_do_as_a_proxy() -> None:
    good = ("http://p.example:3128", "p.example:3128", "socks5h://me@[fd00::1]:1080", "socks://p:1")
    bad = (
        "",
        "ftp://p.example",
        "http://",
        "http://me:word@p.example",
        "http://p:99999",
        "http://p/x",
    )
    assert all(map(is_proxy, good))
    assert not any(map(is_proxy, bad))
    assert password_name("http://p.example:3128") == ""
    assert password_name("http://me:word@p.example") == "", "the system's own has it already"
    assert with_password("http://me@p:1", "a b@") == "http://me:a%20b%40@p:1"
    assert shown("http://me:word@p.example:1") == "p.example:1"


# -- certificates ----------------------------------------------------------------------------------


async def test_a_company_s_own_certificates(models_process: ModelsProcess, tmp_path: Path) -> None:
    path, tls = certificate(tmp_path, "localhost")
    with Server(wire.chat("Hello"), tls=tls) as server:
        error = await failing(model(Connections(Network(stall=5), models_process), server))
        assert (error.code, error.retryable) == ("model.certificate", False)
        said = error.params["certificate"]
        der = ssl.PEM_cert_to_DER_cert(path.read_text())
        assert said.startswith("CN=localhost · CN=localhost · ")
        assert said.endswith(_fingerprint(der)), "what a person compares"
        assert not server.asked, "nothing was sent"
        trusting = Connections(Network(ca_file=str(path), stall=5), models_process)
        assert text_of(await call(model(trusting, server), ask())) == "Hello"


async def test_what_the_system_trusts_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's store, here by the variable that names it: nothing is set in the program."""
    path, tls = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    process = ModelsProcess()  # one of its own: stores are read when it starts
    try:
        with Server(wire.chat("Hello"), tls=tls) as server:
            connections = Connections(Network(stall=5), process)
            assert text_of(await call(model(connections, server), ask())) == "Hello"
    finally:
        await process.close()


def _fingerprint(der: bytes) -> str:
    return "SHA-256 " + ":".join(f"{b:02X}" for b in hashlib.sha256(der).digest())


async def test_a_certificate_that_is_over_fails_at_once(
    models_process: ModelsProcess, tmp_path: Path
) -> None:
    path, tls = certificate(tmp_path, "localhost", days=-2)
    with Server(tls=tls) as server:
        trusting = Connections(Network(ca_file=str(path), stall=5), models_process)
        error = await failing(model(trusting, server))
    assert (error.code, error.retryable) == ("model.certificate", False)
    assert "expired" in error.params["detail"]


async def test_a_certificate_of_another_name(models_process: ModelsProcess, tmp_path: Path) -> None:
    path, tls = certificate(tmp_path, "other.example")
    with Server(tls=tls) as server:
        trusting = Connections(Network(ca_file=str(path), stall=5), models_process)
        address = f"https://localhost:{server.port}"
        error = await failing(model(trusting, address))
    assert error.code == "model.certificate"
    assert "CN=other.example" in error.params["certificate"]
    assert "localhost" in error.params["detail"]


@pytest.mark.parametrize("content", [None, b"no certificate at all"])
async def test_a_file_without_certificates_is_named(
    models_process: ModelsProcess, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ours.pem"
    if content is not None:
        path.write_bytes(content)
    with Server() as server:
        made = Connections(Network(ca_file=str(path), stall=5), models_process)
        error = await failing(model(made, server))
    assert (error.code, error.params["path"]) == ("model.ca_file", str(path))
    assert error.params["reason"]


# -- silence ---------------------------------------------------------------------------------------


async def test_what_arrives_is_no_silence(models_process: ModelsProcess) -> None:
    """A provider that thinks for long says so in comments; only silence ends a call."""
    beats = [b": keep-alive\n\n"] * 4
    whole = wire.chat("Hello")

    def slow(_asked: wire.Asked) -> wire.Answer:
        return wire.Answer(_Paused([*beats, *whole.pieces], 0.15), 200, whole.headers)

    with Server(slow) as server:
        one = model(Connections(Network(stall=0.5), models_process), server)
        assert text_of(await call(one, ask())) == "Hello"


class _Paused(list[Any]):
    """Pieces with a pause before each of the first four."""

    def __init__(self, pieces: list[Any], pause: float) -> None:
        super().__init__(pieces)
        self._pause = pause

    def __iter__(self) -> Iterator[Any]:
        for number, piece in enumerate(super().__iter__()):
            time.sleep(self._pause if number < 4 else 0)
            yield piece


async def test_a_stream_that_ends_before_it_said_anything(models_process: ModelsProcess) -> None:
    silent = wire.Answer([b": hello\n\n"], 200, {"Content-Type": "text/event-stream"})
    with Server(silent) as server:
        error = await failing(model(Connections(Network(stall=5), models_process), server))
    assert (error.code, error.retryable) == ("model.empty", True)


async def test_keys_and_passwords_are_in_no_error(models_process: ModelsProcess) -> None:
    async def secret(_name: str) -> str:
        return "proxy-word-1"

    network = Network("http://me@127.0.0.1:9", stall=5)
    error = await failing(model(Connections(network, models_process, secret), FAR))
    assert error.code == "model.proxy"
    assert "proxy-word-1" not in str(error)


# -- single certificates that a person trusts ------------------------------------------------------


async def certificate_error(one: ProviderModel, code: str = "model.certificate") -> dict[str, Any]:
    """What a person is shown of the certificate."""
    error = await failing(one)
    assert (error.code, error.retryable) == (code, False)
    return error.params["seen"]


def trusting(models_process: ModelsProcess, *seen: dict[str, Any], proxy: str = "") -> Connections:
    kept: dict[str, Any] = {}
    for one in seen:
        kept = with_trusted(kept, Trusted(one["at"], one["mark"], one["subject"]))
    return Connections(Network(proxy, stall=5, trusted=tuple(trusted_of(kept))), models_process)


@pytest.mark.parametrize(
    ("names", "days"), [(("localhost",), 1), (("other.example",), 1), (("localhost",), -2)]
)
async def test_one_certificate_is_trusted_for_one_host(
    models_process: ModelsProcess, tmp_path: Path, names: tuple[str, ...], days: int
) -> None:
    path, tls = certificate(tmp_path, *names, days=days)
    plain = Connections(Network(stall=5), models_process)
    with Server(wire.chat("Hello"), tls=tls) as server, Server(tls=tls) as other:
        at = f"https://localhost:{server.port}"
        seen = await certificate_error(model(plain, at))
        assert seen["at"] == f"localhost:{server.port}"
        der = ssl.PEM_cert_to_DER_cert(path.read_text())
        assert f"SHA-256 {seen['mark']}" == _fingerprint(der)
        good = trusting(models_process, seen)
        assert text_of(await call(model(good, at), ask())) == "Hello"
        await certificate_error(model(good, f"https://localhost:{other.port}"))
        assert not other.asked, "another host is another matter"
        await certificate_error(model(plain, at))


async def test_another_certificate_of_that_host_is_not_trusted(
    models_process: ModelsProcess, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, first = certificate(tmp_path / "a", "localhost")
    path, second = certificate(tmp_path / "b", "localhost")
    with Server(tls=first) as server:
        at = f"localhost:{server.port}"
        seen = await certificate_error(
            model(Connections(Network(stall=5), models_process), f"https://{at}")
        )
    with Server(wire.chat("Hello"), tls=second) as server:
        good = trusting(models_process, {**seen, "at": f"localhost:{server.port}"})
        one = model(good, f"https://localhost:{server.port}")
        now = await certificate_error(one, "model.certificate_changed")
        assert f"SHA-256 {now['mark']}" == _fingerprint(ssl.PEM_cert_to_DER_cert(path.read_text()))
        assert not server.asked, "nothing was sent, no key either"
        one = model(trusting(models_process, now), f"https://localhost:{server.port}")
        assert text_of(await call(one, ask())) == "Hello"


async def test_a_proxys_own_certificate_is_trusted_for_the_proxy(
    models_process: ModelsProcess, tmp_path: Path
) -> None:
    _, tls = certificate(tmp_path, "proxy.test")
    with Server(wire.chat("Hello")) as server, Proxy(server.port, tls=tls) as proxy:
        url = f"https://127.0.0.1:{proxy.port}"
        seen = await certificate_error(model(trusting(models_process, proxy=url), FAR))
        assert seen["at"] == f"127.0.0.1:{proxy.port}"
        good = trusting(models_process, seen, proxy=url)
        assert text_of(await call(model(good, FAR), ask())) == "Hello"


def test_what_is_kept_of_trusted_certificates() -> None:
    mark = ":".join(["AB"] * 32)
    one = Trusted("api.example:443", mark, "CN=x", "2026-01-02")
    kept = with_trusted({"b:1": {"sha256": mark}}, one)
    assert trusted_of(kept) == [one, Trusted("b:1", mark)]
    assert trusted_of(without(kept, "b:1")) == [one]
    assert trusted_of({"a:1": {"sha256": "AB"}, "b:2": "x", "c:3": {"sha256": mark[:-1]}}) == []
    assert trusted_of(None) == trusted_of([]) == []
    assert place_of("https://API.example./v1") == "api.example:443"
    assert place_of("https://[fd00::1]:8443/v1") == "[fd00::1]:8443"
    assert place_of("nonsense") == ""
    network = Network(DIRECT, trusted=(one,))
    assert network.route("https://api.example/v1").pin == mark
    assert network.route("http://api.example:443/v1").pin == ""
    assert network.route("https://api.example:8443/v1").pin == ""


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("127.0.0.1:18080/v1", "http://127.0.0.1:18080/v1"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("192.168.1.7/v1", "http://192.168.1.7/v1"),
        ("gpu-box:8000/v1", "http://gpu-box:8000/v1"),
        ("gpu.local/v1", "http://gpu.local/v1"),
        ("api.example.org/v1", "https://api.example.org/v1"),
        ("8.8.8.8/v1", "https://8.8.8.8/v1"),
        ("http://api.example.org/v1", "http://api.example.org/v1"),
        ("ftp://x", "ftp://x"),
        ("", ""),
        ("/v1", "/v1"),
        ("[::1", "[::1"),
    ],
)
def test_an_address_without_a_scheme_is_made_whole(written: str, whole: str) -> None:
    assert with_scheme(written) == whole
