"""Dependencies between jobs of which some have moved to the server of another complex."""
import contextlib
import os
import signal
import sqlite3
from concurrent import futures

import pytest

from harness import api, servers, work
from harness.mom_priv import without_checkpoint
from harness.servers import address, move
from harness.wait import until

LOG_LINES = 5000


def gate(cx, name, **how):
    """A job that ends with the status written into NAME.end, of the complex that it was submitted to."""
    text = f"while [ ! -s {cx.work}/{name}.end ]; do sleep 0.02; done; exit $(cat {cx.work}/{name}.end)"
    return work.submit(cx, text, name, select="1:ncpus=1", **how)


def end(cx, name, status=0):
    with open(f"{cx.work}/{name}.end", "w", encoding="ascii") as f:
        f.write(f"{status}\n")


def tie(kind, *jobs):
    return f"{kind}:" + ":".join(f"{j}@{j.split('.', 1)[1]}" for j in jobs)


def depend(cx, job):
    return cx.again().stat("job", job, extend="x" if cx.history else None)[0].get("depend")


def until_depend(cx, job, value):
    until(lambda: depend(cx, job) == value, lambda: f"{value}; there is {depend(cx, job)}")


def held(cx, job):
    s = cx.stat(job)
    return s.state == "H" and s["substate"] == "22" and s["Hold_Types"] == "s"


def until_logged(cx, text):
    until(lambda: text in cx.logs("server", lines=LOG_LINES), text)


def until_ended(cx, job, status):
    done = until(lambda: (s := cx.again().stat("job", job, extend="x")) and s[0].state == "F" and s[0],
                 lambda: f"the end of {job}; it is {cx.describe(job)}")
    assert done["Exit_status"] == str(status)


def until_gone(cx, job):
    def gone():
        cx.again()
        return cx.state(job) in (None, "F")
    until(gone, lambda: f"the end of {job}; it is {cx.describe(job)}")


def deleted_because_of(cx, job, target):
    until_gone(cx, job)
    until_logged(cx, f"{job};Job deleted as result of dependency on job {target}")


def refusal(cx, dependency):
    """What qsub says to the jobs' owner."""
    done = cx.command("qsub", "-W", f"depend={dependency}", cx.script("true"), user=work.user(), check=False)
    assert done.returncode == 15054 % 256
    return done.stderr


@pytest.fixture
def both():
    """Two complexes that trust each other and run jobs; history at the second only."""
    made = servers.start_all(near={"nodes": 1}, far={"nodes": 1, "history": True})
    try:
        yield made
    finally:
        servers.stop_all(made)


@pytest.fixture
def three():
    made = servers.start_all(near={"nodes": 1}, far={"nodes": 1, "history": True}, third={"nodes": 1, "history": True})
    try:
        yield made
    finally:
        servers.stop_all(made)


def test_a_job_that_waits_moves_and_is_released_where_it_is(both):
    near, far = both
    first = gate(near, "first")
    second = work.submit(near, "exit 4", "second", options=("-W", f"depend=afterok:{first}"))
    move(near, second, far)
    assert near.stat(second) is None and held(far, "0.far")
    assert depend(far, "0.far") == tie("afterok", first) and depend(near, first) == tie("beforeok", second)
    end(near, "first")
    until_ended(far, "0.far", 4)
    until_logged(far, f"0.far;Dependency on job {first} released.")
    until_logged(near, f"{second};sending dependency request to remote server")


def test_a_job_that_waits_moves_and_is_deleted_where_it_is(both):
    near, far = both
    first = gate(near, "first")
    second = work.submit(near, "exit 4", "second", options=("-W", f"depend=afterok:{first}"))
    third = near.submit("true", depend=f"afternotok:{second}")
    fourth = near.submit("true", depend=f"afterok:{second}")
    move(near, second, far)
    end(near, "first", 3)
    deleted_because_of(far, "0.far", first)
    deleted_because_of(near, fourth, second)
    until_gone(near, third)
    until_logged(near, f"{third};Dependency on job {second} released.")
    assert work.starts(near, "second") == 0


@pytest.mark.parametrize("kind,status,runs", [("afterok", 0, True), ("afterok", 2, False), ("afternotok", 2, True),
                                              ("afternotok", 0, False), ("afterany", 9, True)])
