"""Job arrays: index sets that cost nothing, subjobs that run, end and come back, and what commands say of them."""
import re

import pytest

from harness import api, faults, work
from harness.complex import Complex
from harness.sim import Simulator
from harness.wait import until


def array(cx, indices, text="true", **kw):
    """Submit an array through libpbs; its identifier."""
    return cx.submit(text, array_indices_submitted=indices, **kw)


def sub(job, which):
    """41[].svr1, 3 -> 41[3].svr1"""
    return job.replace("[]", f"[{which}]")


def counts(cx, job):
    """{"Queued": 3, ...} of an array."""
    return {k: int(v) for k, v in (w.split(":") for w in cx.stat(job)["array_state_count"].split())}


def fails(code, call, *args):
    with pytest.raises(api.PbsError) as e:
        call(*args)
    assert e.value.code == code, e.value
    return e.value.text


def names(found):
    return [s.name for s in found]


# --- submission -------------------------------------------------------------------------------------------

def test_an_array_shows_its_indices_and_states(quiet):
    job = array(quiet, "2-8:3", max_run_subjobs="2")
    assert re.fullmatch(r"\d+\[\]\..+", job)
    s = quiet.stat(job)
    assert (s.state, s["array"], s["array_indices_submitted"]) == ("Q", "True", "2-8:3")
    assert (s["array_indices_remaining"], s["max_run_subjobs"]) == ("2-8:3", "2")
    assert s["array_state_count"] == "Queued:3 Running:0 Exiting:0 Expired:0 "
    one = quiet.stat(sub(job, 5))
    assert (one.state, one["array_id"], one["array_index"]) == ("Q", job, "5")
    assert "array" not in one and one["Job_Name"] == s["Job_Name"] and one["queue"] == s["queue"]


@pytest.mark.parametrize("indices", ["5", "5-5", "7-3", "-1-4", "1-4:0", "1-4:", "a-b", "1-5,7", "1-99999999999"])
def test_a_range_that_is_none_is_refused_by_name(quiet, indices):
    text = fails(15014, array, quiet, indices)
    assert "X-Y" in text and indices in text


def test_an_array_larger_than_max_array_size_is_refused(quiet):
    assert "10000 allowed" in fails(15107, array, quiet, "0-10000")
    array(quiet, "0-9999")
    quiet.make_queue("tiny", max_array_size="4")
    try:
        fails(15107, lambda: array(quiet, "1-5", queue="tiny"))
        quiet.api.delete(array(quiet, "1-8:2", queue="tiny"))
        until(lambda: not quiet.api.select([("destination", None, "tiny", api.EQ)]), "an empty queue")
    finally:
        quiet.api.manager(api.DELETE, api.QUEUE, "tiny")


def test_an_array_counts_as_its_subjobs_in_limits_on_queued_jobs(quiet):
    quiet.make_queue("counted", max_queued="[o:PBS_ALL=10]")
    try:
        job = array(quiet, "1-8", queue="counted")
        fails(15142, lambda: array(quiet, "1-3", queue="counted"))
        quiet.api.delete(sub(job, "1-5"))
        more = array(quiet, "1-7", queue="counted")
        fails(15142, lambda: quiet.submit(queue="counted"))
        quiet.api.delete(more)
        quiet.set_queue("counted", "max_queued_res", "[o:PBS_ALL=10]", "ncpus")
        fails(15143, lambda: array(quiet, "1-4", queue="counted", select="1:ncpus=2"))
        quiet.api.delete(array(quiet, "1-3", queue="counted", select="1:ncpus=2"))
        quiet.api.delete(job)
    finally:
        until(lambda: not quiet.api.select([("destination", None, "counted", api.EQ)]), "an empty queue")
        quiet.api.manager(api.DELETE, api.QUEUE, "counted")


def test_only_arrays_have_max_run_subjobs_and_none_shrinks_to_fit(quiet):
    assert "array job" in fails(15231, lambda: quiet.submit(max_run_subjobs="3"))
    fails(15231, quiet.api.alter, quiet.submit(), [("max_run_subjobs", "3")])
    fails(15165, lambda: array(quiet, "1-3", l_min_walltime="60", l_max_walltime="120"))


