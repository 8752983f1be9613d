"""Call ids in a provider's alphabet: the same for a call and its result, and told back.

An id is fixed when its call is first met, by what stands in front of it, so a
longer request never renames what a shorter one has sent.

Source: docs/semantics/encoders.md#call-ids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from string import ascii_letters, digits
from typing import Literal, TypeAlias

Reuse: TypeAlias = Literal["allowed", "renamed"]
"""Whether a provider takes an id that an earlier call of the request had."""

_ALPHABET = ascii_letters + digits


@dataclass(frozen=True, slots=True, kw_only=True)
class CallIdRule:
    """What ids a provider takes."""

    pattern: re.Pattern[str]
    """An id that matches it whole is sent as it is."""
    length: int
    """Of an id that is made: letters and digits."""
    prefix: str = ""
    """Begins an id that is made, within its length."""
    reuse: Reuse = "allowed"


@dataclass(slots=True, kw_only=True)
class CallIds:
    """The ids of one request while it is encoded: calls and results are announced in order."""

    rule: CallIdRule
    _made: dict[tuple[str, int], str] = field(default_factory=dict)
    """The id of the n-th call that has a neutral id."""
    _open: dict[str, list[str]] = field(default_factory=dict)
    """The ids under which calls of a neutral id wait for their results, in order."""
    _last: dict[str, str] = field(default_factory=dict)
    """The id of the last call of each neutral id."""
    _taken: dict[str, str] = field(default_factory=dict)
    """The neutral id behind every id of the body."""
    _met: dict[str, int] = field(default_factory=dict)

    def of_call(self, call_id: str) -> str:
        """The id of the next call that has this neutral id."""
        waiting = self._open.setdefault(call_id, [])
        met = self._met.get(call_id, 0)
        self._met[call_id] = met + 1
        # Calls that wait at the same time are of one message, where no provider takes an id twice.
        number = len(waiting) if self.rule.reuse == "allowed" else met
        made = self._made.get((call_id, number))
        if made is None:
            made = self._made[call_id, number] = self._free(call_id, number)
            self._taken[made] = call_id
        waiting.append(made)
        self._last[call_id] = made
        return made

    def of_result(self, call_id: str) -> str:
        """The id of the result of the first call that waits under this neutral id.

        Where none waits, that of the last call, and of a new one where there is no call.
        """
        waiting = self._open.get(call_id)
        if waiting:
            return waiting.pop(0)
        return self._last.get(call_id) or self.of_call(call_id)

    def renamed(self) -> Mapping[str, str]:
        """Neutral ids by the ids of the body, where they differ."""
        return {made: id_ for made, id_ in self._taken.items() if made != id_}

    def _free(self, call_id: str, number: int) -> str:
        fits = self.rule.pattern.fullmatch(call_id) is not None
        if not number and fits and call_id not in self._taken:
            return call_id
        attempt = 0
        while (made := self._derived(call_id, number, attempt)) in self._taken:
            attempt += 1
        return made

    def _derived(self, call_id: str, number: int, attempt: int) -> str:
        digest = sha256(f"{call_id}\0{number}\0{attempt}".encode()).digest()
        value, letters = int.from_bytes(digest, "big"), []
        for _ in range(self.rule.length - len(self.rule.prefix)):
            value, letter = divmod(value, len(_ALPHABET))
            letters.append(_ALPHABET[letter])
        return self.rule.prefix + "".join(letters)
