"""Submit many jobs at once and wait for all of them in one thread: pbs_python many.py 200"""
import asyncio
import collections
import sys

import cede


async def main(count: int) -> None:
    job = cede.prepare("exit 0\n", None, name="many", walltime=60, output="/dev/null", join=True)
    async with cede.aio.connect() as pbs:
        jobs = await asyncio.gather(*[pbs.submit_prepared(job) for _ in range(count)])
        statuses = await asyncio.gather(*[pbs.ended(j) for j in jobs])
    print(len(jobs), "jobs,", collections.Counter(statuses))


asyncio.run(main(int(sys.argv[1])))