def test_a_million_indices_queue_like_one_job_and_take_no_memory(quiet):
    def rss():
        with open(f"/proc/{quiet.pid('server')}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * 4

    quiet.set_server("max_array_size", "1000000")
    before = rss()
    jobs = [array(quiet, "0-999999") for _ in range(20)]
    assert rss() - before < 20 * 400
    assert quiet.stat(jobs[-1])["array_indices_remaining"] == "0-999999"
    assert names(quiet.api.stat("job", sub(jobs[0], "999998-1000005"))) == [sub(jobs[0], 999998), sub(jobs[0], 999999)]
    for step in (3, 5):
        quiet.api.delete(sub(jobs[0], f"0-999999:{step}"))
    left = quiet.stat(jobs[0])["array_indices_remaining"]  # too ragged to be shown whole
    assert left.startswith("1-2,4,7-8,11,") and re.fullmatch(r"[\d,:-]*\d", left) and len(left) < 2**20
    assert counts(quiet, jobs[0])["Queued"] == 533333
    for job in jobs:
        quiet.api.delete(job)
        assert quiet.stat(job) is None
    quiet.qmgr("unset server max_array_size")


# --- what commands say ------------------------------------------------------------------------------------

def test_status_expands_ranges_and_arrays_and_knows_what_is_not_there(quiet):
    quiet.clean()
    plain, job = quiet.submit(), array(quiet, "1-5")
    stat = quiet.api.stat
    assert names(stat("job")) == [plain, job]
    everyone = [plain, job] + [sub(job, i) for i in range(1, 6)]
    assert names(stat("job", extend="t")) == everyone
    assert names(stat("job", job, extend="t")) == everyone[1:]
    assert names(stat("job", sub(job, "1-5:2"))) == [sub(job, i) for i in (1, 3, 5)]
    assert names(stat("job", f"{sub(job, '2,4-9')},{plain}")) == [sub(job, i) for i in (2, 4, 5)] + [plain]
    for unknown in (sub(job, 6), sub(job, "7-9"), job.replace("[]", ""), plain.replace(".", "[].", 1)):
        fails(15001, stat, "job", unknown)
    fails(15004, stat, "job", sub(job, "3-x"))


def test_selection_knows_arrays_and_subjobs(quiet):
    quiet.clean()
    plain, job = quiet.submit(), array(quiet, "1-3")
    subs = [sub(job, i) for i in (1, 2, 3)]
    is_array = [("array", None, "True", api.EQ)]
    select = quiet.api.select
    assert select() == [plain, job] and select(is_array) == [job]
    assert select(extend="T") == [plain, *subs] and select(is_array, extend="T") == subs
    assert select([("job_state", None, "R", api.EQ)], extend="T") == []
    assert quiet.command("qselect", "-J", "-T").stdout.split() == subs
    shown = quiet.command("qstat", "-t", "-J").stdout.splitlines()[2:]
    assert [line.split(".")[0] for line in shown] == [s.split(".")[0] for s in subs]


def test_requests_for_whole_arrays_are_refused_for_subjobs(quiet):
    job = array(quiet, "1-3")
    for one in (sub(job, 2), sub(job, "1-2")):
        fails(15004, quiet.api.hold, one)
        fails(15004, quiet.api.release, one)
        fails(15004, quiet.api.alter, one, [("Priority", "3")])
        fails(15004, quiet.api.move, one, "workq")
    fails(15004, quiet.api.run, job, "n1")
    for call in (lambda: quiet.api.signal(sub(job, 2), "TERM"), lambda: quiet.api.rerun(sub(job, 2)),
                 lambda: quiet.api.signal(job, "TERM"), lambda: quiet.api.rerun(job)):
        fails(15016, call)


def test_a_queued_array_is_altered_held_and_deleted_as_a_whole(quiet):
    job = array(quiet, "1-4")
    quiet.api.alter(job, [("Priority", "17"), ("max_run_subjobs", "3")])
    assert quiet.stat(sub(job, 3))["Priority"] == "17"
    quiet.api.hold(job)
    assert (quiet.state(job), quiet.state(sub(job, 3))) == ("H", "Q")
    quiet.api.release(job)
    assert quiet.state(job) == "Q"
    quiet.api.delete(job)
    assert quiet.stat(job) is None


def test_deleting_some_indices_leaves_the_others(quiet):
    job = array(quiet, "0-9")
    quiet.api.delete(sub(job, "2-4"))
    quiet.api.delete(sub(job, 9))
    assert quiet.stat(job)["array_indices_remaining"] == "0-1,5-8"
    assert counts(quiet, job) == {"Queued": 6, "Running": 0, "Exiting": 0, "Expired": 4}
    assert quiet.state(sub(job, 3)) == "X"
    fails(15159, quiet.api.delete, sub(job, 3))
    fails(15159, quiet.api.delete, sub(job, "2-4"))
    fails(15001, quiet.api.delete, sub(job, 10))
    assert quiet.api.delete_list([sub(job, "0-1"), sub(job, "3-6"), sub(job, 3)]) == {sub(job, 3): 15159}
    quiet.api.delete(sub(job, "7-8"))
    assert quiet.stat(job) is None  # the last one took the array along


# --- running ----------------------------------------------------------------------------------------------

def test_subjobs_have_their_index_in_the_environment_and_write_files_of_their_own(cx):
    text = "echo $PBS_ARRAY_INDEX $PBS_ARRAY_ID $PBS_JOBID"
    plain = cx.submit(text, user=work.user(), options=("-J", "3-5", "-N", "arr", "-S", "/bin/sh"))
    named = cx.submit(text, user=work.user(), options=("-J", "3-5", "-S", "/bin/sh", "-j", "oe",
                                                       "-o", f"{cx.work}/out.^array_index^.txt"))
    for job, form in (plain, f"arr.o{plain.split('[')[0]}.%d"), (named, "out.%d.txt"):
        cx.wait_gone(job)
        for i in (3, 4, 5):
            assert cx.file(form % i) == f"{i} {job} {sub(job, i)}\n"


@pytest.mark.complex(history=True)
@pytest.mark.parametrize("text, status", [("true", "0"), ("exit $((PBS_ARRAY_INDEX == 2))", "1")])
def test_the_array_ends_with_its_last_subjob_and_says_how_they_fared(cx, text, status):
    job = work.submit(cx, text, "end", options=("-J", "1-3"))
    cx.wait(job, "F")
    s = cx.stat(job, "x")
    assert s["Exit_status"] == status and s["array_indices_remaining"] == "-"
    assert s["comment"].startswith("Job Array Began at ")
    assert [cx.stat(sub(job, i), "x")["Exit_status"] for i in (1, 2, 3)] == ["0", status, "0"]
    def letters(of):
        return [letter for letter, _ in work.accounting(cx, of)]
    until(lambda: letters(job) == ["Q", "S", "E"], lambda: f"records of the array: {letters(job)}")
    assert "array_indices=1-3" in work.accounting(cx, job)[1][1]
    until(lambda: letters(sub(job, 2)) == ["S", "E"], lambda: f"records of a subjob: {letters(sub(job, 2))}")


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=4) as s:
        yield s


