"""exechost_periodic, execjob_begin: a host without space or with a broken mount takes no jobs; it comes back by itself.

The checks are in the configuration file: {"min_free_mb": {"/tmp": 1000}, "mounts": ["/home"]}.

qmgr -c "create hook node_health event='exechost_periodic,execjob_begin',freq=120"
qmgr -c "import hook node_health application/x-python default node_health.py"
qmgr -c "import hook node_health application/x-config default health.json"
"""
import json
import os

import pbs

MARK = "node_health: "


def faults(config):
    for place, need in config.get("min_free_mb", {}).items():
        try:
            free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize >> 20
        except OSError as why:
            yield "%s: %s" % (place, why.strerror)
            continue
        if free < need:
            yield "%s has %d mb free, needs %d" % (place, free, need)
    for place in config.get("mounts", []):
        if not os.path.ismount(place):
            yield "%s is not mounted" % place


e = pbs.event()
with open(pbs.hook_config_filename, encoding="utf-8") as f:
    found = list(faults(json.load(f)))

here = pbs.get_local_nodename()
for name, vnode in e.vnode_list.items():
    if name.split("[")[0] != here:
        continue
    if found:
        vnode.state = pbs.ND_OFFLINE
        vnode.comment = MARK + "; ".join(found)
        continue
    now = vnode if vnode.state is not None else pbs.server().vnode(name)  # a host does not know what the server has made of its vnodes
    if now is not None and now.state & pbs.ND_OFFLINE and str(now.comment or "").startswith(MARK):
        vnode.state = pbs.ND_FREE
        vnode.comment = None
if found and e.type == pbs.EXECJOB_BEGIN:
    e.job.rerun()
    e.reject("%s: %s" % (here, "; ".join(found)))
e.accept()
