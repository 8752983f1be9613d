"""Caches that the pure code is lent: bounded, and right to forget.

Source: docs/semantics/content.md#facts.
"""

from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from threading import Lock

from app.core.request_copy import MemoKey, Rewrite

DEFAULT_MEMO_BYTES = 64 * 1024 * 1024


class RewriteMemo(MutableMapping[MemoKey, Rewrite]):
    """Rewritten forms, the least recently used forgotten first.

    Several threads may prepare at once, so every access holds a lock.
    """

    def __init__(self, limit_bytes: int = DEFAULT_MEMO_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._entries: OrderedDict[MemoKey, Rewrite] = OrderedDict()
        self._lock = Lock()

    def __getitem__(self, key: MemoKey) -> Rewrite:
        with self._lock:
            rewrite = self._entries[key]
            self._entries.move_to_end(key)
            return rewrite

    def __setitem__(self, key: MemoKey, rewrite: Rewrite) -> None:
        with self._lock:
            self._forget(key)
            self._entries[key] = rewrite
            self._size_bytes += _size(key, rewrite)
            while self._size_bytes > self._limit_bytes:
                self._forget(next(iter(self._entries)))

    def __delitem__(self, key: MemoKey) -> None:
        with self._lock:
            if key not in self._entries:
                raise KeyError(key)
            self._forget(key)

    def __iter__(self) -> Iterator[MemoKey]:
        with self._lock:
            return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def _forget(self, key: MemoKey) -> None:
        rewrite = self._entries.pop(key, None)
        if rewrite is not None:
            self._size_bytes -= _size(key, rewrite)


_ENTRY_BYTES = 1_000
"""What an entry takes beside its content, by measurement of typical ones."""


def _size(key: MemoKey, rewrite: Rewrite) -> int:
    texts = sum(len(part) for part in key if isinstance(part, str | bytes))
    return _ENTRY_BYTES + texts + len(rewrite.form.content)