simulated = pytest.mark.complex(nodes=0, history=True)


def running(cx, job):
    """The subjobs that are up."""
    return [s.name for s in cx.api.stat("job", job, extend="tx") if s["substate"] == "42"]


@simulated
def test_the_lowest_indices_run_first_and_an_ended_one_makes_room(cx, sim):
    job = sim.job(array_indices_submitted="0-9")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    assert running(cx, job) == [sub(job, i) for i in range(4)]
    assert cx.state(job) == "B" and cx.stat(job)["array_indices_remaining"] == "4-9"
    cx.api.delete(sub(job, 1))
    until(lambda: running(cx, job) == [sub(job, i) for i in (0, 2, 3, 4)], "the next one")
    assert cx.state(sub(job, 1)) == "X"
    assert counts(cx, job) == {"Queued": 5, "Running": 4, "Exiting": 0, "Expired": 1}


@simulated
def test_no_more_than_max_run_subjobs_run_at_once(cx, sim):
    job = sim.job(ms=150, array_indices_submitted="1-12", max_run_subjobs="2")
    other = sim.job()
    cx.wait(other, "R")
    most = 0
    while cx.state(job) != "F":
        most = max(most, len(running(cx, job)))
    assert most == 2
    fails(15139, cx.api.delete, job)


@simulated
def test_a_person_may_run_more_than_max_run_subjobs(cx, sim):
    job = sim.job(array_indices_submitted="1-9", max_run_subjobs="2")
    until(lambda: len(running(cx, job)) == 2, "two subjobs")
    said = f"{job};Number of concurrent running subjobs limit reached"
    until(lambda: said in cx.log("sched"), said)
    cx.command("qrun", sub(job, 5))
    cx.wait(sub(job, 5), "R")
    assert [cx.state(sub(job, n)) for n in (1, 2, 3, 5)] == ["R", "R", "Q", "R"]
    cx.kill("sched")
    scheduler = cx.connect()
    try:
        scheduler.register()
        assert "subjobs limit reached" in fails(15044, scheduler.run, sub(job, 6), "(s1:ncpus=1)")
    finally:
        scheduler.close()


