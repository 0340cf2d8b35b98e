"""Notice and grace: a job is told before it is preempted, and may answer (doc/preemption.md, "Notice")."""
import os
import pwd
import re
import time

import pytest

from harness import api, faults, users
from harness.mom_priv import configure, script
from harness.wait import until
from harness.work import accounting

pytestmark = pytest.mark.complex(nodes=2, ncpus=4, sched=False)

ROOM = "(n1:ncpus=4)"
LONG, SHORT = "600", "3"  # the short one is long enough for a script to see its notice


def scheduler(cx, order="R", grace=LONG, most=None):
    """Be the scheduler, of a site that grants this grace."""
    cx.set_sched("preempt_order", order)
    cx.set_sched("preempt_grace", grace)
    if most:
        cx.set_sched("preempt_grace_max", most)
    c = cx.connect()
    c.register("default")
    return c


def started(cx, text="sleep 600", where=ROOM, **attrs):
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\ncd {cx.work}\n" + text, **attrs)
    cx.api.run(job, where)
    cx.wait(job)
    return job


# What a script does that waits for its notice: keeps it and says that it is there.
COPY = 'cat "$PBS_PREEMPT_NOTICE" > seen.new && mv seen.new seen'
WATCH = f'''
trap '{COPY}; echo 1 > told' USR1
echo "$PBS_PREEMPT_NOTICE" > path
echo up > ready
while :; do until test -f told; do sleep 0.05; done; rm told; {{}}; done
'''


def watcher(cx, then="", where=ROOM, **attrs):
    """A job that asks for a signal; when it has come the file is copied to `seen`, and `then` is done."""
    job = started(cx, WATCH.replace("{}", then or ":"), where, preempt_signal="USR1", **attrs)
    until(lambda: cx.file("ready"), "the script to be ready")
    return job


def notice(cx, name="seen"):
    """The fields of the notice that the script has seen."""
    text = until(lambda: cx.file(name), "the notice file")
    return dict(line.split("=", 1) for line in text.splitlines())


def noticed(cx, job):
    return until(lambda: cx.stat(job).get("preempt_deadline"), "the notice of the job")


def record(cx, job):
    """The fields of the job's accounting record of preemption."""
    def find():
        for text in (text for letter, text in accounting(cx, job) if letter == "v"):
            return dict(re.findall(r'(\S+?)="?([^" ]*)', text))
        return None
    return until(find, "the accounting record")


# --- told, and then preempted
def test_a_job_reads_when_for_whom_and_why_before_it_is_requeued(cx):
    victim = watcher(cx)
    urgent = cx.submit(select="1:ncpus=4")
    before = time.time()
    scheduler(cx, grace="5").preempt_run(urgent, ROOM, [victim])
    n = notice(cx)
    assert n["method"] == "requeue" and n["for"] == urgent and n["wanted"] == "n1" and urgent in n["why"]
    assert before + 4 < float(n["deadline"]) < time.time() + 6 and n["latest"] == n["deadline"]
    assert int(noticed(cx, victim)) == int(float(n["deadline"])) and cx.state(victim) == "R"
    assert urgent in cx.stat(victim)["comment"] and cx.stat(victim)["gives_way"] == "True"
    cx.wait(urgent)
    assert time.time() >= float(n["deadline"])
    v = cx.wait(victim, "Q")
    assert v["preempted_by"] == urgent and v["comment"] == f"Queued again to make room for job {urgent}"
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("R", "none") and float(r["notice"]) >= 5
    assert not os.path.exists(cx.file("path").strip())


def test_a_job_that_asked_for_nothing_is_not_signalled_and_finds_the_file(cx):
    victim = started(cx, 'echo "$PBS_PREEMPT_NOTICE" > path; trap "touch signalled" USR1 TERM HUP INT; echo up > ready\n'
                         'while :; do sleep 0.05; test -f "$PBS_PREEMPT_NOTICE" && ' + COPY + '; done')
    until(lambda: cx.file("ready"), "the script to be ready")
    c = scheduler(cx)
    c.preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert notice(cx)["method"] == "requeue"
    assert cx.file("signalled") is None and cx.state(victim) == "R"


def test_the_file_is_the_users_own(cx):
    victim = watcher(cx)
    scheduler(cx).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    notice(cx)
    s = os.lstat(cx.file("path").strip())
    owner = users.NAMES[0] if os.geteuid() == 0 else users.me()
    assert (s.st_uid, s.st_mode & 0o777) == (pwd.getpwnam(owner).pw_uid, 0o600)


