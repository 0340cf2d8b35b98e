"""modifyvnode: tell the site when a vnode goes offline with jobs on it, and when it is drained; with the reason.

qmgr -c "create hook drain event=modifyvnode"
qmgr -c "import hook drain application/x-python default drain.py"
"""
import pbs

e = pbs.event()
now, before = e.vnode, e.vnode_o
went = bool(now.state & pbs.ND_OFFLINE) and not before.state & pbs.ND_OFFLINE
came = bool(before.state & pbs.ND_OFFLINE) and not now.state & pbs.ND_OFFLINE
jobs = sorted({job.split("/")[0].strip() for job in str(now.jobs or "").split(",") if job.strip()})
if went and jobs:
    pbs.logmsg(pbs.EVENT_ADMIN, "%s drains, %d jobs still run: %s (%s)" % (now.name, len(jobs), " ".join(jobs), now.comment or "no reason given"))
elif went or (now.state & pbs.ND_OFFLINE and before.state & pbs.ND_JOBBUSY and not jobs):
    pbs.logmsg(pbs.EVENT_ADMIN, "%s is drained" % now.name)
elif came:
    pbs.logmsg(pbs.EVENT_ADMIN, "%s takes jobs again, it was %s" % (now.name, ",".join(before.extract_state_strs())))
e.accept()
