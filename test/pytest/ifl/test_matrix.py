"""Each attribute of each object, and each verb, as scripts of PBS use them: the table of definitions is the list of what is tried.

One complex for all: a kind's attributes are set together, so that the printed form, the restart of the server and the
way back are asked once a kind, and compared attribute by attribute.
"""
import os
import re
import signal
import time

import pytest

from harness import api, rows as rows_of_store, users
from harness.attributes import VALUES, definitions
from harness.complex import Complex
from harness.wait import until

OBJECTS = {"server": (api.SERVER, ""), "queue": (api.QUEUE, "other"), "route": (api.QUEUE, "way"),
           "node": (api.NODE, "n1"), "sched": (api.SCHED, "second"), "default": (api.SCHED, "default")}
WORDS = {"server": "server", "queue": "queue other", "route": "queue way", "node": "node n1", "sched": "sched second",
         "default": "sched default"}
READ_ONLY = "Cannot set attribute, read only or insufficient permission  "


@pytest.fixture(scope="module")
def cx():
    c = Complex(nodes=1, history=True)
    try:
        c.start()
        c.qmgr("create queue other queue_type=e", "create queue way queue_type=r,route_destinations=workq", "create sched second")
        yield c
    finally:
        c.stop()


def set_usual(cx):
    """What another test may have unset; and the host is back after its restart of the server."""
    for name, value in (("default_queue", "workq"), ("job_history_enable", "True"), ("scheduling", "True"), ("acl_roots", "root"),
                        ("operators", f"{users.NAMES[1]}@*")):
        cx.set_server(name, value)
    until(lambda: "down" not in cx.node("n1").state, "the host")
    if "ncpus" not in cx.node("n1").get("resources_available", {}):  # it was unset, and comes with the next HELLO
        os.kill(cx.pid("n1"), signal.SIGHUP)
        until(lambda: "ncpus" in cx.node("n1").get("resources_available", {}) and cx.node("n1").state == "free", "the host's amounts")


@pytest.fixture(autouse=True)
def usual(cx):
    set_usual(cx)


def rows(kind):
    """Rows of what a manager sets on this object, at any time."""
    other = "AF_EXEC" if kind == "route" else "AF_ROUTING"
    return [r for r in definitions(kind) if r[3] != "SERVER" and other not in r[4] and "AF_CREATE" not in r[4]]


def read_only(kind):
    other = "AF_EXEC" if kind == "route" else "AF_ROUTING"
    return [r for r in definitions(kind) if r[3] == "SERVER" and other not in r[4]]


def refused(call, *args):
    """(code, text), or (0, "") where it is taken."""
    try:
        call(*args)
    except api.PbsError as e:
        return e.code, e.text
    return 0, ""


# --- set, list, print, the printed lines again, restart, unset

# Values that scripts have: quotes, blanks, signs, units, several items. The first is what test_attributes.py takes too.
UGLY = {"STRING": "a \"b\", c=d; it is #1 \\ 'x'".replace("'", ""), "DURATION": "100:00:07", "LIMIT": "[o:PBS_ALL=100],[u:PBS_GENERIC=3],[g:a b=5]",
        "RESOURCE_LIMITS": ("mem", "[u:PBS_GENERIC=3gb],[p:x=1mb]"), "ACL": "-anna@h1.x,+bert@*.x,carl", "STRING_ARRAY": "one,two",
        "RESOURCES": ("mem", "7mb"), "PREEMPT_ORDER": "SCR 80 SC 50 S", "PREEMPT_PRIO": "express_queue, normal_jobs"}
OF_NAME = {"default_queue": "other", "default_qsub_arguments": "-r n -A 'b c'", "job_sort_formula": "ncpus * 2 + (walltime + 1)",
           "restrict_res_to_release_on_suspend": "ncpus,mem", "preemptable_by": "express_queue", "mailer": "/usr/sbin/sendmail",
           "queue": "other", "partition": "p1", "max_job_sequence_id": "12345678", "jobscript_max_size": "7mb",
           "route_destinations": "workq,other@elsewhere", "node_group_key": "host,vnode", "Mom": "n1", "sched_priv": "/some/where",
           "sched_log": "/some/log", "managers": "root@*,pbstest3@*.x", "operators": "pbstest2@*,a@b.c", "acl_groups": "+staff,-other",
           "acl_roots": "root@*,root@h", "acl_hosts": "+*.x,-h1", "queue_type": "Execution", "reported_version": "20.0.1",
           "sched_user": "root", "in_multivnode_host": "0", "pbs_license_min": "7", "pbs_license_max": "70", "Port": "15002",
           "closed": None, "job_requeue_timeout": "00:01:07"}
OF_KIND = {("route", "queue_type"): "Route", ("node", "queue"): None, ("node", "state"): "offline",
           ("default", "partition"): None, ("default", "sched_priv"): None, ("default", "sched_log"): None,
           ("server", "scheduling"): "False", ("default", "scheduling"): None, ("node", "partition"): None, ("queue", "preempt_order"): "SC",
           ("node", "Mom"): None, ("node", "Port"): None, ("route", "route_destinations"): None}
OLD_LIMITS = {"max_running", "max_user_run", "max_group_run", "max_user_run_soft", "max_group_run_soft", "max_user_res",
              "max_group_res", "max_user_res_soft", "max_group_res_soft", "max_queuable"}
NEW_LIMITS = {"max_run", "max_run_res", "max_run_soft", "max_run_res_soft", "max_queued", "max_queued_res",
              "queued_jobs_threshold", "queued_jobs_threshold_res"}
# Two names of one thing (of another object, or of another attribute): they change with it.
TIED = {"throughput_mode", "job_run_wait", "scheduler_iteration"}


def value_for(kind, name, type_):
    """(resource, value), or None: it is not set here."""
    value = OF_KIND.get((kind, name), OF_NAME.get(name, UGLY.get(type_, VALUES.get(type_))))
    if (kind, name) in OF_KIND and OF_KIND[kind, name] is None or name in OF_NAME and OF_NAME[name] is None:
        return None
    if type_ == "BOOLEAN":
        return None, "True"
    return value if isinstance(value, tuple) else (None, value)


