"""Widgets that know nothing of the program: plain values in, signals out.

Import from the modules; the names people look for first are here.
"""

from .badge import Badge, StateGlyph
from .buttons import Button, IconButton, RailButton
from .card import Act, Banner, Card, EmptyState, Glyph, Line, NoticeCard
from .charts import MiniBar, Sparkline
from .dialogs import ConfirmDialog, Dialog, TextPrompt, TrustDialog
from .fields import Choice, Field, SearchField
from .gauge import ContextGauge, Ring
from .keyhint import KeyHint
from .labels import ElidedLabel, Label
from .menu import Menu, context_menu
from .progress import ProgressBar, ProgressLine
from .rows import Role, RowDelegate, RowList
from .toast import Toast, ToastHost
from .toggles import Check, Radio, SegmentedControl, Switch, TabBar
from .usage import Usage

__all__ = [
    "Act",
    "Badge",
    "Banner",
    "Button",
    "Card",
    "Check",
    "Choice",
    "ConfirmDialog",
    "ContextGauge",
    "Dialog",
    "ElidedLabel",
    "EmptyState",
    "Field",
    "Glyph",
    "IconButton",
    "KeyHint",
    "Label",
    "Line",
    "Menu",
    "MiniBar",
    "NoticeCard",
    "ProgressBar",
    "ProgressLine",
    "Radio",
    "RailButton",
    "Ring",
    "Role",
    "RowDelegate",
    "RowList",
    "SearchField",
    "SegmentedControl",
    "Sparkline",
    "StateGlyph",
    "Switch",
    "TabBar",
    "TextPrompt",
    "Toast",
    "ToastHost",
    "TrustDialog",
    "Usage",
    "context_menu",
]