def test_a_private_directory_holds_the_file(cx):
    victim = watcher(cx, sandbox="PRIVATE")
    scheduler(cx).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    notice(cx)
    assert os.path.dirname(cx.file("path").strip()) == cx.stat(victim)["jobdir"]


def test_a_link_that_the_user_puts_at_the_notice_file_harms_no_other_user(cx):
    """A link to a file of root's stays a link's end: it is replaced, not followed."""
    target = os.path.join(cx.dir, "precious")
    with open(target, "w", encoding="ascii") as f:
        f.write("mine")
    victim = watcher(cx, f'ln -sf {target} "$PBS_PREEMPT_NOTICE"')
    c = scheduler(cx)
    urgent = cx.submit(select="1:ncpus=4")
    c.preempt_run(urgent, ROOM, [victim])
    notice(cx)
    path = cx.file("path").strip()
    until(lambda: os.path.islink(path), "the link")
    cx.api.delete_hold(urgent)
    until(lambda: not os.path.lexists(path), "the link to go")
    os.remove(os.path.join(cx.work, "seen"))
    c.preempt_run(urgent, ROOM, [victim])
    notice(cx)
    with open(target, encoding="ascii") as f:
        assert f.read() == "mine"


def test_all_processes_are_signalled_where_the_job_asks_for_that(cx):
    victim = started(cx, "trap 'echo script > by_script' USR1\n"
                         "sh -c 'trap \"echo child > by_child\" USR1; touch ready; while :; do sleep 0.05; done' &\n"
                         "while :; do wait; done", preempt_signal="USR1:all")
    until(lambda: cx.file("ready") is not None, "the script to be ready")
    scheduler(cx).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    until(lambda: cx.file("by_child") and cx.file("by_script"), "the signal in script and child")
    assert cx.state(victim) == "R"


def test_a_job_that_is_suspended_is_given_no_notice(cx):
    victim = watcher(cx)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, "S").preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert cx.wait(victim, "S").get("preempt_deadline") is None and cx.file("told") is None


def test_a_job_that_ignores_everything_is_gone_at_its_deadline(cx):
    victim = started(cx, "trap '' USR1 TERM; echo up > ready; while :; do sleep 600; done", preempt_signal="USR1")
    until(lambda: cx.file("ready"), "the script to be ready")
    urgent = cx.submit(select="1:ncpus=4")
    cx.set_queue("workq", "kill_delay", "0")
    scheduler(cx, "D", grace=SHORT).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("D", "none") and float(r["notice"]) >= int(SHORT)


def test_the_grace_of_a_queue_counts_before_that_of_the_scheduler(cx):
    cx.set_queue("workq", "preempt_grace", "0")
    victim, urgent = watcher(cx), cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert cx.wait(victim, "Q")["preempt_count"] == "1" and "notice" not in record(cx, victim)


def test_a_hold_lives_as_long_as_its_victims_may_put_it_off(cx):
    victim, urgent = watcher(cx), cx.submit(select="1:ncpus=4")
    scheduler(cx, grace="300", most="7200").preempt_run(urgent, ROOM, [victim])
    h = cx.api.stat("hold", urgent)[0]
    assert int(h["deadline"]) - int(h["ctime"]) == 3600 + 7200


# --- it ends by itself
@pytest.mark.parametrize("order, then, state, left", [
    ("R", "exit 3", "Q", "ended"), ("R", "exit 0", None, "ended"), ("D", "exit 3", None, "ended")])
def test_a_job_that_ends_after_its_notice_is_requeued_only_if_it_ended_badly_and_was_to_be(cx, order, then, state, left):
    victim, urgent = watcher(cx, then), cx.submit(select="1:ncpus=4")
    scheduler(cx, order).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    until(lambda: cx.state(victim) == state, lambda: f"{victim} to be {state}, it is {cx.describe(victim)}")
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("R" if state else "E", left) and float(r["notice"]) < 60


def checkpoints(cx, text):
    """n1 has a site's checkpoint script from now on."""
    path = script(cx, "save", text)
    configure(cx, f"$action checkpoint_abort 60 !{path} %path")


