"""The catalogue behind ``errors.describe``: code -> (title, reason, fix, action id).

English, marked for translation; a fix is empty where there is nothing to do.
"""

from .agents import WORDS as _agents
from .context import WORDS as _context
from .docker import WORDS as _docker
from .e2b import WORDS as _e2b
from .files import WORDS as _files
from .keys import WORDS as _keys
from .mcp import WORDS as _mcp
from .models import WORDS as _models
from .sessions import WORDS as _sessions
from .tools import WORDS as _tools
from .workspaces import WORDS as _workspaces

WORDS = {
    **_files,
    **_docker,
    **_e2b,
    **_workspaces,
    **_sessions,
    **_agents,
    **_models,
    **_tools,
    **_context,
    **_mcp,
    **_keys,
}
