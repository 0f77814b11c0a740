"""The person's models: ``models.json`` in the settings folder, readable and editable by hand.

    {"models": [{"id", "provider", "model", "name", "address", "window", …}],
     "discover": true}

There is never a key in it. A file that fails to parse is never overwritten: it is set aside under
a dated name the first time something is saved, and ``problem`` says so until then. Fields that
this version does not know are kept; an entry that does not fit is left out of the list, reported,
and kept in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import SettingsError
from desktop_app.core.settings.jsonfile import read_object, write_object

from .base import Effort, LimitSource, ModelInfo, Price, effort_of
from .providers import BY_ID, Provider, host_of, is_loopback

ASSUMED_WINDOW = 8_192
MIN_WINDOW = 1_024


@dataclass(frozen=True, slots=True)
class ModelDefinition:
    """One model that the person added. ``address`` empty: the provider's own. ``extra`` holds
    fields of another version."""

    id: str
    provider: str
    model: str
    name: str
    address: str = ""
    window: int = ASSUMED_WINDOW
    window_source: LimitSource = "assumed"
    max_output: int = 4_096
    price: Price | None = None
    images: bool = False
    effort: Effort | None = None
    fallback: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def spec(self) -> Provider:
        return BY_ID[self.provider]

    @property
    def base(self) -> str:
        """The address in force."""
        return self.address or self.spec.address

    @property
    def service(self) -> str:
        """Names the service: what it signed goes back there only, and its key is kept under it."""
        return f"{self.provider} {host_of(self.base)}"

    @property
    def needs_key(self) -> bool:
        return not self.spec.local

    def info(self) -> ModelInfo:
        """What the rest of the program knows of it."""
        return ModelInfo(
            id=self.id,
            name=self.name,
            window=self.window,
            max_output=self.max_output,
            window_source=self.window_source,
            tokenizer=encoding_of(self.model),
            images=self.images,
            efforts=self.effort is not None,
            effort=self.effort,
            offline=is_loopback(self.base),
            price=self.price,
            fallback=self.fallback,
            schemas=True,
        )


# The table of tiktoken's own ``model.py``: beginnings of names. Fine-tuned ones are "ft:gpt-4o:…".
_ENCODINGS = (
    (("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "chatgpt-", "gpt-oss"), "o200k_base"),
    (("o1", "o3", "o4-mini"), "o200k_base"),
    (("gpt-4", "gpt-3.5", "gpt-35"), "cl100k_base"),
)


def encoding_of(model: str) -> str | None:
    """The tiktoken encoding that a model of this name uses exactly, by whomever it is served."""
    name = model.lower().removeprefix("ft:").rpartition("/")[2]
    for beginnings, encoding in _ENCODINGS:
        if name.startswith(beginnings):
            return encoding
    return None


def to_json(one: ModelDefinition) -> dict[str, Any]:
    """An entry of the file."""
    out: dict[str, Any] = {
        **one.extra,
        "id": one.id,
        "provider": one.provider,
        "model": one.model,
        "name": one.name,
        "window": one.window,
        "window_source": one.window_source,
        "max_output": one.max_output,
        "images": one.images,
    }
    optional = {"address": one.address, "effort": one.effort, "fallback": one.fallback}
    out.update({name: value for name, value in optional.items() if value})
    if one.price is not None:
        price = one.price
        out["price"] = {
            name: value
            for name, value in (
                ("input", price.input),
                ("output", price.output),
                ("cache_read", price.cache_read),
                ("cache_write", price.cache_write),
            )
            if value is not None
        }
    return out


_KNOWN = frozenset(f.name for f in fields(ModelDefinition) if f.name != "extra")
_SOURCES: tuple[LimitSource, ...] = ("user", "error", "provider", "catalogue", "assumed")


def from_json(value: Any) -> ModelDefinition:
    """The definition of an entry. ValueError says in a few words why it is none."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    entry = cast("dict[str, Any]", value)
    for name in ("id", "provider", "model"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise ValueError(f"{name} is missing")
    if entry["provider"] not in BY_ID:
        raise ValueError(f"provider {entry['provider']!r} is not known")
    address = entry.get("address", "")
    if not isinstance(address, str) or (
        address and not address.startswith(("http://", "https://"))
    ):
        raise ValueError("address is not an http address")
    if not (address or BY_ID[entry["provider"]].address):
        raise ValueError("address is missing")
    window = _number(entry, "window", ASSUMED_WINDOW, MIN_WINDOW)
    source = entry.get("window_source")
    name = entry.get("name")
    return ModelDefinition(
        id=entry["id"],
        provider=entry["provider"],
        model=entry["model"],
        name=name if isinstance(name, str) and name.strip() else entry["model"],
        address=address,
        window=window,
        window_source=source if source in _SOURCES else "assumed",
        max_output=_number(entry, "max_output", min(window // 4, 8_192), 1),
        price=_price(entry.get("price")),
        images=entry.get("images") is True,
        effort=effort_of(entry.get("effort")),
        fallback=str(entry.get("fallback") or ""),
        extra={k: v for k, v in entry.items() if k not in _KNOWN},
    )


def _number(entry: dict[str, Any], name: str, default: int, least: int) -> int:
    value = entry.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is not a number from {least}")
    return value


def _price(value: Any) -> Price | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    numbers = {
        k: float(v)
        for k, v in fields.items()
        if isinstance(v, int | float) and not isinstance(v, bool) and v >= 0
    }
    if "input" not in numbers or "output" not in numbers:
        return None
    return Price(
        numbers["input"], numbers["output"], numbers.get("cache_read"), numbers.get("cache_write")
    )


@dataclass(slots=True)
class Definitions:
    """The file. ``invalid`` are (id or number, why) of entries that do not fit."""

    path: Path
    models: list[ModelDefinition] = field(default_factory=list[ModelDefinition])
    discover: bool = True
    problem: SettingsError | None = None
    invalid: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _kept: list[Any] = field(default_factory=list[Any])  # entries that do not fit
    _rest: dict[str, Any] = field(default_factory=dict[str, Any])
    _set_aside: bool = False

    @classmethod
    def load(cls, path: Path) -> Definitions:
        """Read ``path``. Never raises."""
        raw, problem = read_object(path)
        self = cls(path, problem=problem, _set_aside=problem is not None)
        entries = raw.pop("models", [])
        self.discover = raw.pop("discover", True) is not False
        self._rest = raw
        if not isinstance(entries, list):
            self.problem = SettingsError(
                "settings.unreadable", path=str(path), reason="models is not a list"
            )
            self._set_aside = True
            return self
        seen: set[str] = set()
        for number, entry in enumerate(cast("list[Any]", entries), 1):
            try:
                one = from_json(entry)
                if one.id in seen or one.id == "guide":
                    raise ValueError("id is used twice")
            except ValueError as error:
                name = cast("dict[str, Any]", entry).get("id") if isinstance(entry, dict) else None
                self.invalid.append((str(name or f"#{number}"), str(error)))
                self._kept.append(entry)
                continue
            seen.add(one.id)
            self.models.append(one)
        return self

    def save(self) -> Path | None:
        """Write the file, whole. Gives where a file that could not be read was put. Raises
        SettingsError ``settings.unwritable``."""
        value = {
            **self._rest,
            "models": [*(to_json(m) for m in self.models), *self._kept],
            "discover": self.discover,
        }
        kept = write_object(self.path, value, aside=self._set_aside)
        self._set_aside, self.problem = False, None
        return kept

    def put(self, one: ModelDefinition) -> ModelDefinition:
        """Add or replace; an empty id gets one. Gives the definition as it is kept."""
        if not one.id:
            one = replace(one, id=self._free_id(f"{one.provider}:{one.model}"))
        for at, known in enumerate(self.models):
            if known.id == one.id:
                self.models[at] = one
                return one
        self.models.append(one)
        return one

    def remove(self, model_id: str) -> None:
        self.models = [m for m in self.models if m.id != model_id]

    def _free_id(self, wanted: str) -> str:
        used = {m.id for m in self.models}
        name, number = wanted, 2
        while name in used:
            name = f"{wanted}#{number}"
            number += 1
        return name