def shown(cx, kind):
    call, name = {"server": ("server", None), "sched": ("sched", "second"), "default": ("sched", "default"), "node": ("vnode", "n1"),
                  "queue": ("que", "other"), "route": ("que", "way")}[kind]
    found = cx.api.stat(call) if call in ("server", "sched") else cx.api.stat(call, name)
    return dict(next(o for o in found if name is None or o.name == name))


def chosen(cx, kind, limits):
    """{(name, resource): value} of one round; limits of one style."""
    out = {}
    for name, type_, *_ in rows(kind):
        value = value_for(kind, name, type_)
        if value and name not in limits and name not in TIED:
            out[name, value[0]] = value[1]
    return out


def set_all(cx, kind, values):
    what, name = OBJECTS[kind]
    wrong = {}
    for (attr, resource), value in values.items():
        code, text = refused(cx.api.manager, api.MSET, what, name, [(attr, resource, value)])
        if code:
            wrong[attr] = text
    return wrong


def unset_all(cx, kind, values):
    what, name = OBJECTS[kind]
    keep = {"queue_type"}
    return {attr: text for attr, _ in values
            if attr not in keep and (text := refused(cx.api.manager, api.MUNSET, what, name, [(attr, None, "")])[1])}


def of_values(status, values):
    """What is shown of these attributes."""
    return {(attr, resource): (status.get(attr) or {}).get(resource) if resource else status.get(attr) for attr, resource in values}


def feed(cx, text):
    """The lines but those that make the object; what qmgr complains about."""
    lines = "".join(line + "\n" for line in text.splitlines() if not line.startswith("create "))
    return cx.command("qmgr", stdin=lines, check=False).stderr


def differences(what, before, after):
    return {f"{what} {k}": (before.get(k), after.get(k)) for k in before | after if before.get(k) != after.get(k)}


def round_trip(cx, kind, limits):
    """What is wrong with the attributes of this object, as {where: what}."""
    values = chosen(cx, kind, limits)
    fresh = of_values(shown(cx, kind), values)
    unset_all(cx, kind, values)
    default = of_values(shown(cx, kind), values)
    wrong = set_all(cx, kind, values)
    now = of_values(shown(cx, kind), values)
    wrong |= {f"{k} is not set": v for k, v in now.items() if v is None}
    printed, listed = (cx.qmgr(f"{verb} {WORDS[kind]}") for verb in ("print", "list"))
    unlisted = [attr for attr, _ in values if not re.search(rf"^    {attr}(\.\w+)? = ", listed, re.M)]
    unprinted = [attr for attr, _ in values if not re.search(rf"^(set|create) .*\b{attr}(\.\w+)? ?\+?=", printed, re.M)]
    wrong |= {"unlisted": unlisted} if unlisted else {}
    wrong |= {"unprinted": unprinted} if unprinted else {}
    for daemon in ("server", "sched", "n1"):
        os.kill(cx.pid(daemon), signal.SIGHUP)
    until(lambda: of_values(shown(cx, kind), values) == now,  # the host says hello again, and is down until it has
          lambda: "\n".join(f"{k}: {v}" for k, v in differences("after HUP", now, of_values(shown(cx, kind), values)).items()))
    cx.kill("server")
    down = {verb: cx.command("qmgr", "-c", f"{verb} {WORDS[kind]}", check=False) for verb in ("print", "list")}
    wrong |= {f"{verb} without a server": done for verb, done in down.items() if not done.returncode or done.stdout or not done.stderr}
    cx.restart("server")
    cx.again()
    until(lambda: "down" not in cx.node("n1").state, "the host")
    wrong |= differences("after a restart", now, of_values(shown(cx, kind), values))
    wrong |= unset_all(cx, kind, values)
    wrong |= differences("unset", default, of_values(shown(cx, kind), values))
    complaints = feed(cx, printed)
    wrong |= {"fed again": complaints} if complaints else {}
    wrong |= differences("fed again", now, of_values(shown(cx, kind), values))
    wrong |= unset_all(cx, kind, values)
    wrong |= differences("unset again", default, of_values(shown(cx, kind), values))
    wrong |= {f"new, then unset {k}": (v, default[k]) for k, v in fresh.items() if v is None and default[k] is not None}
    return wrong


