"""A predicted input, shared out over what it consists of.

Source: docs/semantics/calibration.md#parts.
"""

from app.core.budget import CalibratedTokens, RegionTokens
from app.core.calibration import Prediction
from app.core.call_size import CallSize


def share(tokens: int, call: CallSize, prediction: Prediction) -> int:
    """The part of a prediction that falls to `tokens` of the request's own."""
    return round(tokens * prediction.tokens / max(1, call.tokens))


def calibrated_tokens(call: CallSize, prediction: Prediction | None) -> CalibratedTokens | None:
    """A prediction by regions, which add up to it; None where nothing is predicted.

    What a provider counts beside the regions is in the conversation's part.
    """
    if prediction is None:
        return None
    system = share(call.regions.system_context, call, prediction)
    tools = share(call.regions.tool_surface, call, prediction)
    return CalibratedTokens(
        regions=RegionTokens(
            system_context=system,
            conversation=max(0, prediction.tokens - system - tools),
            tool_surface=tools,
        ),
        basis=prediction.basis,
    )
