"""Limits on running and queued jobs: both syntaxes, the scheduler's comments and the server as the arbiter."""
import os

import pytest

from harness import api, users
from harness.wait import until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs jobs of several users")
A, B, C = users.NAMES


def submit(cx, user, **attrs):
    return cx.submit(User_List=user, select="1:ncpus=1", **attrs)


def comment(cx, job):
    return cx.stat(job).get("comment", "")


def refused(cx, job, text):
    """It waits for this reason, and for nothing else."""
    until(lambda: comment(cx, job) == text, lambda: f"the comment '{text}'; it is '{comment(cx, job)}'")


@pytest.fixture
def limits(cx):
    """Set attributes of an object by qmgr."""
    def set_(where, *settings):
        for s in settings:
            cx.command("qmgr", "-c", f"set {where} {s}")
    return set_


def test_a_user_runs_as_many_jobs_as_max_run_says(cx, limits):
    limits("server", 'max_run = "[u:PBS_GENERIC=1],[u:%s=2],[o:PBS_ALL=3]"' % A)
    a = [submit(cx, A) for _ in range(3)]
    b = [submit(cx, B) for _ in range(2)]
    for job in (a[0], a[1], b[0]):
        cx.wait(job)
    # It was tried when two or when three jobs ran, and the start of another job gives it no new try.
    until(lambda: comment(cx, a[2]) in ("Not Running: Server job limit has been reached.",
                                        f"Not Running: Server job limit reached for user {A}"), lambda: comment(cx, a[2]))
    cx.api.delete(a[0])
    cx.wait(a[2])
    refused(cx, b[1], "Not Running: Server job limit has been reached.")
    limits("server", 'max_run -= "[o:PBS_ALL=3]"')
    refused(cx, b[1], "Not Running: User has reached server running job limit.")
    limits("server", 'max_run += "[u:%s=2]"' % B)
    cx.wait(b[1])
    more = submit(cx, B)
    refused(cx, more, f"Not Running: Server job limit reached for user {B}")


def test_amounts_of_groups_and_projects_are_limited(cx, limits):
    limits("queue workq", 'max_run_res.ncpus = "[p:PBS_GENERIC=2],[p:big=3]"')
    small = [submit(cx, A, project="small") for _ in range(3)]
    big = [submit(cx, A, project="big") for _ in range(4)]
    for job in (*small[:2], *big[:2]):
        cx.wait(job)
    refused(cx, small[2], "Not Running: Queue workq per-project limit reached on resource ncpus")
    cx.api.delete_list(small)
    cx.wait(big[2])
    refused(cx, big[3], "Not Running: would exceed project big's limit on resource ncpus in queue workq")
    never = cx.submit(select="1:ncpus=3", User_List=A, project="small")
    refused(cx, never, "Can Never Run: Queue workq per-project limit reached on resource ncpus")


def test_the_old_attributes_mean_the_same_and_do_not_mix(cx, limits):
    limits("queue workq", "max_user_run = 1", "max_user_res.ncpus = 3")
    a, b = submit(cx, A), submit(cx, A)
    cx.wait(a)
    refused(cx, b, "Not Running: User has reached queue workq running job limit.")
    done = cx.command("qmgr", "-c", 'set queue workq max_run = "[u:PBS_GENERIC=1]"', check=False)
    assert done.returncode == 15141 % 256 and "Cannot mix old and new style" in done.stderr
    cx.command("qmgr", "-c", "unset queue workq max_user_run")
    cx.wait(b)
    wide = cx.submit(select="1:ncpus=2", User_List=A)
    refused(cx, wide, "Not Running: Queue workq per-user limit reached on resource ncpus")


def test_a_limit_that_is_new_counts_what_runs_already(cx, limits):
    running = [submit(cx, A) for _ in range(2)]
    for job in running:
        cx.wait(job)
    limits("server", 'max_run_res.ncpus = "[u:PBS_GENERIC=2]"')
    late = submit(cx, A)
    refused(cx, late, "Not Running: Server per-user limit reached on resource ncpus")
    cx.restart("server")
    cx.again()
    cx.hosts_back()
    cx.api.delete(running[0])
    cx.wait(late)


