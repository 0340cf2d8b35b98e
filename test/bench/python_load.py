"""Load through the package cede, as ifl_load makes it through libpbs: python_load.py MODE COUNT SCRIPT [ATTRIBUTE=VALUE ...]

MODE  "prepared": one submission sent many times; "whole": each from its arguments; "asyncio": prepared, 64 calls under way
Printed: calls and seconds.
"""
import asyncio
import pathlib
import sys
import time

import cede

mode, count, script, attributes = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), dict(a.split("=", 1) for a in sys.argv[4:])
job = cede.prepare(script, None, attributes=attributes)


async def submit_all() -> float:
    async with cede.aio.connect() as pbs:
        begun, room = time.monotonic(), asyncio.Semaphore(64)

        async def one() -> None:
            async with room:
                await pbs.submit_prepared(job)

        await asyncio.gather(*[one() for _ in range(count)])
        return time.monotonic() - begun


if mode == "asyncio":
    seconds = asyncio.run(submit_all())
else:
    with cede.connect() as pbs:
        begun = time.monotonic()
        for _ in range(count):
            if mode == "prepared":
                pbs.submit_prepared(job)
            else:
                pbs.submit(script, attributes=attributes)
        seconds = time.monotonic() - begun
print(count, seconds)