def test_a_job_that_others_wait_for_moves_and_they_hear_how_it_ended(both, kind, status, runs):
    near, far = both
    first = gate(near, "first", options=("-h",))
    second = work.submit(near, "true", "second", options=("-W", f"depend={kind}:{first}"))
    move(near, first, far)
    assert held(near, second) and depend(far, "0.far") == tie(kind.replace("after", "before"), second)
    far.api.release("0.far")
    end(near, "first", status)
    if runs:
        until_gone(near, second)
        until_logged(near, f"{second};Dependency on job {first} released.")
    else:
        deleted_because_of(near, second, first)
    assert work.starts(near, "second") == runs


def test_after_is_satisfied_by_the_start_at_the_other_server(both):
    near, far = both
    first = gate(near, "first", options=("-h",))
    second = work.submit(near, "true", "second", options=("-W", f"depend=after:{first}"))
    move(near, first, far)
    assert held(near, second)
    far.api.release("0.far")
    until_gone(near, second)
    assert far.state("0.far") == "R" and depend(far, "0.far") is None
    assert work.starts(near, "second") == 1


def test_a_later_job_waits_for_a_job_that_is_known_only_as_moved(both):
    near, far = both
    first = gate(near, "first", options=("-h",))
    move(near, first, far)
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    assert held(near, second)
    until_depend(far, "0.far", tie("beforeok", second))
    far.api.release("0.far")
    end(near, "first")
    until_gone(near, second)
    assert work.starts(near, "second") == 1
    third = work.submit(near, "true", "third", options=("-W", f"depend=afternotok:{first}"))
    deleted_because_of(near, third, first)


def test_a_moved_job_is_named_by_its_first_name_at_its_new_server_too(both):
    near, far = both
    first = gate(near, "first", options=("-h",))
    move(near, first, far)
    second = work.submit(far, "true", "second", options=("-W", f"depend=afterok:{first}"))
    assert held(far, second) and depend(far, second) == tie("afterok", "0.far")
    far.api.release("0.far")
    end(near, "first")
    until_ended(far, second, 0)


def test_both_move_to_different_servers(three):
    near, far, third = three
    first = gate(near, "first", options=("-h",))
    second = work.submit(near, "exit 5", "second", options=("-W", f"depend=afterok:{first}"))
    lost = work.submit(near, "true", "lost", options=("-W", f"depend=afternotok:{first}"))
    move(near, first, far)
    move(near, second, third)
    move(near, lost, third)
    assert held(third, "0.third") and held(third, "1.third")
    far.api.release("0.far")
    end(near, "first")
    until_ended(third, "0.third", 5)
    deleted_because_of(third, "1.third", first)


def test_a_job_that_moves_to_a_third_server_keeps_its_dependencies(three):
    near, far, third = three
    first = gate(near, "first", options=("-h",))
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    follows = work.submit(near, "true", "follows", options=("-W", f"depend=afterok:{second}"))
    move(near, first, far)
    move(far, "0.far", third)
    move(near, second, far)
    move(far, "1.far", third)
    assert held(third, "1.third") and depend(third, "1.third") == f"{tie('afterok', first)},{tie('beforeok', follows)}"
    for cx in three:
        cx.crash_server()
    third.api.release("0.third")
    end(near, "first")
    until_ended(third, "1.third", 0)
    until_gone(near, follows)
    assert [work.starts(near, name) for name in ("first", "second", "follows")] == [1, 1, 1]


def test_a_job_that_comes_home_stays_tied(both):
    near, far = both
    first = gate(near, "first", options=("-h",))
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    move(near, first, far)
    move(far, "0.far", near)
    near.api.release("2.near")
    end(near, "first")
    until_gone(near, second)
    assert work.starts(near, "second") == 1


def test_a_job_that_counts_on_others_moves_and_they_register_at_home(both):
    near, far = both
    target = work.submit(near, "true", "target", options=("-W", "depend=on:2"))
    move(near, target, far)
    assert held(far, "0.far") and depend(far, "0.far") == "on:2"
    one = gate(near, "one", options=("-W", f"depend=beforeok:{target}"))
    two = gate(near, "two", options=("-W", f"depend=beforeany:{target}"))
    until_depend(far, "0.far", f"{tie('afterok', one)},{tie('afterany', two)}")
    assert "has none left" in refusal(near, f"beforeok:{target}")
    end(near, "one")
    end(near, "two", 7)
    until_ended(far, "0.far", 0)


def test_who_counts_on_a_moved_job_at_its_new_server_is_told_where_it_counts(both):
    near, far = both
    move(near, work.submit(near, "true", "target", options=("-W", "depend=on:1")), far)
    assert "submit this job there" in refusal(far, "beforeok:0.far")


