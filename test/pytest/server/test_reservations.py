"""Reservations: from submission to the end, with this test as the scheduler that confirms them (doc/reservations.md)."""
import getpass
import time

import pytest

from harness import api
from harness.ask import stat_resv
from harness.wait import until
from harness.work import account_lines

pytestmark = pytest.mark.complex(sched=False, nodes=2, clock=True)
UN, CO, RN, BD, DJ, DG, AL = "1", "2", "5", "7", "9", "10", "11"
SOON_S = 20  # then it is there by a leap of the clock, which the test makes when it is ready


def submit(cx, start=3600, lasts=600, select="1:ncpus=2", place=None, **attrs):
    """A reservation that begins in so many seconds; its identifier."""
    now = int(cx.clock.now() if cx.clock else time.time())
    items = [("reserve_start", now + start), ("reserve_end", now + start + lasts), ("Resource_List", "select", select)]
    items += [("Resource_List", "place", place)] if place else []
    items += [(k, None, v) for k, v in attrs.items()]
    name, word = cx.api.submit_resv(items)
    assert word == "UNCONFIRMED"
    return name


def state(cx, resv):
    s = stat_resv(cx, resv)
    return s["reserve_state"] if s else None


def wait(cx, resv, wanted):
    until(lambda: state(cx, resv) == wanted, lambda: f"{resv} in state {wanted}: {stat_resv(cx, resv)}")


def begin(cx, resv):
    """Its time has come, and it runs."""
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_start"]))
    wait(cx, resv, RN)


def confirmed(cx, location="(n1:ncpus=2)", **how):
    resv = submit(cx, **how)
    cx.api.confirm_resv(resv, location)
    return resv


def lines(cx):
    """The records of accounting, cut into their four parts."""
    return [line.split(";", 3) for line in account_lines(cx)]


def records(cx, letters, name):
    """Letters of accounting records of this object, in order."""
    return "".join(w[1] for w in lines(cx) if w[2] == name and w[1] in letters)


def scheduler(cx):
    """A connection whose runs have what is free, as those of a scheduler; a manager's may have more."""
    c = cx.connect()
    c.register()
    return c


def code_of(call, *args):
    with pytest.raises(api.PbsError) as e:
        call(*args)
    return e.value.code


def test_a_server_says_that_it_has_no_reservations(cx):
    cx.crash_server()
    cx.wait_log("server", "No resvs to open", times=2)
    submit(cx)
    cx.crash_server()
    assert cx.log("server").count("No resvs to open") == 2


def test_new_reservation_has_a_closed_queue(cx):
    resv = submit(cx, Reserve_Name="lunch")
    s, q = stat_resv(cx, resv), cx.api.stat("que", resv.split(".")[0])[0]
    assert resv.startswith("R") and s["reserve_state"] == UN and s["Reserve_Name"] == "lunch"
    assert s["reserve_duration"] == "600"
    assert q["enabled"] == "False" and q["started"] == "False" and q["acl_user_enable"] == "True"
    assert code_of(cx.submit, "true", None, q.name) == 15021
    assert code_of(cx.api.manager, api.DELETE, api.QUEUE, q.name) == 15027


def test_the_record_of_a_confirmation_names_who_confirmed(cx):
    by_scheduler, by_manager = submit(cx), submit(cx, select="1:ncpus=1")
    sched = scheduler(cx)
    sched.confirm_resv(by_scheduler, "(n1:ncpus=2)")
    cx.api.confirm_resv(by_manager, "(n2:ncpus=1)")
    sched.close()
    who = {name: until(lambda name=name: [w[3].split()[0] for w in lines(cx) if w[1] == "Y" and w[2] == name], "the record") for name in (by_scheduler, by_manager)}
    host = by_manager.split(".")[1]
    assert who == {by_scheduler: [f"requestor=Scheduler@{host}"], by_manager: [f"requestor={getpass.getuser()}@{host}"]}


def test_confirmed_reservation_opens_its_queue_and_shows_on_its_vnodes(cx):
    resv = confirmed(cx)
    assert state(cx, resv) == CO and stat_resv(cx, resv)["resv_nodes"] == "(n1:ncpus=2)"
    assert cx.node("n1")["resv"] == resv and "resv" not in cx.node("n2")
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "0"
    job = cx.submit("true", queue=resv.split(".")[0], select="1:ncpus=1")
    assert cx.stat(job)["reserve_ID"] == resv
    assert code_of(scheduler(cx).run_async, job, "(n1:ncpus=1)") == 15044


def test_refused_reservation_is_gone(cx):
    resv = submit(cx)
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL:reason=no room")
    assert state(cx, resv) is None
    until(lambda: records(cx, "UYKk", resv) == "UK", "its records")
    assert not [q for q in cx.api.stat("que") if q.name == resv.split(".")[0]]


