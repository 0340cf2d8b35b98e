"""Route queues, moving and ordering jobs."""
import os

import pytest

from harness import api, users
from harness.wait import until

A, B = users.NAMES[:2]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs jobs of several users")
quietly = pytest.mark.complex(nodes=0, sched=False)


def route(cx, name="feed", destinations="a,b", **attrs):
    cx.make_queue(name, queue_type="Route", route_destinations=destinations, **attrs)


def queue(cx, job):
    return cx.stat(job)["queue"]


def goes_to(cx, job, name):
    until(lambda: queue(cx, job) == name, lambda: f"{job} in {name}; it is in {queue(cx, job)}")


def refused(cx, code, *args, **kwargs):
    with pytest.raises(api.PbsError) as e:
        cx.submit(*args, **kwargs)
    assert e.value.code == code
    return e.value.text


@quietly
def test_a_job_goes_to_the_first_queue_that_takes_it(cx):
    cx.make_queue("a")
    cx.make_queue("b")
    cx.set_queue("a", "resources_max", "2", "ncpus")
    cx.set_queue("b", "resources_default", "01:00:00", "walltime")
    route(cx)
    cx.set_queue("feed", "resources_default", "00:10:00", "walltime")
    small, large = cx.submit(queue="feed", select="1:ncpus=1"), cx.submit(queue="feed", select="1:ncpus=4")
    assert (queue(cx, small), queue(cx, large)) == ("a", "b")
    assert "walltime" not in cx.stat(small)["Resource_List"]  # the route queue's defaults stay behind
    assert cx.stat(large)["Resource_List"]["walltime"] == "01:00:00"
    assert cx.stat(large)["hop_count"] == "1" if "hop_count" in cx.stat(large) else True
    cx.wait_log("server", f'{large};Job Moved to destination: "b"')
    cx.wait_log("server", f"{large};enqueuing into b, state Q hop 1")


@quietly
def test_a_job_that_no_queue_would_ever_take_is_refused(cx):
    cx.make_queue("a")
    cx.set_queue("a", "resources_max", "2", "ncpus")
    route(cx, destinations="a,nowhere")
    text = refused(cx, 15039, queue="feed", select="1:ncpus=4")
    assert text == "Job rejected by all possible destinations"
    done = cx.command("qsub", "-q", "feed", "-l", "select=1:ncpus=4", "--", "/bin/true", check=False,
                      user=(users.available() or [None])[0])
    assert (done.returncode, done.stderr) == (15039 % 256, "qsub: Job rejected by all possible destinations\n")


@quietly
def test_a_job_waits_for_a_queue_that_is_full_and_is_tried_again(cx):
    cx.make_queue("a", max_queuable="1")
    route(cx, destinations="a", route_retry_time="1")
    first, second = cx.submit(queue="feed"), cx.submit(queue="feed")
    assert (queue(cx, first), queue(cx, second)) == ("a", "feed")
    assert cx.stat(second)["queue_type"] == "R"
    cx.api.delete(first)
    goes_to(cx, second, "a")


@quietly
def test_held_and_waiting_jobs_stay_until_they_may_go(cx):
    cx.make_queue("a")
    route(cx, destinations="a")
    route(cx, "all", destinations="a", route_held_jobs="True", route_waiting_jobs="True")
    held, waiting = cx.submit(queue="feed", Hold_Types="u"), cx.submit(queue="feed", Execution_Time="4000000000")
    assert (queue(cx, held), queue(cx, waiting)) == ("feed", "feed")
    assert queue(cx, cx.submit(queue="all", Hold_Types="u")) == "a"
    assert queue(cx, cx.submit(queue="all", Execution_Time="4000000000")) == "a"
    cx.api.release(held)
    goes_to(cx, held, "a")
    cx.set_queue("feed", "route_waiting_jobs", "True")
    goes_to(cx, waiting, "a")


@quietly
def test_a_stopped_route_queue_keeps_its_jobs_and_a_restart_forgets_none(cx):
    cx.make_queue("a")
    route(cx, destinations="a", started="False")
    job = cx.submit(queue="feed", select="1:ncpus=1")
    assert queue(cx, job) == "feed"
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert queue(cx, job) == "feed"
    cx.command("qstart", "feed")
    goes_to(cx, job, "a")
    cx.command("qdisable", "a")
    late = cx.submit(queue="feed")
    assert queue(cx, late) == "feed"
    cx.kill("server")
    cx.restart("server")
    cx.again()
    cx.command("qenable", "a")
    cx.set_queue("feed", "route_retry_time", "1")
    goes_to(cx, late, "a")


