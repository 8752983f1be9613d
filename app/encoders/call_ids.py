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
    """The ids of one request while it is encoded: calls are announced in order."""

    rule: CallIdRule
    _made: dict[str, str] = field(default_factory=dict)
    """The id of the last call of each neutral id."""
    _taken: dict[str, str] = field(default_factory=dict)
    """The neutral id behind every id of the body."""
    _met: dict[str, int] = field(default_factory=dict)

    def of_call(self, call_id: str) -> str:
        """The id of the next call that has this neutral id."""
        number = self._met.get(call_id, 0)
        self._met[call_id] = number + 1
        if number and self.rule.reuse == "allowed":
            return self._made[call_id]
        made = self._free(call_id, number)
        self._made[call_id] = made
        self._taken[made] = call_id
        return made

    def of_result(self, call_id: str) -> str:
        """The id of the result of the last call that had this neutral id."""
        return self._made.get(call_id) or self.of_call(call_id)

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
