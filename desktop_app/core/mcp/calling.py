"""One call of a server's tool: its time limit, its progress, what is asked meanwhile, how it fails.
Runs on the runner's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import ToolOutcome

from .asking import Asking, Flight
from .reasons import died
from .results import outcome_of

if TYPE_CHECKING:
    from mcp import Client

Progress = Callable[[str], None]
PROGRESS_SECONDS = 0.05  # what comes quicker is not told


@dataclass(frozen=True, slots=True)
class Call:
    """``seconds`` is the limit: of the whole call when it is ``fixed`` (the person's own), else
    without a sign of progress. The time in which the person is asked something does not count."""

    server: str
    tool: str
    op_id: str
    seconds: float
    fixed: bool
    told: Progress


async def make_call(
    client: Client, job: Call, args: dict[str, Any], asking: Asking, *, images: bool
) -> ToolOutcome:
    """Do it. ToolFailure ``mcp.timeout``, ``mcp.declined``, ``mcp.visit``, ``mcp.died``,
    ``mcp.refused``."""
    from mcp.shared.exceptions import MCPError

    loop = asyncio.get_running_loop()
    last, left = 0.0, job.seconds

    def asks(open_: int) -> None:
        """While the person is asked, the clock stands still; then it goes on with what was left
        of the person's own limit, or anew."""
        nonlocal left
        until = limit.when()
        if open_ and until is not None:
            left = max(1.0, until - loop.time()) if job.fixed else job.seconds
            limit.reschedule(None)
        elif not open_:
            limit.reschedule(loop.time() + left)

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if not job.fixed and limit.when() is not None:
            limit.reschedule(loop.time() + job.seconds)
        ended = total is not None and progress >= total
        if loop.time() - last >= PROGRESS_SECONDS or ended:
            last = loop.time()
            job.told(_progress_text(progress, total, message))

    limit = asyncio.timeout(job.seconds)
    with asking.flight(job.tool, job.op_id, asks) as flight:
        try:
            async with limit:
                try:
                    result = await client.call_tool(
                        job.tool,
                        args,
                        progress_callback=progressed,
                        read_timeout_seconds=86400.0,
                    )
                except MCPError as error:
                    if (listed := _visits(error)) is not None:
                        raise await _visited(job, asking, flight, listed) from error
                    raise
        except TimeoutError:
            raise _late(job) from None
        except MCPError as error:
            raise _failure(job, error, flight) from error
        except (RuntimeError, ValueError) as error:
            raise ToolFailure(
                "mcp.refused",
                f"The answer of {job.tool!r} cannot be used: {str(error)[:500]}",
                name=job.server,
                detail=str(error)[:300],
            ) from error
    return outcome_of(result, images=images)


def _late(job: Call) -> ToolFailure:
    return ToolFailure(
        "mcp.timeout",
        f"The MCP server {job.server!r} gave no answer within {job.seconds:g} seconds. The "
        "call was cancelled; what it had done by then stays done.",
        name=job.server,
        seconds=job.seconds,
    )


def _failure(job: Call, error: Any, flight: Flight) -> ToolFailure:
    from mcp_types import CONNECTION_CLOSED

    detail = str(error.message)[:1000]
    if error.code == CONNECTION_CLOSED:
        return died(job.server, job.tool)
    if flight.refused:
        return ToolFailure(
            "mcp.declined",
            f"While {job.tool!r} ran, the MCP server {job.server!r} asked for something that was "
            f"not given ({detail}), and gave up. Go on without it or ask.",
            name=job.server,
            detail=detail[:300],
        )
    return ToolFailure(
        "mcp.refused",
        f"The MCP server {job.server!r} refused {job.tool!r}: {detail}",
        name=job.server,
        detail=detail[:300],
    )


def _visits(error: Any) -> list[Any] | None:
    """The addresses of an error that wants some visited first; None for any other error."""
    from mcp_types import URL_ELICITATION_REQUIRED, ElicitationRequiredErrorData
    from pydantic import ValidationError

    if error.code != URL_ELICITATION_REQUIRED:
        return None
    try:
        listed = ElicitationRequiredErrorData.model_validate(error.data).elicitations
    except ValidationError:
        return None
    return list(listed) or None


async def _visited(job: Call, asking: Asking, flight: Flight, listed: list[Any]) -> ToolFailure:
    """What the model is told of a call that first wants something done in a browser: nothing was
    done, and it may be called again."""
    agreed = await asking.visit_first(flight, listed)
    if agreed:
        text = (
            f"{job.tool!r} was not run: the MCP server {job.server!r} first wants something done "
            "in the browser. The person has opened it. Ask whether it is done, then call again."
        )
    else:
        text = (
            f"{job.tool!r} was not run: the MCP server {job.server!r} first wants something done "
            "in the browser, and the person did not open it. Go on without it or ask."
        )
    return ToolFailure("mcp.visit" if agreed else "mcp.declined", text, name=job.server, detail="")


def _progress_text(done: float, total: float | None, message: str | None) -> str:
    figures = f"{done:g}/{total:g}" if total else f"{done:g}"
    return f"{figures} {message[:500]}" if message else figures
