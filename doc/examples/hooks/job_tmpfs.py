"""execjob_begin, execjob_end: a job that asks for tmpfs gets a file system in memory of that size, for itself alone.

qmgr -c "create resource tmpfs type=size,flag=nh"
qmgr -c "create hook job_tmpfs event='execjob_begin,execjob_launch,execjob_end'"
qmgr -c "import hook job_tmpfs application/x-python default job_tmpfs.py"

Jobs ask with: qsub -l select=1:ncpus=2:tmpfs=4gb, and find the place in $JOB_TMPFS. JOB_TMPFS_ROOT and JOB_TMPFS_MOUNT are where
a test may put other programs and places.
"""
import os
import pwd
import subprocess

import pbs

ROOT = os.environ.get("JOB_TMPFS_ROOT", "/dev/shm/pbs_jobs")
MOUNT, UMOUNT = os.environ.get("JOB_TMPFS_MOUNT", "mount umount").split()

e = pbs.event()
j = e.job
here = pbs.get_local_nodename()
place = os.path.join(ROOT, str(j.id))


def wanted():
    total = pbs.size(0)
    for chunk in j.exec_vnode.chunks if j.exec_vnode else []:
        if chunk.vnode_name.split("[")[0] == here and "tmpfs" in chunk.chunk_resources:
            total = total + chunk.chunk_resources["tmpfs"]
    return total


if e.type == pbs.EXECJOB_BEGIN and wanted():
    owner = pwd.getpwnam(str(j.euser))
    os.makedirs(place, mode=0o700, exist_ok=True)
    done = subprocess.run([MOUNT, "-t", "tmpfs", "-o", "size=%d,mode=0700,uid=%d,gid=%d" % (int(wanted()), owner.pw_uid, owner.pw_gid),
                           "tmpfs", place], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        os.rmdir(place)
        e.reject("no tmpfs for the job: %s" % done.stderr.strip())
elif e.type == pbs.EXECJOB_LAUNCH and wanted():
    e.env["JOB_TMPFS"] = place
elif e.type == pbs.EXECJOB_END and os.path.isdir(place):
    subprocess.run([UMOUNT, place], stdin=subprocess.DEVNULL, capture_output=True)
    os.rmdir(place)
e.accept()
