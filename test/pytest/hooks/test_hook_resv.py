"""Hooks of reservations in a real server, with this test as the scheduler that confirms them."""
import os
import subprocess
import time

import pytest

from harness.ask import at, stat_resv
from harness.hooks import log
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=2, sched=False, clock=True)


SOON_S = 20  # then it is there by a leap of the clock, which the test makes when it is ready


def rsub(cx, *options, check=True, start=3600):
    """A reservation that begins in so many seconds."""
    begin = time.strftime("%Y%m%d%H%M.%S", time.localtime(cx.clock.now() + start))
    done = cx.command("pbs_rsub", "-R", begin, "-D", 600, *options, check=check)
    return done.stdout.split()[0] if check else done


def confirm(cx, resv, vnode="n1"):
    cx.api.confirm_resv(resv, f"({vnode}:ncpus=1)")


def soon(cx, *more):
    """A reservation of two seconds that begins soon; its identifier, begin and end."""
    begin = int(cx.clock.now()) + SOON_S
    resv, _ = cx.api.submit_resv([("reserve_start", begin), ("reserve_end", begin + 2), ("Resource_List", "select", "1:ncpus=1"), *more])
    return resv, begin, begin + 2


def begin_of(cx, resv):
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_start"]))


def said(cx, text, times=1):
    until(lambda: log(cx).count(text) == times, lambda: f"{times} times '{text}', not {log(cx).count(text)}")


def test_a_resvsub_hook_refuses_with_its_own_words(complex, hooks):
    hooks.make("no", "resvsub", "if e.resv.Reserve_Name == 'bad':\n    e.reject('%s may not reserve' % e.requestor)")
    done = rsub(complex, "-N", "bad", check=False)
    assert done.returncode != 0 and "may not reserve" in done.stderr and not complex.api.stat("resv")
    assert stat_resv(complex, rsub(complex, "-N", "good"))["Reserve_Name"] == "good"


def test_a_reservation_has_the_attributes_that_a_resvsub_hook_set(complex, hooks):
    hooks.make("sets", "resvsub", "r = e.resv\nassert r.reserve_duration == 600 and r.Resource_List['select'] == '1:ncpus=1'\n"
               "r.Reserve_Name = 'of_hook'\nr.Resource_List['place'] = pbs.place('scatter:excl')\nr.Mail_Points = pbs.mail_points('n')\nr.Authorized_Users = pbs.acl('alice')")
    s = stat_resv(complex, rsub(complex, "-l", "select=1:ncpus=1"))
    assert s["Reserve_Name"] == "of_hook" and s["Resource_List"]["place"] == "scatter:excl" and s["Mail_Points"] == "n"
    assert s["Authorized_Users"].startswith("alice,")


def test_a_resvsub_hook_that_sets_what_cannot_be_refuses(complex, hooks):
    hooks.make("raises", "resvsub", "e.resv.Resource_List['place'] = pbs.place('pack:freed')")
    done = rsub(complex, check=False)
    assert "request rejected as filter hook 'raises' encountered an exception. Please inform Admin" in done.stderr
    assert not complex.api.stat("resv")


def test_a_modifyresv_hook_sees_both_and_changes_or_refuses(complex, hooks):
    resv = rsub(complex, "-N", "old", "-G", "+g1,+g2")
    hooks.make("alters", "modifyresv", "r = e.resv\nif e.resv_o.Reserve_Name == 'old' and r.Reserve_Name == 'no':\n    e.reject('not this name')\n"
               "try:\n    r.ctime = None\n    e.reject('ctime was set')\nexcept pbs.BadAttributeValueError:\n    pass\n"
               "r.Authorized_Groups = None\nr.Mail_Users = pbs.email_list('a@b')")
    done = complex.command("pbs_ralter", "-N", "no", resv, check=False)
    assert done.returncode != 0 and "not this name" in done.stderr and stat_resv(complex, resv)["Reserve_Name"] == "old"
    complex.command("pbs_ralter", "-N", "new", resv)
    s = stat_resv(complex, resv)
    assert (s["Reserve_Name"], s["Mail_Users"], s.get("Authorized_Groups")) == ("new", "a@b", None)


TELLS = "pbs.logmsg(pbs.LOG_DEBUG, 'told %s %s %s %s' % ({what!r}, e.resv.resvid, e.resv.reserve_state == pbs.{state}, e.requestor))"


def test_events_of_a_reservation_are_told_once_each_from_confirmation_to_end(complex, hooks):
    for event, state in (("resv_confirm", "RESV_STATE_CONFIRMED"), ("resv_begin", "RESV_STATE_RUNNING"), ("resv_end", "RESV_STATE_RUNNING")):
        hooks.make(event, event, TELLS.format(what=event, state=state))
    resv = rsub(complex, start=SOON_S)
    confirm(complex, resv)
    said(complex, f"told resv_confirm {resv} True PBS_Server")
    begin_of(complex, resv)
    said(complex, f"told resv_begin {resv} True PBS_Server")
    complex.command("qsub", "-q", resv.split(".")[0], complex.script("sleep 600"))
    complex.command("pbs_rdel", resv)
    said(complex, f"told resv_end {resv}")
    until(lambda: stat_resv(complex, resv) is None, "the end of the reservation")
    assert log(complex).count(f"told resv_end {resv}") == 1


