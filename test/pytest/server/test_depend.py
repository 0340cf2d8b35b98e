"""Dependencies between jobs (reference guide, qsub -W depend)."""
import itertools

import pytest

from harness import api, users
from harness.wait import until

NUMBERS = itertools.count()


def held(cx, job):
    """It waits for another one."""
    s = cx.stat(job)
    return s.state == "H" and s["Hold_Types"] == "s" and s["substate"] == "22"


def depend(cx, job):
    return cx.stat(job).get("depend")


def tie(kind, *jobs):
    return f"{kind}:" + ":".join(f"{j}@{j.split('.', 1)[1]}" for j in jobs)


@pytest.fixture
def gate(shared):
    """A job that ends with the status written to its file, and the way to write it."""
    def make(**attrs):
        path = f"{shared.work}/gate{next(NUMBERS)}"
        job = shared.submit(f"while [ ! -s {path} ]; do sleep 0.05; done; exit $(cat {path})", **attrs)

        def end(status):
            with open(path, "w", encoding="ascii") as f:
                f.write(f"{status}\n")
        return job, end
    return make


@pytest.mark.parametrize("kind,status", [("afterok", 0), ("afternotok", 3), ("afterany", 0), ("afterany", 7)])
def test_a_job_waits_for_the_end_of_another_and_then_runs(shared, gate, kind, status):
    first, end = gate()
    second = shared.submit("exit 0", depend=f"{kind}:{first}", select="1:ncpus=1")
    assert held(shared, second)
    assert depend(shared, second) == tie(kind, first)
    assert depend(shared, first) == tie(kind.replace("after", "before"), second)
    end(status)
    shared.wait_gone(second)
    shared.wait_log("server", f"{second};Dependency on job {first} released.")


@pytest.mark.parametrize("kind,status", [("afterok", 1), ("afternotok", 0)])
@pytest.mark.complex(history=True)
def test_a_job_whose_dependency_cannot_be_fulfilled_is_deleted_with_all_that_follow(cx, kind, status):
    first = cx.submit(f"while [ ! -e {cx.work}/go ]; do sleep 0.05; done; exit {status}")
    second = cx.submit(depend=f"{kind}:{first}")
    third = cx.submit(depend=f"afterok:{second}")
    other = cx.submit("exit 0", depend=f"afternotok:{second}")
    open(f"{cx.work}/go", "w", encoding="ascii").close()
    text = f"Job deleted as result of dependency on job {first}"
    assert cx.wait(second, state="F")["comment"] == text
    assert cx.wait(third, state="F")["comment"] == f"Job deleted as result of dependency on job {second}"
    cx.wait(other, state="F")
    cx.wait_log("server", f"{second};{text}")
    cx.wait_log("server", f"{other};Dependency on job {second} released.")


def test_after_waits_for_the_start_only(shared):
    full = [shared.submit(select="1:ncpus=4") for _ in range(2)]
    for job in full:
        shared.wait(job)
    first = shared.submit(select="1:ncpus=2")
    second = shared.submit(depend=f"after:{first}")
    assert held(shared, second) and depend(shared, first) == tie("before", second)
    shared.api.delete(full[0], "force")
    shared.wait(first)
    shared.wait(second)
    assert depend(shared, first) is None and depend(shared, second) is None


def test_before_holds_a_job_that_counts_on_it(shared, gate):
    target = shared.submit("exit 0", depend="on:2")
    assert held(shared, target) and depend(shared, target) == "on:2"
    one, end_one = gate(depend=f"beforeok:{target}", select="1:ncpus=1")
    two, end_two = gate(depend=f"beforeany:{target}", select="1:ncpus=1")
    assert depend(shared, target) == f"{tie('afterok', one)},{tie('afterany', two)}"
    end_two(5)
    until(lambda: depend(shared, target) == tie("afterok", one), "the second tie to go")
    assert held(shared, target)
    end_one(0)
    shared.wait_gone(target)


def test_before_needs_an_on_that_is_left(shared):
    target = shared.submit(depend="on:1")
    shared.submit(depend=f"before:{target}", Hold_Types="u")
    with pytest.raises(api.PbsError) as e:
        shared.submit(depend=f"before:{target}")
    assert e.value.code == 15054 and "on:COUNT" in e.value.text


def test_a_job_that_leaves_is_taken_out_of_the_lists_of_others(shared, gate):
    first, end = gate()
    second = shared.submit(depend=f"afterok:{first}")
    shared.api.delete(second)
    shared.wait_gone(second)
    assert depend(shared, first) is None
    end(0)


@pytest.mark.parametrize("text,code", [("afterok:999999", 15054), ("afterok:12.elsewhere", 15054),
                                       ("afterok:1[3]", 15014), ("maybe:1", 15014), ("on:x", 15014)])
def test_a_wrong_dependency_is_refused(shared, text, code):
    with pytest.raises(api.PbsError) as e:
        shared.submit(depend=text)
    assert e.value.code == code


def test_jobs_cannot_wait_for_each_other(shared):
    a = shared.submit(Hold_Types="u")
    b = shared.submit(depend=f"afterok:{a}")
    c = shared.submit(depend=f"afterany:{b}")
    for target in (b, c, a):
        with pytest.raises(api.PbsError) as e:
            shared.api.alter(a, [("depend", f"after:{target}")])
        assert e.value.code == 15054
    assert depend(shared, a) == tie("beforeok", b) and shared.state(a) == "H"


