"""Every attribute of the definitions: set, shown, unset back to what it was; who may read and write it; what it takes."""
import re

import pytest

from harness import api, users
from harness.attributes import VALUES, definitions

# Attributes of which more is asked than a value of their type.
SPECIAL = {"default_queue": "other", "acl_groups": "+staff", "acl_hosts": "+h1", "acl_roots": "+root",
           "acl_resv_groups": "+staff", "acl_resv_hosts": "+h1", "acl_krb_realms": "+R.TEST",
           "acl_krb_submit_realms": "+R.TEST", "default_qsub_arguments": "-r n", "job_sort_formula": "ncpus * 2",
           "restrict_res_to_release_on_suspend": "ncpus,mem", "preemptable_by": "express_queue",
           "default_chunk": ("mem", "7mb"), "resources_default": ("mem", "7mb"), "mailer": "/usr/sbin/sendmail",
           "queue": "workq", "partition": "p1", "preempt_order": "SR", "job_history_duration": "00:01:07",
           "sched_priv": "/some/where", "sched_log": "/some/where", "resources_available": ("mem", "7mb"),
           "route_destinations": "workq", "node_group_key": "host,vnode", "preempt_methods": "SR"}
KINDS = {"server": (api.SERVER, "", "server"), "queue": (api.QUEUE, "other", "que"),
         "route": (api.QUEUE, "way", "que"), "node": (api.NODE, "n1", "vnode"), "sched": (api.SCHED, "second", "sched"), "default": (api.SCHED, "default", "sched")}
# What a new complex sets, and an administrator may take away.
FIRST = {"default_queue", "default_chunk", "acl_roots", "flatuid", "job_history_enable", "managers", "operators",
         "enabled", "started", "Mom", "Port", "resources_available", "route_destinations"}


def rows(kind):
    """(name, type) of what a manager may write."""
    not_of = "AF_EXEC" if kind == "route" else "AF_ROUTING"
    found = definitions(kind)
    chosen = [(name, type_) for name, type_, _, writer, flags, *_ in found
              if writer != "SERVER" and "AF_SERVER" not in flags and not_of not in flags and
              name != "queue_type" and  # a queue is never without
              not (kind == "default" and name in ("partition", "sched_priv", "sched_log"))]  # never set, see below
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
        fresh = shown(cx, kind, name)
        cx.api.manager(api.MUNSET, what, object_name, [(name, resource, "")])
        before = shown(cx, kind, name)
        if fresh != before and name not in FIRST:
            return f"was {fresh} in a new complex, is {before} when it is unset"
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


# --- rights
LEVELS = ["USER", "OPERATOR", "MANAGER", "SCHED", "SERVER"]
NO_RIGHT = (15003, 15007)  # read-only for this user; or the whole request is not allowed
MANAGED = ("server", "queue", "node", "sched")


@pytest.mark.complex(nodes=0, sched=False)
@pytest.mark.parametrize("name", ["partition", "sched_priv", "sched_log"])
def test_some_attributes_can_be_unset_but_not_set_at_the_default_scheduler(cx, name):
    cx.qmgr(f"unset sched default {name}")
    with pytest.raises(api.PbsError) as e:
        cx.set_sched(name, "/some/where")
    assert e.value.code == 15223


@pytest.mark.complex(nodes=1, ncpus=1)
def test_jobs_run_after_scheduling_was_unset(cx):
    cx.set_sched("scheduling", "False")
    job = cx.submit("true")
    cx.qmgr("unset sched scheduling")
    cx.wait_gone(job)
    assert cx.api.stat("server")[0]["scheduling"] == "True"
    cx.qmgr("unset server scheduling")
    cx.wait_gone(cx.submit("true"))


def objects(cx):
    """One of each kind: that of the job runs."""
    cx.api.manager(api.CREATE, api.QUEUE, "other", [("queue_type", None, "Execution")])
    cx.api.manager(api.CREATE, api.SCHED, "second")
    return cx.submit(User_List=users.NAMES[0])


def value_of(name, type_):
    """(resource, value) that an attribute of this name and type takes."""
    value = SPECIAL.get(name, VALUES.get(type_, "x"))
    if type_ == "BOOLEAN":
        value = value[0]
    return value if isinstance(value, tuple) else (None, value)