def test_a_job_that_ends_badly_after_the_notice_of_a_checkpoint_is_requeued(cx):
    checkpoints(cx, "exit 1")
    victim, urgent = watcher(cx, "exit 3"), cx.submit(select="1:ncpus=4")
    scheduler(cx, "C").preempt_run(urgent, ROOM, [victim])
    assert notice(cx)["method"] == "checkpoint"
    cx.wait(urgent)
    cx.wait(victim, "Q")
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("R", "ended") and float(r["notice"]) < 60


def test_a_job_that_ends_badly_while_its_checkpoint_is_taken_is_requeued(cx):
    """Its notice is over, the image is not there: nothing has been asked of the job yet but to stand still."""
    checkpoints(cx, f"cd {cx.work}; echo up > saving; while kill -0 $(cat pid); do sleep 0.05; done; exit 1")
    victim = watcher(cx, "echo $$ > pid; until test -f saving; do sleep 0.05; done; exit 3")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, "C", grace=SHORT).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    v = cx.wait(victim, "Q")
    assert v["preempt_method"] == "Q" and cx.file("saving")
    r = record(cx, victim)
    assert (r["method"], r["reply"]) == ("R", "none")


def test_a_job_that_may_not_run_twice_ends_when_it_ends_badly(cx):
    victim, urgent = watcher(cx, "exit 3", Rerunable="False"), cx.submit(select="1:ncpus=4")
    scheduler(cx, "RD").preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    cx.wait_gone(victim)


def test_a_requeued_job_sees_that_it_was_preempted_how_often_and_why(cx):
    victim = started(cx, "env | grep ^PBS_PREEMPT > env.new; mv env.new env.$PBS_PREEMPT_COUNT\n" +
                     WATCH.replace("{}", "exit 1"), preempt_signal="USR1")
    until(lambda: cx.file("ready"), "the script to be ready")
    urgent = cx.submit(select="1:ncpus=4")
    c = scheduler(cx)
    c.preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert "PBS_PREEMPTED" not in until(lambda: cx.file("env."), "the first run's environment")
    cx.wait(victim, "Q")
    c.run(victim, "(n2:ncpus=4)")
    env = dict(line.split("=", 1) for line in until(lambda: cx.file("env.1"), "its environment").splitlines())
    assert env["PBS_PREEMPTED"] == "1" and env["PBS_PREEMPT_COUNT"] == "1"
    assert env["PBS_PREEMPT_REASON"] == f"requeued for {urgent}"


# --- it answers
def test_a_job_that_says_it_is_ready_is_preempted_at_once(cx):
    victim, urgent = watcher(cx, "pbs_preempt_ack -r"), cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    cx.wait(victim, "Q")
    assert record(cx, victim)["reply"] == "ready"
    [counts] = [s for s in cx.api.counts() if s.name == "notices"]
    assert counts["given"] == "1" and counts["withdrawn"] == "0"
    assert counts["answers"] == dict(ready="1", defer="0", partial="0", refuse="0", decline="0", saved="0")


def test_a_job_gets_the_time_it_asks_for_up_to_the_sites_bound(cx):
    victim = watcher(cx, 'case $n in "") n=1; pbs_preempt_ack -n 500;; *) ' + COPY.replace("seen", "later") + ";; esac")
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    first = notice(cx)
    assert float(first["latest"]) - float(first["deadline"]) == 700
    later = until(lambda: (n := int(noticed(cx, victim))) > float(first["deadline"]) and n, "a later deadline")
    assert later == pytest.approx(float(first["deadline"]) + 200, abs=30)
    path = cx.file("path").strip()
    until(lambda: "answer=granted" in open(path, encoding="ascii").read(), "the answer in the file")


def test_a_job_that_asks_for_more_than_the_bound_gets_the_bound(cx):
    victim = watcher(cx, "pbs_preempt_ack -n 10:00:00")
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    latest = int(float(notice(cx)["latest"]))
    until(lambda: int(noticed(cx, victim)) == latest, "the latest deadline")


def test_a_job_without_notice_is_told_so_by_the_command(cx):
    started(cx, "pbs_preempt_ack -r 2> said; echo $? > code; sleep 600")
    assert until(lambda: cx.file("code"), "the end of the command") == "3\n"
    assert "no notice" in cx.file("said")


