"""World state when the view changes: after a compaction, a rewind, a fork and a restart.

Whatever a request shows, the model is told each section as it is, and told it once.
"""

from random import Random

import pytest
import pytest_asyncio

from tests.api.captures import (
    INSTRUCTIONS_ID,
    PROJECT_ID,
    REMOVES_INSTRUCTIONS,
    REPLACES_INSTRUCTIONS,
    SANDBOX_ID,
    SKILLS_ID,
    WHOLE,
    goals,
    rendered,
    rules,
    told,
)
from tests.api.client import Json, SessionApi, assistant, service, succeeded, user
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    reasons,
    request_compaction,
    run_turn,
    start,
    summary_of,
    texts,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL_IDS = [PROJECT_ID, INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID]
THRESHOLD: Json = {"kind": "threshold", "turn_id": "T1", "model_call": 2}
ONE, TWO = rules("one"), rules("two")
CHANGED = f"{REPLACES_INSTRUCTIONS}\n\n{rendered('two')}"
OPEN_TAG = "<project_instructions>\n"


@pytest_asyncio.fixture(loop_scope="module")
async def session(timed: Timed) -> SessionApi:
    """A session without a message."""
    return await timed.session()


async def sample(session: SessionApi, model_call: int, capture: Json) -> list[str]:
    """What the model is told by a sample of a model call."""
    return told(await session.sample(capture, turn_id="T1", model_call=model_call))


@requirement("OW-3-sampled-again-after-compaction")
async def test_S20_after_a_fold_every_section_is_told_without_a_notice(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    first = await sample(session, 1, WHOLE)
    await compact(session)
    second = await sample(session, 2, WHOLE)

    assert second == first
    assert len(second) == 4
    assert await sample(session, 3, WHOLE) == []


async def test_S23_the_sample_after_a_compaction_is_the_second_of_its_call(
    session: SessionApi,
) -> None:
    await run_turn(session, "T1")
    await session.append(user("Go.", "m1"))
    await sample(session, 1, WHOLE)
    await compact(session, **THRESHOLD)
    prepared = await session.prepare(turn_id="T1", model_call=2, sample=2, world_state=WHOLE)
    emitted = [message["id"] for message in prepared["world_state"]["emitted"]]

    assert emitted == [f"world-state:T1:2:2:{section_id}" for section_id in ALL_IDS]
    assert "world-state:T1:2:2:skills/catalog" in emitted


@requirement("OW-3-sampled-again-after-compaction", "OW-11-sources-are-read-again")
async def test_S28_a_call_that_was_compacted_still_carries_every_section_once(
    session: SessionApi,
) -> None:
    await run_turn(session, "T1")
    point = {"turn_id": "T1", "model_call": 2, "world_state": WHOLE, "include": ["provenance"]}
    first = await session.prepare(**point, sample=1, append=[user("Go.", "m1")])
    await compact(session, **THRESHOLD)
    second = await session.prepare(**point, sample=2)
    again = await session.prepare(**point, sample=2)
    later = await session.prepare(**{**point, "model_call": 3}, sample=1)

    assert reasons(second) == [
        *AFTER_FOLD,
        *(f"world-state:T1:2:2:{section_id}" for section_id in ALL_IDS),
    ]
    assert texts(second["request"])[3:] == texts(first["request"])[1:]
    assert again["request"] == later["request"] == second["request"]
    assert again["world_state"]["replayed"] is True
    assert later["world_state"]["emitted"] == []


async def test_S29_a_summary_request_holds_no_world_state(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, WHOLE)
    await session.append(assistant("Gone.", "m2"))
    held = await start(session)

    assert held.answer["source"]["message_count"] == 6
    assert texts(held.answer["summary_request"])[:-1] == ["Go.", "Gone."]


async def test_a_manual_compaction_samples_nothing_by_itself(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, ONE)
    await compact(session)
    prepared = await session.prepare(include=["provenance"])

    assert reasons(prepared) == AFTER_FOLD
    assert await sample(session, 2, ONE) == [rendered("one")]


@pytest.mark.parametrize(
    ("capture", "emitted"),
    [(ONE, [rendered("one")]), (TWO, [rendered("two")]), (rules(None), [])],
    ids=["the same", "another", "none"],
)
async def test_after_a_fold_only_what_is_there_is_told(
    session: SessionApi, capture: Json, emitted: list[str]
) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, ONE)
    await compact(session)

    assert await sample(session, 2, capture) == emitted
    assert await sample(session, 3, capture) == []


