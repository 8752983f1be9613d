"""What the database itself can refuse."""

from app.core.errors import ContextError


class DatabaseUnavailable(ContextError):
    """The database does not answer, or is not migrated yet."""

    code = "database_unavailable"


class UnsupportedDatabaseUrl(ValueError):
    """The URL names a database that is not served."""