@pytest.mark.parametrize("words", [[], ["-r", "-n", "5"], ["x"]])
def test_the_command_shows_its_usage(quiet, words):
    done = quiet.command("pbs_preempt_ack", *words, check=False)
    assert done.returncode == 2 and "usage" in done.stderr


# --- it offers hosts
def wide(cx, then, n=3, **attrs):
    """A job on n hosts, the script on n1, that does `then` when it is given notice."""
    where = "+".join(f"(n{i}:ncpus=4)" for i in range(1, n + 1))
    return watcher(cx, then, where, select=f"{n}:ncpus=4", l_place="scatter", **attrs)


def runs_on_beside(cx, urgent, where, victim, left):
    assert where in cx.wait(urgent)["exec_vnode"]
    v = until(lambda: (s := cx.stat(victim)).get("gives_way") is None and s, "the victim to be left alone")
    assert v.state == "R" and v["exec_vnode"] == left and v.get("preempt_count") in (None, "0")
    until(lambda: not os.path.exists(cx.file("path").strip()), "the file of the notice to go")
    r = record(cx, victim)
    assert (r["method"], r["reply"], r["lost_core_seconds"]) == ("P", "partial", "0.0")


@pytest.mark.complex(nodes=3, ncpus=4, sched=False)
def test_a_job_that_offers_what_is_wanted_runs_on_with_the_rest(cx):
    victim, urgent = wide(cx, "pbs_preempt_ack -o n3"), cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, "(n3:ncpus=4)", [victim])
    runs_on_beside(cx, urgent, "n3", victim, "(n1:ncpus=4)+(n2:ncpus=4)")


@pytest.mark.complex(nodes=3, ncpus=4, sched=False)
def test_an_offered_method_may_replace_the_planned_one(cx):
    """The plan wants the host of the script, which the job cannot give."""
    victim, urgent = wide(cx, "pbs_preempt_ack -o n2,n3"), cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    assert notice(cx)["wanted"] == "n1"
    runs_on_beside(cx, urgent, "(n3:ncpus=4)", victim, "(n1:ncpus=4)")


@pytest.mark.complex(nodes=3, ncpus=4, sched=False)
def test_an_urgent_job_on_two_hosts_takes_two_that_are_offered(cx):
    victim = wide(cx, "pbs_preempt_ack -o n2+n3")
    urgent = cx.submit(select="2:ncpus=4", l_place="scatter")
    scheduler(cx).preempt_run(urgent, "(n1:ncpus=4)+(n2:ncpus=4)", [victim])
    runs_on_beside(cx, urgent, "(n3:ncpus=4)+(n2:ncpus=4)", victim, "(n1:ncpus=4)")


@pytest.mark.complex(nodes=3, ncpus=4, sched=False)
@pytest.mark.parametrize("offer, wants, why", [
    ("n3", "2:ncpus=4", "can replace"),             # too few
    ("n2", "1:ncpus=4:host=n1", "can replace"),     # another host would not do
    ("n1", "1:ncpus=4", "first host"), ("n9", "1:ncpus=4", "n9 is not a vnode of the job")])
def test_an_offer_that_is_not_enough_is_answered_and_the_notice_remains(cx, offer, wants, why):
    victim, urgent = wide(cx, f"pbs_preempt_ack -o {offer}"), cx.submit(select=wants, l_place="scatter")
    where = "(n1:ncpus=4)" + ("+(n2:ncpus=4)" if wants[0] == "2" else "")
    scheduler(cx).preempt_run(urgent, where, [victim])
    notice(cx)
    path = cx.file("path").strip()

    def answer():
        with open(path, encoding="ascii") as f:
            return "answer=" in (text := f.read()) and text
    assert why in until(answer, "the answer in the file")
    assert noticed(cx, victim) and cx.state(victim) == "R" and cx.state(urgent) == "Q"
    assert cx.api.stat("hold", urgent)[0]["exec_vnode"] == where
    assert "n1" in cx.stat(victim)["exec_vnode"] and "n3" in cx.stat(victim)["exec_vnode"]


def test_a_scheduler_that_did_not_say_for_whom_takes_no_offer(cx):
    victim = watcher(cx, "pbs_preempt_ack -o n2", "(n1:ncpus=4)+(n2:ncpus=4)", select="2:ncpus=4", l_place="scatter")
    c = scheduler(cx)
    c.preempt_send([victim])
    notice(cx)
    path = cx.file("path").strip()
    until(lambda: "the request does not say what is needed" in open(path, encoding="ascii").read(), "the answer")
    assert cx.state(victim) == "R"