async def test_B077_a_reminder_of_the_caller_is_a_section_and_no_history(
    session: SessionApi,
) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, goals("Finish the parser."))
    await compact(session)

    assert await sample(session, 2, goals("Finish the parser.")) == [
        "<goals>\nFinish the parser.\n</goals>"
    ]


async def test_what_is_told_behind_a_plan_stays_behind_its_summary(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, ONE)
    held = await start(session)
    await sample(session, 2, TWO)
    await held.complete()
    prepared = await session.prepare()

    assert texts(prepared["request"])[3:] == [CHANGED]
    assert await sample(session, 3, TWO) == []


async def test_a_rewind_to_a_checkpoint_tells_every_section_once_more(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    target = (await compact(session))["checkpoint"]["id"]
    first = await sample(session, 1, WHOLE)
    await session.post("rewind", {"compaction_id": target})

    assert await sample(session, 2, WHOLE) == first
    assert await sample(session, 3, WHOLE) == []


@pytest.mark.parametrize(
    ("capture", "emitted"),
    [(ONE, []), (TWO, [CHANGED]), (rules(None), [REMOVES_INSTRUCTIONS])],
    ids=["what is shown", "what was shown later", "none"],
)
async def test_a_rewind_to_a_sequence_compares_with_what_is_shown_there(
    session: SessionApi, capture: Json, emitted: list[str]
) -> None:
    await sample(session, 1, ONE)
    await sample(session, 2, TWO)
    await session.post("rewind", {"through_sequence": 1})

    assert await sample(session, 3, capture) == emitted


async def test_a_removal_that_a_rewind_hides_is_told_again(session: SessionApi) -> None:
    await sample(session, 1, ONE)
    await sample(session, 2, rules(None))
    await session.post("rewind", {"through_sequence": 1})
    hidden = await sample(session, 3, rules(None))
    (section,) = (await session.read("world-state"))["sections"]

    assert hidden == [REMOVES_INSTRUCTIONS]
    assert section["message_id"] == f"world-state:T1:3:1:{INSTRUCTIONS_ID}"


async def test_a_rewind_to_a_removal_knows_that_nothing_is_there(session: SessionApi) -> None:
    await sample(session, 1, ONE)
    await sample(session, 2, rules(None))
    await sample(session, 3, TWO)
    await session.post("rewind", {"through_sequence": 2})

    assert await sample(session, 4, rules(None)) == []
    assert await sample(session, 5, TWO) == [rendered("two")]


async def test_an_undo_brings_back_what_was_told(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, ONE)
    target = (await compact(session))["checkpoint"]["id"]
    await session.post("rewind", {"undo_compaction": target})

    assert await sample(session, 2, ONE) == []
    assert await sample(session, 3, TWO) == [CHANGED]


async def test_a_rewind_behind_a_fold_knows_the_text_from_before_it(session: SessionApi) -> None:
    await session.append(user("Go.", "m1"))
    await sample(session, 1, ONE)
    await session.append(assistant("Gone.", "m2"))
    await compact(session)
    await sample(session, 2, TWO)
    await session.post("rewind", {"through_sequence": 2})

    assert await sample(session, 3, ONE) == []
    assert await sample(session, 4, TWO) == [CHANGED]


async def test_B073_B074_a_restart_after_a_compaction_tells_exactly_once(
    module_database_url: str, session: SessionApi
) -> None:
    await session.append(user("Go.", "m1"))
    first = await sample(session, 1, WHOLE)
    await compact(session)
    async with service(module_database_url) as client:
        restarted = SessionApi(client=client, id=session.id, created=session.created)
        second = await sample(restarted, 2, WHOLE)
    third = await sample(session, 3, WHOLE)
    prepared = await session.prepare()

    assert (second, third) == (first, [])
    assert texts(prepared["request"])[3:] == first


async def test_a_restart_after_a_rewind_knows_what_is_shown(
    module_database_url: str, session: SessionApi
) -> None:
    await sample(session, 1, ONE)
    await sample(session, 2, TWO)
    await session.post("rewind", {"through_sequence": 1})
    async with service(module_database_url) as client:
        restarted = SessionApi(client=client, id=session.id, created=session.created)

        assert await sample(restarted, 3, ONE) == []
        assert await sample(restarted, 4, TWO) == [CHANGED]


async def test_the_baseline_that_is_read_is_the_one_that_is_shown(session: SessionApi) -> None:
    await sample(session, 1, ONE)
    await sample(session, 2, TWO)
    await session.post("rewind", {"through_sequence": 1})
    (section,) = (await session.read("world-state"))["sections"]

    assert section["message_id"] == f"world-state:T1:1:1:{INSTRUCTIONS_ID}"
    assert section["baseline"] == {"state": "known", "text": rendered("one")}


class Wanderer:
    """A session that is sampled, folded, rewound and forked in any order."""

    def __init__(self, session: SessionApi, random: Random) -> None:
        self.session = session
        self._random = random
        self._calls = 0

    async def step(self) -> None:
        """One change of the view, whatever comes of it."""
        count = (await self.session.read())["message_count"]
        match self._random.randrange(6):
            case 0 | 1:
                await self.session.append(user("More."), assistant("Done."))
            case 2:
                await self._compact()
            case 3:
                target = {"through_sequence": self._random.randint(0, count)}
                await self.session.post("rewind", target)
            case 4:
                view = (await self.session.read())["latest_compaction_id"]
                if view is not None:
                    await self.session.post("rewind", {"undo_compaction": view})
            case _:
                await self._fork(self._random.randint(count // 2, count))

    async def _compact(self) -> None:
        response = await request_compaction(self.session)
        if response.is_success and response.json()["status"] == "pending":
            claim = {"claim": response.json()["claim"]["token"], "attempt": 1}
            path = f"compactions/{response.json()['id']}/complete"
            await self.session.post(path, {**claim, "summary": summary_of("the work")})

    async def _fork(self, through: int) -> None:
        name = f"{self.session.id}-"
        fork = {"id": name, "through_sequence": through}
        created = succeeded(await self.session.post("fork", fork))
        self.session = SessionApi(client=self.session.client, id=name, created=created)

    async def sample(self, text: str | None) -> list[str]:
        self._calls += 1
        return await sample(self.session, self._calls, rules(text))

    async def stated(self) -> str | None:
        """What the next request tells of the instructions last."""
        shown = texts((await self.session.prepare())["request"])
        about = [text for text in shown if OPEN_TAG in text or text == REMOVES_INSTRUCTIONS]
        if not about or about[-1] == REMOVES_INSTRUCTIONS:
            return None
        return about[-1].partition(OPEN_TAG)[2].partition("\n</")[0]


@pytest.mark.parametrize("seed", range(4))
async def test_no_sequence_of_changes_leaves_the_model_with_a_stale_text(
    timed: Timed, seed: int
) -> None:
    random = Random(seed)
    wanderer = Wanderer(await timed.session(), random)
    for _ in range(25):
        await wanderer.step()
        text = random.choice(["one", "two", None])
        before = await wanderer.stated()
        emitted = await wanderer.sample(text)

        assert await wanderer.stated() == text
        assert len(emitted) == (0 if before == text else 1)
        assert await wanderer.sample(text) == []
