import asyncio, time
from tests.api.client import Api, user, AGENT, PROFILE

async def test_writers(api: Api) -> None:
    s = await api.session()
    t=time.time()
    async def write(w):
        for n in range(50):
            await s.append(*[user(f"{w} {n} {k}", f"w{w}-{n}-{k}") for k in range(3 if n%10==0 else 1)])
    await asyncio.gather(*(write(w) for w in range(32)))
    print("WRITERS", time.time()-t)
    ms = await s.messages()
    print(len(ms), [m["sequence"] for m in ms]==list(range(1,len(ms)+1)))

async def test_race(api: Api) -> None:
    bad=[]
    async def churn(w):
        for n in range(20):
            body={"id": f"s{w}-{n}", "model":"m", "agent":AGENT}
            r=await api.client.post("/v1/sessions", json=body)
            if r.status_code!=201: bad.append(r.text)
            r=await api.client.delete(f"/v1/sessions/s{w}-{n}")
            if r.status_code!=204: bad.append(r.text)
    await asyncio.gather(*(churn(w) for w in range(16)))
    assert not bad, bad[:3]

async def test_race_same_id(api: Api) -> None:
    bad=[]
    async def churn(w):
        for n in range(20):
            body={"id": "s", "model":"m", "agent":AGENT}
            r=await api.client.post("/v1/sessions", json=body)
            if r.status_code not in (200,201): bad.append(r.text)
            r=await api.client.delete("/v1/sessions/s")
            if r.status_code not in (204,404): bad.append(r.text)
    await asyncio.gather(*(churn(w) for w in range(16)))
    assert not bad, (len(bad), bad[:3])
