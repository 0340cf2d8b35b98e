"""queuejob, modifyjob: a job needs a walltime; say how to give one.

qmgr -c "create hook need_walltime event='queuejob,modifyjob'"
qmgr -c "import hook need_walltime application/x-python default need_walltime.py"
"""
import pbs

HELP = ("Please say how long the job may run, for example two hours with: qsub -l walltime=2:00:00 script. "
        "Short jobs start sooner.")

e = pbs.event()
if e.type == pbs.QUEUEJOB:
    missing = e.job.Resource_List["walltime"] is None
else:  # only what qalter asks for is in e.job; the job itself is e.job_o
    missing = "walltime" in e.job_o.Resource_List and e.job.Resource_List["walltime"] == 0
if missing:
    e.reject(HELP)
e.accept()
