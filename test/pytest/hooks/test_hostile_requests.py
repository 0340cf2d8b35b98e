"""A request is what the server takes of it: no spelling, repetition or detour of a client hides from hooks what it asks for, or undoes what they set."""
import os
import socket
import struct
import time

import pytest

from harness import rpc_caller
from harness.exec_peer import text, u32
from harness.hooks import job, qsub

pytestmark = pytest.mark.complex(nodes=1, sched=False)

HELD = ("Hold_Types", None, "u")
LIMIT = "w = e.job.Resource_List['walltime']\nif w is not None and int(w) > 3600: e.reject('too long')"
TWICE = [("Resource_List", "walltime", "0:10:00"), ("resource_list", "WALLTIME", "99:00:00")]
IFL_MODIFY, UNSET, INCR, SET = 11, 1, 2, 0  # op: enum batch_op


def submit(cx, *attrs):
    return cx.api.submit([HELD, *attrs], cx.script("true"))


def walltime(cx, jobid):
    return (job(cx, jobid)["Resource_List"] or {}).get("walltime")


# ---- names in other letters ----

@pytest.mark.parametrize("name", ["walltime", "WALLTIME", "WallTime"])
def test_a_hook_knows_a_resource_in_letters_of_any_case(complex, hooks, name):
    hooks.make("limit", "queuejob", LIMIT)
    assert qsub(complex, "-h", "-l", f"{name}=2:00:00").stderr == "qsub: too long\n"
    hooks.make("limit2", "modifyjob", LIMIT)
    jobid = qsub(complex, "-h", "-l", "walltime=0:10:00", check=True).stdout.strip()
    assert complex.command("qalter", "-l", f"{name}=2:00:00", jobid, check=False).stderr == f"qalter: too long {jobid}\n"
    assert walltime(complex, jobid) == "00:10:00"


def test_a_hook_knows_an_attribute_in_letters_of_any_case(complex, hooks):
    hooks.make("names", "queuejob", "e.reject('%s %s' % (e.job.Job_Name, e.job.Account_Name))")
    with pytest.raises(Exception, match="one two"):
        submit(complex, ("job_name", None, "one"), ("ACCOUNT_NAME", None, "two"))


def test_a_hook_knows_resources_of_a_select_in_letters_of_any_case(complex, hooks):
    hooks.make("limit", "queuejob", "if 'ncpus=4' in str(e.job.Resource_List['select']): e.reject('too many')")
    assert qsub(complex, "-h", "-l", "select=1:NCPUS=4").stderr == "qsub: too many\n"


@pytest.mark.parametrize("event", ["resvsub", "modifyresv"])
def test_a_hook_of_reservations_knows_names_in_letters_of_any_case(complex, hooks, event):
    begin = int(time.time()) + 3600
    ask = [("reserve_start", None, str(begin)), ("Resource_List", "walltime", "600"), ("Resource_List", "select", "1:ncpus=1")]
    resv = complex.api.submit_resv(ask)[0] if event == "modifyresv" else None
    hooks.make("limit", event, "if e.resv.Resource_List['walltime'] == pbs.duration('5:00:00'): e.reject('too long')")
    change = ("RESOURCE_LIST", "Walltime", "5:00:00")
    with pytest.raises(Exception, match="too long"):
        if resv:
            complex.api.modify_resv(resv, [change])
        else:
            complex.api.submit_resv([ask[0], change, ask[2]])


# ---- named twice ----

def test_a_hook_sees_the_entry_that_counts(complex, hooks):
    hooks.make("limit", "queuejob", LIMIT)
    with pytest.raises(Exception, match="too long"):
        submit(complex, *TWICE)
    assert walltime(complex, submit(complex, *reversed(TWICE))) == "00:10:00"


@pytest.mark.parametrize("order", [TWICE, TWICE[::-1], TWICE * 1000])
def test_what_a_hook_sets_is_not_undone_by_a_second_entry(complex, hooks, order):
    hooks.make("sets", "queuejob", "e.job.Resource_List['walltime'] = '0:05:00'\ne.job.project = 'set'")
    jobid = submit(complex, *order, ("project", None, "a"), ("PROJECT", None, "b"))
    assert walltime(complex, jobid) == "00:05:00" and job(complex, jobid)["project"] == "set"
    hooks.make("sets2", "modifyjob", "e.job.Resource_List['walltime'] = '0:07:00'")
    complex.api.alter(jobid, order)
    assert walltime(complex, jobid) == "00:07:00"


def test_what_a_hook_takes_away_is_not_given_back_by_a_second_entry(complex, hooks):
    hooks.make("takes", "queuejob", "e.job.Resource_List['walltime'] = None")
    assert walltime(complex, submit(complex, *TWICE)) is None


# ---- detours ----

def test_a_hook_knows_the_queue_behind_a_destination_with_a_server(complex, hooks):
    complex.make_queue("guarded")
    server = complex.api.stat("server")[0]
    jobid = submit(complex)
    for event in ("movejob", "queuejob"):
        hooks.make("guards" + event, event, "if e.job.queue.name == 'guarded': e.reject('guarded')")
    for to in ("guarded", f"guarded@{server.name}", f"guarded@{server['server_host']}"):
        assert complex.command("qmove", to, jobid, check=False).stderr == f"qmove: guarded {jobid}\n", to
        assert "guarded" in qsub(complex, "-q", to).stderr, to
    assert job(complex, jobid)["queue"] == "workq"


@pytest.mark.parametrize("op, value", [(INCR, "0:50:00"), (UNSET, "0:10:00")])
def test_an_alteration_sets_what_hooks_have_seen_whatever_its_operation_is(complex, hooks, op, value):
    jobid = submit(complex, ("Resource_List", "walltime", "0:30:00"))
    hooks.make("limit", "modifyjob", LIMIT)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(rpc_caller.LIMIT_S)
        client.connect(os.path.join(complex.home, "pbs_server.sock"))
        args = text(jobid) + u32(1) + text("Resource_List") + text("walltime") + text(value) + u32(op) + text("") + u32(0)
        body = struct.pack(">10I", 1, 0, 2, rpc_caller.IFL, 1, IFL_MODIFY, 0, 0, 0, 0) + args
        client.sendall(u32(rpc_caller.LAST | len(body)) + body)
        assert rpc_caller.receive(client)[24:28] == u32(0)
    assert walltime(complex, jobid) == "0" + value
