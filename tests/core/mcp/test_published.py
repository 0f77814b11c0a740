"""A server that others wrote and published."""

from __future__ import annotations

import sys

from desktop_app.core.mcp.spec import ServerSpec
from tests.helpers.mcp import Bench, call, until


async def test_the_time_server_tells_the_time(mcp: Bench) -> None:
    command = (sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC")
    c = mcp.start(ServerSpec("time", "stdio", command))
    await until(lambda: c.status.state in ("ok", "failed"), 40)
    assert {t.name for t in c.status.tools} == {"get_current_time", "convert_time"}
    asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Shanghai"}
    told = await call(c, "convert_time", **asked)
    assert told.state == "success"
    assert "20:00" in told.text
    wrong = await call(c, "convert_time", **{**asked, "time": "noon"})
    assert wrong.state == "error"