def test_an_offer_under_way_outlives_the_death_of_the_server(cx):
    victim = watcher(cx, "pbs_preempt_ack -o n2", "(n1:ncpus=4)+(n2:ncpus=4)", select="2:ncpus=4", l_place="scatter")
    urgent = cx.submit(select="1:ncpus=4")
    with faults.daemon_frozen(cx, "n2"):
        scheduler(cx).preempt_run(urgent, ROOM, [victim])
        until(lambda: cx.stat(victim)["exec_vnode"] == "(n1:ncpus=4)", "the offer to be taken")
        cx.crash_server()
        assert cx.state(urgent) == "Q" and cx.api.stat("hold", urgent)[0]["victims_left"] == "1"
    runs_on_beside(cx, urgent, "n2", victim, "(n1:ncpus=4)")


@pytest.mark.complex(nodes=2, ncpus=4, sched=False)
def test_tasks_on_every_host_find_the_notice_and_may_answer(cx):
    """The signal is for the script; a task of another host sees the file there, and its word counts as much."""
    task = 'echo up > ready; until test -f "$PBS_PREEMPT_NOTICE"; do sleep 0.05; done; ' + COPY + "; pbs_preempt_ack -r"
    victim = started(cx, f"pbs_tmrsh n2 'cd {cx.work}; PATH={cx.build}/bin:$PATH; {task}' &\nwait",
                     "(n1:ncpus=4)+(n2:ncpus=4)", select="2:ncpus=4", l_place="scatter")
    until(lambda: cx.file("ready"), "the task to be ready")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    assert notice(cx)["for"] == urgent
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


# --- it is taken back
@pytest.mark.parametrize("how", ["delete_hold", "deleted", "elsewhere"])
def test_a_notice_is_withdrawn_when_the_plan_is_undone(cx, how):
    victim, urgent = watcher(cx), cx.submit(select="1:ncpus=4")
    c = scheduler(cx)
    c.preempt_run(urgent, ROOM, [victim])
    notice(cx)
    path = cx.file("path").strip()
    assert os.path.exists(path)
    {"delete_hold": lambda: cx.api.delete_hold(urgent), "deleted": lambda: cx.api.delete(urgent),
     "elsewhere": lambda: c.run(urgent, "(n2:ncpus=4)")}[how]()
    until(lambda: not os.path.exists(path), "the notice file to go")
    s = cx.stat(victim)
    assert s.state == "R" and s.get("preempt_deadline") is None
    assert s["comment"].startswith(f"Notice withdrawn: no room is needed for job {urgent} any more: ")
    assert s.get("preempt_count") in (None, "0")
    [counts] = [s for s in cx.api.counts() if s.name == "notices"]
    assert counts["given"] == counts["withdrawn"] == "1"


@pytest.mark.parametrize("order, code, state", [("C", "000", "R"), ("CS", "S", "S")])
def test_a_notice_that_did_not_come_true_is_taken_back(cx, order, code, state):
    """The site's script cannot save the job: it runs on, or is suspended instead."""
    checkpoints(cx, "exit 1")
    victim = watcher(cx)
    assert scheduler(cx, order, grace=SHORT).preempt([victim]) == [(victim, code)]
    assert notice(cx)["method"] == "checkpoint" and cx.state(victim) == state
    comment = cx.stat(victim)["comment"]
    assert comment.startswith("Suspended for " if state == "S" else "Notice withdrawn: ")
    until(lambda: not os.path.exists(cx.file("path").strip()), "the notice file to go")


@pytest.mark.complex(nodes=2, ncpus=4, sched=False, history=True)
def test_history_foretells_nothing_of_a_job_that_ended_after_its_notice(cx):
    victim = watcher(cx, "exit 0")
    scheduler(cx).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    cx.wait_gone(victim)
    assert cx.stat(victim)["comment"] == "Job had notice to give way and finished"


# --- pbs_preempt_jobs
def test_a_slot_is_filled_only_when_the_notice_is_over(cx):
    victim = watcher(cx)
    c = scheduler(cx, grace="6")
    ticket = c.preempt_send([victim])
    notice(cx)
    assert not c.ready(ticket)
    assert c.preempt_recv(ticket) == [(victim, "Q")]
    assert float(record(cx, victim)["notice"]) >= 6