@pytest.mark.complex(sched=False)
def test_the_server_refuses_a_scheduler_that_would_exceed_a_limit(cx, limits):
    limits("server", 'max_run = "[u:PBS_GENERIC=1]"', 'max_run_res.ncpus = "[o:PBS_ALL=2]"')
    jobs = [submit(cx, A) for _ in range(2)] + [cx.submit(select="1:ncpus=2", User_List=B)]
    sched = cx.connect()
    sched.register()
    sched.run_async(jobs[0], "(n1:ncpus=1)")
    cx.wait(jobs[0])
    for restarted in (False, True):
        if restarted:
            sched.close()
            cx.kill("server")
            cx.restart("server")
            cx.again()
            cx.hosts_back()
            sched = cx.connect()
            sched.register()
        with pytest.raises(api.PbsError) as e:
            sched.run_async(jobs[1], "(n1:ncpus=1)")
        assert e.value.code == 15044 and e.value.text == "User has reached server running job limit."
        with pytest.raises(api.PbsError) as e:
            sched.run_async(jobs[2], "(n1:ncpus=2)")
        assert e.value.text == "would exceed overall limit on resource ncpus in complex"
    cx.api.run_async(jobs[1], "(n1:ncpus=1)")  # an operator with vnodes may
    cx.wait(jobs[1])
    sched.close()


def test_a_qrun_job_is_not_stopped_by_limits(cx, limits):
    limits("server", 'max_run = "[u:PBS_GENERIC=1]"')
    a, b = submit(cx, A), submit(cx, A)
    cx.wait(a)
    refused(cx, b, "Not Running: User has reached server running job limit.")
    cx.command("qrun", b)
    cx.wait(b)


def test_a_suspended_job_is_not_counted(cx, limits):
    limits("server", 'max_run = "[u:PBS_GENERIC=1]"')
    a, b = submit(cx, A), submit(cx, A)
    until(lambda: cx.stat(a)["substate"] == "42", "its script to run")
    cx.api.signal(a, "suspend")
    cx.wait(b)


@pytest.mark.complex(sched=False)
def test_queued_jobs_are_limited_by_entity(cx, limits):
    limits("queue workq", 'max_queued = "[u:PBS_GENERIC=2],[o:PBS_ALL=4]"',
           'queued_jobs_threshold = "[u:%s=1]"' % C)
    jobs = [submit(cx, A) for _ in range(2)]
    with pytest.raises(api.PbsError) as e:
        submit(cx, A)
    assert (e.value.code, e.value.text) == (15142, "would exceed queue workq's per-user limit")
    submit(cx, C)
    with pytest.raises(api.PbsError) as e:
        submit(cx, C)
    assert e.value.code == 15142 and "jobs in 'Q' state" in e.value.text
    submit(cx, B)
    with pytest.raises(api.PbsError) as e:
        submit(cx, B)
    assert e.value.text == "Maximum number of jobs already in queue workq"
    cx.api.alter(jobs[0], [("User_List", B)])  # now it is counted with the others of that user
    cx.api.delete(jobs[1])
    with pytest.raises(api.PbsError) as e:
        submit(cx, B)
    assert e.value.text == "would exceed queue workq's per-user limit"
    submit(cx, A)


@pytest.mark.complex(sched=False)
def test_an_alteration_keeps_within_queued_amounts(cx, limits):
    limits("queue workq", 'max_queued_res.ncpus = "[u:PBS_GENERIC=4]"')
    job = cx.submit(user=A, options=("-l", "select=1:ncpus=2"))
    done = cx.command("qalter", "-l", "select=1:ncpus=8", job, user=A, check=False)
    assert done.returncode == 15143 % 256 and "per-user limit on resource ncpus in queue workq" in done.stderr
    assert cx.stat(job)["Resource_List"]["ncpus"] == "2"
    cx.command("qalter", "-l", "select=1:ncpus=4", job, user=A)


