"""What of a session should worry its owner."""

from app.core.limits import LimitOrigin
from app.core.stored import LearnedLimit, Session
from app.services.profiles import limits_of, profile_of


def warnings_of(session: Session, learned: LearnedLimit | None) -> list[dict[str, str]]:
    """What of a session's settings should worry its owner.

    Args:
        session: The session.
        learned: The smallest limit that was reported of its model.
    """
    return [*_line_warnings(session), *_limit_warnings(session, learned)]


def learned_origin(learned: LearnedLimit) -> LimitOrigin:
    """A learned limit among the limits of a call: it is told, and counts for none of them."""
    return LimitOrigin(
        requested=learned.limit_tokens, effective=None, source="learned", why=_told(learned)
    )


def _line_warnings(session: Session) -> list[dict[str, str]]:
    limits = limits_of(session)
    if not limits.always_reached or profile_of(session).manages_own_context:
        return []
    return [
        {
            "code": "line_always_reached",
            "detail": (
                f"the output reserve of {limits.reserved_output_tokens} tokens alone reaches "
                f"the line of {limits.line_tokens}, so every model call compacts first"
            ),
        }
    ]


def _limit_warnings(session: Session, learned: LearnedLimit | None) -> list[dict[str, str]]:
    window = profile_of(session).context_window
    if learned is None or (window is not None and window <= learned.limit_tokens):
        return []
    against = "no window is known" if window is None else f"its window is {window}"
    return [
        {
            "code": "learned_limit",
            "detail": (
                f"a limit of {learned.limit_tokens} tokens was reported of {session.model!r} and "
                f"{against}: {_told(learned)}"
            ),
        }
    ]


def _told(learned: LearnedLimit) -> str:
    times = "once" if learned.reports == 1 else f"{learned.reports} times"
    day = learned.observed_at.date().isoformat()
    return f"providers said so {times}, last on {day}; it changes no limit by itself"