@pytest.mark.parametrize("kind", ["runone", "synccount"])
def test_a_dependency_that_only_one_server_can_keep_keeps_the_job(both, kind):
    near, far = both
    other = work.submit(near, "true", "other", options=("-h",))
    job = work.submit(near, "true", "stays", options=("-h", "-W", f"depend={kind}:{other if kind == 'runone' else 2}"))
    with pytest.raises(api.PbsError) as e:
        move(near, job, far)
    assert e.value.code == 15029 and 'qalter -W depend=""' in str(e.value) and near.state(job) == "H"
    near.command("qalter", "-W", "depend=", job)
    move(near, job, far)
    assert far.state("0.far") == "H"
    assert "Invalid Job Dependency" in refusal(near, f"runone:{job}")


def test_a_job_that_is_altered_at_its_new_server_gives_up_what_it_waited_for(both):
    near, far = both
    first = gate(near, "first")
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    third = work.submit(near, "true", "third", options=("-W", f"depend=afterok:{second}"))
    move(near, second, far)
    with pytest.raises(api.PbsError) as e:
        far.api.alter("0.far", [("depend", None, f"afterany:{first}")])
    assert e.value.code == 15054
    far.command("qalter", "-W", "depend=", "0.far")
    until_gone(near, third)
    assert depend(near, first) is None and near.state(first) == "R"
    assert [work.starts(near, name) for name in ("second", "third")] == [1, 1]


def test_a_moved_job_that_is_deleted_frees_and_takes_with_it_what_waits(both):
    near, far = both
    first = gate(near, "first", options=("-h",))
    follows = near.submit("true", depend=f"afterok:{first}")
    cares_not = work.submit(near, "true", "free", options=("-W", f"depend=afternotok:{first}"))
    move(near, first, far)
    far.api.delete("0.far")
    deleted_because_of(near, follows, first)
    until_gone(near, cares_not)
    assert work.starts(near, "free") == 1


def test_a_job_that_is_sent_back_at_its_new_server_releases_once_it_has_ended(both):
    near, far = both
    without_checkpoint(far)  # the hold is to wait for the job's return
    first = gate(near, "first", options=("-h",))
    started = work.submit(near, "true", "started", options=("-W", f"depend=after:{first}"))
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    move(near, first, far)
    near.stop_daemon("server")
    far.api.release("0.far")
    until(lambda: far.stat("0.far")["substate"] == "42", "the start of the script")
    far.api.hold("0.far", "u")
    far.api.rerun("0.far")
    far.wait("0.far", "H")
    near.restart("server")
    until_gone(near, started)  # it had started, whatever became of it
    assert held(near, second)
    far.api.release("0.far")
    end(near, "first")
    until_gone(near, second)
    assert work.starts(near, "second") == 1


def test_an_array_is_tied_over_servers_as_a_whole(both):
    near, far = both
    many = gate(near, "many", options=("-h", "-J", "1-2"))
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{many}"))
    move(near, many, far)
    assert held(near, second)
    far.api.release("0[].far")
    end(near, "many")
    until_gone(near, second)
    assert work.starts(near, "second") == 1


def test_events_while_the_other_server_is_down_are_told_when_it_is_back(both):
    near, far = both
    first, other = gate(near, "first"), gate(near, "other", options=("-h",))
    waits = work.submit(near, "true", "waits", options=("-W", f"depend=afterok:{first}"))
    lost = work.submit(near, "true", "lost", options=("-W", f"depend=afternotok:{first}"))
    near_waits = work.submit(near, "true", "nears", options=("-W", f"depend=afterok:{other}"))
    for job in (waits, lost, other):
        move(near, job, far)
    far.api.release("2.far")
    far.wait("2.far")
    far.crash_server()
    far.kill("server")
    end(near, "first")
    until_gone(near, first)
    near.crash_server()
    end(near, "other")
    far.restart("server")
    until_ended(far, "0.far", 0)
    deleted_because_of(far, "1.far", first)
    until_gone(near, near_waits)
    assert work.starts(near, "nears") == 1


