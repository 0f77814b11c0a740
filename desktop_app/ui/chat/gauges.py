"""From a breakdown of the context to what gauges show and to sentences about it."""

from __future__ import annotations

from desktop_app.core.context.types import Breakdown, Trigger
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.gauge import Usage

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
    )


def estimated_words(breakdown: Breakdown) -> str:
    """How much of the figure is measured."""
    rest = breakdown.total - breakdown.measured
    if breakdown.measured <= 0:
        return tr("Estimated; measured at the first call")
    if rest > 0:
        return tr("+{n} estimated since the last call", n=figures.tokens(rest))
    return tr("Measured by the provider")


def forecast_words(breakdown: Breakdown) -> str:
    """How long it lasts; empty when nothing can be said."""
    limits = breakdown.limits
    if breakdown.upper >= limits.mark(limits.danger):
        return tr("The context is compacted before the next call")
    if breakdown.upper >= limits.mark(limits.alert):
        return tr("Over the mark at which compaction is offered")
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
    """The alert mark as people know it."""
    return figures.percent(breakdown.limits.alert)


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
