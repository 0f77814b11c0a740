"""From a breakdown of the context to what gauges show and to sentences about it."""

from __future__ import annotations

from desktop_app.core.context.types import Breakdown, Trigger
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.usage import Usage

from . import figures


def usage_of(breakdown: Breakdown | None) -> Usage:
    """What the gauge draws; an empty one when nothing is known yet."""
    if breakdown is None:
        return Usage()
    limits = breakdown.limits
    return Usage(
        window=limits.window,
        parts={name: n for name, n in breakdown.parts.items() if n > 0},
        estimated=max(0, breakdown.total - breakdown.measured),
        reserve=limits.reserve,
        alert=limits.mark(limits.alert),
        danger=limits.mark(limits.danger),
        upper=breakdown.upper,
    )


def _of_window(breakdown: Breakdown, tokens: int) -> str:
    """``tokens`` as a share of the whole window: what a gauge shows, and where its ticks stand."""
    window = breakdown.limits.window
    return figures.percent(tokens / window if window else 0.0)


def most_words(breakdown: Breakdown) -> str:
    """How much it may be, which is what the marks go by; empty when that is what is shown."""
    if figures.tokens(breakdown.upper) == figures.tokens(breakdown.total):
        return ""
    return tr("at most {n} tokens", n=figures.tokens(breakdown.upper))


def full_words(breakdown: Breakdown) -> str:
    """How full the window is and which mark was passed by it, in shares of the window. Where only
    the upper estimate passed it, that is said: the figure alone would be below the mark."""
    limits = breakdown.limits
    over = breakdown.upper >= limits.mark(limits.danger)
    mark = limits.mark(limits.danger if over else limits.alert)
    params = {
        "share": _of_window(breakdown, breakdown.total),
        "most": _of_window(breakdown, breakdown.upper),
        "mark": _of_window(breakdown, mark),
    }
    if breakdown.upper < mark:
        return tr("The context is {share} full.", **params)
    if breakdown.total >= mark:
        return tr("The context is {share} full, over the mark at {mark}.", **params)
    return tr(
        "The context is {share} full, at most {most}: over the mark at {mark}.",
        **params,
    )


def estimated_words(breakdown: Breakdown) -> str:
    """How much of the figure is measured."""
    rest = breakdown.total - breakdown.measured
    if breakdown.measured <= 0:
        return tr("Estimated; measured at the next call")
    if rest > 0:
        return tr("+{n} estimated since the last call", n=figures.tokens(rest))
    return tr("Measured by the provider")


def forecast_words(breakdown: Breakdown, *, by_itself: bool = True) -> str:
    """How long it lasts; empty when nothing can be said. ``by_itself``: at the danger mark it is
    compacted, as the person chose."""
    limits = breakdown.limits
    most = _of_window(breakdown, breakdown.upper)
    if breakdown.upper >= (danger := limits.mark(limits.danger)):
        mark = _of_window(breakdown, danger)
        if by_itself:
            return tr(
                "At most {most}, over the mark at {mark}: compacted before the next call",
                most=most,
                mark=mark,
            )
        return tr("At most {most}, over the second mark at {mark}", most=most, mark=mark)
    if breakdown.upper >= limits.mark(limits.alert):
        mark = offer_share(breakdown)
        return tr(
            "At most {most}, over the mark at {mark} where compaction is offered",
            most=most,
            mark=mark,
        )
    turns = breakdown.turns_left
    if turns is None:
        return ""
    n = max(1, round(turns))
    if n > 99:
        return tr("More than 99 turns until compaction is offered")
    return trn(
        "About {n} turn until compaction is offered",
        "About {n} turns until compaction is offered",
        n,
    )


def forecast_basis(breakdown: Breakdown) -> str:
    """What the forecast is made of; empty without one."""
    forecast = breakdown.forecast
    if forecast is None:
        return ""
    return tr(
        "From the last {n} turns, which brought {tokens} each on average",
        n=forecast.samples,
        tokens=figures.tokens(forecast.per_turn),
    )


def drift_words(breakdown: Breakdown) -> str:
    """How far the estimates were off; empty while nothing was measured."""
    drift = breakdown.drift
    if drift is None:
        return ""
    share = figures.percent(abs(drift.mean))
    if abs(drift.mean) < 0.005:
        return trn(
            "The estimate was right at the last call",
            "Estimates were right over the last {n} calls",
            drift.calls,
        )
    if drift.mean < 0:
        return trn(
            "The estimate was {share} too low at the last call",
            "Estimates were {share} too low over the last {n} calls",
            drift.calls,
            share=share,
        )
    return trn(
        "The estimate was {share} too high at the last call",
        "Estimates were {share} too high over the last {n} calls",
        drift.calls,
        share=share,
    )


def drift_detail(breakdown: Breakdown) -> str:
    """The drift call by call, estimate beside what the provider counted."""
    drift = breakdown.drift
    if drift is None:
        return ""
    lines = [
        tr(
            "{estimated} estimated, {measured} by the provider",
            estimated=figures.tokens(call.estimated),
            measured=figures.tokens(call.measured),
        )
        for call in breakdown.history[-drift.calls :]
    ]
    if drift.under:
        lines.append(
            trn(
                "{n} call was longer than its upper estimate",
                "{n} calls were longer than their upper estimates",
                drift.under,
            )
        )
    return "\n".join(lines)


def offer_share(breakdown: Breakdown) -> str:
    """Where the alert mark stands in the gauge: its share of the whole window."""
    return _of_window(breakdown, breakdown.limits.mark(breakdown.limits.alert))


def trigger_words(trigger: Trigger | str) -> str:
    """Why a compaction was done."""
    match trigger:
        case "alert":
            return tr("offered, then accepted")
        case "danger":
            return tr("automatic: the window was nearly full")
        case "oversize":
            return tr("automatic: one message was too large")
        case "overflow":
            return tr("automatic: the provider refused the size")
        case "resume":
            return tr("automatic: when the session was resumed")
        case "model_switch":
            return tr("for a model with a smaller window")
        case "manual":
            return tr("by hand")
        case _:
            return trigger