@pytest.mark.parametrize("limits", [OLD_LIMITS, NEW_LIMITS], ids=["new_limits", "old_limits"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_a_value_that_is_set_is_shown_printed_read_again_and_survives_a_restart(cx, kind, limits):
    if limits is NEW_LIMITS and kind not in ("server", "queue"):
        return  # no limits of two styles
    wrong = round_trip(cx, kind, limits)
    assert not wrong, "\n".join(f"{k}: {v}" for k, v in wrong.items())


# --- what is refused, and leaves all as it was

NOT_OF_TYPE = {"BOOLEAN": ["maybe", "2"], "LONG": ["7x", "1.5", "99999999999999999999"], "LONG64": ["7x", "99999999999999999999"],
               "DURATION": ["soon", "1:2:3:4", "1:-2"], "FLOAT": ["much", "nan"], "SIZE": ["7qb", "-1mb", "1.5gb"], "ACL": ["a b"],
               "LIMIT": ["[x:PBS_ALL=1]", "3", "[u:anna=-1]", "[u:anna=1", "[o:anna=1]"], "QUEUE_TYPE": ["Transit", "ER"],
               "RUN_WAIT": ["soon"], "FUZZY": ["very"], "PREEMPT_ORDER": ["X", "S 150 C"], "PREEMPT_SORT": ["youngest"],
               "PREEMPT_PRIO": ["nobody"], "NODE_STATE": ["happy", "busy", "maintenance"], "QUEUE_ORDER": ["X"], "DRAIN": ["S", "CC", "x"], "QDEL_ARGS": ["-x"],
               "RESOURCES": [("nosuch", "1"), ("ncpus", "x"), ("mem", "7qb"), (None, "1")],
               "RESOURCE_LIMITS": [("nosuch", "[u:a=1]"), ("ncpus", "3"), ("mem", "[u:a=7qb]"), (None, "[u:a=1]")]}
NOT_ADDED = {"BOOLEAN", "QUEUE_TYPE", "RUN_WAIT", "FUZZY", "PREEMPT_SORT", "QDEL_ARGS", "PREEMPT_PRIO", "PREEMPT_ORDER", "QUEUE_ORDER", "DRAIN"}
CODES = {"NODE_STATE": 15067}


def ill_values(name, type_, low, high):
    """(resource, value, the error's number) that are no values of this attribute."""
    out = [(v if isinstance(v, tuple) else (None, v)) for v in NOT_OF_TYPE.get(type_, [])]
    out += [(None, str(int(n, 0) + step)) for n, step in ((low, -1), (high, 1)) if n and re.fullmatch(r"-?\d+", n)]
    return [(r, v, 15035 if r == "nosuch" else 15002 if r is None and type_.startswith("RESOURCE") else CODES.get(type_, 15014))
            for r, v in out]


def snapshot(cx):
    return {kind: {k: v for k, v in shown(cx, kind).items() if k not in ("last_state_change_time", "state", "server_state")}
            for kind in OBJECTS}


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_ill_value_is_answered_with_its_number_and_name_and_changes_nothing(cx, kind):
    what, name = OBJECTS[kind]
    before, wrong = snapshot(cx), []
    for attr, type_, _, _, _, _, low, high in rows(kind):
        for resource, value, expected in ill_values(attr, type_, low, high):
            for op in (api.SET, api.INCR):
                if op == api.INCR and type_ in NOT_ADDED:
                    expected = 15026
                elif op == api.INCR and re.fullmatch(r"-?\d+", value):
                    continue  # the sum may be one
                code, text = refused(cx.api.manager, api.MSET, what, name, [(attr, resource, value, op)])
                if code != expected or attr not in text:
                    wrong.append((attr, op, resource, value, code, text))
    assert not wrong, "\n".join(map(str, wrong))
    assert snapshot(cx) == before


@pytest.mark.parametrize("kind", OBJECTS)
def test_setting_an_attribute_that_only_the_server_writes_is_refused_by_its_name(cx, kind):
    what, name = OBJECTS[kind]
    before, wrong = snapshot(cx), []
    for attr, type_, *_ in read_only(kind):
        resource, value = value_for(kind, attr, type_) or (None, "x")
        for command, op, text in ((api.MSET, api.SET, value), (api.MSET, api.INCR, value), (api.MSET, api.DECR, value), (api.MUNSET, api.UNSET, "")):
            answer = refused(cx.api.manager, command, what, name, [(attr, resource, text or "x", op)])
            if answer != (15003, READ_ONLY + attr):
                wrong.append((attr, command, op, answer))
    assert not wrong, "\n".join(map(str, wrong))
    assert snapshot(cx) == before


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
@pytest.mark.parametrize("kind", OBJECTS)
def test_a_user_changes_nothing_and_an_operator_what_the_row_gives_him(cx, kind):
    what, name = OBJECTS[kind]
    before, wrong = snapshot(cx), []
    for who, level in zip(users.NAMES, ("USER", "OPERATOR")):
        with users.acting_as(who):
            c = cx.connect()
        for attr, type_, _, writer, *_ in rows(kind):
            resource, value = value_for(kind, attr, type_) or (None, "x")
            allowed = writer == level
            for command, text in ((api.MSET, value), (api.MUNSET, "")):
                if allowed and command == api.MSET:
                    continue  # done by the others
                if allowed and before[kind].get(attr) is not None:
                    continue
                code, said = refused(c.manager, command, what, name, [(attr, resource, text or "x")])
                expected = (0,) if allowed else (15003, 15007)
                if code not in expected or (code == 15003 and not said.startswith(READ_ONLY + attr)):
                    wrong.append((level, attr, command, code, said))
        c.close()
    assert not wrong, "\n".join(map(str, wrong))
    assert snapshot(cx) == before


# --- objects that are used, named twice, or not there

def tried(cx, *line):
    """What qmgr says to this line: (number of the error, or 0; all its output)."""
    done = cx.command("qmgr", "-c", " ".join(line), check=False)
    number = re.search(r"qmgr: Error \((\d+)\) returned from server", done.stderr)
    assert not number or done.returncode == int(number[1]) % 256
    return int(number[1]) if number else done.returncode, done.stdout + done.stderr


VERBS = [  # object, line with its name, number of the error (0: none), words of the answer
    ("create queue {q} queue_type=e", 0, ""),
    ("create queue {q} queue_type=e", 15025, "Queue already exists"),
    ("create queue abcdefghijklmnop queue_type=e", 15028, "Queue name too long"),
    ("create queue {q}2 queue_type=Transit", 15014, "queue_type"),
    ("create queue {q}2 nosuch=1", 15002, "Undefined attribute  nosuch"),
    ("create queue {q}2 total_jobs=1", 15003, READ_ONLY + "total_jobs"),
    ("list queue {q}2", 15018, "Unknown queue"),
    ("set queue nosuch Priority=1", 15018, "Unknown queue"),
    ("unset queue nosuch Priority", 15018, "Unknown queue"),
    ("delete queue nosuch", 15018, "Unknown queue"),
    ("set queue {q} nosuch=1", 15002, "Undefined attribute  nosuch"),
    ("unset queue {q} nosuch", 15002, "Undefined attribute  nosuch"),
    ("set queue {q} route_lifetime=3", 15026, "Incompatible type"),
    ("set queue {q} enabled=t,started=t", 0, ""),
    ("set queue {q} queue_type=Route", 15030, "Cannot enable queue, incomplete definition"),
    ("unset queue {q} queue_type", 15137, "Queue type must be set"),
    ("set node n1 queue=nosuch", 15018, "Unknown queue"),
    ("set node n1 queue=way", 15026, "Incompatible type"),
    ("set node n1 queue={q}", 0, ""),
    ("delete queue {q}", 15027, "Cannot delete busy object"),
    ("set queue {q} enabled=f,started=f", 0, ""),
    ("set queue {q} queue_type=Route", 15027, "node n1"),
    ("unset node n1 queue", 0, ""),
    ("set queue {q} acl_users=a", 0, ""),
    ("set queue {q} acl_users-=a", 0, ""),
    ("set queue {q} acl_users-=a", 0, ""),
    ("list queue {q} acl_users", 0, "!acl_users"),
    ("print queue {q}", 0, "!acl_users"),
    ("set queue {q} resources_max.ncpus=-1", 15014, "resources_max.ncpus"),
    ("set queue {q} resources_max.ncpus=1", 0, ""),
    ("set queue {q} resources_max.ncpus-=2", 15014, "resources_max.ncpus"),
    ("list queue {q} resources_max", 0, "resources_max.ncpus = 1"),
    ("delete queue {q}", 0, ""),
    ("delete queue {q}", 15018, "Unknown queue"),
    ("create sched {q}", 0, ""),
    ("create sched {q}", 15211, "Scheduler already exists"),
    ("create sched default", 15211, "Scheduler already exists"),
    ("create sched abcdefghijklmnop", 15212, "Scheduler name is too long"),
    ("set sched nosuch log_events=1", 15213, "Unknown Scheduler: nosuch"),
    ("list sched nosuch", 15213, "Unknown Scheduler"),
    ("set sched default partition=p7", 15223, "Operation is not permitted on default scheduler"),
    ("set sched {q} partition=pbs-default", 15228, "Default partition name is not allowed"),
    ("set sched {q} partition=p7", 0, ""),
    ("create sched {q}2 partition=p7", 15224, "Partition is already associated with other scheduler"),
    ("set node n1 partition=pbs-default", 15228, "Default partition name is not allowed"),
    ("set queue way partition=p7", 15217, "Cannot assign a partition to route queue"),
    ("delete sched default", 15214, "Can not delete Scheduler"),
    ("delete sched {q}", 0, ""),
    ("delete sched {q}", 15213, "Unknown Scheduler"),
    ("set server preempt_order=SCR", 15002, "Undefined attribute  preempt_order (it is an attribute of: queue, sched)"),
    ("set queue workq scheduling=t", 15002, "Undefined attribute  scheduling (it is an attribute of: server, sched)"),
    ("set sched default nosuch=t", 15002, "Undefined attribute  nosuch\n"),
    ("create node n1", 15066, "Node name already exists"),
    ("create node {q} nosuch=1", 15002, "Undefined attribute  nosuch"),
    ("list node {q}", 15062, "Unknown node"),
    ("create node {q}", 0, ""),
    ("set node {q} state=busy", 15067, "Illegal value for node"),
    ("set node {q} resources_available.ncpus=-1", 15014, "resources_available.ncpus"),
    ("set node {q} resources_available.ncpus=3", 0, ""),
    ("set node {q} sharing=force_excl", 15003, READ_ONLY + "sharing"),
    ("set node {q} queue=workq,partition=p9", 0, ""),
    ("delete node {q}", 0, ""),
    ("delete node {q}", 15062, "Unknown node"),
    ("create resource {q} type=long,flag=nh", 0, ""),
    ("create resource {q} type=long,flag=nh", 15055, "Duplicate entry in list"),
    ("create resource ncpus type=long", 15055, "Duplicate entry in list"),
    ("create resource {q}2 type=colour", 15014, "colour"),
    ("create resource {q}2 type=string,flag=nh", 15014, "flag"),
    ("create resource {q}2 flag=z", 15014, "flag"),
    ("list resource {q}2", 15035, "Unknown resource"),
    ("set resource {q} colour=red", 15002, "Undefined attribute  colour"),
    ("set resource ncpus flag=h", 15003, READ_ONLY.rstrip()),
    ("set node n1 resources_available.{q}=-1", 15014, "resources_available.{q}"),
    ("set node n1 resources_available.{q}=3", 0, ""),
    ("set resource {q} type=string", 15174, "Resource busy"),
    ("delete resource {q}", 0, ""),
    ("delete resource {q}", 15035, "Unknown resource"),
    ("list node n1 resources_available.{q}", 15035, "Unknown resource"),
    ("set server default_queue=nosuch", 15018, "Unknown queue"),
    ("set server resources_default.{q}=1", 15035, "Unknown resource"),
    ("set server restrict_res_to_release_on_suspend={q}", 15035, "Unknown resource"),
    ("set server pbs_license_min=-1", 15118, "pbs_license_min is < 0, or > pbs_license_max"),
    ("set server pbs_license_min=5,pbs_license_max=3", 15119, "pbs_license_max is < 0, or < pbs_license_min"),
    ("set server pbs_license_max=-3", 15119, "pbs_license_max is < 0, or < pbs_license_min"),
    ("set server pbs_license_linger_time=0", 15120, "pbs_license_linger_time is <= 0"),
    ("set server jobscript_max_size=3gb", 15176, "jobscript max size exceeds 2GB"),
    ("set server max_job_sequence_id=7", 15225, "Cannot set max_job_sequence_id < 9999999, or > 999999999999"),
    ("set server job_sort_formula='ncpus +'", 15123, "Invalid Formula Format"),
    ("set server job_sort_formula='nosuch * 2'", 15124, "Formula contains invalid keyword"),
    ("set server max_running=3", 0, ""),
    ('set server max_run="[u:a=3]"', 15141, "Cannot mix old and new style"),
    ("unset server max_running", 0, ""),
]


def test_each_verb_is_answered_with_pbs_s_number_and_words(cx):
    wrong = []
    for line, number, words in VERBS:
        line, words = line.format(q="verbs"), words.format(q="verbs")
        code, said = tried(cx, line)
        if code != number or (words[1:] in said if words[:1] == "!" else words not in said):
            wrong.append((line, number, code, said))
    assert not wrong, "\n".join(map(str, wrong))
    assert "verbs" not in cx.qmgr("print server", "print sched", "print node @default", "list resource")


def last_lines(cx, word, n):
    """The texts of the last n lines of the server's log with this word."""
    return [line.split(";", 5)[5] for line in cx.log("server").splitlines() if word in line][-n:]


def test_numbers_of_jobs_begin_again_where_their_bound_is_lowered(cx):
    cx.set_server("max_job_sequence_id", "12345678")
    cx.stop_daemon("server")
    rows_of_store.query(cx, "update object set hot = '{\"next_seq\":12000000}' where kind = 'server'")
    cx.restart("server")
    cx.again()
    assert cx.submit(Hold_Types="u").startswith("12000000.")
    cx.api.manager(api.MUNSET, api.SERVER, "", [("max_job_sequence_id", None, "")])
    assert last_lines(cx, "svr_max_job", 2) == ["svr_max_job_sequence_id reverting back to default val 9999999",
                                                "svr_max_job_sequence_id wrapped to 0"]
    assert cx.api.stat("server")[0]["max_job_sequence_id"] == "9999999"
    assert cx.submit(Hold_Types="u").split(".")[0] == "0"
    cx.set_server("max_job_sequence_id", "9999999")
    assert last_lines(cx, "svr_max_job", 1) == ["svr_max_job_sequence_id set to val 9999999"]
    cx.clean()


def test_a_chunk_has_one_processor_where_no_default_says_otherwise(cx):
    for line in ("unset server default_chunk", "unset server default_chunk.ncpus", "set server default_chunk.mem=1mb", "unset server default_chunk.mem"):
        cx.qmgr(line)
        assert "default_chunk.ncpus = 1\n" in cx.qmgr("print server"), line
        job = cx.submit(Hold_Types="u", select="2")
        assert cx.stat(job)["schedselect"].startswith("2:ncpus=1") and cx.stat(job)["Resource_List"]["ncpus"] == "2"
    cx.qmgr("set server default_chunk.ncpus=2")
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert cx.stat(cx.submit(Hold_Types="u", select="1"))["schedselect"] == "1:ncpus=2"
    cx.qmgr("unset server default_chunk")
    cx.clean()


SAID = [("node_fail_requeue", "7", "node_fail_requeue value changed to 7", "node_fail_requeue value changed to 310"),
        ("resend_term_delay", "7", "resend_term_delay value changed to 7", "resend_term_delay value changed to 5"),
        ("job_history_duration", "01:00:00", "svr_history_duration set to val 3600", "svr_history_duration set to val 1209600"),
        ("python_restart_max_hooks", "7", "python_restart_max_hooks is now 7", "python_restart_max_hooks is now 100"),
        ("python_restart_max_objects", "7", "python_restart_max_objects is now 7", "python_restart_max_objects is now 1000"),
        ("python_restart_min_interval", "00:01:00", "python_restart_min_interval is now 60", "python_restart_min_interval is now 30")]


@pytest.mark.parametrize("name, value, said, said_of_default", SAID)
def test_the_log_says_what_a_number_of_the_server_is_now(cx, name, value, said, said_of_default):
    cx.set_server(name, value)
    cx.wait_log("server", f";{said}\n")
    before = cx.log("server").count(f";{said_of_default}\n")
    cx.api.manager(api.MUNSET, api.SERVER, "", [(name, None, "")])
    cx.wait_log("server", f";{said_of_default}\n", before + 1)


def test_a_queue_its_nodes_and_their_jobs_are_of_one_partition(cx):
    cx.qmgr("create queue one queue_type=e,partition=p1", "create queue none queue_type=e", "set node n1 partition=p2")
    for line, number, words in (("set node n1 queue=one", 15219, "Queue one is not part of partition for node"),
                                ("set node n1 queue=one,partition=p2", 15220, "Partition p2 is not part of queue for node"),
                                ("set node n1 queue=none", 0, ""),
                                ("set queue none partition=p1", 15221, "Invalid partition in queue"),
                                ("set queue none partition=p2", 0, ""),
                                ("set node n1 partition=p1", 15220, "Partition p1 is not part of queue for node"),
                                ("unset node n1 partition", 0, ""), ("unset node n1 queue", 0, "")):
        code, said = tried(cx, line)
        assert code == number and words in said, (line, said)
    cx.wait(cx.submit(queue="workq"), "R")
    code, said = tried(cx, "set node n1 partition=p1")
    assert code == 15227 and "Node is busy" in said
    cx.clean()
    cx.qmgr("set node n1 partition=p1", "unset node n1 partition", "delete queue one", "delete queue none")


def test_a_queue_keeps_its_type_as_long_as_it_has_jobs(cx):
    cx.make_queue("full")
    job = cx.submit(queue="full")
    cx.wait(job, "R")
    cx.qmgr("set queue full enabled=f,started=f")
    for line in ("set queue full queue_type=Route", "unset queue full queue_type"):
        code, said = tried(cx, line)
        assert code == 15027 and "queue full has 1 jobs" in said, line
    assert "Execution" in cx.qmgr("list queue full queue_type")
    cx.clean()
    cx.qmgr("set queue full queue_type=Route", "delete queue full")


def test_without_its_default_queue_a_server_says_that_there_is_none(cx):
    cx.make_queue("first")
    cx.set_server("default_queue", "first")
    cx.qmgr("delete queue first")
    with pytest.raises(api.PbsError) as e:
        cx.submit()
    assert (e.value.code, e.value.text) == (15037, "No default queue specified")
    held = cx.submit(queue="workq", Hold_Types="u")
    assert refused(cx.api.move, held, "@" + held.split(".")[1])[0] == 15037
    cx.make_queue("first")  # a site that makes it again continues where it was
    assert cx.stat(cx.submit(Hold_Types="u"))["queue"] == "first"
    cx.set_server("default_queue", "workq")
    cx.clean()
    cx.qmgr("delete queue first")


# --- jobs

OF_JOB = {"Account_Name": "a b", "Checkpoint": "c=7", "depend": None, "Error_Path": "h:/tmp/e,1", "Execution_Time": "4102444800",
          "group_list": f"{users.GROUP}@*", "Hold_Types": "us", "Join_Path": "oe", "Keep_Files": "oed", "Mail_Points": "abe",
          "Mail_Users": "anna@h,bert", "Output_Path": "h:/tmp/o 1", "Priority": "-7", "Remove_Files": "e", "Shell_Path_List": "/bin/sh@h,/bin/bash",
          "sandbox": "PRIVATE", "stagein": "a@h:b", "stageout": "a@h:b", "User_List": users.NAMES[1], "Variable_List": "A=1,B=x\\,y",
          "umask": "27", "run_count": "3", "Job_Name": "other name"[:5], "project": "p-1", "comment": "why, it", "eligible_time": None,
          "max_run_subjobs": None, "Resource_List": ("walltime", "01:00:00"), "estimated": ("start_time", "4102444800"),
          "preempt_methods": "SR", "preempt_signal": "USR1:all", "credential_id": "x", "executable": None, "argument_list": None,
          "Submit_arguments": "-l x", "forward_x11_cookie": "c", "Rerunable": "False", "sched_hint": "3", "destination": None,
          "node_set": "a,b", "ptime": None, "Submit_Host": None, "cred": None, "create_resv_from_job": "True", "topjob_ineligible": "True",
          "release_nodes_on_stageout": None, "tolerate_node_failures": None, "no_stdio_sockets": "True", "gridname": "g", "pmix": "True"}


def job_rows():
    """(name, resource, value, flags) of what a manager may alter of a job that waits."""
    for name, type_, _, writer, flags, *_ in definitions("job"):
        if writer == "SERVER" or "AF_CREATE" in flags:
            continue
        value = OF_JOB.get(name, VALUES.get(type_, "x")) if name in OF_JOB or type_ in VALUES else "x"
        if value is not None:
            yield (name, *(value if isinstance(value, tuple) else (None, value)), flags)


def of_job(cx, job, name, resource):
    found = cx.api.stat("job", job)[0].get(name)
    return (found or {}).get(resource) if resource else found


def test_attributes_of_a_job_are_altered_kept_and_unset(cx):
    cx.set_server("scheduling", "False")  # a job that is no longer held waits all the same
    whole = {}
    jobs = {"waiting": cx.submit(Hold_Types="u", Variable_List="Z=1"), "array": cx.submit(Hold_Types="u", array_indices_submitted="1-3", Variable_List="Z=1")}
    wrong, now = [], {}
    for which, job in jobs.items():
        for name, resource, value, _ in job_rows():
            before = of_job(cx, job, name, resource)
            code, text = refused(cx.api.alter, job, [(name, resource, value)])
            now[job, name, resource] = of_job(cx, job, name, resource)
            if code or (now[job, name, resource] is None and name not in HIDDEN_OF_JOB):
                wrong.append((which, name, value, before, now[job, name, resource], code, text))
    whole |= {job: dict(cx.api.stat("job", job)[0]) for job in jobs.values()}
    cx.kill("server")
    cx.restart("server")
    cx.again()
    wrong += [differences(f"{job} after a restart", whole[job], dict(cx.api.stat("job", job)[0])) for job in jobs.values()
              if whole[job] != dict(cx.api.stat("job", job)[0])]
    wrong += [(k, "after a restart", v, of_job(cx, *k)) for k, v in now.items() if of_job(cx, *k) != v]
    for which, job in jobs.items():
        for name, resource, value, _ in job_rows():
            code, text = refused(cx.api.alter, job, [(name, resource, "")])
            after = of_job(cx, job, name, resource)
            if code or after == now[job, name, resource] and name not in HIDDEN_OF_JOB:
                wrong.append((which, name, "unset", value, after, code, text))
    assert all(of_job(cx, job, "Job_Name", None) == "none" and "null" not in of_job(cx, job, "Error_Path", None) for job in jobs.values())
    cx.clean()
    assert not wrong, "\n".join(map(str, wrong))


HIDDEN_OF_JOB = {r[0] for r in definitions("job") if r[2] in ("SERVER", "SCHED") or "AF_HIDDEN" in r[4]}


def test_altering_a_fixed_attribute_of_a_job_is_refused_by_its_name(cx):
    waiting, running, array = cx.submit(Hold_Types="u"), cx.submit(), cx.submit(array_indices_submitted="1-2")
    cx.wait(running, "R")
    cx.wait(array, "B")
    wrong = []
    for name, type_, _, writer, flags, *_ in definitions("job"):
        if writer == "SERVER" or "AF_CREATE" in flags:
            for job in (waiting, running, array):
                code, text = refused(cx.api.alter, job, [(name, None if type_ != "RESOURCES" else "ncpus", "1")])
                if code != 15003 or not text.startswith(READ_ONLY + name):
                    wrong.append((name, job, code, text))
        elif "AF_RUN" not in flags:
            legal = {"depend": f"afterany:{waiting}", "User_List": users.NAMES[0]}
            code, text = refused(cx.api.alter, running, [(name, None, legal.get(name, "x"))])
            if code != 15015 or not text.startswith("Cannot modify attribute while job running  " + name):
                wrong.append((name, "running", code, text))
    cx.clean()
    assert not wrong, "\n".join(map(str, wrong))


# --- resources that jobs of the past had

def test_a_resource_that_comes_back_with_another_type_is_right_in_old_jobs_too(cx):
    cx.qmgr("create resource back type=long", "create resource gone type=string")
    job = cx.submit("true", l_back="2", l_gone="red")
    cx.wait_gone(job)
    cx.qmgr("delete resource back", "delete resource gone", "create resource back type=string", "create resource gone type=long")

    def amounts():
        found = cx.api.stat("job", job, extend="x")[0]["Resource_List"]
        return found.get("back"), found.get("gone")
    assert amounts() == ("2", None)
    assert cx.api.select([("Resource_List", "back", "2", api.EQ)], extend="x") == [job]
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert amounts() == ("2", "red")  # the history keeps what was said
    cx.qmgr("delete resource back", "delete resource gone")


def test_lines_of_a_resource_that_is_there_are_fed_again(cx):
    cx.qmgr("create resource fed type=long,flag=nh", "set node n1 resources_available.fed=3", "set server resources_max.fed=2")
    assert feed(cx, cx.qmgr("print resource fed")) == "" and feed(cx, cx.qmgr("print server")) == ""
    cx.qmgr("delete resource fed")


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
def test_a_resource_that_users_do_not_see_is_not_in_their_lists(cx):
    cx.qmgr("create resource hidden type=long,flag=i", "create resource seen type=long,flag=r")
    listed = cx.command("qmgr", "-c", "list resource", user=users.NAMES[0]).stdout
    assert "seen" in listed and "hidden" not in listed and "hidden" in cx.qmgr("list resource")
    cx.qmgr("delete resource hidden", "delete resource seen")


# --- hosts that do not exist

def test_a_host_that_never_came_is_listed_as_down(cx):
    cx.qmgr("create node never")
    assert re.search(r"^never +down,state-unknown", cx.command("pbsnodes", "-l").stdout, re.M)
    code, said = tried(cx, "set node never state=down")
    assert (code, said) == (0, "")
    cx.qmgr("set node n1 state=down")  # what the host's connection says counts
    assert cx.node("n1").state == "free" and "n1 " not in cx.command("pbsnodes", "-l").stdout
    cx.qmgr("delete node never")


# --- hooks

HOOK_VALUES = {"enabled": "false", "user": "pbsadmin", "alarm": "7", "order": "17", "debug": "true",
               "freq": "77", "type": "site"}
HOOK_VERBS = [  # line, whether it is refused, words of the answer
    ("create hook {q}", False, ""),
    ("create hook {q}", True, "hook name '{q}' already registered"),
    ("create hook PBS_{q}", True, "reserved for pbs hooks"),
    ("set hook {q} event=nosuch", True, "invalid argument (nosuch) to event"),
    ("set hook {q} enabled=maybe", True, "unexpected value 'maybe'"),
    ("set hook {q} alarm=0", True, "alarm value '0' of a hook must be > 0"),
    ("set hook {q} alarm=soon", True, "alarm"),
    ("set hook {q} order=0", True, "outside the acceptable range of [1, 1000]"),
    ("set hook {q} order=1001", True, "outside the acceptable range of [1, 1000]"),
    ("set hook {q} user=nobody", True, "user value of a hook must be pbsadmin,pbsuser"),
    ("set hook {q} type=pbs", True, "not allowed to set hook to 'pbs' type"),
    ("set hook {q} fail_action=offline_vnodes", True, "hook event must contain at least one of"),
    ("set hook {q} freq=5", True, "hook event must contain at least"),
    ("set hook {q} colour=red", True, "colour"),
    ("unset hook {q} colour", True, "colour"),
    ("set hook {q} event=queuejob", False, ""),
    ("set hook {q} event+=queuejob", False, ""),
    ("set hook {q} event+=runjob", False, ""),
    ("set hook {q} event-=queuejob", False, ""),
    ("list hook {q}", False, "event = runjob\n"),
    ("set hook {q}2 enabled=t", True, "{q}2 does not exist!"),
    ("unset hook {q}2 alarm", True, "{q}2 does not exist!"),
    ("list hook {q}2", True, "hook not found"),
    ("print hook {q}2", True, "hook not found"),
    ("delete hook {q}2", True, "{q}2 does not exist!"),
    ("export hook {q} application/x-python default", True, "No such file or directory"),
    ("export hook {q} application/x-config default", True, "No such file or directory"),
    ("import hook {q} application/x-python default /nonexistent", True, "/nonexistent"),
    ("import hook {q} application/x-colour default /etc/hostname", True, "<content-type> must be"),
    ("delete hook {q}", False, ""),
    ("delete hook {q}", True, "{q} does not exist!"),
    ("create hook {q}", False, ""),
    ("list hook {q}", False, "event = \"\"\n"),
    ("delete hook {q}", False, ""),
]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="root alone sets hooks")


@needs_root
def test_each_verb_of_hooks_is_answered_with_pbs_s_words(cx):
    wrong = []
    for line, refused_, words in HOOK_VERBS:
        line, words = line.format(q="verbs"), words.format(q="verbs")
        code, said = tried(cx, line)
        if bool(code) != refused_ or words not in said:
            wrong.append((line, refused_, code, said))
    assert not wrong, "\n".join(map(str, wrong))
    assert "verbs" not in cx.qmgr("print hook", "list hook")


def hook_shown(cx, name):
    """{attribute: value} of a hook, as list shows it."""
    return dict(re.findall(r"^    (\w+) = (.*)$", cx.qmgr(f"list hook {name}"), re.M))


@needs_root
def test_a_value_that_is_set_in_a_hook_is_shown_printed_read_again_and_survives_a_restart(cx):
    # freq and fail_action are of events that run on hosts: those come first.
    values = {"event": "queuejob,periodic"} | {r[0]: HOOK_VALUES[r[0]] for r in definitions("hook") if r[0] not in ("event", "fail_action")}
    cx.qmgr("create hook whole")
    fresh = hook_shown(cx, "whole")
    cx.qmgr(*[f"set hook whole {name}={value}" if name != "event" else f'set hook whole event="{value}"' for name, value in values.items()])
    now = hook_shown(cx, "whole")
    assert {name: now.get(name) for name in values} == values
    printed = cx.qmgr("print hook whole")
    assert all(re.search(rf"^set hook whole {name} \+?=", printed, re.M) for name in values)
    os.kill(cx.pid("server"), signal.SIGHUP)
    assert hook_shown(cx, "whole") == now
    cx.kill("server")
    down = [cx.command("qmgr", "-c", f"{verb} hook whole", check=False) for verb in ("list", "print", "delete")]
    assert all(done.returncode and not done.stdout and done.stderr for done in down)
    cx.restart("server")
    cx.again()
    assert hook_shown(cx, "whole") == now
    cx.qmgr(*[f"unset hook whole {name}" for name in reversed(values)])
    assert hook_shown(cx, "whole") == fresh
    assert feed(cx, printed) == "" and hook_shown(cx, "whole") == now
    cx.qmgr("delete hook whole")
    assert cx.command("qmgr", stdin=printed).stderr == "" and hook_shown(cx, "whole") == now  # made again
    cx.qmgr("delete hook whole")


# --- reservations

HOUR_S = 3600


def stamp(after_s):
    return time.strftime("%Y%m%d%H%M.%S", time.localtime(time.time() + after_s))


def reserve(cx, *options):
    return cx.command("pbs_rsub", "-I", "60", *(options or ("-R", stamp(HOUR_S), "-D", "600", "-l", "select=1:ncpus=1"))).stdout.split()[0]


def of_resv(cx, name):
    found = [dict(r) for r in cx.api.stat("resv", name)]
    return {k: v for k, v in found[0].items() if k not in ("mtime",)} if found else None


RALTER = [  # options, attribute, what it is then
    (("-N", "other"), "Reserve_Name", "other"), (("-m", "be"), "Mail_Points", "be"), (("-M", "anna@h,bert"), "Mail_Users", "anna@h,bert"),
    (("-U", f"+{users.NAMES[1]}@*"), "Authorized_Users", f"+{users.NAMES[1]}@*"), (("-D", "1200"), "reserve_duration", "1200")]
NOT_ALTERED = [  # options, words of the answer
    (("-D", "0"), "Bad time specification"), (("-D", "soon"), "'soon'"), (("-R", "never"), "illegal -R"), (("-m", "x"), "illegal -m value"),
    (("-N", "not a name"), "illegal -N value"), (("-l", "walltime=3"), "only allows for select"),
    (("-R", stamp(HOUR_S), "-E", stamp(60)), "Bad time specification")]


def test_a_value_that_is_altered_in_a_reservation_is_shown_and_survives_a_restart(cx):
    name = reserve(cx)
    wrong = []
    for options, attr, value in RALTER:
        for _ in range(2):
            done = cx.command("pbs_ralter", "-I", "60", *options, name, check=False)
            if done.returncode or of_resv(cx, name).get(attr) != value:
                wrong.append((options, done.returncode, done.stdout, done.stderr, of_resv(cx, name).get(attr)))
    before = of_resv(cx, name)
    for options, words in NOT_ALTERED:
        done = cx.command("pbs_ralter", "-I", "60", *options, name, check=False)
        if not done.returncode or words not in done.stdout + done.stderr or of_resv(cx, name) != before:
            wrong.append((options, done.returncode, done.stdout, done.stderr, differences("altered", before, of_resv(cx, name))))
    os.kill(cx.pid("server"), signal.SIGHUP)
    if of_resv(cx, name) != before:
        wrong.append(differences("after HUP", before, of_resv(cx, name)))
    cx.kill("server")
    for words in (("pbs_rstat", name), ("pbs_ralter", "-N", "x", name), ("pbs_rdel", name), ("pbs_rsub", "-R", stamp(HOUR_S), "-D", "600")):
        done = cx.command(*words, check=False)
        if not done.returncode or not done.stderr or done.stdout:
            wrong.append((words, done.returncode, done.stdout, done.stderr))
    cx.restart("server")
    cx.again()
    if of_resv(cx, name) != before:
        wrong.append(differences("after a restart", before, of_resv(cx, name)))
    cx.command("pbs_rdel", name)
    assert not wrong, "\n".join(map(str, wrong))


def test_a_reservation_that_is_gone_is_unknown_to_each_command_and_its_queue_too(cx):
    name = reserve(cx)
    queue = name.split(".")[0]
    assert cx.qmgr(f"list queue {queue}").startswith(f"Queue {queue}\n") and f"create queue {queue}" not in cx.qmgr("print server")
    for line in (f"delete queue {queue}", f"set queue {queue} queue_type=Route"):
        assert tried(cx, line)[0], line
    cx.command("pbs_rdel", name)
    until(lambda: cx.api.stat("resv") == [], "its end")
    wrong = []
    for words in (("pbs_rdel", name), ("pbs_ralter", "-N", "x", name), ("pbs_rstat", name), ("qsub", "-q", queue, "--", "/bin/true")):
        done = cx.command(*words, check=False)
        if not done.stderr or bool(done.returncode) == (words[0] == "pbs_rstat"):  # which ends with 0, as in PBS
            wrong.append((words, done.returncode, done.stdout, done.stderr))
    assert not wrong, "\n".join(map(str, wrong))
    assert tried(cx, f"list queue {queue}")[0] == 15018
    again = reserve(cx)
    assert again != name and of_resv(cx, again)["reserve_state"] == of_resv(cx, again)["reserve_state"]
    cx.command("pbs_rdel", again)


def test_a_reservation_in_use_is_altered_where_that_harms_no_job(cx):
    name = reserve(cx, "-R", stamp(1), "-D", "3600", "-l", "select=1:ncpus=1")
    job = cx.submit("sleep 600", queue=name.split(".")[0])
    cx.wait(job, "R")
    wrong = []
    for options, attr, value in (*RALTER[:3], (("-D", "7200"), "reserve_duration", "7200")):
        done = cx.command("pbs_ralter", "-I", "60", *options, name, check=False)
        if done.returncode or of_resv(cx, name).get(attr) != value:
            wrong.append((options, done.returncode, done.stdout, done.stderr, of_resv(cx, name).get(attr)))
    before = of_resv(cx, name)
    done = cx.command("pbs_ralter", "-I", "60", "-R", stamp(HOUR_S), name, check=False)
    if not done.returncode or of_resv(cx, name) != before:
        wrong.append(("a later start under a job", done.stdout, done.stderr))
    cx.kill("server")
    cx.restart("server")
    cx.again()
    if cx.stat(job).state != "R" or of_resv(cx, name)["reserve_state"] != before["reserve_state"]:
        wrong.append(("after a restart", cx.stat(job), of_resv(cx, name)))
    cx.command("pbs_rdel", name)
    cx.wait_gone(job)
    until(lambda: cx.api.stat("resv") == [], "its end")
    assert not wrong, "\n".join(map(str, wrong))