def test_a_job_that_others_wait_for_may_end_while_they_move(both):
    near, far = both
    first, fails = gate(near, "first"), gate(near, "fails")
    waits = work.submit(near, "true", "waits", options=("-W", f"depend=afterok:{first}"))
    lost = work.submit(near, "true", "lost", options=("-W", f"depend=afterok:{fails}"))
    route = {"queue_type": "Route", "route_destinations": f"workq@{address(far)}", "route_held_jobs": "True",
             "route_retry_time": "1", "started": "False"}
    near.make_queue("feed", **route)
    far.stop_daemon("server")
    for job in (waits, lost):
        near.api.move(job, "feed")
    near.command("qstart", "feed")
    end(near, "first")
    end(near, "fails", 1)
    until_gone(near, first)
    until_gone(near, fails)
    far.restart("server")
    until_gone(near, lost)
    until(lambda: work.starts(near, "waits") == 1, "the job that may run")
    assert work.starts(near, "lost") == 0


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_job_that_is_to_be_deleted_while_it_moves_is_deleted_where_it_ends_up(both, comes_back):
    near, far = both
    first = gate(near, "first")
    lost = work.submit(near, "true", "lost", options=("-W", f"depend=afterok:{first}"))
    near.wait(first)
    server = far.pid("server")
    os.kill(server, signal.SIGSTOP)
    with futures.ThreadPoolExecutor(1) as pool, contextlib.closing(near.connect()) as c:
        moved = pool.submit(c.move, lost, f"workq@{address(far)}")
        try:
            until(lambda: near.state(lost) == "T", "the job on its way")
            end(near, "first", 1)
            until_gone(near, first)
        finally:
            os.kill(server, signal.SIGCONT if comes_back else signal.SIGKILL)
        has_moved = moved.exception(120) is None  # a server that comes back late may have been given up
    assert comes_back or not has_moved
    if not comes_back:
        far.restart("server")
    deleted_because_of(far if has_moved else near, "0.far" if has_moved else lost, first)
    assert work.starts(near, "lost") == 0


def test_a_dependency_on_a_job_that_its_new_server_never_knew_is_rejected(both):
    near, far = both
    first = work.submit(near, "true", "first", options=("-h",))
    move(near, first, far)
    far.stop_daemon("server")
    with sqlite3.connect(f"{far.home}/server_priv/cede.db") as db:
        db.executescript("DELETE FROM job; DELETE FROM object WHERE kind = 'note';")
    far.restart("server")
    second = near.submit("true", depend=f"afterok:{first}")
    until_gone(near, second)
    until_logged(near, f"{second};Dependency request for job rejected by {first}")


def test_a_job_that_its_server_has_forgotten_keeps_others_waiting_until_an_operator_decides(both):
    near, far = both
    first = work.submit(near, "true", "first", options=("-h",))
    second = work.submit(near, "true", "second", options=("-W", f"depend=afterok:{first}"))
    move(near, first, far)
    far.stop_daemon("server")
    with sqlite3.connect(f"{far.home}/server_priv/cede.db") as db:
        db.executescript("DELETE FROM job; DELETE FROM object WHERE kind = 'note';")
    far.restart("server")
    until_logged(near, f"{second};Unable to perform dependency with job {first}")
    assert held(near, second)
    near.command("qalter", "-W", "depend=", second)
    until_gone(near, second)
    assert work.starts(near, "second") == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_tie_is_lost_whichever_server_is_killed(both, seed):
    near, far = both
    jobs = []
    for i in range(6):
        first = gate(near, f"x{i}", options=("-h",))
        status = (i + seed) % 2
        good = work.submit(near, "true", f"good{i}", options=("-W", f"depend={('afterok', 'afternotok')[status]}:{first}"))
        bad = work.submit(near, "true", f"bad{i}", options=("-W", f"depend={('afternotok', 'afterok')[status]}:{first}"))
        jobs.append((first, good, bad, status))
    for i, (first, good, bad, _) in enumerate(jobs):
        if (i + seed) % 3 != 0:
            move(near, first, far)
        if (i + seed) % 3 != 1:
            move(near, good, far)
            move(near, bad, far)
    (near, far)[seed % 2].crash_server()
    for cx in both:
        for job in [j.name for j in cx.again().stat("job") if j["Job_Name"].startswith("x")]:
            cx.api.release(job)
    for i, (_, _, _, status) in enumerate(jobs):
        end(near, f"x{i}", status)
        if i % 2:
            victim = both[(i // 2 + seed) % 2]
            victim.kill("server")
            victim.restart("server")
    for cx in both:
        until(lambda c=cx: not c.again().select(), lambda c=cx: f"no jobs; there are {[(j.name, j.state) for j in c.again().stat('job')]}")
    for i in range(len(jobs)):
        assert [work.starts(near, f"{name}{i}") for name in ("x", "good", "bad")] == [1, 1, 0]
