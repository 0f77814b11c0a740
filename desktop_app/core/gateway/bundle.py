"""The gateway as one self-contained file."""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from pathlib import Path

# What it imports; pinned, and the same in an image and in a sandbox.
REQUIREMENTS = ("mcp==2.3.0", "uvicorn==0.54.0", "starlette==1.10.0")

_HERE = Path(__file__).parent
# In the order of their imports; three of them are the program's own.
_MODULES = {
    "tasks": _HERE.parent / "tasks.py",
    "lines": _HERE.parent / "mcp" / "lines.py",
    "sift": _HERE.parent / "mcp" / "sift.py",
    "chunks": _HERE / "inside" / "chunks.py",
    "upstream": _HERE / "inside" / "upstream.py",
    "server": _HERE / "inside" / "server.py",
}

_START = (
    "import base64,json,os,sys,types,zlib\n"
    "sys.path[:0]=[p for p in os.environ.get('SLIPWAY_GATEWAY_PATH','').split(os.pathsep) if p]\n"
    "gateway=sys.modules['gateway']=types.ModuleType('gateway');gateway.__path__=[]\n"
    "for name,text in json.loads(zlib.decompress(base64.b64decode('{packed}'))):\n"
    " m=sys.modules['gateway.'+name]=types.ModuleType('gateway.'+name);m.__package__='gateway'\n"
    " setattr(gateway,name,m);exec(compile(text,'<gateway '+name+'>','exec'),m.__dict__)\n"
    "sys.modules['gateway.server'].main()\n"
)


@cache
def program() -> str:
    """Python source of the whole gateway, ASCII; a file of it runs as a program."""
    texts = [[name, path.read_text("utf-8")] for name, path in _MODULES.items()]
    packed = base64.b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()
    return _START.replace("{packed}", packed)