@pytest.mark.complex(sched=False)
def test_a_job_over_a_limit_may_be_altered_to_ask_for_less(cx, limits):
    job = cx.submit(user=A, options=("-l", "select=4:ncpus=1:mem=1gb"))
    cx.submit(user=A, options=("-l", "select=1:ncpus=1"))
    limits("server", 'max_queued_res.ncpus = "[u:PBS_GENERIC=2]"')
    cx.command("qalter", "-l", "walltime=100", job, user=A)
    cx.command("qalter", "-l", "select=2:ncpus=1:mem=2gb", job, user=A)
    done = cx.command("qalter", "-l", "select=3:ncpus=1", job, user=A, check=False)
    assert done.returncode == 15143 % 256
    assert done.stderr == f"qalter: would exceed per-user limit on resource ncpus in complex {job}\n"


@pytest.mark.complex(sched=False)
def test_a_job_is_not_altered_into_a_project_or_group_that_is_full(cx, limits):
    other = users.GROUP
    limits("queue workq", 'max_queued = "[p:PBS_GENERIC=2],[g:%s=1]"' % other)
    limits("server", 'max_queued_res.ncpus = "[p:wide=3]"')
    full = [cx.submit(user=A, options=("-P", "full")) for _ in range(2)]
    cx.submit(user=A, options=("-P", "wide", "-l", "select=2:ncpus=1", "-W", f"group_list={other}"))
    job = cx.submit(user=A, options=("-P", "mine", "-l", "select=2:ncpus=1"))

    def told(*options, of=job):
        return cx.command("qalter", *options, of, user=A, check=False).stderr.removesuffix(f" {of}\n")
    before = dict(cx.stat(job))
    assert told("-P", "full") == "qalter: would exceed queue workq's per-project limit"
    assert told("-P", "wide") == "qalter: would exceed project wide's limit on resource ncpus in complex"
    assert told("-W", f"group_list={other}") == f"qalter: Maximum number of jobs for group {other} already in queue workq"
    assert dict(cx.stat(job)) == before
    assert told("-P", "full", "-p", "5", of=full[0]) == ""  # it is there already
    assert told("-P", "mine", of=full[0]) == "" and told("-P", "full") == ""
    cx.api.alter(job, [("project", None, "wide")])  # a manager may


@pytest.mark.complex(sched=False)
def test_a_job_that_is_moved_to_where_it_is_counts_once(cx, limits):
    job = cx.submit(user=A)
    for limit in ('max_queued = "[u:PBS_GENERIC=1]"', 'queued_jobs_threshold = "[o:PBS_ALL=1]"', "max_queuable = 1"):
        limits("queue workq", limit)
        cx.command("qmove", "workq", job, user=A)
        assert cx.command("qsub", "--", "/bin/true", user=A, check=False).returncode in (15142 % 256, 15046 % 256)
        cx.qmgr("unset queue workq " + limit.split()[0])


@pytest.mark.complex(sched=False)
def test_a_subjob_that_follows_its_altered_array_is_counted_where_it_is_now(cx, limits):
    job = cx.submit(User_List=A, array_indices_submitted="1-3", project="old")
    first = job.replace("[]", "[1]")
    cx.api.run_async(first, "(n1:ncpus=1)")
    cx.wait(first)
    cx.api.rerun(first)
    cx.wait(first, "Q")
    cx.api.alter(job, [("project", None, "new"), ("User_List", None, B)])
    assert cx.stat(first)["project"] == "new"
    limits("server", 'max_queued = "[p:PBS_GENERIC=3],[u:PBS_GENERIC=3]"')
    for project, user in (("new", C), ("other", B)):
        with pytest.raises(api.PbsError) as e:
            submit(cx, user, project=project)
        assert e.value.code == 15142, (project, user)
    cx.api.delete(job)
    cx.wait_gone(job)
    for project, user in (("old", A), ("new", B)):
        for left in (True, True, True, False):
            try:
                submit(cx, user, project=project)
                assert left, (project, user)
            except api.PbsError as e:
                assert not left and e.code == 15142, (project, user)


