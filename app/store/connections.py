"""Connections by what they may be used for, so that a misuse is a type error."""

from typing import NewType

from sqlalchemy.ext.asyncio import AsyncConnection

ReadConnection = NewType("ReadConnection", AsyncConnection)
"""A connection inside a read transaction."""

WriteConnection = NewType("WriteConnection", ReadConnection)
"""A connection inside a transaction that is committed when its block ends."""
