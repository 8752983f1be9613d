"""The status of a window under limits that know nothing of scopes.

Source: docs/semantics/usage.md#status.
"""

from dataclasses import replace

from app.core.limits import Limits
from app.core.policy import Measured
from app.policies.active_context import active_tokens
from app.policies.codex_window import ModelWindow
from app.policies.window_status import WindowStatus, WindowUse, percent_left, window_status


def status_of(measured: Measured, limits: Limits) -> WindowStatus:
    """The last total and what came behind it, against the line; `percent_left` of the window.

    Before the first report the estimate of the request stands for both.
    """
    active = active_tokens(measured)
    use = WindowUse(
        active_context_tokens=measured.estimated_tokens if active is None else active,
        scope="total",
        prefill=measured.usage.prefill,
    )
    status = window_status(use, _window(measured, limits))
    if limits.context_window is None:
        return status
    left = percent_left(use.active_context_tokens, limits.context_window)
    return replace(status, percent_left=left)


def _window(measured: Measured, limits: Limits) -> ModelWindow:
    line = limits.auto_compact_token_limit
    return ModelWindow(
        name=measured.profile.name,
        comp_hash=measured.profile.comp_hash,
        context_window=limits.context_window,
        hard_limit_tokens=limits.hard_limit_tokens,
        auto_compact_token_limit=line,
        body_token_limit=line,
        provenance=limits.provenance,
    )
