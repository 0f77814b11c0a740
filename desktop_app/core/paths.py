"""Where the program keeps its files, by the rules of each system.

``SLIPWAY_HOME`` puts all four places into one folder (portable use, tests); otherwise platformdirs
decides. Nothing here creates a folder: who writes, makes it (``ensure``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_APP = "slipway"


@dataclass(frozen=True, slots=True)
class Paths:
    """The four places. ``data`` is precious, ``config`` the person's, ``state`` logs and window
    geometry, ``cache`` may be deleted at any time."""

    data: Path
    config: Path
    state: Path
    cache: Path

    @property
    def settings(self) -> Path:
        return self.config / "settings.json"

    @property
    def log(self) -> Path:
        return self.state / "slipway.log"


def paths(home: str | os.PathLike[str] | None = None) -> Paths:
    """The places in force now. ``home`` or the variable SLIPWAY_HOME overrides the system's."""
    root = home or os.environ.get("SLIPWAY_HOME")
    if root:
        base = Path(root).expanduser().absolute()
        return Paths(base / "data", base / "config", base / "state", base / "cache")
    import platformdirs  # read at first use: start-up time is measured

    dirs = platformdirs.PlatformDirs(_APP, appauthor=False, roaming=False)
    return Paths(
        Path(dirs.user_data_dir),
        Path(dirs.user_config_dir),
        Path(dirs.user_state_dir),
        Path(dirs.user_cache_dir),
    )


def ensure(folder: Path) -> Path:
    """Create ``folder``, for its owner only. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