def test_reservation_runs_its_jobs_and_takes_them_along_at_its_end(cx):
    resv = confirmed(cx, start=SOON_S, lasts=20)
    queue = resv.split(".")[0]
    job, waiting = (cx.submit("sleep 600", queue=queue, select="1:ncpus=1") for _ in range(2))
    begin(cx, resv)
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "2"
    cx.api.run(job, "(n1:ncpus=1)")
    cx.wait(job, "R")
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "2"
    assert cx.state(waiting) == "Q"
    cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_end"]))
    wait(cx, resv, None)
    assert cx.stat(job) is None and cx.stat(waiting) is None
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "0" and "resv" not in cx.node("n1")
    until(lambda: records(cx, "UYBKkF", resv) == "UYBK", "its records")
    assert not [q for q in cx.api.stat("que") if q.name == queue]


def test_jobs_of_a_reservation_have_its_amounts_and_no_more(cx):
    resv = confirmed(cx, start=SOON_S)
    queue = resv.split(".")[0]
    jobs = [cx.submit("sleep 600", queue=queue, select=f"1:ncpus={n}") for n in (1, 2)]
    other = cx.submit("sleep 600", select="1:ncpus=3")
    begin(cx, resv)
    run = scheduler(cx).run_async
    run(jobs[0], "(n1:ncpus=1)")
    for where in ("(n1:ncpus=2)", "(n2:ncpus=2)"):
        assert code_of(run, jobs[1], where) == 15044
    assert code_of(run, other, "(n1:ncpus=3)") == 15044
    run(other, "(n2:ncpus=3)")


def test_jobs_move_into_a_reservation_and_out_of_it(cx):
    resv = confirmed(cx)
    queue = resv.split(".")[0]
    job = cx.submit("true", select="1:ncpus=1")
    cx.command("qmove", queue, job)
    assert cx.stat(job)["reserve_ID"] == resv and cx.stat(job)["queue"] == queue
    cx.command("qmove", "workq", job)
    assert "reserve_ID" not in cx.stat(job)
    cx.command("qdel", cx.submit("true", queue=queue, select="1:ncpus=1"))


def test_records_of_jobs_name_their_reservation(cx):
    resv = confirmed(cx, start=SOON_S, Reserve_Name="lunch")
    begin(cx, resv)
    job = cx.submit("true", queue=resv.split(".")[0], select="1:ncpus=1")
    cx.api.run(job, "(n1:ncpus=1)")
    cx.wait_gone(job)
    until(lambda: records(cx, "QSE", job) == "QSE", "its records")
    for line in lines(cx):
        if line[2] == job:
            assert f"resvname=lunch resvID={resv}" in line[3], line


def test_queue_of_a_reservation_is_no_part_of_the_configuration(cx):
    queue = confirmed(cx).split(".")[0]
    assert f"queue {queue}" not in cx.qmgr("print server") and "queue workq" in cx.qmgr("print server")
    assert f"queue {queue}" in cx.qmgr(f"print queue {queue}")
    assert queue in cx.command("qstat", "-Q").stdout


def test_resource_that_a_reservation_has_is_not_deleted(cx):
    cx.qmgr("create resource foos type=long,flag=nh")
    cx.qmgr("set node n1 resources_available.foos=3")
    resv = confirmed(cx, location="(n1:ncpus=2:foos=1)", select="1:ncpus=2:foos=1")
    for line in ("delete resource foos", "set resource foos type=string", "set resource foos flag=h"):
        done = cx.command("qmgr", "-c", line, check=False)
        assert done.returncode and "Resource busy on" in done.stderr, (line, done)
    cx.qmgr("unset node n1 resources_available.foos")
    assert "Resource busy on reservation" in cx.command("qmgr", "-c", "delete resource foos", check=False).stderr
    cx.api.delete_resv(resv)
    cx.qmgr("delete resource foos")


def test_exclusive_reservation_keeps_others_out(cx):
    resv = confirmed(cx, start=SOON_S, place="excl")
    begin(cx, resv)
    assert "resv-exclusive" in cx.command("pbsnodes", "n1").stdout
    assert code_of(scheduler(cx).run_async, cx.submit("true", select="1:ncpus=1"), "(n1:ncpus=1)") == 15044
    cx.api.delete_resv(resv)
    assert "resv-exclusive" not in cx.command("pbsnodes", "n1").stdout


def test_job_that_wants_a_vnode_alone_is_refused_by_a_shared_reservation(cx):
    resv = confirmed(cx)
    items = [("Resource_List", "select", "1:ncpus=1"), ("Resource_List", "place", "excl")]
    assert code_of(cx.api.submit, items, cx.script("true"), resv.split(".")[0]) == 15156


