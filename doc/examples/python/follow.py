"""Follow the jobs of a complex, a line a change, until a job of the name given is over: pbs_python follow.py NAME"""
import sys

import cede

with cede.connect() as pbs, pbs.watch("job", want=["Job_Name", "job_state", "comment"]) as changes:
    followed = set()
    for change in changes:
        if change.value is not None:
            print(change.name, change.value.title, change.value.state, change.value.comment, flush=True)
            if change.value.title == sys.argv[1]:
                followed.add(change.name)
        elif change.name in followed:
            print(change.name, "is over")
            break