@pytest.mark.complex(history=True, sched=False)
def test_a_finished_job_does_not_close_a_circle_of_dependencies(cx):
    a = cx.submit()
    b = cx.submit(depend=f"afterok:{a}")
    cx.api.delete(b)
    cx.wait(b, "F")
    assert cx.stat(b, "x")["depend"] == tie("afterok", a)  # as it was
    cx.api.alter(a, [("depend", f"afterany:{b}")])
    assert cx.state(a) == "Q"


def test_qalter_replaces_what_a_job_waits_for_and_keeps_what_waits_for_it(shared):
    a, b = shared.submit(Hold_Types="u"), shared.submit(Hold_Types="u")
    job = shared.submit(depend=f"afterok:{a}")
    later = shared.submit(depend=f"afterok:{job}")
    shared.command("qalter", "-W", f"depend=afterany:{b}", job)
    assert depend(shared, job) == f"{tie('afterany', b)},{tie('beforeok', later)}"
    assert depend(shared, a) is None and depend(shared, b) == tie("beforeany", job)
    shared.command("qalter", "-W", "depend=", job)
    shared.wait(job)
    assert depend(shared, job) == tie("beforeok", later) and depend(shared, b) is None


@pytest.mark.complex(history=True)
def test_a_target_that_has_ended_is_judged_by_its_history(cx):
    good, bad = cx.submit("exit 0"), cx.submit("exit 1")
    for job in (good, bad):
        cx.wait(job, state="F")
    for restarted in (False, True):
        if restarted:  # only the store knows them now
            cx.restart("server")
            cx.again()
        for kind, target in (("afterok", good), ("afternotok", bad), ("afterany", bad), ("after", good)):
            job = cx.submit("exit 0", depend=f"{kind}:{target}")
            assert cx.state(job) != "H"
            cx.wait_log("server", f"{job};{target} Job has finished, dependency satisfied")
        for kind, target in (("afterok", bad), ("afternotok", good)):
            with pytest.raises(api.PbsError) as e:
                cx.submit(depend=f"{kind}:{target}")
            assert e.value.code == 15229 and "did not satisfy" in e.value.text
            job = cx.submit(Hold_Types="u")
            with pytest.raises(api.PbsError) as e:
                cx.api.alter(job, [("depend", f"{kind}:{target}")])
            assert e.value.code == 15229
    assert cx.command("qsub", "-W", f"depend=afterok:{bad}", "--", "/bin/true",
                      user=(users.available() or [None])[0], check=False).returncode == 15229 % 256


def test_of_a_runone_group_one_job_runs(shared, gate):
    a, end = gate(Hold_Types="u", select="1:ncpus=1")
    b = shared.submit(depend=f"runone:{a}", Hold_Types="u")
    c = shared.submit(depend=f"runone:{b}", Hold_Types="u")
    assert sorted(depend(shared, c).split(":")[1:]) == sorted(tie("", a, b)[1:].split(":"))
    shared.api.release(a)
    shared.wait(a)
    assert all(held(shared, j) or shared.stat(j)["Hold_Types"] == "us" for j in (b, c))
    shared.api.rerun(a)
    shared.wait(a, run=2)
    end(0)
    for job in (a, b, c):
        shared.wait_gone(job)


def test_a_runone_group_starts_another_job_when_the_first_is_deleted(shared):
    a = shared.submit(select="1:ncpus=1")
    shared.wait(a)
    b = shared.submit(depend=f"runone:{a}", select="1:ncpus=1")
    assert held(shared, b)
    shared.api.delete(a)
    shared.wait(b)


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_dependencies_survive_a_server_that_is_killed(store, request):
    from harness.complex import Complex
    cx = Complex(nodes=1, store=store)
    try:
        cx.start()
        path = f"{cx.work}/go"
        first = cx.submit(f"while [ ! -e {path} ]; do sleep 0.05; done")
        ok = cx.submit(depend=f"afterok:{first}", select="1:ncpus=1")
        bad = cx.submit(depend=f"afternotok:{first}")
        counting = cx.submit(depend="on:1")
        tied = cx.submit(depend=f"beforeok:{counting},afterok:{ok}")
        cx.wait(first)
        before = {j: depend(cx, j) for j in (first, ok, bad, counting, tied)}
        cx.kill("server")
        open(path, "w", encoding="ascii").close()
        cx.restart("server")
        cx.again()
        until(lambda: cx.stat(ok)["substate"] == "42", "its script to run: by then its release is durable")
        cx.wait_gone(bad)
        for job in (counting, tied):
            assert held(cx, job) and depend(cx, job) == before[job]
        cx.kill("server")
        cx.restart("server")
        cx.again()
        assert held(cx, tied) and depend(cx, ok) == tie("beforeok", tied)
    finally:
        cx.stop()


def test_an_operator_may_run_a_held_job_and_a_manager_may_release_it(shared, gate):
    first, end = gate(select="1:ncpus=1")
    second = shared.submit(depend=f"afterok:{first}", select="1:ncpus=1")
    shared.command("qrls", "-h", "s", second)
    shared.wait(second)
    end(1)
    shared.wait_gone(first)
    assert shared.state(second) == "R"
