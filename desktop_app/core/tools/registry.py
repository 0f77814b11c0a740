"""The tools that every workspace offers."""

from __future__ import annotations

from .ask_user import AskUser
from .base import ExternalTool, Tool
from .edit import Edit
from .glob_tool import Glob
from .grep import Grep
from .read import Read
from .shell import Bash
from .shell_background import BashOutput, BashStop
from .skill import SkillTool
from .tasks import TaskCreate, TaskGet, TaskList, TaskUpdate
from .write import Write


def builtin_tools() -> list[Tool | ExternalTool]:
    """One of each, in the order in which the model sees them. They hold no state."""
    return [
        Bash(),
        BashOutput(),
        BashStop(),
        Read(),
        Write(),
        Edit(),
        Grep(),
        Glob(),
        SkillTool(),
        TaskCreate(),
        TaskGet(),
        TaskList(),
        TaskUpdate(),
        AskUser(),
    ]
