"""Asking: what is shown of whom, which attributes travel, filters in the server, history."""
import pytest

from harness import api, build
from harness.ask import refused
from harness.complex import Complex
from harness.wait import until

WORK = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]


@pytest.fixture(scope="module")
def kept():
    """A complex that keeps history, and where nothing runs."""
    c = Complex(nodes=0, sched=False, history=True)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture
def place(kept):
    kept.clean()
    return kept


def submit(cx, *attrs, queue=None):
    return cx.api.submit([*WORK, *attrs], cx.script("true"), queue)


def number(job):
    return int(job.split(".")[0])


# --- attributes asked for

@pytest.mark.parametrize("kind,want", [
    ("server", ["default_queue", "scheduling"]), ("que", ["queue_type", "enabled"]),
    ("sched", ["preempt_order", "state"]), ("job", ["Job_Name", "job_state", "Priority"])])
def test_only_the_attributes_asked_for_travel(place, kind, want):
    submit(place, ("Job_Name", "here"))
    for o in place.api.stat(kind, want=want):
        assert set(o) == set(want)


def test_one_resource_of_an_attribute_or_all_of_them(place):
    job = submit(place, ("Resource_List", "select", "1:ncpus=2:mem=1gb"))
    assert dict(place.api.stat("job", job, [("Resource_List", "mem")])[0]) == {"Resource_List": {"mem": "1gb"}}
    everything = place.api.stat("job", job, ["Resource_List"])[0]["Resource_List"]
    assert everything["ncpus"] == "2" and everything["nodect"] == "1" and everything["place"] == "free"


def test_attributes_that_are_not_set_are_left_out(place):
    assert dict(place.api.stat("job", submit(place), ["Account_Name", "Priority"])[0]) == {"Priority": "0"}


def test_names_of_attributes_have_no_case(place):
    assert dict(place.api.stat("job", submit(place), ["JOB_STATE"])[0]) == {"job_state": "Q"}


# --- which objects

def test_a_list_of_jobs_in_any_order_and_what_is_missing_is_left_out(place):
    first, second, third = (submit(place) for _ in range(3))
    found = place.api.stat("job", f"{third},{first}")
    assert sorted(j.name for j in found) == sorted([first, third])
    assert [j.name for j in place.api.stat("job", f"{second},99999999")] == [second]
    refused(15001, place.api.stat, "job", "99999998,99999999")


def test_a_job_may_be_named_without_its_server(place):
    job = submit(place)
    assert place.api.stat("job", job.split(".")[0])[0].name == job


def test_the_jobs_of_one_queue(place):
    place.make_queue("side")
    here, _ = submit(place, queue="side"), submit(place)
    assert [j.name for j in place.api.stat("job", "side")] == [here]
    server = place.api.stat("server")[0].name
    assert [j.name for j in place.api.stat("job", f"side@{server}")] == [here]
    refused(15018, place.api.stat, "job", "nowhere")


def test_the_status_of_no_objects_is_an_empty_list(place):
    assert place.api.stat("resv") == [] and place.api.stat("hook") == [] and place.api.stat("vnode") == []
    assert place.api.stat("job") == []


def test_thousands_of_jobs_come_whole_and_in_order(place):
    jobs = [place.api.submit_recv(t) for t in
            [place.api.submit_send(WORK, place.script("true")) for _ in range(2000)]]
    seen = [j.name for j in place.api.stat("job")]
    assert seen == sorted(jobs, key=number)
    assert place.api.select() == seen
    place.api.delete_list(jobs[::2])
    assert [j.name for j in place.api.stat("job", want=["job_state"])] == sorted(jobs[1::2], key=number)


def test_jobs_can_be_taken_one_by_one_until_it_is_enough(place):
    jobs, seen = [submit(place) for _ in range(5)], []
    place.api.each(lambda j: seen.append((j.name, j.state)))
    assert seen == [(j, "Q") for j in jobs]
    seen.clear()
    place.api.each(lambda j: seen.append(place.api.stat("job", j.name)[0].name), names=",".join(jobs[1:]))
    assert seen == jobs[1:], "another call on the same connection, in between"
    seen.clear()
    place.api.each(lambda j: seen.append(j.name) or len(seen) == 2)
    assert seen == jobs[:2] and place.api.select() == jobs
    assert refused(15001, place.api.each, seen.append, names="99999").text
    assert len(seen) == 2


@pytest.mark.skipif(build.is_sanitized(), reason="what is freed is kept for a while")
def test_a_full_listing_takes_no_more_memory_for_more_jobs(place):
    """Each job is printed as it comes in; nothing is kept."""
    for t in [place.api.submit_send(WORK, place.script("true")) for _ in range(3000)]:
        place.api.submit_recv(t)
    assert 0 < place.peak_memory("qstat", "-f", "-F", "json") < 5e6, "as a list they would take some 6 MB more"


