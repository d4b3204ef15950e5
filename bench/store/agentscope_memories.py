"""Adds messages of 2 KB one by one to a memory of AgentScope 1.0.21, and prints what it did a second.

agentscope_memories.py sqlalchemy FILE | redis SOCKET, and COUNT: how many messages are added; the best of five memories counts.
"""

import asyncio
import importlib.util
import sys
import time
import types

# The packages' __init__, which import everything that AgentScope has, are passed over.
place = importlib.util.find_spec("agentscope").submodule_search_locations[0]
for name in ("agentscope", "agentscope.memory", "agentscope.memory._working_memory"):
    package = types.ModuleType(name)
    package.__path__ = [place + name.removeprefix("agentscope").replace(".", "/")]
    sys.modules[name] = package

from agentscope.message import Msg  # noqa: E402

TEXT = ("what was said " * 200)[:2000]


async def add_all(memory, count):
    begin = time.perf_counter()
    for number in range(count):
        await memory.add(Msg("user", f"{number} {TEXT}", "user"))
    return count / (time.perf_counter() - begin)


async def sqlalchemy_rate(path, count, turn):
    from agentscope.memory._working_memory._sqlalchemy_memory import AsyncSQLAlchemyMemory
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
    memory = AsyncSQLAlchemyMemory(engine, session_id=f"session {turn}", user_id="user")
    rate = await add_all(memory, count)
    await memory.close()
    await engine.dispose()
    return rate


async def redis_rate(socket, count, turn):
    from agentscope.memory._working_memory._redis_memory import RedisMemory
    from redis.asyncio import ConnectionPool, UnixDomainSocketConnection

    pool = ConnectionPool(connection_class=UnixDomainSocketConnection, path=socket)
    memory = RedisMemory(session_id=f"session {turn}", user_id="user", connection_pool=pool)
    rate = await add_all(memory, count)
    await pool.disconnect()
    return rate


async def main():
    kind, place, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rate = {"sqlalchemy": sqlalchemy_rate, "redis": redis_rate}[kind]
    print(f"{max([await rate(place, count, turn) for turn in range(5)]):.0f}")


asyncio.run(main())
