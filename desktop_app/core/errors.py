"""Errors that reach a person.

The core holds no words for people. An error carries a stable dotted ``code`` and named
parameters; ``desktop_app.ui.errors`` turns them into a title, a reason and what to do, in the
person's language. A test reads every ``raise`` of the core and fails when a code has no words.

    SlipwayError
      WorkspaceError     a workspace, its folder or its backend
      ToolFailure        a tool could not do what was asked (also told to the model)
      ModelError         a model call failed
      SessionError       a journal, a lease, a session id
      ContextError       accounting, compaction
      SettingsError      settings, declarations, skills that fail to parse
      SecretsError       the encrypted file of keys
"""

from __future__ import annotations

from typing import Any


class SlipwayError(Exception):
    """Something went wrong in a way that a person can be told about.

    ``code`` is stable and dotted (``workspace.unreadable``); ``params`` fill the words of the
    window (paths as given by the person, figures, names; never a secret). ``retryable`` says
    whether doing the same again may work.
    """

    def __init__(self, code: str, *, retryable: bool = False, **params: Any) -> None:
        self.code = code
        self.params: dict[str, Any] = params
        self.retryable = retryable
        super().__init__(code, params)

    def __str__(self) -> str:
        if not self.params:
            return self.code
        return f"{self.code} ({', '.join(f'{k}={v!r}' for k, v in self.params.items())})"


class WorkspaceError(SlipwayError):
    """A workspace, its folder or its backend."""


class ToolFailure(SlipwayError):
    """A tool could not do what was asked. ``message`` (English) is what the model reads."""

    def __init__(self, code: str, message: str, *, retryable: bool = False, **params: Any) -> None:
        super().__init__(code, retryable=retryable, **params)
        self.message = message


class ModelError(SlipwayError):
    """A model call failed; codes: model.unreachable, model.timeout, model.proxy,
    model.certificate, model.certificate_changed, model.auth, model.no_key, model.quota,
    model.rate_limited, model.overloaded, model.unavailable, model.not_found, model.rejected,
    model.overflow, model.max_output, model.length, model.thought_out, model.window_full,
    model.refused, model.empty, model.cut, model.stalled, model.failed, model.unknown (no model of
    that id here)."""


class SessionError(SlipwayError):
    """A journal, a lease or a session id."""


class ContextError(SlipwayError):
    """Accounting or compaction."""


class SettingsError(SlipwayError):
    """Settings, declarations or skills that fail to parse; the file is left as it is."""


class SecretsError(SlipwayError):
    """The encrypted file of keys; never a key or a passphrase in it. Codes: secrets.passphrase,
    secrets.short, secrets.locked, secrets.damaged, secrets.restored (told, not raised),
    secrets.newer, secrets.unreadable, secrets.exists, secrets.gone, secrets.busy,
    secrets.unwritable."""
