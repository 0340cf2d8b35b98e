"""Submit an urgent job and say which jobs give way to it, and how: pbs_python urgent.py QUEUE SELECT

QUEUE is an express queue (doc/preemption.md). The job is submitted with a hold, so that nothing happens before it has been explained.
"""
import sys

import cede

queue, select = sys.argv[1:]
with cede.connect() as pbs:
    job = pbs.submit("sleep 1\n", name="urgent", queue=queue, select=select, walltime=60, hold=True, output="/dev/null", join=True)
    victims = set()
    with pbs.watch("job", want=["job_state", "preempted_by", "run_count"]) as changes:
        job.release()
        for change in changes:
            if change.value is not None and change.raw.get("preempted_by") == job.id and change.name not in victims:
                victims.add(change.name)
                print(change.name, "gives way and is now", change.value.state, flush=True)
            if change.gone and change.name == job.id:
                break
    print(job, "is over,", len(victims), "gave way")