@simulated
def test_a_held_array_starts_no_subjob_until_it_is_released(cx, sim):
    job = sim.job(array_indices_submitted="0-9")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    began = cx.stat(job)["comment"]
    assert began.startswith("Job Array Began at ")
    cx.api.hold(job)
    assert cx.stat(job)["comment"].startswith("Job held by ")
    cx.api.rerun(sub(job, 2))
    until(lambda: cx.state(sub(job, 2)) == "Q", "the requeued one")
    cx.api.delete(sub(job, 0))
    until(lambda: len(running(cx, job)) == 2, "two left")
    assert faults.stays(lambda: running(cx, job) == [sub(job, 1), sub(job, 3)], 0.5)
    assert (cx.state(job), cx.stat(job)["array_indices_remaining"]) == ("H", "2,4-9")
    cx.api.release(job)
    assert cx.stat(job)["comment"] == began
    until(lambda: running(cx, job) == [sub(job, i) for i in (1, 2, 3, 4)], "four again")
    assert cx.stat(sub(job, 2)).run_count == 2 and cx.stat(sub(job, 4)).run_count == 1


@simulated
def test_an_altered_array_runs_its_waiting_subjobs_as_altered(cx, sim):
    job = sim.job(array_indices_submitted="0-5", select="1:ncpus=2")
    until(lambda: len(running(cx, job)) == 2, "two subjobs")
    cx.api.hold(job)
    cx.api.rerun(sub(job, 1))
    until(lambda: cx.state(sub(job, 1)) == "Q", "the requeued one")
    cx.api.alter(job, [("Resource_List", "select", "1:ncpus=1")])
    cx.api.release(job)
    until(lambda: len(running(cx, job)) == 3, "three subjobs")
    assert [cx.stat(j)["Resource_List"]["ncpus"] for j in running(cx, job)] == ["2", "1", "1"]


@simulated
def test_deleting_an_array_ends_what_runs_and_forgets_what_waits(cx, sim):
    job = sim.job(array_indices_submitted="0-99")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    cx.api.delete(job)
    cx.wait(job, "F")
    s = cx.stat(job, "x")
    assert s["Exit_status"] == "0" and s["comment"].endswith(" and terminated")
    assert {x.state for x in cx.api.stat("job", sub(job, "0-99"), extend="x")} == {"X"}
    assert cx.api.stat("vnode", "s1")[0]["resources_assigned"]["ncpus"] == "0"


@simulated
def test_signals_and_reruns_of_arrays_and_ranges_reach_what_runs(cx, sim):
    job = sim.job(array_indices_submitted="0-9")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    cx.api.signal(sub(job, "1-2"), "suspend")
    until(lambda: [cx.state(sub(job, i)) for i in range(4)] == ["R", "S", "S", "R"], "two suspended")
    fails(15016, cx.api.signal, sub(job, "8-9"), "suspend")
    fails(15001, cx.api.signal, sub(job, "20-22"), "suspend")
    cx.api.delete(sub(job, "0-9"))
    cx.wait(job, "F")
    job = sim.job(array_indices_submitted="0-9")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    cx.api.rerun(job)
    until(lambda: [cx.stat(sub(job, i)).run_count for i in range(4)] == [2] * 4, "all started again")
    assert cx.stat(sub(job, 4)).run_count == 0


