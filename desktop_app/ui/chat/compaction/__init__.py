"""A compaction looked at: as a proposal before it is done, and in the log afterwards."""

from .detail import DetailDialog
from .preview import PreviewDialog

__all__ = ["DetailDialog", "PreviewDialog"]
