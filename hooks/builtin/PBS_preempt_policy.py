"""preempt: what the site wants of preemption plans, without a script of its own. A configuration file says it:

{"quiet_hours": ["08:00-12:00", "22:00-06:00"],
 "spare":   {"queue": ["teaching"], "project": ["demo"], "euser": ["anna"]},
 "methods": {"queue": {"big": "RC"}, "project": {"licensed": "R"}}}

quiet_hours   no plan is carried out then, by the server's clock
spare         jobs of these queues, projects and users do not give way
methods       by which methods the others do, in this order; what preempt_order forbids is not tried

qmgr -c "import pbshook PBS_preempt_policy application/x-config default policy.json"
qmgr -c "set pbshook PBS_preempt_policy enabled=true"
"""
import json
import time

import pbs

e = pbs.event()
KEYS = ("queue", "project", "euser")


def value(job, key):
    """A job's queue, project or user as text."""
    return job.queue.name if key == "queue" else str(getattr(job, key) or "")


def is_within(hours, now):
    """Is HH:MM in "HH:MM-HH:MM", which may pass midnight?"""
    begin, end = hours.split("-")
    return begin <= now < end if begin <= end else now >= begin or now < end


def methods(job, rules):
    """The letters of the first rule that fits; None: no rule does."""
    return next((rules[key][value(job, key)] for key in KEYS if value(job, key) in rules.get(key, {})), None)


config = {}
if pbs.hook_config_filename:
    with open(pbs.hook_config_filename, encoding="utf-8") as f:
        config = json.load(f)

now = time.strftime("%H:%M")
for hours in config.get("quiet_hours", []):
    if is_within(hours, now):
        e.reject("no job gives way from %s (PBS_preempt_policy)" % hours.replace("-", " to "))

spare = config.get("spare", {})
e.victims = [v for v in e.victims if not any(value(v.job, key) in spare.get(key, []) for key in KEYS)]
for v in e.victims:
    letters = methods(v.job, config.get("methods", {}))
    if letters is not None:
        v.methods = letters
e.accept()