@simulated
def test_an_operator_runs_a_subjob_on_a_named_vnode_or_where_the_scheduler_puts_it(cx, sim):
    cx.set_server("scheduling", "False")
    job = sim.job(array_indices_submitted="0-9")
    cx.api.run(sub(job, 7), "s1")
    cx.api.run(sub(job, 5))
    until(lambda: running(cx, job) == [sub(job, 5), sub(job, 7)], "both")
    fails(15016, cx.api.run, sub(job, 5))
    fails(15001, cx.api.run, sub(job, 10))
    assert cx.stat(job)["array_indices_remaining"] == "0-4,6,8-9"
    cx.api.run(sub(job, "8-9"))
    until(lambda: running(cx, job) == [sub(job, i) for i in (5, 7, 8, 9)], "four")
    cx.api.run(sub(job, "1-2"), "s1")  # more than there is: an operator may
    until(lambda: len(running(cx, job)) == 6, "six")
    fails(15016, cx.api.run, sub(job, "1-2"))


@simulated
def test_an_array_moves_with_all_that_waits_unless_something_runs(cx, sim):
    cx.make_queue("other", started="False")
    cx.make_queue("small", max_array_size="3")
    job = sim.job(array_indices_submitted="0-5")
    until(lambda: len(running(cx, job)) == 4, "four subjobs")
    fails(15016, cx.api.move, job, "other")
    cx.api.hold(job)
    cx.api.rerun(job)
    until(lambda: counts(cx, job)["Queued"] == 6, "all back")
    fails(15107, cx.api.move, job, "small")
    cx.api.move(job, "other")
    cx.api.release(job)
    assert {s["queue"] for s in cx.api.stat("job", job, extend="t")} == {"other"}
    assert faults.stays(lambda: not running(cx, job), 0.3)
    cx.set_queue("other", "started", "True")
    until(lambda: len(running(cx, job)) == 4, "four subjobs again")


@simulated
def test_jobs_wait_for_the_first_start_and_the_last_end_of_an_array(cx, sim):
    job = sim.job(array_indices_submitted="1-2", Hold_Types="u")
    after, any_end, ok = (sim.job(depend=f"{kind}:{job}") for kind in ("after", "afterany", "afterok"))
    array_after = sim.job(array_indices_submitted="1-2", depend=f"afterok:{after}")
    assert {cx.state(j) for j in (after, any_end, ok, array_after)} == {"H"}
    cx.api.release(job)
    cx.wait(after, "R")
    cx.api.delete(sub(job, 1))
    until(lambda: cx.state(sub(job, 1)) == "X", "one end")
    assert cx.state(any_end) == "H"
    fails(15014, lambda: sim.job(depend=f"afterok:{sub(job, 2)}"))
    cx.api.delete(sub(job, 2))
    cx.wait(any_end, "R")
    cx.wait(ok, "R")  # deleted subjobs do not count
    cx.api.delete(after)
    cx.wait(array_after, "F")


@simulated
def test_an_array_that_is_deleted_has_not_ended_well_for_those_who_wait(cx, sim):
    job = sim.job(array_indices_submitted="1-2")
    until(lambda: len(running(cx, job)) == 2, "both")
    ok, not_ok = (sim.job(depend=f"{kind}:{job}") for kind in ("afterok", "afternotok"))
    cx.api.delete(job)
    cx.wait(not_ok, "R")
    cx.wait(ok, "F")
    assert cx.stat(ok)["comment"].startswith(f"Job deleted as result of dependency on job {job}")
    assert cx.stat(job)["Exit_status"] == "0"  # nor does a restarted server, which has it in its history only, see that
    for restarted in (False, True):
        if restarted:
            cx.crash_server()
        fails(15229, lambda: sim.job(depend=f"afterok:{job}"))
        sim.job(depend=f"afternotok:{job}")


# --- preemption -------------------------------------------------------------------------------------------

