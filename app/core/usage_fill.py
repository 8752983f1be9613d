"""Usage that a provider left out, filled with estimates so that a call is billed all the same.

Source: docs/semantics/goose.md#usage-and-retained-tokens.
"""

from dataclasses import replace
from typing import Literal, TypeAlias

from app.core.usage_report import UsageNumbers

MissingUsage: TypeAlias = Literal["unknown", "estimated"]
"""What a summary's call counts where its provider named no tokens: nothing, or an estimate."""


def filled_usage(numbers: UsageNumbers, input_estimate: int, output_estimate: int) -> UsageNumbers:
    """The numbers with estimates where there are none, and the sum of both as the total.

    The sum takes a given total's place, since both numbers are known now.

    Args:
        numbers: As the provider gave them.
        input_estimate: Of prompt, messages and tools.
        output_estimate: Of the answer as the model gave it, not of what is kept of it.
    """
    given_input, given_output = numbers.input_tokens, numbers.output_tokens
    input_tokens = input_estimate if given_input is None else given_input
    output_tokens = output_estimate if given_output is None else given_output
    return replace(
        numbers,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
    )