@pytest.mark.parametrize("times, code", [
    ([("reserve_start", 100)], 15086), ([("reserve_end", 100)], 15086),
    ([("reserve_start", 100), ("reserve_end", 50)], 15086),
    ([("reserve_start", -100), ("reserve_end", 50)], 15086),
    ([("reserve_end", 50), ("reserve_duration", 60)], 15086),
])
def test_times_that_say_nothing_are_refused(quiet, times, code):
    now = int(time.time())
    items = [(k, v if k.endswith("duration") else now + v) for k, v in times]
    assert code_of(quiet.api.submit_resv, [*items, ("Resource_List", "select", "1:ncpus=1")]) == code


def test_reservations_can_be_forbidden(cx):
    cx.set_server("resv_enable", "False")
    assert code_of(submit, cx) == 15094
    cx.set_server("resv_enable", "True")
    cx.set_server("acl_resv_users", "somebody@*")
    cx.set_server("acl_resv_user_enable", "True")
    assert code_of(submit, cx) == 15094


@pytest.mark.parametrize("how", ["moved", "submitted"])
@pytest.mark.parametrize("end", ["refused", "deleted", "over"])
def test_jobs_that_a_manager_lets_into_an_unconfirmed_one_end_with_it(cx, how, end):
    resv = submit(cx, start=SOON_S, lasts=60)
    queue, job = resv.split(".")[0], None
    if how == "moved":
        job = cx.submit()
        cx.command("qmove", queue, job)
    else:
        cx.command("qenable", queue)
        job = cx.submit(queue=queue)
    if end == "refused":
        cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    elif end == "deleted":
        cx.api.delete_resv(resv)
    else:
        cx.clock.leap_to(int(stat_resv(cx, resv)["reserve_end"]))
    wait(cx, resv, None)
    cx.crash_server()
    assert cx.stat(job) is None and [q.name for q in cx.api.stat("que")] == ["workq"]
    until(lambda: records(cx, "UYBKk", resv) == ("Uk" if end == "deleted" else "UK"), lambda: records(cx, "UYBKk", resv))


def test_the_queue_of_one_that_is_being_deleted_takes_no_job_though_it_is_opened(cx):
    resv = confirmed(cx, start=SOON_S)
    queue = resv.split(".")[0]
    begin(cx, resv)
    running, waiting = cx.submit("sleep 600", queue=queue, select="1:ncpus=1"), cx.submit(Hold_Types="u")
    cx.api.run(running, "(n1:ncpus=1)")
    cx.wait(running, "R")
    cx.kill("n1")  # so that its job cannot end
    cx.api.delete_resv(resv)
    wait(cx, resv, BD)
    cx.command("qenable", queue)
    assert cx.api.stat("que", queue)[0]["enabled"] == "True"
    assert code_of(cx.submit, "true", None, queue) == 15021
    assert code_of(cx.api.move, waiting, queue) == 15021
    assert [cx.stat(j)["queue"] for j in (running, waiting)] == [queue, "workq"]
    cx.restart("n1")
    wait(cx, resv, None)
    cx.wait_gone(running)


@pytest.mark.parametrize("when", [UN, CO, RN, BD])
def test_reservation_survives_a_killed_server(cx, when):
    resv = submit(cx, start=SOON_S if when in (RN, BD) else 3600, place="excl")
    job = None
    if when != UN:
        cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    if when in (RN, BD):
        begin(cx, resv)
        job = cx.submit("sleep 600", queue=resv.split(".")[0], select="1:ncpus=1")
        cx.api.run(job, "(n1:ncpus=1)")
        cx.wait(job, "R")
    if when == BD:
        cx.api.delete_resv(resv)
    cx.crash_server()
    if when == BD:
        wait(cx, resv, None)
        cx.wait_gone(job)
        return
    wait(cx, resv, when)
    cx.wait_log("server", f"Resv;{resv};Recovered reservation {resv}")
    assert (cx.node("n1")["resources_assigned"]["ncpus"] == "2") == (when == RN)
    if job:
        cx.wait(job, "R")
        until(lambda: records(cx, "B", resv) == "B", "its record")
    cx.api.delete_resv(resv)
    wait(cx, resv, None)


def test_reservation_whose_time_passes_while_no_server_runs_is_over(cx):
    resv = confirmed(cx, start=SOON_S, lasts=2)
    end = int(stat_resv(cx, resv)["reserve_end"])
    cx.kill("server")
    cx.clock.leap_to(end)
    cx.restart("server")
    cx.again()
    wait(cx, resv, None)