@simulated
@pytest.mark.parametrize("order, state", [("S", "S"), ("R", "Q"), ("D", "X"), ("CR", "Q")])
def test_a_subjob_gives_way_by_each_method(cx, sim, order, state):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", order)
    job = sim.job(array_indices_submitted="0-3")
    until(lambda: {(cx.stat(sub(job, i)) or {}).get("substate") for i in range(4)} == {"42"}, "four subjobs")
    urgent = sim.job(queue="express")
    cx.wait(urgent, "R")
    states = [cx.state(sub(job, i)) for i in range(4)]
    assert sorted(states) == sorted(["R", "R", "R", state])
    cx.api.delete(urgent)
    left = 3 if state == "X" else 4
    until(lambda: len(running(cx, job)) == left, "the others to go on")


@simulated
def test_subjobs_of_an_express_array_take_a_victim_each(cx, sim):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "R")
    low = [sim.job() for _ in range(4)]
    for job in low:
        until(lambda: (cx.stat(job) or {}).get("substate") == "42", "the job to be up")
    job = sim.job(queue="express", array_indices_submitted="1-3")
    until(lambda: len(running(cx, job)) == 3, "three urgent subjobs")
    assert sorted(cx.state(j) for j in low) == ["Q", "Q", "Q", "R"]


# --- restart and history ----------------------------------------------------------------------------------

@pytest.fixture(params=["sqlite", "postgres"])
def stored(request):
    marker = request.node.get_closest_marker("complex")
    c = Complex(**{**(marker.kwargs if marker else {}), "store": request.param})
    try:
        yield c.start()
    finally:
        c.stop()


def kill_server(cx):
    cx.kill("server")
    cx.restart("server")
    cx.again()


@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_a_queued_array_with_holes_is_the_same_after_a_kill(stored):
    stored.set_server("max_array_size", "1000000")
    job = array(stored, "0-999999", max_run_subjobs="7")
    stored.api.delete(sub(job, "5-9000:5"))
    stored.api.delete(sub(job, 999999))
    before = stored.stat(job)
    kill_server(stored)
    after = stored.stat(job)
    for name in ("array_indices_remaining", "array_state_count", "array_indices_submitted", "max_run_subjobs"):
        assert after[name] == before[name]
    assert (stored.state(sub(job, 10)), stored.state(sub(job, 11))) == ("X", "Q")


@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_each_index_runs_once_however_often_the_server_is_killed(stored):
    job = work.submit(stored, "sleep 0.05", "once", options=("-J", "0-59"))
    until(lambda: work.starts(stored, "once") > 5, "some starts")
    for _ in range(4):
        done = work.starts(stored, "once")
        kill_server(stored)
        until(lambda: work.starts(stored, "once") > min(done + 5, 58), "more starts")
    stored.wait(job, "F")
    started = [line.split()[1] for line in stored.file("once.log").splitlines()]
    assert sorted(started) == sorted(sub(job, i) for i in range(60))
    found = stored.api.stat("job", job, extend="xt")
    assert names(found) == [job] + [sub(job, i) for i in range(60)]
    assert {s.get("Exit_status") for s in found} == {"0"} and {s.state for s in found[1:]} == {"X"}


@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_a_finished_array_and_its_subjobs_are_history_after_a_restart(stored):
    job = work.submit(stored, "exit $PBS_ARRAY_INDEX", "old", options=("-J", "0-2"))
    stored.wait(job, "F")
    stored.crash_server()
    fails(15139, stored.api.stat, "job", job)
    assert [s.get("Exit_status") for s in stored.api.stat("job", job, extend="xt")] == ["1", "0", "1", "2"]
    assert stored.stat(sub(job, 2), "x")["array_index"] == "2"
    fails(15139, stored.api.delete, sub(job, 2))
    stored.api.delete(job, "deletehist")
    until(lambda: stored.stat(job, "x") is None and stored.stat(sub(job, 2), "x") is None, "no history")


