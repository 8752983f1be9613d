"""Windows by their views: tool pairs change a view and begin no window.

Source: docs/semantics/compaction.md#views.
"""

from app.core.ids import is_key
from app.store.compactions import CompactionRepository


async def window_view_of(compactions: CompactionRepository, view_id: str | None) -> str | None:
    """The view that the window of a view began with; None where it is the session's first."""
    # An id that a caller says may be one that no database takes.
    if view_id is None or not is_key(view_id):
        return view_id
    shown = await compactions.find(view_id)
    return view_id if shown is None else shown.window_view_id


async def is_same_window(
    compactions: CompactionRepository, first: str | None, second: str | None
) -> bool:
    """Whether two views are of one window."""
    if first == second:
        return True
    return await window_view_of(compactions, first) == await window_view_of(compactions, second)
