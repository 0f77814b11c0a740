"""The far end as one command line."""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from pathlib import Path

# in the order of their imports
MODULES = ("base", "files", "processes", "requests", "trees", "link")

_START = (
    "import base64,json,sys,types,zlib\n"
    "far=sys.modules['far']=types.ModuleType('far');far.__path__=[]\n"
    "for name,text in json.loads(zlib.decompress(base64.b64decode('{packed}'))):\n"
    " m=sys.modules['far.'+name]=types.ModuleType('far.'+name);m.__package__='far'\n"
    " setattr(far,name,m);exec(compile(text,'<far '+name+'>','exec'),m.__dict__)\n"
    "sys.modules['far.link'].main()\n"
)


@cache
def program() -> str:
    """Python source that runs the far end; about 9 KB of ASCII, safe inside a quoted argument."""
    folder = Path(__file__).parent / "far"
    texts = [[name, (folder / f"{name}.py").read_text("utf-8")] for name in MODULES]
    packed = base64.b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()
    return _START.replace("{packed}", packed)


def command(*, python: str = "python3", text: bool = False) -> list[str]:
    """The command line that starts it: isolated, so that nothing in its working directory or its
    environment is imported. ``text`` for channels that carry no raw bytes."""
    return [python, "-I", "-c", program(), *(["text"] if text else [])]
