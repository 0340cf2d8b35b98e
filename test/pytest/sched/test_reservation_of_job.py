"""Reservations that are made from a job: of one that runs, and of one that waits (doc/reservations.md, "Of a job")."""
import pytest

from harness import api
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)
LIMIT_S = 120
RN = "5"


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=4) as s:
        yield s


def resv_of(cx, job):
    return (cx.stat(job) or {}).get("reserve_ID")


def stat(cx, resv):
    return cx.api.stat("resv", resv)[0]


def running(cx, sim, **how):
    job = sim.job(select="1:ncpus=2", l_walltime="1:00:00", **how)
    until(lambda: cx.stat(job)["substate"] == "42", lambda: cx.describe(job), LIMIT_S)  # 41: its host has not begun it
    return job


def rsub(cx, *words, check=True):
    return cx.command("pbs_rsub", *words, check=check)


def check_inside(cx, job, resv):
    r, j = stat(cx, resv), cx.stat(job)
    assert r["reserve_state"] == RN and r["resv_nodes"] == j["exec_vnode"] == "(s1:ncpus=2)"
    assert j["job_state"] == "R" and j["queue"] == resv.split(".")[0]
    assert r["reserve_duration"] == "3600" and int(r["reserve_start"]) + 3600 == int(r["reserve_end"])
    assert cx.node("s1")["resources_assigned"]["ncpus"] == "2"
    assert cx.api.stat("server")[0]["resources_assigned"]["ncpus"] == "2"


def test_job_that_runs_goes_on_in_a_reservation_of_its_vnodes(cx, sim):
    job = running(cx, sim)
    resv, word = rsub(cx, "--job", job).stdout.split()
    assert word == "CONFIRMED" and resv_of(cx, job) == resv
    check_inside(cx, job, resv)
    second = sim.job(select="1:ncpus=2", l_walltime="10:00", queue=resv.split(".")[0])
    other = sim.job(select="1:ncpus=2", l_walltime="10:00")
    cx.wait(other, "R", LIMIT_S)
    assert cx.state(second) == "Q"
    cx.command("qdel", job)
    cx.wait(second, "R", LIMIT_S)
    cx.command("qdel", other)
    cx.wait_gone(other)
    until(lambda: cx.node("s1")["resources_assigned"]["ncpus"] == "2", "the reservation to keep what it has")
    cx.command("pbs_rdel", resv)
    cx.wait_gone(second)
    until(lambda: cx.node("s1")["resources_assigned"]["ncpus"] == "0", "its vnode to be free")


def test_reservation_of_a_job_survives_a_killed_server(cx, sim):
    job = running(cx, sim)
    resv = rsub(cx, "--job", job).stdout.split()[0]
    cx.crash_server()
    until(lambda: cx.node("s1")["state"] == "free", lambda: str(cx.node("s1")), LIMIT_S)
    check_inside(cx, job, resv)


def test_job_may_ask_for_a_reservation_when_it_starts(cx, sim):
    job = running(cx, sim, create_resv_from_job="True")
    until(lambda: resv_of(cx, job), lambda: cx.describe(job), LIMIT_S)
    check_inside(cx, job, resv_of(cx, job))
    for words in (["-J", "1-2"], []):
        done = cx.command("qsub", *words, "-Wcreate_resv_from_job=1", "-l", "walltime=60", cx.script("true"), check=False)
        assert done.returncode == (15182 % 256 if words else 0), done.stderr


def test_reservation_of_a_waiting_job_begins_when_there_is_room_and_takes_the_job(cx, sim):
    first = sim.job(select="1:ncpus=4", l_walltime="1:00:00")
    cx.wait(first, "R", LIMIT_S)
    jobs = [sim.job(select="1:ncpus=4", l_walltime="1:00:00") for _ in range(2)]
    for n, job in enumerate(jobs, 1):
        resv, word = rsub(cx, f"-Wqmove={job}").stdout.split()
        r = stat(cx, resv)
        assert word == "CONFIRMED" and resv_of(cx, job) == resv
        assert int(r["reserve_start"]) == int(cx.stat(first)["stime"]) + n * 3600
        assert r["delete_idle_time"] == "00:10:00" and r["qmove"] == job


def test_reservation_of_a_waiting_job_begins_now_where_there_is_room(cx, sim):
    job = sim.job(select="1:ncpus=4", l_walltime="1:00:00", Hold_Types="u")
    resv = rsub(cx, f"-Wqmove={job}").stdout.split()[0]
    until(lambda: stat(cx, resv)["reserve_state"] == RN, "its begin", LIMIT_S)
    cx.command("qrls", job)
    cx.wait(job, "R", LIMIT_S)
    assert resv_of(cx, job) == resv and cx.stat(job)["exec_vnode"] == "(s1:ncpus=4)"


def test_reservation_far_ahead_keeps_its_start(cx, sim):
    done = rsub(cx, "-I", "50", "-R", "203501011200", "-D", "60", "-l", "select=1:ncpus=1").stdout.split()
    assert done[1] == "CONFIRMED" and int(stat(cx, done[0])["reserve_start"]) > 2051000000


def test_jobs_that_no_reservation_can_be_made_of_are_refused(cx, sim):
    job = running(cx, sim)
    waiting = sim.job(select="1:ncpus=4", l_walltime="1:00:00", Hold_Types="u")
    endless = sim.job(select="1:ncpus=4", Hold_Types="u")
    for words, text, code in (
            (["--job", waiting], "Request invalid for state of job", 15016 % 256),
            (["--job", "999"], "Unknown Job Id 999", 15001 % 256),
            (["-Wqmove=999"], "Job 999 does not exist", 2), ([f"-Wqmove={job}"], "Job not in qmove state", 2),
            ([f"-Wqmove={waiting}", "-I", "5"], "value must be negative when used with -Wqmove", 2),
            ([f"-Wqmove={waiting}", "-R", "1000"], "-Wqmove is not compatible with -R or -E option", 2),
            ([f"-Wqmove={endless}"], "Bad time specification(s)", 238)):
        done = rsub(cx, *words, check=False)
        assert text in done.stderr and done.returncode == code, (words, done)
    rsub(cx, "--job", job)
    done = rsub(cx, "--job", job, check=False)
    assert "already within a reservation" in done.stderr and done.returncode == 15181 % 256
    with pytest.raises(api.PbsError) as e:
        cx.api.move(job, "workq")
    assert e.value.code == 15016