def test_counts_are_of_the_jobs_there_are(place):
    place.make_queue("counted")
    jobs = [submit(place, queue="counted") for _ in range(3)]
    submit(place)
    place.api.hold(jobs[0])
    place.api.delete(jobs[1])
    queue, server = place.api.stat("que", "counted")[0], place.api.stat("server")[0]
    assert queue["total_jobs"] == "2" and server["total_jobs"] == "3"
    assert queue["state_count"] == "Transit:0 Queued:1 Held:1 Waiting:0 Running:0 Exiting:0 Begun:0 "
    assert server["state_count"] == "Transit:0 Queued:2 Held:1 Waiting:0 Running:0 Exiting:0 Begun:0 "


def test_a_job_that_waits_for_its_time_says_so(place):
    job = submit(place, ("Execution_Time", "4000000000"))
    assert place.state(job) == "W" and place.stat(job)["substate"] == "30"
    place.api.alter(job, [("Execution_Time", "")])
    assert place.state(job) == "Q"


# --- filters

@pytest.fixture
def mixed(place):
    """Jobs that differ: name -> identifier."""
    if not any(q.name == "other" for q in place.api.stat("que")):
        place.make_queue("other")
    return {
        "small": submit(place, ("Job_Name", "small"), ("Resource_List", "ncpus", "1"), ("Priority", "10")),
        "big": submit(place, ("Job_Name", "big"), ("Resource_List", "ncpus", "16"),
                      ("Resource_List", "mem", "2048mb"), ("Priority", "20"), ("Account_Name", "chem")),
        "held": submit(place, ("Job_Name", "held"), ("Hold_Types", "u"), ("Priority", "30")),
        "other": submit(place, ("Job_Name", "other"), ("Resource_List", "walltime", "1:30:00"), queue="other"),
        "later": submit(place, ("Job_Name", "later"), ("Execution_Time", "4000000000"), ("Rerunable", "n")),
    }


@pytest.mark.parametrize("criteria,names", [
    ([], "small big held other later"),
    ([("Priority", None, "20", api.GE)], "big held"),
    ([("Priority", None, "20", api.LT)], "small other later"),
    ([("Priority", None, "20", api.NE)], "small held other later"),
    ([("job_state", None, "H", api.EQ)], "held"),
    ([("job_state", None, "HW", api.EQ)], "held later"),
    ([("queue", None, "other", api.EQ)], "other"),
    ([("queue", None, "other", api.NE)], "small big held later"),
    ([("Resource_List", "ncpus", "2", api.GT)], "big"),
    ([("Resource_List", "mem", "2gb", api.EQ)], "big"),
    ([("Resource_List", "walltime", "5400", api.EQ)], "other"),
    ([("Account_Name", None, "chem", api.EQ)], "big"),
    ([("Job_Name", None, "held", api.EQ)], "held"),
    ([("Rerunable", None, "False", api.EQ)], "later"),
    ([("Hold_Types", None, "u", api.EQ)], "held"),
    ([("Execution_Time", None, "3999999999", api.GT)], "later"),
    ([("job_state", None, "Q", api.EQ), ("Priority", None, "15", api.LE)], "small other"),
    ([("User_List", None, "nobody", api.EQ)], ""),
    ([("Job_Owner", None, "root", api.EQ)], "small big held other later"),
])
def test_a_filter_selects_in_the_server(mixed, place, criteria, names):
    import pwd
    import os
    me = pwd.getpwuid(os.geteuid()).pw_name
    criteria = [tuple(me if x == "root" else x for x in c) for c in criteria]
    wanted = [mixed[n] for n in names.split()]
    assert place.api.select(criteria) == wanted
    assert [j.name for j in place.api.selstat(criteria)] == wanted
    assert [set(j) for j in place.api.selstat(criteria, ["job_state"])] == [{"job_state"}] * len(wanted)


# --- history

def test_a_deleted_job_is_history(place):
    job = submit(place, ("Job_Name", "past"))
    place.api.delete(job)
    refused(15139, place.api.stat, "job", job)
    assert place.api.stat("job") == []
    past = place.api.stat("job", job, extend="x")[0]
    assert past["job_state"] == "F" and past["substate"] == "91" and past["Job_Name"] == "past"
    assert "history_timestamp" in past
    assert job in place.api.select(extend="x") and job not in place.api.select()
    assert [j.name for j in place.api.selstat([("Job_Name", None, "past", api.EQ)], extend="x")][-1] == job


