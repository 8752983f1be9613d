"""The styles by their names.

Source: docs/semantics/compaction.md#styles.
"""

from collections.abc import Callable, Mapping

from app.compaction.codex_style import CodexStyle
from app.compaction.openwork_style import OpenWorkStyle
from app.compaction.style import Style

STYLES: Mapping[str, Callable[..., Style]] = {"openwork": OpenWorkStyle, "codex": CodexStyle}
"""Each makes the style of a policy from the values that the policy has for it."""