@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_subjobs_that_were_deleted_before_they_ran_are_history_too(stored):
    job = array(stored, "1-7:3", l_walltime="60")
    stored.api.delete(job)
    for _ in range(2):  # in memory, and in the store
        for found in (stored.api.stat("job", extend="xt"), stored.api.stat("job", job, extend="xt")):
            assert names(found) == [job] + [sub(job, i) for i in (1, 4, 7)]
            assert [s.state for s in found] == ["F", "X", "X", "X"]
            assert found[2]["array_index"] == "4" and found[2]["Resource_List"]["walltime"] == "00:01:00"
            assert "array_indices_submitted" not in found[2] and found[2]["Exit_status"] == "265"
        assert names(stored.api.stat("job", sub(job, "2-9"), extend="x")) == [sub(job, 4), sub(job, 7)]
        assert stored.stat(sub(job, 7), "x").state == "X"
        assert stored.api.select([("job_state", None, "X", api.EQ)], extend="xT") == [sub(job, i) for i in (1, 4, 7)]
        fails(15001, stored.api.stat, "job", sub(job, 5), (), "x")
        kill_server(stored)


@pytest.mark.complex(nodes=0, sched=False, history=True)
@pytest.mark.parametrize("which", ["99", "0", "80-90"])
def test_an_index_that_a_finished_array_never_had_is_unknown_and_one_that_it_had_is_finished(cx, which):
    job = array(cx, "1-7:3")
    cx.api.delete(job)
    cx.wait_gone(job)
    for _ in range(2):  # in memory, and in the store
        for command in (["qstat"], ["qstat", "-x"], ["qdel"], ["qdel", "-x"], ["qrerun"], ["qsig"]):
            done = cx.command(*command, sub(job, which), check=False)
            assert (done.returncode, done.stdout) == (153, ""), (command, done.stderr)
            assert f"Unknown Job Id {sub(job, which)}" in done.stderr
        for had in ("4", "4,99"):
            for command in (["qstat"], ["qdel"], ["qrerun"]):
                done = cx.command(*command, sub(job, had), check=False)
                assert done.returncode == 35 and "Job has finished" in done.stderr, (command, done.stderr)
        cx.crash_server()


def test_ended_subjobs_are_known_while_their_array_lives_even_without_history(cx):
    job = work.submit(cx, "[ $PBS_ARRAY_INDEX = 2 ] && sleep 600; exit 3", "mixed", options=("-J", "0-2"))
    until(lambda: counts(cx, job)["Expired"] == 2, "two ends")
    assert [s.get("Exit_status") for s in cx.api.stat("job", sub(job, "0-2"))] == ["3", "3", None]
    assert cx.stat(sub(job, 1)).state == "X"
    fails(15159, cx.api.signal, sub(job, 1), "TERM")
    cx.api.delete(job)
    until(lambda: cx.stat(job) is None, "the end of the array")
    fails(15001, cx.api.stat, "job", sub(job, 1))


def test_a_subjob_that_cannot_be_started_counts_no_longer(quiet):
    array = quiet.submit("true", array_indices_submitted="0-3")
    counts = quiet.api.stat("server")[0]["state_count"]
    scheduler = quiet.connect()
    try:
        scheduler.register()
        with pytest.raises(api.PbsError):
            scheduler.run_async(array.replace("[]", "[1]"), "(nowhere:ncpus=1)")
        assert quiet.api.stat("server")[0]["state_count"] == counts
    finally:
        scheduler.close()
        quiet.clean()


@pytest.mark.complex(nodes=1, history=True)
def test_ended_jobs_arrays_and_subjobs_leave_with_job_history_duration(cx):
    def known(*jobs):
        return [job for job in jobs if cx.stat(job)]

    job, ended = cx.submit("true"), array(cx, "1-2")
    lives = array(cx, "1-2", "[ $PBS_ARRAY_INDEX = 1 ] || sleep 600")
    gone = [job, ended, sub(ended, 1), sub(ended, 2), sub(lives, 1)]
    until(lambda: cx.state(job) == cx.state(ended) == "F" and cx.state(sub(lives, 1)) == "X", "their ends")
    assert known(*gone) == gone
    cx.set_server("job_history_duration", "1")
    late = cx.submit("true")  # its end comes after the attribute was set
    until(lambda: not known(late, job, ended, sub(ended, 1), sub(ended, 2)), lambda: str(known(late, *gone)))
    assert cx.state(lives) == "B" and cx.state(sub(lives, 2)) == "R"
