"""The styles by their names.

Source: docs/semantics/compaction.md#styles.
"""

from collections.abc import Callable, Mapping

from app.compaction.codex_style import CodexStyle
from app.compaction.hidden_history_style import HiddenHistoryStyle
from app.compaction.openwork_style import OpenWorkStyle
from app.compaction.style import Style
from app.compaction.summary_tail_style import SummaryTailStyle

STYLES: Mapping[str, Callable[..., Style]] = {
    "openwork": OpenWorkStyle,
    "codex": CodexStyle,
    "hidden_history": HiddenHistoryStyle,
    "summary_tail": SummaryTailStyle,
}
"""Each makes the style of a policy from the values that the policy has for it."""
