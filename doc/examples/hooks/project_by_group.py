"""queuejob: project and queue follow from the user's group, whatever the user asks for.

The groups are in the configuration file, {"chem": {"project": "chemistry", "queue": "chemq"}, ...}:

qmgr -c "create hook project_by_group event=queuejob,order=10"
qmgr -c "import hook project_by_group application/x-python default project_by_group.py"
qmgr -c "import hook project_by_group application/x-config default groups.json"
"""
import grp
import json
import pwd

import pbs

e = pbs.event()
with open(pbs.hook_config_filename, encoding="utf-8") as f:
    rules = json.load(f)

try:
    user = pwd.getpwnam(e.requestor)
except KeyError:
    e.reject(f"user {e.requestor} is not known here")
groups = [grp.getgrgid(user.pw_gid).gr_name] + [g.gr_name for g in grp.getgrall() if e.requestor in g.gr_mem]
if e.job.group_list:  # -W group_list: one of the user's groups, which goes first
    groups.insert(0, str(e.job.group_list).split(",")[0].split("@")[0])

rule = next((rules[g] for g in groups if g in rules), None)
if rule is None:
    e.reject("none of your groups (%s) may submit jobs; please ask your administrator" % ", ".join(groups))
e.job.project = rule["project"]
if "queue" in rule:
    queue = pbs.server().queue(rule["queue"])
    if queue is None:
        e.reject("queue %s of your group does not exist; please tell your administrator" % rule["queue"])
    e.job.queue = queue
e.accept()
