"""The retained scan: which sections the conversation still tells the model about.

Source: docs/semantics/world-state.md#the-retained-scan.
"""

from collections.abc import Iterable, Sequence

from app.world_state.sections import Section


def retained_sections(texts: Iterable[str], sections: Sequence[Section]) -> frozenset[str]:
    """The ids of the sections that have a message among `texts`.

    Args:
        texts: The text blocks, each alone, of the messages of kind
            `world_state` in the current conversation. A user's own message
            is of another kind and must not be among them.
        sections: What to look for.
    """
    return frozenset(
        section.id for text in texts for section in sections if section.recognises(text)
    )
