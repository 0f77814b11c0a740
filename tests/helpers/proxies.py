"""Proxies of each kind that people have, on this computer: HTTP with its tunnels, the same over
TLS, SOCKS 5. What is asked of ``models.example`` goes to ``target``; everything else is refused.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import socket
import socketserver
import ssl
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "models.example"


def certificate(folder: Path, *names: str, days: int = 1) -> tuple[Path, ssl.SSLContext]:
    """A certificate that vouches for itself, and a server's context with it; negative ``days`` make
    one that is over."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    alternatives: list[Any] = [x509.DNSName(n) for n in names]
    alternatives.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=10))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, secret = folder / f"{names[0]}.pem", folder / f"{names[0]}.key"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, secret)
    return path, context


class Proxy:
    """A context manager. ``kind`` is "http" or "socks5"; ``user`` ("name:password") is asked for;
    ``tls`` makes it speak TLS itself. ``asked`` are the hosts that were wanted of it."""

    def __init__(
        self, target: int, kind: str = "http", user: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self.asked: list[str] = []
        self._target, self._user = target, user
        serve = self._http if kind == "http" else self._socks

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                client: socket.socket = self.request
                try:
                    if tls is not None:
                        client = tls.wrap_socket(client, server_side=True)
                    serve(client)
                except OSError:
                    pass
                finally:
                    client.close()

        class Quiet(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_exc: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _http(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            if not (data := client.recv(65536)):
                return
            head += data
        head, _, rest = head.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, wanted, _ = first.decode().split(" ")
        url = urlsplit(wanted if "://" in wanted else f"//{wanted}")
        self.asked.append(url.hostname or "")
        basic = b"basic " + base64.b64encode(self._user.encode())
        given = [v.strip() for k, _, v in (n.partition(b":") for n in lines)
                 if k.lower() == b"proxy-authorization"]  # fmt: skip
        if self._user and [g[:6].lower() + g[6:] for g in given] != [basic]:
            client.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
                b'Proxy-Authenticate: Basic realm="us"\r\nConnection: close\r\n\r\n'
            )
            return
        if url.hostname != HOST:
            client.sendall(b"HTTP/1.1 403 Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", self._target)) as there:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                path = f"{url.path}?{url.query}" if url.query else url.path
                kept = [n for n in lines if not n.lower().startswith(b"proxy-")]
                begin = f"{method} {path} HTTP/1.1".encode()
                there.sendall(b"\r\n".join([begin, *kept]) + b"\r\n\r\n" + rest)
            _pump(client, there)

    def _socks(self, client: socket.socket) -> None:
        """RFC 1928, and RFC 1929 for the password."""
        file = client.makefile("rb")
        _, count = file.read(2)
        methods = file.read(count)
        if self._user:
            if 2 not in methods:
                client.sendall(b"\x05\xff")
                return
            client.sendall(b"\x05\x02")
            file.read(1)
            name = file.read(file.read(1)[0])
            word = file.read(file.read(1)[0])
            good = name + b":" + word == self._user.encode()
            client.sendall(b"\x01\x00" if good else b"\x01\x01")
            if not good:
                return
        else:
            client.sendall(b"\x05\x00")
        kind = file.read(4)[3]
        host = file.read(file.read(1)[0] if kind == 3 else 4).decode("latin-1")
        file.read(2)
        self.asked.append(host)
        if host != HOST:
            client.sendall(b"\x05\x02\x00\x01\0\0\0\0\0\0")
            return
        with socket.create_connection(("127.0.0.1", self._target)) as there:
            client.sendall(b"\x05\x00\x00\x01\0\0\0\0\0\0")
            _pump(client, there)


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Both ways, until one side ends."""

    def copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    back = threading.Thread(target=copy, args=(other, one), daemon=True)
    back.start()
    copy(one, other)
    back.join(10)
