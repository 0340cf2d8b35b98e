"""Every attribute of the definitions that a manager may write: set, shown, unset back to what it was."""
import os
import re

import pytest

from cede import api

DEFINITIONS = os.path.join(os.path.dirname(__file__), "..", "..", "ifl", "def")
ROW = re.compile(r'^ATTR\((\w+), (\w+), (\w+), (\w+), ([\w |]+), (ANY|RANGE\((-?\w+), (-?\w+)\))', re.M)

# What a value of each type looks like; of some attributes more is asked.
VALUES = {"ACL": "+anna@*", "BOOLEAN": ("True", "False"), "DURATION": "00:01:07", "FLOAT": "2.5", "FUZZY": "high",
          "LIMIT": "[u:PBS_GENERIC=7]", "LONG": "7", "LONG64": "12345678", "SIZE": "7mb", "STRING": "some_words",
          "STRING_ARRAY": "one,two", "RESOURCES": ("ncpus", "7"), "RESOURCE_LIMITS": ("ncpus", "[u:PBS_GENERIC=7]"),
          "PREEMPT_ORDER": "SR", "PREEMPT_PRIO": "express_queue", "PREEMPT_SORT": "fewest_jobs",
          "QDEL_ARGS": "-Wsuppress_email=5", "QUEUE_TYPE": "Execution", "RUN_WAIT": "none", "NODE_STATE": "offline",
          "QUEUE_ORDER": "30"}
SPECIAL = {"default_queue": "other", "acl_groups": "+staff", "acl_hosts": "+h1", "acl_roots": "+root",
           "acl_resv_groups": "+staff", "acl_resv_hosts": "+h1", "acl_krb_realms": "+R.TEST",
           "acl_krb_submit_realms": "+R.TEST", "default_qsub_arguments": "-r n", "job_sort_formula": "ncpus * 2",
           "restrict_res_to_release_on_suspend": "ncpus,mem", "preemptable_by": "express_queue",
           "default_chunk": ("mem", "7mb"), "resources_default": ("mem", "7mb"), "mailer": "/usr/sbin/sendmail",
           "queue": "workq", "partition": "p1", "preempt_order": "SR", "job_history_duration": "00:01:07",
           "sched_priv": "/some/where", "sched_log": "/some/where", "resources_available": ("mem", "7mb"),
           "route_destinations": "workq", "node_group_key": "host,vnode", "preempt_methods": "SR"}
KINDS = {"server": (api.SERVER, "", "server"), "queue": (api.QUEUE, "other", "que"),
         "route": (api.QUEUE, "way", "que"), "node": (api.NODE, "n1", "vnode"), "sched": (api.SCHED, "second", "sched")}


def rows(kind):
    """(name, type) of what a manager may write."""
    not_of = "AF_EXEC" if kind == "route" else "AF_ROUTING"
    with open(os.path.join(DEFINITIONS, f"attr_{kind.replace('route', 'queue')}.def"), encoding="ascii") as f:
        found = ROW.findall(f.read())
    assert len(found) > 20
    chosen = [(name, type_) for name, type_, _, writer, flags, *_ in found
              if writer != "SERVER" and "AF_SERVER" not in flags and not_of not in flags and
              name != "queue_type"]  # a queue is never without
    return sorted(chosen, key=lambda row: row[0] == "route_destinations")  # last: a queue needs it to be enabled


def shown(cx, kind, name):
    """The attribute as status has it: None, a text, or {resource: text}."""
    name_of, call = KINDS[kind][1:]
    found = cx.api.stat(call) if call in ("server", "sched") else cx.api.stat(call, name_of)
    return next(o for o in found if not name_of or o.name == name_of).get(name)


def try_one(cx, kind, name, type_):
    """What is wrong with this attribute; or None."""
    what, object_name, _ = KINDS[kind]
    value, resource = SPECIAL.get(name, VALUES[type_]), None
    if isinstance(value, tuple) and type_ != "BOOLEAN":
        resource, value = value
    try:
        cx.api.manager(api.MUNSET, what, object_name, [(name, resource, "")])
        before = shown(cx, kind, name)
        if type_ == "BOOLEAN":
            value = value[before == "True"]
        cx.api.manager(api.MSET, what, object_name, [(name, resource, value)])
        after = shown(cx, kind, name)
        if (after or {}).get(resource) != value if resource else after != value:
            return f"{value} is shown as {after}"
        cx.api.manager(api.MUNSET, what, object_name, [(name, resource, "")])
    except api.PbsError as e:
        return str(e)
    after = shown(cx, kind, name)
    return None if after == before else f"was {before}, is {after} when it is unset"


@pytest.mark.complex(nodes=1, sched=False)
@pytest.mark.parametrize("kind", KINDS)
def test_every_attribute_is_set_and_shown_and_goes_back_to_its_default(cx, kind):
    cx.api.manager(api.CREATE, api.QUEUE, "other", [("queue_type", None, "Execution")])
    cx.api.manager(api.CREATE, api.QUEUE, "way",
                   [("queue_type", None, "Route"), ("route_destinations", None, "workq")])
    cx.api.manager(api.CREATE, api.SCHED, "second")
    wrong = {name: why for name, type_ in rows(kind) if (why := try_one(cx, kind, name, type_))}
    assert not wrong, "\n".join(f"{name}: {why}" for name, why in wrong.items())