# --- restarts
@pytest.mark.parametrize("daemon", ["server", "n1"])
def test_a_notice_outlives_the_death_of(cx, daemon):
    victim, urgent = watcher(cx, "pbs_preempt_ack -n 900; echo $? > code"), cx.submit(select="1:ncpus=4")
    scheduler(cx, grace="300", most="1000").preempt_run(urgent, ROOM, [victim])
    until(lambda: cx.file("code"), "the answer to be given")
    deadline = until(lambda: (n := int(noticed(cx, victim))) > time.time() + 600 and n, "a later deadline")
    cx.kill(daemon)
    cx.restart(daemon)
    cx.again()
    until(lambda: "down" not in cx.node()["state"], "the node to be back")
    assert int(noticed(cx, victim)) == deadline and cx.state(victim) == "R"
    os.remove(os.path.join(cx.work, "code"))
    cx.api.delete_hold(urgent)
    until(lambda: not os.path.exists(cx.file("path").strip()), "the notice file to go")
    assert cx.file("code") is None  # no job was signalled again


def test_an_answer_given_while_the_mom_is_away_is_heard_when_it_is_back(cx):
    victim, urgent = watcher(cx, "until test -f go; do sleep 0.05; done; pbs_preempt_ack -r; echo $? > code"), \
        cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    notice(cx)
    cx.kill("n1")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert until(lambda: cx.file("code"), "the command to end") == "0\n"
    cx.restart("n1")
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


def test_a_notice_that_was_withdrawn_while_the_mom_was_away_is_gone_when_it_is_back(cx):
    victim, urgent = watcher(cx), cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    notice(cx)
    cx.kill("n1")
    cx.api.delete_hold(urgent)
    cx.restart("n1")
    until(lambda: not os.path.exists(cx.file("path").strip()), "the notice file to go")


def test_a_deadline_that_passes_while_the_server_is_down_is_kept_when_it_is_back(cx):
    victim, urgent = watcher(cx), cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=SHORT).preempt_run(urgent, ROOM, [victim])
    deadline = float(notice(cx)["deadline"])
    cx.kill("server")
    until(lambda: time.time() > deadline, "the deadline")
    cx.restart("server")
    cx.again()
    cx.wait(urgent)
    cx.wait(victim, "Q")


ANSWER_WHEN_ASKED = "until test -f go; do sleep 0.05; done; pbs_preempt_ack -r; echo 1 > answered"


def test_a_victim_that_is_being_deleted_keeps_its_plan_waiting_over_a_restart(cx):
    """It has answered and no method is applied, as its end is under way; a restart must not call that a failure."""
    cx.set_queue("workq", "kill_delay", "600")
    victim = started(cx, "trap '' TERM\n" + WATCH.replace("{}", ANSWER_WHEN_ASKED), preempt_signal="USR1")
    until(lambda: cx.file("ready"), "the script to be ready")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx).preempt_run(urgent, ROOM, [victim])
    notice(cx)
    cx.api.delete(victim)
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()
    until(lambda: cx.file("answered"), "the answer of the job")
    until(lambda: "preempt_deadline" not in cx.stat(victim), "the notice to be over")
    cx.crash_server()
    assert [h["victims_left"] for h in cx.api.stat("hold")] == ["1"]
    node = cx.node("n1")
    assert (node["resources_assigned"]["ncpus"], node.get("resources_held")) == ("4", None)
    cx.hosts_back()
    cx.api.signal(victim, "SIGKILL")
    cx.wait(urgent)


# --- bad values
@pytest.mark.parametrize("name, value", [("preempt_grace", "-1"), ("preempt_grace", "soon"), ("preempt_grace_max", "x"),
                                         ("preempt_budget", "-0.5"), ("preempt_budget", "much")])
def test_bad_values_of_the_policy_are_refused(quiet, name, value):
    for set_it in (lambda: quiet.set_queue("workq", name, value), lambda: quiet.set_sched(name, value)):
        with pytest.raises(api.PbsError) as e:
            set_it()
        assert e.value.code == 15014


def test_a_signal_that_does_not_exist_is_refused_at_submission(quiet):
    with pytest.raises(api.PbsError) as e:
        quiet.submit(preempt_signal="USR9")
    assert e.value.code == 15014 and "preempt_signal" in str(e.value.text) + str(e.value.attributes)