@pytest.mark.complex(sched=False)
def test_a_queue_has_limits_of_one_style(cx, limits):
    for old, new in [("max_queuable", "max_queued"), ("max_queuable", "queued_jobs_threshold"),
                     ("max_user_run", "max_run_res.mem"), ("max_running", "queued_jobs_threshold_res.ncpus")]:
        limits("queue workq", f"{old} = 9")
        done = cx.command("qmgr", "-c", f'set queue workq {new} = "[o:PBS_ALL=9]"', check=False)
        assert done.returncode == 15141 % 256 and "Cannot mix old and new style" in done.stderr, (old, new)
        cx.qmgr(f"unset queue workq {old}")
        limits("queue workq", f'{new} = "[o:PBS_ALL=9]"')
        cx.qmgr(f"unset queue workq {new.split('.')[0]}")


# What PBS says where a limit leaves no room, by the entity that it names.
JOBS = {
    "o:PBS_ALL": "Maximum number of jobs{state} already in {where}",
    "u:PBS_GENERIC": "would exceed {owner} per-user limit{of_state}",
    "g:PBS_GENERIC": "would exceed {owner} per-group limit{of_state}",
    "p:PBS_GENERIC": "would exceed {owner} per-project limit{of_state}",
    f"u:{A}": f"Maximum number of jobs{{state}} for user {A} already in {{where}}",
    f"g:{A}": f"Maximum number of jobs{{state}} for group {A} already in {{where}}",
    "p:prj": "Maximum number of jobs{state} for project prj already in {where}",
}
AMOUNTS = {
    "o:PBS_ALL": "would exceed limit on resource ncpus in {where}{for_state}",
    "u:PBS_GENERIC": "would exceed per-user limit on resource ncpus in {where}{for_state}",
    "g:PBS_GENERIC": "would exceed per-group limit on resource ncpus in {where}{for_state}",
    "p:PBS_GENERIC": "would exceed per-project limit on resource ncpus in {where}{for_state}",
    f"u:{A}": f"would exceed user {A}'s limit on resource ncpus in {{where}}{{for_state}}",
    f"g:{A}": f"would exceed group {A}'s limit on resource ncpus in {{where}}{{for_state}}",
    "p:prj": "would exceed project prj's limit on resource ncpus in {where}{for_state}",
}


@pytest.mark.complex(sched=False)
@pytest.mark.parametrize("where, scope, owner", [("queue workq", "queue workq", "queue workq's"),
                                                 ("server", "complex", "complex's")])
def test_the_text_of_each_limit_on_what_is_queued_is_that_of_pbs(cx, limits, where, scope, owner):
    submit(cx, A, project="prj")
    for name, code, texts in [("max_queued", 15142, JOBS), ("queued_jobs_threshold", 15142, JOBS),
                              ("max_queued_res.ncpus", 15143, AMOUNTS),
                              ("queued_jobs_threshold_res.ncpus", 15143, AMOUNTS)]:
        state = " in 'Q' state" if "threshold" in name else ""
        words = {"where": scope, "owner": owner, "state": state, "of_state": state and f" of jobs{state}",
                 "for_state": state and f" for jobs{state}"}
        for entity, text in texts.items():
            limits(where, f'{name} = "[{entity}=1]"')
            with pytest.raises(api.PbsError) as e:
                submit(cx, A, project="prj")
            assert (e.value.code, e.value.text) == (code, text.format(**words)), (name, entity)
            limits(where, f'{name} = "[{entity}=2]"')
            cx.api.delete(submit(cx, A, project="prj"))
            cx.qmgr(f"unset {where} {name.split('.')[0]}")
