"""queuejob: what a job does not ask for depends on its queue.

qmgr -c "create hook defaults_by_queue event=queuejob,order=20"
qmgr -c "import hook defaults_by_queue application/x-python default defaults_by_queue.py"
"""
import pbs

DEFAULTS = {
    "short": {"walltime": pbs.duration("00:30:00"), "mem": pbs.size("1gb")},
    "long": {"walltime": pbs.duration("48:00:00"), "mem": pbs.size("4gb")},
}

e = pbs.event()
queue = e.job.queue.name if e.job.queue else str(pbs.server().default_queue)
for resource, value in DEFAULTS.get(queue, {}).items():
    if e.job.Resource_List[resource] is None:
        e.job.Resource_List[resource] = value
e.accept()
