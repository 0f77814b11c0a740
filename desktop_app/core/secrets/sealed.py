"""What an encrypted file of keys holds, and how it is read and written: bytes in, bytes out.

The file is one JSON object::

    {"format": "slipway-keys", "version": 1,
     "kdf": {"name": "scrypt", "salt", "n", "r", "p"},
     "cipher": "aes-256-gcm",
     "check": {"nonce", "data"},
     "keys": {id: {"nonce", "data"}},
     "sha256"}

Bytes are base64. The passphrase, in Unicode's form NFC and UTF-8, becomes 32 bytes by scrypt (RFC
7914); its cost is in the file, so that it can grow. Each key is sealed by itself (AES-GCM, a fresh
nonce of 96 bits each time) with its id and the parameters as associated data, so that none can be
put in another's place. ``id`` is a keyed hash of what the key is for: whether one is there can be
seen, and one can be taken out, without the passphrase. ``check`` proves the passphrase. ``sha256``
tells a file that was damaged from a wrong passphrase; against somebody who writes the file on
purpose the seals stand, not the sum.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import unicodedata
from dataclasses import dataclass, field
from typing import Any, cast

from desktop_app.core.errors import SecretsError

FORMAT = "slipway-keys"
VERSION = 1
CIPHER = "aes-256-gcm"
LEAST = 8  # characters of a passphrase
_NONCE = 12  # bytes: NIST SP 800-38D 8.2.1
_CHECK = b"slipway"
_MOST_MEMORY = 1 << 30  # bytes that a file may ask for: 128 n r (RFC 7914 2)


class Newer(Exception):
    """The file is of a later version of the program."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What deriving the key costs: 128 MB and about half a second, as OWASP's "Password Storage
    Cheat Sheet" asks of scrypt."""

    n: int = 1 << 17
    r: int = 8
    p: int = 1


@dataclass(frozen=True, slots=True)
class Seal:
    nonce: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Sealed:
    """A file's content, closed."""

    salt: bytes
    cost: Cost
    check: Seal
    keys: dict[str, Seal] = field(default_factory=dict[str, Seal])

    def id(self, name: str) -> str:
        """Under what the key for ``name`` lies."""
        return hmac.new(self.salt, name.encode(), "sha256").hexdigest()[:32]

    def about(self, place: str) -> bytes:
        """The associated data of a seal at ``place``."""
        cost = self.cost
        return f"{FORMAT} {VERSION} {CIPHER} {cost.n} {cost.r} {cost.p} {place}".encode()


def derive(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    """The key that a passphrase gives. Slow on purpose; the interpreter runs meanwhile."""
    return hashlib.scrypt(
        unicodedata.normalize("NFC", passphrase).encode(),
        salt=salt,
        n=cost.n,
        r=cost.r,
        p=cost.p,
        maxmem=(1 << 31) - 1,
        dklen=32,
    )


def empty(passphrase: str, cost: Cost) -> tuple[Sealed, bytes]:
    """A new file for a passphrase, and its key. SecretsError ``secrets.short``."""
    if len(unicodedata.normalize("NFC", passphrase)) < LEAST:
        raise SecretsError("secrets.short", least=LEAST)
    salt = os.urandom(16)
    key = derive(passphrase, salt, cost)
    bare = Sealed(salt, cost, Seal(b"", b""))
    return Sealed(salt, cost, _close(key, _CHECK, bare.about("check"))), key


def opened(sealed: Sealed, passphrase: str) -> bytes:
    """The key, proven. SecretsError ``secrets.passphrase``."""
    key = derive(passphrase, sealed.salt, sealed.cost)
    if _open(key, sealed.check, sealed.about("check")) != _CHECK:
        raise SecretsError("secrets.passphrase")
    return key


def with_key(sealed: Sealed, key: bytes, name: str, value: str) -> Sealed:
    """With ``value`` kept for ``name``."""
    place = sealed.id(name)
    body = json.dumps({"name": name, "key": value}).encode()
    seals = {**sealed.keys, place: _close(key, body, sealed.about(place))}
    return Sealed(sealed.salt, sealed.cost, sealed.check, seals)


def without(sealed: Sealed, name: str) -> Sealed:
    """Without what is kept for ``name``."""
    gone = sealed.id(name)
    left = {place: seal for place, seal in sealed.keys.items() if place != gone}
    return Sealed(sealed.salt, sealed.cost, sealed.check, left)


def read(sealed: Sealed, key: bytes, place: str) -> tuple[str, str] | None:
    """(name, value) at a place; None where there is none, or none that was sealed there."""
    seal = sealed.keys.get(place)
    body = _open(key, seal, sealed.about(place)) if seal is not None else None
    if body is None:
        return None
    held: dict[str, str] = json.loads(body)
    return held["name"], held["key"]


def _close(key: bytes, body: bytes, about: bytes) -> Seal:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE)
    return Seal(nonce, AESGCM(key).encrypt(nonce, body, about))


def _open(key: bytes, seal: Seal, about: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(seal.nonce, seal.data, about)
    except (InvalidTag, ValueError):
        return None


# -- the file's text ---------------------------------------------------------------------------


def to_text(sealed: Sealed) -> str:
    cost = sealed.cost
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kdf": {"name": "scrypt", "salt": _b64(sealed.salt), "n": cost.n, "r": cost.r, "p": cost.p},
        "cipher": CIPHER,
        "check": _seal_out(sealed.check),
        "keys": {place: _seal_out(seal) for place, seal in sealed.keys.items()},
    }
    return json.dumps({**body, "sha256": _sum(body)}, indent=1) + "\n"


def from_text(text: str) -> Sealed:
    """ValueError where it is damaged; Newer of a later version."""
    raw: Any = json.loads(text)
    if not isinstance(raw, dict) or cast("dict[str, Any]", raw).get("format") != FORMAT:
        raise ValueError("not a file of keys")
    body = cast("dict[str, Any]", raw)
    version = body.get("version")
    if isinstance(version, int) and version > VERSION:
        raise Newer(f"version {version}")
    said = body.pop("sha256", None)
    if version != VERSION or said != _sum(body):
        raise ValueError("the sum is another one")
    try:
        kdf = body["kdf"]
        cost = Cost(*(int(kdf[name]) for name in ("n", "r", "p")))
        if kdf["name"] != "scrypt" or body["cipher"] != CIPHER or not _bearable(cost):
            raise ValueError("unknown parameters")
        keys = {str(place): _seal_in(seal) for place, seal in body["keys"].items()}
        return Sealed(_bytes(kdf["salt"]), cost, _seal_in(body["check"]), keys)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("a part is missing") from error


def _bearable(cost: Cost) -> bool:
    """A file from elsewhere must not ask for all of the computer."""
    power = cost.n >= 2 and cost.n & (cost.n - 1) == 0
    return (
        power and 1 <= cost.r <= 64 and 1 <= cost.p <= 16 and 128 * cost.n * cost.r <= _MOST_MEMORY
    )


def _sum(body: dict[str, Any]) -> str:
    plain = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def _seal_out(seal: Seal) -> dict[str, str]:
    return {"nonce": _b64(seal.nonce), "data": _b64(seal.data)}


def _seal_in(value: Any) -> Seal:
    return Seal(_bytes(value["nonce"]), _bytes(value["data"]))


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: Any) -> bytes:
    return base64.b64decode(str(text), validate=True)
