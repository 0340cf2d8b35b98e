"""exechost_periodic: show free licences of a program as a resource of this host's vnodes.

A program prints the number, as `licences_free PRODUCT` does here; its name and the resource are in the configuration file:
{"command": ["/usr/local/bin/licences_free", "solver"], "resource": "solver_licences"}. The resource is made once:

qmgr -c "create resource solver_licences type=long,flag=h"
qmgr -c "create hook licence_counter event=exechost_periodic,freq=60,alarm=20"
qmgr -c "import hook licence_counter application/x-python default licence_counter.py"
qmgr -c "import hook licence_counter application/x-config default licences.json"

With event=periodic the same script sets it at all vnodes.
"""
import json
import subprocess

import pbs

e = pbs.event()
with open(pbs.hook_config_filename, encoding="utf-8") as f:
    config = json.load(f)
try:
    said = subprocess.run(config["command"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True).stdout
    free = int(said)
except (OSError, subprocess.SubprocessError, ValueError) as why:
    pbs.logmsg(pbs.LOG_WARNING, "licence_counter: the number of licences is not known: %s" % why)
    e.accept()
for name in e.vnode_list:
    e.vnode_list[name].resources_available[config["resource"]] = free
e.accept()
