"""jobobit: a line for the accounting of the site for each end of a job: who, project, account, what it used.

The file is that of PBS_HOOK_CONFIG_FILE's member "file".

qmgr -c "create hook accounting_tag event=jobobit"
qmgr -c "import hook accounting_tag application/x-python default accounting_tag.py"
qmgr -c "import hook accounting_tag application/x-config default accounting.json"
"""
import json
import os

import pbs

e = pbs.event()
j = e.job
with open(os.environ["PBS_HOOK_CONFIG_FILE"], encoding="utf-8") as f:
    place = json.load(f)["file"]
used = j.resources_used
line = {
    "job": j.id,
    "owner": str(j.Job_Owner),
    "project": str(j.project),
    "account": str(j.Account_Name or "none"),
    "status": j.Exit_status,
    "cput_s": int(used["cput"] or 0),
    "mem_bytes": int(used["mem"] or pbs.size(0)),
}
with open(place, "a", encoding="utf-8") as f:
    f.write(json.dumps(line) + "\n")
pbs.logjobmsg(j.id, "accounted to %s" % line["account"])
e.accept()
