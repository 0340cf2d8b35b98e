"""A submission in pieces that stops half-way has a whole life: it is seen, counted, deleted, ended, and survives a restart."""
import pytest

from harness import api, users
from harness.complex import Complex
from harness.pieces import INLINE, Pieces

ANNA, OTHER = users.NAMES[:2]


@pytest.fixture(params=["sqlite", "postgres"])
def cx(request):
    marker = request.node.get_closest_marker("complex")
    c = Complex(nodes=0, sched=False, **{**(marker.kwargs if marker else {}), "store": request.param})
    try:
        yield c.start()
    finally:
        c.stop()


def begun(cx, user=ANNA, **how):
    """The connection, and the job whose script has not come."""
    p = Pieces(cx, user)
    code, job = p.begin(**how)
    assert code == 0, job
    return p, job


def test_a_server_starts_that_was_killed_while_a_script_arrived(cx):
    p, job = begun(cx)
    cx.crash_server()
    assert cx.submit() != job
    p.close()


def test_a_script_arrives_on_although_the_server_was_killed(cx):
    p, job = begun(cx, length=2 * INLINE)
    assert p.send(job, b"#" * INLINE) == (0, "")
    cx.crash_server()
    p.close()
    p = Pieces(cx, ANNA)
    assert p.send(job, b"\n" * INLINE, INLINE) == (0, "")
    assert p.commit(job) == (0, "")
    assert cx.state(job) == "Q"
    p.close()


def refused(cx, call, *args):
    with pytest.raises(api.PbsError) as e:
        call(*args)
    return e.value


def seen_by(cx, user):
    """The identifiers that this user's qselect and qstat show."""
    listed = cx.command("qstat", user=user).stdout
    return [line.split()[0] for line in listed.splitlines()[2:]]


def test_a_job_whose_script_arrives_is_seen_by_its_owner_and_by_managers_only(cx):
    p, job = begun(cx)
    status = cx.stat(job)
    assert (status.state, status["substate"], status["queue"]) == ("T", "0", "workq")
    assert seen_by(cx, ANNA) == [job] and seen_by(cx, OTHER) == []
    assert "Transit:1" in cx.api.stat("server")[0]["state_count"]
    assert cx.command("qstat", job, user=OTHER, check=False).returncode == 153
    p.close()


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("user", [ANNA, None])
def test_a_job_whose_script_arrives_is_deleted_by_its_owner_and_by_managers(cx, user, array):
    p, job = begun(cx, array_indices_submitted="1-9") if array else begun(cx)
    denied = cx.command("qdel", job, user=OTHER, check=False)
    assert denied.returncode and cx.state(job) == "T"
    assert cx.command("qhold", job, user=ANNA, check=False).returncode and cx.state(job) == "T"
    cx.command("qdel", job, user=user)
    assert cx.state(job) is None
    assert p.commit(job)[0] == 15001
    cx.crash_server()
    assert cx.state(job) is None
    p.close()


def test_a_submission_in_pieces_that_lasts_too_long_is_removed_and_the_log_says_so(cx):
    cx.set_server("submission_timeout", "1")
    p, job = begun(cx)
    cx.wait_gone(job)
    cx.wait_log("server", f"the submission of {ANNA}@")
    p.close()


def test_a_restart_does_not_prolong_a_submission_in_pieces(cx):
    p, job = begun(cx)
    cx.set_server("submission_timeout", "1")
    cx.crash_server()
    cx.wait_gone(job)
    p.close()


def test_jobs_whose_scripts_arrive_count_against_limits(cx):
    cx.set_server("max_queued", "[u:PBS_GENERIC=3]")
    held = [begun(cx) for _ in range(3)]
    p = Pieces(cx, ANNA)
    code, why = p.begin()
    assert code and "limit" in why
    for one, job in held:
        assert one.send(job, b"#" * (INLINE + 1)) == (0, "") and one.commit(job) == (0, "")
    assert p.begin()[0] != 0 and len(seen_by(cx, ANNA)) == 3
    for one in [p] + [one for one, _ in held]:
        one.close()


@pytest.mark.parametrize("where", ["server", "queue", "amount"])
def test_a_commit_is_refused_when_the_limit_was_reached_meanwhile(cx, where):
    p, job = begun(cx)
    assert p.send(job, b"#" * (INLINE + 1)) == (0, "")
    cx.submit(user=ANNA)
    if where == "server":
        cx.set_server("max_queued", "[u:PBS_GENERIC=1]")
    elif where == "queue":
        cx.set_queue("workq", "max_queuable", "1")
    else:
        cx.set_queue("workq", "max_queued_res", "[u:PBS_GENERIC=1]", "ncpus")
    code, why = p.commit(job)
    assert code and why and cx.state(job) is None
    cx.crash_server()
    assert cx.state(job) is None
    p.close()


def test_one_user_has_a_bounded_number_of_submissions_in_pieces(cx):
    p = Pieces(cx, ANNA)
    jobs = [p.begin() for _ in range(64)]
    assert not any(code for code, _ in jobs)
    code, why = p.begin()
    assert code and "64 is the limit" in why
    other = Pieces(cx, OTHER)
    assert other.begin()[0] == 0
    cx.crash_server()
    p.close()
    p = Pieces(cx, ANNA)
    assert p.begin()[0]
    cx.api.delete(jobs[0][1])
    assert p.begin()[0] == 0 and p.begin()[0]
    p.close()
    other.close()


def test_a_queue_that_waits_for_scripts_is_not_deleted(cx):
    cx.make_queue("gone")
    p, job = begun(cx, queue="gone")
    assert refused(cx, cx.api.manager, api.DELETE, api.QUEUE, "gone", []).code == 15027
    cx.api.delete(job)
    cx.api.manager(api.DELETE, api.QUEUE, "gone", [])
    p.close()