def test_an_unconfirmed_reservation_has_no_end(complex, hooks):
    hooks.make("end", "resv_end", "pbs.logmsg(pbs.LOG_DEBUG, 'over %s' % e.resv.resvid)")
    denied, deleted, other = rsub(complex), rsub(complex), rsub(complex)
    complex.api.confirm_resv(denied, extend="PBS_RESV_CONFIRM_FAIL")
    complex.command("pbs_rdel", deleted)
    confirm(complex, other)
    complex.command("pbs_rdel", other)
    said(complex, f"over {other}")
    assert f"over {denied}" not in log(complex) and f"over {deleted}" not in log(complex)


def test_a_hook_after_the_fact_can_neither_refuse_nor_set(complex, hooks):
    hooks.make("sets", "resv_begin", "e.resv.queue = 'workq'")
    hooks.make("rejects", "resv_confirm", "pbs.logmsg(pbs.LOG_DEBUG, 'rejects it')\ne.reject('no')")
    resv = rsub(complex, start=SOON_S)
    confirm(complex, resv)
    said(complex, "rejects it")
    begin_of(complex, resv)
    until(lambda: "attribute 'queue' is part of a readonly object" in log(complex), "the exception")
    assert stat_resv(complex, resv)["reserve_state"] == "5"


def test_a_reservation_that_ended_while_the_server_was_down_is_told_to_hooks_at_its_start(complex, hooks):
    hooks.make("end", "resv_end", "pbs.logmsg(pbs.LOG_DEBUG, 'ended meanwhile %s' % e.resv.resvid)")
    resv, _, end = soon(complex)
    confirm(complex, resv)
    complex.kill("server")
    complex.clock.leap_to(end)
    complex.restart("server")
    complex.again()
    said(complex, f"ended meanwhile {resv}")
    assert "was skipped" not in log(complex)


def test_a_reservation_that_ran_when_the_server_went_down_ends_once(complex, hooks):
    hooks.make("end", "resv_end", "pbs.logmsg(pbs.LOG_DEBUG, 'stopped meanwhile %s' % e.resv.resvid)")
    resv = rsub(complex, start=SOON_S)
    confirm(complex, resv)
    begin_of(complex, resv)
    until(lambda: stat_resv(complex, resv)["reserve_state"] == "5", "its begin")
    end = int(stat_resv(complex, resv)["reserve_end"])
    complex.kill("server")
    complex.clock.leap_to(end)
    complex.restart("server")
    complex.again()
    said(complex, f"stopped meanwhile {resv}")


def test_a_server_killed_while_a_resvsub_hook_runs_has_no_reservation(complex, hooks):
    gate = os.path.join(complex.work, "gate")
    os.mkfifo(gate)
    hooks.make("half", "resvsub", f"open({gate!r}).read()")
    with subprocess.Popen(["pbs_rsub", "-R", at(3600), "-D", "600"], stderr=subprocess.PIPE, env=complex.env, cwd=complex.work) as asked:
        with open(gate, "w", encoding="ascii"):  # returns when the hook has opened it: it runs now
            complex.crash_server()
        asked.kill()
    assert not complex.api.stat("resv")
    complex.qmgr("set hook half enabled=false")
    assert stat_resv(complex, rsub(complex))


def test_each_occurrence_begins_and_ends(complex, hooks):
    hooks.make("tells", "resv_begin,resv_end", "pbs.logmsg(pbs.LOG_DEBUG, 'occurrence %s %d %s' % (e.resv.resvid, e.resv.reserve_index, e.type == pbs.RESV_END))")
    resv, begin, end = soon(complex, ("reserve_rrule", None, "FREQ=DAILY;COUNT=2"), ("reserve_timezone", None, "UTC"))
    complex.api.confirm_resv(resv, "2#(n1:ncpus=1){0-1}")
    complex.clock.leap_to(begin)
    said(complex, f"occurrence {resv} 1 False")
    complex.clock.leap_to(end)
    said(complex, f"occurrence {resv} 1 True")


def test_a_hook_reads_reservations_of_the_server(complex, hooks):
    resvs = {rsub(complex, "-N", f"r{i}") for i in range(3)}
    text = "s = pbs.server()\ne.reject('%s;%s;%s' % (' '.join(r.resvid for r in s.resvs()), s.resv({0!r}).Reserve_Name, s.resv('R999')))"
    hooks.make("reads", "queuejob", text.format(sorted(resvs)[0]))
    done = complex.command("qsub", complex.script("true"), check=False)
    names, name, none = done.stderr.removeprefix("qsub: ").strip().split(";")
    assert resvs <= set(names.split()) and name == stat_resv(complex, sorted(resvs)[0])["Reserve_Name"] and none == "None"
    hooks.make("often", "periodic", "pbs.logmsg(pbs.LOG_DEBUG, 'sees %s' % ' '.join(sorted(e.resv_list)))", freq=1)
    until(lambda: "sees " + " ".join(sorted(resvs)) in log(complex), "the list of reservations")


def test_a_job_of_a_reservation_knows_it(complex, hooks):
    resv = rsub(complex, "-N", "mine")
    confirm(complex, resv)
    hooks.make("knows", "modifyjob", "e.reject('%s %s' % (e.job_o.resv.resvid, e.job_o.resv.Reserve_Name))")
    job = complex.command("qsub", "-q", resv.split(".")[0], complex.script("true")).stdout.strip()
    done = complex.command("qalter", "-p", "3", job, check=False)
    assert f"qalter: {resv} mine" in done.stderr