def test_history_outlives_the_server_and_shows_the_same(place):
    jobs = [submit(place, ("Job_Name", f"old{i}"), ("Resource_List", "mem", "1gb")) for i in range(5)]
    place.api.delete_list(jobs)
    live = submit(place)
    before = {j.name: dict(j) for j in place.api.stat("job", ",".join(jobs), extend="x")}
    place.kill("server")
    place.restart("server")
    after = {j.name: dict(j) for j in place.again().stat("job", ",".join(jobs), extend="x")}
    assert after == before and set(after) == set(jobs)
    everything = [j.name for j in place.api.stat("job", extend="x", want=["job_state"])]
    assert set(jobs) <= set(everything) and everything[-1] == live
    assert place.api.stat("job", jobs[0], ["Job_Name"], extend="x")[0] == {"Job_Name": "old0"}
    refused(15139, place.api.stat, "job", jobs[0])


@pytest.mark.parametrize("restarted", [False, True])
def test_requests_on_history_say_that_the_job_has_finished(place, restarted):
    job = submit(place)
    place.api.delete(job)
    if restarted:
        place.kill("server")
        place.restart("server")
        place.again()
    a = place.api
    for call in (lambda: a.delete(job), lambda: a.hold(job), lambda: a.alter(job, [("Priority", "1")]),
                 lambda: a.signal(job, "TERM"), lambda: a.rerun(job), lambda: a.move(job, "workq"),
                 lambda: a.run(job, "(n1:ncpus=1)")):
        refused(15139, call)
    assert a.delete_list([job]) == {job: 15139}


@pytest.mark.parametrize("restarted", [False, True])
def test_history_is_deleted_where_that_is_asked_for(place, restarted):
    jobs = [submit(place) for _ in range(4)]
    place.api.delete_list(jobs)
    if restarted:
        place.kill("server")
        place.restart("server")
        place.again()
    place.api.delete(jobs[0], "deletehist")
    assert place.api.delete_list(jobs[1:3], "deletehist") == {}
    for job in jobs[:3]:
        refused(15001, place.api.stat, "job", job, extend="x")
    assert place.api.stat("job", jobs[3], extend="x")
    assert not set(jobs[:3]) & set(place.api.select(extend="x"))


def test_deleting_a_job_with_its_history_leaves_none(place):
    job = submit(place)
    place.api.delete(job, "deletehist")
    refused(15001, place.api.stat, "job", job, extend="x")


@pytest.mark.complex(nodes=0, sched=False)
def test_where_no_history_is_kept_there_is_none_to_ask_for(cx):
    job = submit(cx)
    cx.api.delete(job)
    refused(15140, cx.api.stat, "job", job, extend="x")
    refused(15001, cx.api.stat, "job", job)
    cx.set_server("job_history_enable", "True")
    refused(15001, cx.api.stat, "job", job, extend="x")


@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_history_that_is_switched_off_is_gone(cx):
    job = submit(cx)
    cx.api.delete(job)
    cx.set_server("job_history_enable", "False")
    refused(15140, cx.api.stat, "job", job, extend="x")
    refused(15001, cx.api.stat, "job", job)
    later = submit(cx)
    cx.api.delete(later)
    cx.set_server("job_history_enable", "True")
    refused(15001, cx.api.stat, "job", later, extend="x")


@pytest.mark.complex(nodes=2)
def test_hidden_attributes_are_shown_where_the_site_wants_it(cx):
    job = cx.submit(select="2:ncpus=1", l_place="scatter")
    cx.wait(job, "R")
    whole = cx.stat(job)["exec_vnode"]
    until(lambda: cx.stat(job)["substate"] == "42", "its start")
    cx.command("pbs_release_nodes", "-j", job, "n2")
    hidden = {"exec_vnode_orig": whole, "exec_host_orig": "n1/0+n2/0", "exec_vnode_deallocated": "(n2:ncpus=1)"}
    assert not set(hidden) & set(cx.stat(job))
    cx.set_server("show_hidden_attribs", "True")
    shown = cx.stat(job)
    assert {name: shown.get(name) for name in hidden} == hidden
    assert "exec_vnode_orig" in cx.command("qstat", "-f", job).stdout
    cx.api.manager(api.MUNSET, api.SERVER, "", [("show_hidden_attribs", None, "")])
    assert not set(hidden) & set(cx.stat(job))


@pytest.mark.complex(nodes=1, sched=False)
def test_a_queue_says_that_vnodes_are_bound_to_it(cx):
    cx.make_queue("bound")
    assert "hasnodes" not in cx.api.stat("que", "bound")[0]
    cx.qmgr("set node n1 queue=bound")
    assert cx.api.stat("que", "bound")[0]["hasnodes"] == "True" and "hasnodes" not in cx.api.stat("que", "workq")[0]
    cx.qmgr("unset node n1 queue")
    assert "hasnodes" not in cx.api.stat("que", "bound")[0]