@quietly
def test_a_job_that_cannot_be_routed_in_its_time_is_deleted(cx):
    cx.make_queue("a", enabled="False")
    route(cx, destinations="a", route_lifetime="3")
    job = cx.submit(queue="feed")
    assert queue(cx, job) == "feed"
    cx.wait_gone(job)
    cx.wait_log("server", f"{job};(job_route) Route queue lifetime exceeded")


@quietly
def test_route_queues_may_be_chained_and_a_ring_is_broken(cx):
    cx.make_queue("a")
    route(cx, "second", destinations="a")
    route(cx, "first", destinations="second")
    assert queue(cx, cx.submit(queue="first")) == "a"
    route(cx, "ping", destinations="pong")
    route(cx, "pong", destinations="ping")
    refused(cx, 15039, queue="ping")
    cx.wait_log("server", ";(job_route) Job routing over too many hops")
    cx.set_queue("pong", "started", "False")
    job = cx.submit(queue="ping")
    assert queue(cx, job) == "pong"
    cx.set_queue("pong", "started", "True")
    cx.wait_gone(job)


@as_root
@quietly
def test_destinations_keep_their_acls_and_may_be_open_to_routed_jobs_only(cx):
    cx.make_queue("a", acl_user_enable="True", acl_users=A)
    cx.make_queue("b", from_route_only="True")
    route(cx)
    assert queue(cx, cx.submit(queue="feed", user=A)) == "a"
    other = cx.submit(queue="feed", user=B)
    assert queue(cx, other) == "b"
    done = cx.command("qsub", "-q", "b", "--", "/bin/true", user=A, check=False)
    assert done.returncode == 15022 % 256
    mine = cx.submit(queue="workq", user=A)
    done = cx.command("qmove", "b", mine, user=A, check=False)
    assert done.returncode == 15022 % 256 and queue(cx, mine) == "workq"
    cx.command("qmove", "b", mine)  # a manager may
    assert queue(cx, mine) == "b"
    cx.command("qmove", "feed", other, user=B)
    assert queue(cx, other) == "b"


@quietly
def test_a_moved_job_gets_the_defaults_of_its_new_queue(cx):
    cx.make_queue("a")
    cx.set_queue("workq", "resources_default", "00:10:00", "walltime")
    cx.set_queue("a", "resources_default", "02:00:00", "walltime")
    job = cx.submit(select="1:ncpus=1")
    cx.api.move(job, "a")
    assert cx.stat(job)["Resource_List"]["walltime"] == "02:00:00"
    done = cx.command("qmove", "typeless", job, check=False)
    assert done.returncode == 15018 % 256
    cx.api.manager(api.CREATE, api.QUEUE, "typeless")
    done = cx.command("qmove", "typeless", job, check=False)
    assert done.stderr.startswith("qmove: Queue type not set for queue 'typeless'")


@quietly
@pytest.mark.parametrize("here", ["@default", "workq@default"])
def test_the_default_server_is_this_one(cx, here):
    cx.make_queue("a")
    job = cx.submit()
    cx.api.move(job, "a@default")
    assert queue(cx, job) == "a"
    cx.api.move(job, here)
    assert queue(cx, job) == "workq"


def test_a_routed_job_runs_and_the_scheduler_leaves_route_queues_alone(shared):
    shared.make_queue("late", enabled="False")
    route(shared, "tonight", destinations="late")
    waits = shared.submit(queue="tonight", select="1:ncpus=1")
    route(shared, "now", destinations="workq")
    job = shared.submit("exit 0", queue="now", select="1:ncpus=1")
    shared.wait_gone(job)
    assert "comment" not in shared.stat(waits)
    shared.command("qenable", "late")
    shared.set_queue("tonight", "route_retry_time", "1")
    shared.wait(waits)


@as_root
@quietly
def test_jobs_of_two_queues_are_exchanged_where_both_queues_take_them(cx):
    cx.make_queue("a")
    one, two = cx.submit(user=A), cx.submit(user=A, queue="a")
    ranks = [cx.stat(j)["queue_rank"] for j in (one, two)]
    cx.command("qorder", one, two, user=A)
    assert (queue(cx, one), queue(cx, two)) == ("a", "workq")
    assert [cx.stat(j)["queue_rank"] for j in (two, one)] == ranks
    cx.set_queue("workq", "enabled", "False")
    done = cx.command("qorder", one, two, user=A, check=False)
    assert done.returncode == 1 and "Queue is not enabled: workq" in done.stderr
    assert (queue(cx, one), queue(cx, two)) == ("a", "workq")
