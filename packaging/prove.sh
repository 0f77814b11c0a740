#!/bin/sh
# Installs the wheel in dist into a fresh environment and looks from outside the clone: the command
# starts, what ships with the program is found, and the core does something without Qt.
set -eu
cd "$(dirname "$0")/.."
wheel=$(ls dist/slipway-*.whl)
place=build/wheel
echo "· proving $wheel in $place"
"${PYTHON:-python3}" -m venv --clear "$place"
"$place/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r packaging/requirements.lock
"$place/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$wheel"
place=$(cd "$place" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
"$place/bin/slipway" --version
SLIPWAY_HOME="$home" "$place/bin/python" -I - <<'PY'
import asyncio
import sys

from desktop_app.core import resources
from desktop_app.core.context.tokens import RANKS, load_counter
from desktop_app.core.events import RunFinished
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway

root = resources.root()
assert root.is_relative_to(sys.prefix), root
assert resources.path("i18n", "zh_CN").is_dir() and resources.path("prompts").is_dir()


async def main() -> None:
    for encoding in RANKS:
        counter = await load_counter(ModelInfo("any", "any", 8192, 1024, tokenizer=encoding))
        assert counter.count("Slipway") < 4, encoding
        assert type(counter).__name__ == "RankCounter", encoding
    slipway = await Slipway.open(paths())
    try:
        workspace = await slipway.add_folder(await slipway.make_demo(), trusted=True)
        conversation = await slipway.conversation(await slipway.new_session(workspace.id))
        ends = [e async for e in conversation.send("List the files.") if isinstance(e, RunFinished)]
        assert [e.reason for e in ends] == ["completed"], ends
    finally:
        await slipway.close()
    assert "PySide6" not in sys.modules


asyncio.run(main())
PY
echo "· the wheel works"
