"""Other sentences for the same things, held out: no rule of the engine was made with them in view.

``words`` was known while the engine's rules were made. What is kept of these says how much of the
result comes from that.
"""

from __future__ import annotations

CONSTRAINT_PLAIN = (
    "{k} is off the table till the audit is through.",
    "Steer clear of {k} as long as the migration runs.",
    "Nobody but the night shift touches {k}.",
    "We promised the union that {k} keeps running as it is.",
    "Whatever happens, {k} has the last word on invoices.",
    "Dates go out in the {k} style, like everywhere in the house.",
)
CONSTRAINT_PLAIN_ZH = (
    "{k} 那边先放一放，审计完了再说。",
    "发票一律以 {k} 的口径出。",
    "{k} 归夜班，白天谁也别碰。",
)
DECISION_PLAIN = (
    "After the benchmark there is little doubt left: {k} it is for the {t}.",
    "The {t} gets {k}, the rest was too slow by half.",
    "{k} came out on top for the {t} and is wired in already.",
)
DECISION_PERSON = (
    "{k} for the {t}, why not.",
    "My vote for the {t} goes to {k}.",
)
DECISION_ZH = ("{t} 这块最后落在 {k} 上，别的都慢一半。",)
FACT_RESTATED_PLAIN = (
    "Turns out the {w} of {k} is {v}, somebody must have edited it by hand.",
    "There we have it, the {w} of {k} is {v} since the last rollout.",
)
FACT_RESTATED_ZH = "查到了，the {w} of {k} is {v}，上次发布之后就这样。"
FIX = (
    "E{n} in {k} went away once pool_size={v} was in place.",
    "Raising it to pool_size={v} did the trick for E{n} in {k}.",
)
