"""What a transaction sees."""

from sqlalchemy import select

from app.store.database import Database
from app.store.sessions import SessionRepository
from app.store.tables import messages
from tests.api.client import Api, user


async def test_a_read_transaction_sees_one_state_throughout(api: Api, database_url: str) -> None:
    session = await api.session()
    await session.append(user("hello"))
    database = Database(database_url)
    async with database.reading() as connection:
        before = await SessionRepository(connection).get("s")
        await api.client.delete("/v1/sessions/s")
        rows = (await connection.execute(select(messages))).all()
    async with database.reading() as connection:
        gone = await SessionRepository(connection).find("s")
    await database.close()

    assert len(rows) == before.message_count == 1
    assert gone is None
