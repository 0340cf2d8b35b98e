"""Submit a job, wait for it, and show what became of it: pbs_python first.py"""
import datetime

import cede

with cede.connect() as pbs:
    job = pbs.submit("#!/bin/sh\necho it works\nexit 3\n", name="first", select="1:ncpus=1", walltime=datetime.timedelta(minutes=1))
    print("submitted", job)
    status = job.wait(timeout=datetime.timedelta(minutes=5))
    print("exit status", status)
    ended = pbs.job(job.id)
    print("it asked for", ended["Resource_List"]["walltime"], "and ran on", ", ".join(ended.hosts))