def answer(call, *args):
    try:
        call(*args)
    except api.PbsError as e:
        return e.code
    return 0


def code_of(cx, kind, job, change):
    """What setting it is answered with: 0 or the error's number."""
    name, resource, value = change
    if kind == "job":
        return answer(cx.alter, job, [(name, resource, value)])
    what, object_name, _ = KINDS[kind]
    return answer(cx.manager, api.MSET, what, object_name, [(name, resource, value)])


@pytest.mark.complex(nodes=1, sched=False)
@pytest.mark.parametrize("kind", ["job", *MANAGED])
def test_a_manager_writes_nothing_that_is_the_servers_alone(cx, kind):
    job = objects(cx)
    allowed = [name for name, type_, _, writer, flags, *_ in definitions(kind)
               if writer == "SERVER" and "AF_CREATE" not in flags
               and code_of(cx.api, kind, job, (name, *value_of(name, type_))) != 15003]
    assert not allowed


@pytest.fixture
def others(cx):
    """Connections of a user and of an operator."""
    cx.set_server("operators", f"{users.NAMES[1]}@*")
    made = []
    for name in users.NAMES[:2]:
        with users.acting_as(name):
            made.append(cx.connect())
    yield made
    for c in made:
        c.close()


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
@pytest.mark.complex(nodes=1, sched=False)
@pytest.mark.parametrize("kind", ["job", *MANAGED])
def test_users_and_operators_write_what_the_row_gives_them_and_no_more(cx, others, kind):
    objects(cx)
    job = others[0].submit([("Hold_Types", "u"), ("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")], cx.script("true"))
    for level, who in enumerate(others):
        wrong = []
        for name, type_, _, writer, flags, *_ in definitions(kind):
            if {"AF_CREATE", "AF_ROUTING"} & set(flags.split(" | ")) or (level == 0 and kind != "job"):
                continue
            code = code_of(who, kind, job, (name, *value_of(name, type_)))
            if (code in NO_RIGHT) != (LEVELS.index(writer) > level):
                wrong.append((name, writer, code))
        assert not wrong, f"{LEVELS[level]}: {wrong}"


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
@pytest.mark.parametrize("kind", ["job", *MANAGED])
def test_each_level_is_shown_what_the_row_lets_it_read_and_no_more(cx, others, kind):
    job = objects(cx)
    cx.wait(job)
    seen = []
    for who in [*others, cx.api]:
        found = who.stat("job", job) if kind == "job" else who.stat(KINDS[kind][2])
        seen.append({name.lower() for o in found for name in o})
    for level, names in enumerate(seen):
        hidden = [name for name, _, reader, _, flags, *_ in definitions(kind) if name.lower() in names
                  and (LEVELS.index(reader) > level or "AF_HIDDEN" in flags)]
        assert not hidden, f"{LEVELS[level]} sees {hidden}"
    assert seen[0] and seen[0] <= seen[1] <= seen[2]


# --- values
ODD = {"BOOLEAN": "maybe", "LONG": "7x", "LONG64": "7x", "DURATION": "soon", "FLOAT": "much", "SIZE": "7qb",
       "LIMIT": "[x:PBS_ALL=1]"}


@pytest.mark.complex(nodes=1, sched=False)
@pytest.mark.parametrize("kind", ["job", *MANAGED])
def test_a_value_of_another_type_or_out_of_range_is_refused(cx, kind):
    job = cx.submit(Hold_Types="u")
    cx.api.manager(api.CREATE, api.QUEUE, "other", [("queue_type", None, "Execution")])
    cx.api.manager(api.CREATE, api.SCHED, "second")
    taken = []
    for name, type_, _, writer, flags, bounds, low, high in definitions(kind):
        if LEVELS.index(writer) > 2 or "AF_ROUTING" in flags or "AF_CREATE" in flags:
            continue
        odd = [ODD[type_]] if type_ in ODD else []
        if bounds != "ANY" and type_ != "OCTAL":
            odd += [str(int(n, 0) + step) for n, step in ((low, -1), (high, 1)) if re.fullmatch(r"-?\d+", n)]
        taken += [(name, v) for v in odd if code_of(cx.api, kind, job, (name, None, v)) == 0]
    assert not taken
