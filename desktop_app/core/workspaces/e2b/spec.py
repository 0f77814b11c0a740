"""What an E2B workspace is made of: said by a person once, kept in the catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from desktop_app.core.errors import WorkspaceError

WORKDIR = "/home/user/workspace"  # where AgentScope has it too
TEMPLATE = "base"
# The control plane's own limit for the longest lease (Pro); Hobby accounts have 3,600.
MAX_TIMEOUT = 86_400

_TEMPLATE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class E2BSpec:
    """Template and lease of one sandbox.

    ``timeout`` is the lease in seconds: when it is over the sandbox is paused (``auto_pause``), its
    disk as it was, or ended. A sandbox in use is extended. ``env`` is for every process; values are
    kept where the caller keeps secrets. ``price`` is what an hour costs as the person says, in US
    dollars, 0 for unknown: E2B's API tells no price. ``theirs`` is the id that AgentScope gave its
    workspace when the sandbox is AgentScope's: then it is found, never made. ``rescue``: a copy of
    what the agent keeps is made before the sandbox ends with its files.
    """

    template: str = TEMPLATE
    timeout: int = 3600
    auto_pause: bool = True
    internet: bool = True
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    price: float = 0.0
    theirs: str = ""
    rescue: bool = True

    def check(self) -> None:
        """WorkspaceError ``e2b.spec`` with the ``field`` whose value cannot be."""
        bad = [
            ("template", not _TEMPLATE.fullmatch(self.template)),
            ("timeout", not 30 <= self.timeout <= MAX_TIMEOUT),
            ("env", not all(_NAME.fullmatch(name) for name in self.env)),
            ("price", not 0 <= self.price <= 1000),
        ]
        for name, wrong in bad:
            if wrong:
                raise WorkspaceError("e2b.spec", field=name)

    def kept(self) -> dict[str, Any]:
        """For the catalogue: JSON without the values of ``env``."""
        return {**asdict(self), "env": sorted(self.env)}

    @classmethod
    def of(cls, kept: Mapping[str, Any], env: Mapping[str, str] | None = None) -> E2BSpec:
        """From ``kept`` and the values of ``env``; what is unknown or of another type is left at
        its default."""
        standard = cls()

        def value(name: str) -> Any:
            found: Any = kept.get(name)
            usual: Any = getattr(standard, name)
            if isinstance(usual, float) and isinstance(found, int) and not isinstance(found, bool):
                return float(found)
            return found if type(found) is type(usual) else usual

        names = ("template", "timeout", "auto_pause", "internet", "price", "theirs", "rescue")
        return cls(**{name: value(name) for name in names}, env=dict(env or {}))
