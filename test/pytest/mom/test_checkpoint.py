"""Checkpoint and restart: by the site's scripts, for holds, preemption, and as a job asks for it."""
import os
import subprocess
import threading

import pytest

from harness import api, users
from harness.checkpoints import COUNTER, SAVE, SPREAD, both_hosts, by_application, count, preempt, running, spread, stop, tool
from harness.faults import daemon_frozen, frozen, is_alive, stays
from harness.mom_priv import configure, configure_live, script, without_checkpoint
from harness.shepherds import shepherd
from harness.tasks import stands_still
from harness.wait import until
from harness.work import account_lines

history = pytest.mark.complex(history=True)
alone = pytest.mark.complex(history=True, sched=False)
two = pytest.mark.complex(nodes=2, history=True)


def images(cx, node="n1"):
    path = os.path.join(cx.dir, "mom", node, "checkpoint")
    return os.listdir(path) if os.path.isdir(path) else []


def kinds_of(cx, job):
    """Letters of its records; they are written a moment after what they tell."""
    return [line.split(";")[1] for line in account_lines(cx) if f";{job};" in line]


# --- holds


@history
def test_a_running_job_that_is_held_is_saved_and_continues_where_it_was(cx):
    by_application(cx)
    job = count(cx)
    cx.api.hold(job)
    s = cx.wait(job, state="H")
    assert s["Hold_Types"] == "u" and s["comment"].startswith("Job held by ")
    saved = cx.file("counts").splitlines()[1]
    assert saved.startswith("saved ") and int(saved.split()[1]) > 0
    cx.api.release(job)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").splitlines()[2] == "begin " + saved.split()[1]
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "0"
    until(lambda: not images(cx), "the end of the images")
    kinds = until(lambda: (k := kinds_of(cx, job)) and "E" in k and k, "the record of its end")
    assert "C" in kinds and "T" in kinds and kinds.index("C") < kinds.index("T") < kinds.index("E")


@history
def test_a_hold_of_a_job_whose_host_saves_nothing_counts_when_it_comes_back(cx):
    without_checkpoint(cx)
    job = cx.submit("sleep 600")
    running(cx, job)
    cx.api.hold(job)
    assert stays(lambda: cx.state(job) == "R", 0.3)
    cx.api.release(job)
    cx.api.rerun(job)
    running(cx, job)
    assert cx.stat(job)["comment"].startswith("Job run at ")
    cx.api.hold(job)
    cx.api.rerun(job)
    s = cx.wait(job, state="H")
    assert s["Hold_Types"] == "u" and s["comment"].startswith("Job held by ")


@history
def test_a_job_that_started_before_its_host_had_a_checkpoint_script_is_saved_too(cx):
    without_checkpoint(cx)
    job = cx.submit("sleep 600")
    running(cx, job)
    assert images(cx) == []
    path = script(cx, "save", "mkdir -p $1 && echo state >$1/core")
    before = cx.log("n1").count("accepted by server")
    configure_live(cx, f"$action checkpoint_abort 60 !{path} %path")
    until(lambda: cx.log("n1").count("accepted by server") > before, "the server, which hears that the host saves jobs")
    cx.api.hold(job)
    cx.wait(job, state="H")
    assert images(cx) == [job + ".CK"]


@history
def test_a_checkpoint_that_fails_leaves_the_job_running_and_the_hold_says_so(cx):
    by_application(cx, seconds=1)
    job = cx.submit(f"trap : USR1\ntouch {cx.work}/ready\nwhile :; do sleep 0.1; done")
    running(cx, job)
    until(lambda: cx.file("ready") is not None, "its trap")
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert "has not saved itself" in e.value.text and "runs on" in e.value.text
    assert cx.state(job) == "R" and not [f for f in images(cx) if os.path.exists(f + "/00000001")]


@history
def test_a_hold_of_a_job_whose_program_cannot_be_asked_counts_when_it_comes_back(cx):
    """Each host saves programs that save themselves; a job of another program is held as in a complex without checkpoints."""
    job = cx.submit("while :; do sleep 0.1; done")
    running(cx, job)
    cx.api.hold(job)
    assert cx.state(job) == "R" and cx.stat(job)["Hold_Types"] == "u"
    cx.wait_log("server", "no process of the job has a handler")
    cx.api.rerun(job)
    cx.wait(job, state="H")


@history
def test_a_job_that_wants_no_checkpoint_is_not_saved(cx):
    by_application(cx)
    job = cx.submit("sleep 600", Checkpoint="n")
    running(cx, job)
    cx.api.hold(job)
    assert stays(lambda: cx.state(job) == "R", 0.3)


# --- preemption


@alone
def test_preemption_by_checkpoint_answers_C_when_the_job_is_queued_with_its_state(cx):
    by_application(cx)
    job = cx.submit(COUNTER.format(work=cx.work))
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    assert preempt(cx, job) == {job: "C"}
    assert cx.state(job) == "Q"
    saved = cx.file("counts").splitlines()[1].split()[1]
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").splitlines()[2] == f"begin {saved}"


@alone
def test_where_nothing_can_be_saved_the_next_letter_is_tried(cx):
    by_application(cx)
    plain = cx.submit("while :; do sleep 0.1; done")
    cx.api.run(plain, "(n1:ncpus=1)")
    running(cx, plain)
    assert preempt(cx, plain, "CR") == {plain: "Q"}


@alone
def test_without_a_script_method_C_is_passed_over(cx):
    job = cx.submit("sleep 600")
    cx.api.run(job, "(n1:ncpus=1)")
    assert preempt(cx, job, "CR") == {job: "Q"}


def by_tool(cx, *nodes):
    """Besides what the program saves, the site's script writes something that only this host can use."""
    app = os.path.join(cx.build, "libexec", "ckpt-app")
    for node in nodes:
        path = script(cx, "save", f"mkdir $1; echo dump > $1/dump; exec {app} USR1 20", node)
        configure(cx, f"$action checkpoint_abort 30 !{path} %path", node=node)


def count_on(cx, node, **attrs):
    """The counter, by hand on this node; no scheduler is at work until the test says so."""
    cx.set_server("scheduling", "False")
    cx.blank("counts", "now")
    job = cx.submit(COUNTER.format(work=cx.work), **attrs)
    cx.api.run_async(job, f"({node}:ncpus=1)")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    return job


def save_and_leave(cx, job):
    """Saved, held and free to go again; what it had counted, and how it stood in the meantime."""
    cx.api.hold(job)
    s = cx.wait(job, state="H")
    cx.api.release(job)
    return cx.file("counts").splitlines()[-1].split()[1], s


def second_begin(cx):
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    return [line for line in cx.file("counts").splitlines() if line.startswith("begin")][1].split()[1]


@two
def test_a_saved_job_goes_back_to_the_host_that_has_its_image(cx):
    by_tool(cx, "n1", "n2")
    job = count_on(cx, "n2")
    _, s = save_and_leave(cx, job)
    assert "host=n2" in s["schedselect"]
    cx.set_server("scheduling", "True")
    s = running(cx, job)
    assert s["exec_vnode"] == "(n2:ncpus=1)"
    stop(cx)
    cx.wait_gone(job)
    assert "host=" not in cx.stat(job)["schedselect"]


@two
def test_a_saved_job_that_is_altered_asks_for_what_it_was_altered_to(cx):
    """With the same select it goes back to its image; another one holds from then on."""
    by_tool(cx, "n1", "n2")
    job = count_on(cx, "n2")
    save_and_leave(cx, job)
    cx.api.alter(job, [("Resource_List", "walltime", "900")])
    assert "host=n2" in cx.stat(job)["schedselect"]
    cx.api.alter(job, [("Resource_List", "select", "1:ncpus=1:mem=1mb")])
    asked = cx.stat(job)["schedselect"]
    assert "mem=1mb" in asked and "host=" not in asked
    cx.api.run(job, "(n2:ncpus=1:mem=1mb)")
    assert running(cx, job)["schedselect"] == asked


@two
def test_a_job_that_an_operator_runs_on_another_host_starts_from_its_beginning(cx):
    by_tool(cx, "n1", "n2")
    job = count_on(cx, "n2")
    save_and_leave(cx, job)
    cx.api.run(job, "(n1:ncpus=1)")
    assert second_begin(cx) == "0"
    until(lambda: not images(cx, "n2"), "the end of the image that is of no use")


# --- what a program has saved for itself goes along to another host


@two
def test_the_files_that_a_program_saved_move_with_it_to_another_host(cx):
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1")
    saved, s = save_and_leave(cx, job)
    assert "host=" not in s["schedselect"] and int(saved) > 0
    cx.api.run(job, "(n2:ncpus=1)")
    assert second_begin(cx) == saved
    until(lambda: not images(cx, "n1"), "the end of the image where it was")
    assert images(cx, "n2")
    saved, _ = save_and_leave(cx, job)  # and from there again
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("counts").splitlines()[-1] == "begin " + saved, "the third start")
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "0"
    until(lambda: not images(cx, "n1") and not images(cx, "n2"), "the end of the images")
    until(lambda: kinds_of(cx, job).count("T") == 2, "records of both restarts")


@two
def test_a_scheduler_puts_a_job_whose_image_moves_where_there_is_room(cx):
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1")
    saved, _ = save_and_leave(cx, job)
    cx.qmgr("set node n1 state = offline")
    cx.set_server("scheduling", "True")
    assert second_begin(cx) == saved
    assert running(cx, job)["exec_vnode"] == "(n2:ncpus=1)"


@two
def test_a_job_whose_image_was_on_a_lost_host_starts_from_its_beginning_and_says_why(cx):
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1")
    save_and_leave(cx, job)
    cx.kill("n1")
    until(lambda: "down" in cx.node("n1")["state"], "the loss of n1")
    cx.api.run_async(job, "(n2:ncpus=1)")
    assert second_begin(cx) == "0"
    s = running(cx, job)
    assert s["run_count"] == "2" and "started from the beginning, its checkpoint is on mom:n1" in s["comment"]
    stop(cx)
    cx.wait_gone(job)
    assert "=>> PBS: the job begins from the start: its checkpoint is on mom:n1" in cx.file("err")
    until(lambda: "E" in kinds_of(cx, job), "the record of its end")
    assert "T" not in kinds_of(cx, job)


@two
def test_a_job_that_is_not_rerunable_waits_for_the_host_of_its_image(cx):
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1", Rerunable="n")
    saved, s = save_and_leave(cx, job)
    assert "host=n1" in s["schedselect"]
    cx.api.run(job, "(n2:ncpus=1)")  # a person may
    assert second_begin(cx) == saved
    saved, _ = save_and_leave(cx, job)
    cx.kill("n2")
    until(lambda: "down" in cx.node("n2")["state"], "the loss of n2")
    cx.api.run_async(job, "(n1:ncpus=1)")
    s = cx.wait(job, state="H")
    assert "not rerunnable" in s["comment"] and cx.file("counts").count("begin") == 2


HOSTILE = """cd $PBS_CHECKPOINT_DIR
ln -s {work} out; ln -s {work}/victim file; ln -s .. up; mkdir deep; mkfifo deep/pipe
echo 1 > deep/data; chmod 640 deep/data; echo "a b" > "deep/ -rf"; ln deep/data deep/again; truncate -s 64M hole
"""


@two
def test_links_in_what_a_program_has_saved_lead_nowhere_on_the_next_host(cx):
    by_application(cx, "n1", "n2")
    victim = os.path.join(cx.work, "victim")
    with open(victim, "w", encoding="ascii") as f:
        f.write("mine\n")
    cx.set_server("scheduling", "False")
    text = COUNTER.format(work=cx.work).replace("n=0\n", HOSTILE.format(work=cx.work) + "n=0\n", 1)
    text = text.replace("echo begin", f"ls -R > {cx.work}/seen; echo begin")
    text = text.replace("cd $PBS_CHECKPOINT_DIR\n", "cd $PBS_CHECKPOINT_DIR; if [ ! -e state ]; then\n", 1) \
               .replace("n=0\n", "fi; n=0\n", 1)
    cx.blank("counts", "now", "seen")
    job = cx.submit(text)
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    saved, _ = save_and_leave(cx, job)
    cx.api.run(job, "(n2:ncpus=1)")
    assert second_begin(cx) == saved
    app = os.path.join(cx.dir, "mom", "n2", "checkpoint", f"{job}.CK", "app")
    assert os.readlink(f"{app}/out") == cx.work and os.readlink(f"{app}/up") == ".."
    assert sorted(os.listdir(f"{app}/deep")) == [" -rf", "again", "data"]
    assert os.stat(f"{app}/deep/data").st_mode & 0o777 == 0o640
    hole = os.stat(f"{app}/hole")
    assert hole.st_size == 64 << 20 and hole.st_blocks * 512 < 1 << 20
    with open(victim, encoding="ascii") as f:
        assert f.read() == "mine\n"
    assert sorted(os.listdir(os.path.dirname(app))) == ["00000001", "KEY", "app"]


@two
def test_a_mom_that_is_killed_while_an_image_comes_fetches_it_again(cx):
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1")
    saved, _ = save_and_leave(cx, job)
    with daemon_frozen(cx, "n1"):
        cx.api.run_async(job, "(n2:ncpus=1)")
        until(lambda: os.path.isdir(os.path.join(cx.dir, "mom", "n2", "mom_priv", "jobs", f"{job}.2")), "START")
        cx.kill("n2")
    cx.restart("n2")
    assert second_begin(cx) == saved


@two
def test_an_image_is_given_only_to_a_caller_with_the_key(cx):
    """The key stands beside the image; another one there is as if another host had shown a wrong one."""
    by_application(cx, "n1", "n2")
    job = count_on(cx, "n1")
    save_and_leave(cx, job)
    path = os.path.join(cx.dir, "mom", "n1", "checkpoint", f"{job}.CK", "KEY")
    with open(path, encoding="ascii") as f:
        key = f.read()
    with open(path, "w", encoding="ascii") as f:
        f.write(("0" if key[0] != "0" else "1") + key[1:])
    cx.api.run_async(job, "(n2:ncpus=1)")
    assert second_begin(cx) == "0"
    cx.wait_log("n1", "refused its image to mom:n2")


@history
def test_files_that_were_staged_in_are_as_the_job_has_left_them(cx):
    by_application(cx)
    os.chmod(cx.work, 0o777)
    with open(os.path.join(cx.work, "source"), "w", encoding="ascii") as f:
        f.write("one\n")
    cx.blank("counts", "now", "seen")
    text = COUNTER.format(work=cx.work).replace(
        "echo begin", f"cat {cx.work}/data >> {cx.work}/seen; echo two >> {cx.work}/data; echo begin")
    job = cx.submit(text, stagein=f"{cx.work}/data@{os.uname().nodename}:{cx.work}/source")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    cx.api.hold(job)
    s = cx.wait(job, state="H")
    assert "host=n1" in s["schedselect"]  # where the files are
    cx.api.release(job)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("seen") == "one\none\ntwo\n"
    stop(cx)
    cx.wait_gone(job)
    until(lambda: cx.file("data") is None, "the end of what was brought")


# --- a server that goes down at once


@history
def test_a_server_that_goes_down_at_once_saves_jobs_and_requeues_those_that_cannot_be_saved(cx):
    by_application(cx)
    plain = cx.submit("while :; do sleep 0.1; done")
    running(cx, plain)
    job = count(cx)
    cx.command("qterm", "-t", "immediate")
    until(lambda: cx.pid("server") == 0, "the end of the server")
    saved = cx.file("counts").splitlines()[1].split()[1]
    cx.restart("server")
    cx.again()
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").splitlines()[2] == f"begin {saved}"
    assert running(cx, plain)["run_count"] == "2" and running(cx, job)["run_count"] == "2"


# --- images of the site's own tools


@history
def test_a_restart_script_brings_the_job_back_and_its_end_is_the_jobs_end(cx):
    tool(cx, checkpoint_abort=SAVE,
         restart=f"cat $3/core > {cx.work}/restarted; echo $2 $(id -u) >> {cx.work}/restarted\n"
                 f"(while [ ! -e {cx.work}/stop ]; do sleep 0.05; done; exit 9) & exit 0")
    job = cx.submit("while :; do sleep 0.05; done")
    running(cx, job)
    sid = cx.stat(job)["session_id"]
    cx.api.hold(job)
    cx.wait(job, state="H")
    cx.api.release(job)
    running(cx, job)
    words = cx.file("restarted").split()
    owner = users.NAMES[0] if os.geteuid() == 0 else users.me()
    assert words == ["image", "of", job, owner, sid, str(os.geteuid())]
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "9"


@history
def test_a_restart_script_may_become_the_job(cx):
    configure(cx, "$restart_transmogrify true")
    tool(cx, checkpoint_abort=SAVE, restart=f"echo from image; while [ ! -e {cx.work}/stop ]; do sleep 0.05; done; exit 4")
    job = cx.submit("echo first; while :; do sleep 0.05; done")
    spooled = os.path.join(cx.dir, "mom", "n1", "spool", f"{job}.OU")
    until(lambda: os.path.exists(spooled) and os.path.getsize(spooled), "its first line")
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    cx.api.release(job)
    running(cx, job)
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "4"
    assert cx.file("out").splitlines() == ["first", "from image"]
    cx.wait_log("n1", f";{job};task 00000001 transmogrified")


@history
def test_a_job_whose_restart_fails_starts_from_its_beginning_and_says_so(cx):
    tool(cx, checkpoint_abort=SAVE, restart="echo no; exit 1")
    job = cx.submit(f"echo x >> {cx.work}/began; while [ ! -e {cx.work}/stop ]; do sleep 0.05; done")
    cx.blank("began")
    running(cx, job)
    until(lambda: cx.file("began"), "its first step")
    cx.api.hold(job)
    cx.wait(job, state="H")
    cx.api.release(job)
    until(lambda: cx.file("began") == "x\nx\n", "the job from its beginning")
    cx.wait_log("n1", f"restart of task 00000001 from file {cx.dir}/mom/n1/checkpoint/{job}.CK/00000001 failed: ")
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "0"


@history
def test_a_held_job_that_a_checkpoint_tool_ends_is_held_and_not_finished(cx):
    tool(cx, checkpoint_abort=SAVE + "; kill -KILL $2; sleep 0.5; exit 3")
    job = cx.submit("exec sleep 600")
    running(cx, job)
    cx.api.hold(job)
    assert cx.wait(job, state="H")["Hold_Types"] == "u"


@history
def test_a_script_that_takes_too_long_is_ended_and_the_job_runs_on(cx):
    path = script(cx, "slow", f"echo $$ > {cx.work}/pid; kill -STOP $1; sleep 600")
    configure(cx, f"$action checkpoint_abort 1 !{path} %sid")
    job = cx.submit("exec sleep 600")
    running(cx, job)
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert "alarm" in e.value.text
    until(lambda: not is_alive(int(cx.file("pid"))), "the end of the script")
    pid = int(cx.stat(job)["session_id"])
    until(lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().split(") ")[1][0] != "T", "the job going on")


@history
def test_an_old_image_stays_until_the_new_one_is_whole(cx):
    tool(cx, checkpoint_abort=f"[ -e {cx.work}/bad ] && {{ mkdir $3; echo half > $3/core; exit 1; }}\n" + SAVE,
         restart=f"cat $3/core > {cx.work}/restarted; (sleep 600) & exit 0")
    job = cx.submit("exec sleep 600")
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    cx.api.release(job)
    running(cx, job)
    with open(os.path.join(cx.work, "bad"), "w", encoding="ascii"):
        pass
    with pytest.raises(api.PbsError):
        cx.api.hold(job)
    os.unlink(os.path.join(cx.work, "restarted"))
    cx.api.rerun(job)
    cx.wait(job, state="H")
    cx.api.release(job)
    until(lambda: cx.file("restarted"), "the restart from the whole image")
    assert cx.file("restarted").startswith("image of")


# --- as a job asks for it


@history
def test_a_job_may_ask_to_be_saved_every_so_many_minutes(cx):
    configure(cx, "$min_check_poll 1", "$max_check_poll 1", "$wallmult 60")
    by_application(cx)
    job = count(cx, Checkpoint="w=1")
    until(lambda: "saved" in cx.file("counts"), "the first checkpoint")
    assert cx.state(job) == "R"
    saved = cx.file("counts").splitlines()[1].split()[1]
    cx.api.rerun(job)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").splitlines()[2] == f"begin {saved}"


# --- daemons that are killed


@history
def test_a_mom_that_dies_in_the_middle_is_asked_again(cx):
    path = script(cx, "save", f"[ -e {cx.work}/go ] || {{ echo $$ > {cx.work}/pid; sleep 600; }}\nmkdir $1; echo image > $1/core")
    configure(cx, f"$action checkpoint_abort 60 !{path} %path")
    job = cx.submit("exec sleep 600")
    running(cx, job)
    held = cx.connect()
    try:
        t = threading.Thread(target=lambda: held.hold(job))
        t.start()
        pid = int(until(lambda: cx.file("pid"), "the script"))
        cx.kill("n1")
        until(lambda: not is_alive(pid), "the end of the script")
        with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
            pass
        cx.restart("n1")
        t.join(120)
        assert not t.is_alive()
    finally:
        held.close()
    assert cx.wait(job, state="H")["Hold_Types"] == "u"


@history
def test_a_server_that_is_killed_finds_the_image_again(cx):
    by_application(cx)
    job = count(cx)
    cx.api.hold(job)
    cx.wait(job, state="H")
    saved = cx.file("counts").splitlines()[1].split()[1]
    cx.crash_server().release(job)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").splitlines()[2] == f"begin {saved}"


# --- several hosts: all of them, or none

both = pytest.mark.complex(nodes=2, history=True)


def with_task(cx, **attrs):
    """A job whose script has started something on its other host; the pid of that."""
    dsh = os.path.join(cx.build, "bin", "pbsdsh")
    job = spread(cx, f"{dsh} -o -n 1 -- /bin/sh -c 'echo $$ > {cx.work}/task; exec sleep 600'\nexec sleep 600", **attrs)
    return job, int(until(lambda: (cx.file("task") or "").strip(), "the task"))


@both
def test_a_job_on_two_hosts_is_saved_on_both_and_restarted_on_both(cx):
    both_hosts(cx)
    cx.blank("task")
    job, task = with_task(cx)
    cx.api.hold(job)
    s = cx.wait(job, state="H")
    assert sorted(cx.file("saves").split()) == ["n1", "n2"] and not is_alive(task)
    assert s["schedselect"] == "1:ncpus=1:host=n1+1:ncpus=1:host=n2"
    for node in ("n1", "n2"):
        name = os.path.join(cx.dir, "mom", node, "checkpoint", f"{job}.CK", "00000001.1.1")
        assert os.path.exists(os.path.join(name, "core")) and os.path.exists(name + ".seal")
    cx.api.release(job)
    running(cx, job)
    assert sorted(line.split()[0] for line in cx.file("agains").splitlines()) == ["n1", "n2"]
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "9" and cx.stat(job)["schedselect"] == "2:ncpus=1"
    until(lambda: not images(cx) and not images(cx, "n2"), "the end of the images")


@pytest.mark.complex(nodes=2, history=True, sched=False)
def test_method_C_works_for_a_job_on_two_hosts_and_a_host_without_tasks_has_nothing_to_save(cx):
    both_hosts(cx)
    job = cx.submit("exec sleep 600", **SPREAD)
    cx.api.run(job, "(n1:ncpus=1)+(n2:ncpus=1)")
    running(cx, job)
    assert preempt(cx, job) == {job: "C"}
    assert cx.state(job) == "Q" and cx.file("saves") == "n1\n"
    cx.api.run(job, "(n1:ncpus=1)+(n2:ncpus=1)")
    running(cx, job)
    assert [line.split()[0] for line in cx.file("agains").splitlines()] == ["n1"]


@both
def test_where_one_host_cannot_save_the_job_runs_on_everywhere_and_no_image_is_left(cx):
    both_hosts(cx, f"[ $PBS_NODENUM = 1 ] && {{ while [ ! -e {cx.work}/go ]; do sleep 0.02; done; echo no disk; exit 1; }}\nmkdir $3; echo image > $3/core")
    cx.blank("task")
    job, task = with_task(cx)
    first = int(cx.stat(job)["session_id"])
    asker = cx.connect()
    ticket = asker.call_send("holdjob_send", job, "u", None)
    until(lambda: stands_still(first), "the first host standing still with its image")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    with pytest.raises(api.PbsError) as e:
        asker.recv(ticket)
    asker.close()
    assert "no disk" in e.value.text and "runs on" in e.value.text
    until(lambda: not stands_still(first), "the first host going on")
    assert cx.state(job) == "R" and is_alive(task)
    until(lambda: not [f for n in ("n1", "n2") for f in os.listdir(os.path.join(cx.dir, "mom", n, "checkpoint", f"{job}.CK"))
                       if f.startswith("0")], "the end of the images")


@both
def test_a_job_on_two_hosts_is_saved_though_server_and_moms_are_killed_meanwhile(cx):
    both_hosts(cx, f"[ $PBS_NODENUM = 1 ] && while [ ! -e {cx.work}/go ]; do sleep 0.02; done\nmkdir $3; echo image > $3/core")
    cx.blank("task")
    job, _ = with_task(cx)
    first = int(cx.stat(job)["session_id"])
    asker = cx.connect()
    asker.call_send("holdjob_send", job, "u", None)
    until(lambda: stands_still(first), "the first host standing still with its image")
    asker.close()
    for daemon in ("server", "n1", "n2"):
        cx.kill(daemon)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    for daemon in ("server", "n1", "n2"):
        cx.control("restart", daemon)
    cx.again()
    until(lambda: cx.state(job) in "HQ" or cx.stat(job)["run_count"] == "2", "the job leaving")
    until(lambda: cx.file("agains") or cx.state(job) == "H", "its way back")
    assert cx.file("saves").split().count("n1") == 1  # what was there is not written again


@both
def test_a_job_on_two_hosts_is_saved_at_its_interval_and_continues_from_there(cx):
    both_hosts(cx)
    for node in ("n1", "n2"):
        configure(cx, "$min_check_poll 1", "$max_check_poll 1", "$wallmult 60", node=node)
    job = spread(cx, Checkpoint="w=1")
    until(lambda: cx.file("saves"), "the first checkpoint")
    until(lambda: all(f"checkpointed on mom:{n}" in cx.log("server") for n in ("n1", "n2")), "both images")
    assert cx.state(job) == "R"
    cx.api.rerun(job)
    until(lambda: cx.file("agains"), "the restart")
    assert running(cx, job)["run_count"] == "2"


# --- CRIU

# Checks what it is asked for and writes a directory; a restore makes a process that is there to stay.
FAKE_CRIU = """#!/bin/sh
echo "$@" >> {work}/criu; verb=$1
while [ $# -gt 0 ]; do case $1 in -t) tree=$2;; -D) dir=$2;; -W) logs=$2;; esac; shift; done
echo "some words" > ${{logs:-$dir}}/$verb.log
[ -e {work}/bad ] && {{ echo "(00.1) Error (criu/x.c:1): no such luck" > ${{logs:-$dir}}/$verb.log; exit 1; }}
case $verb in
dump) kill -0 $tree && echo $tree > $dir/core;;
restore) [ -e $dir/core ] && {{ (while [ ! -e {work}/stop ]; do sleep 0.05; done; exit 6) & }};;
esac
"""


def criu(cx):
    fake = os.path.join(cx.work, "criu_tool")
    with open(fake, "w", encoding="ascii") as f:
        f.write(FAKE_CRIU.format(work=cx.work))
    os.chmod(fake, 0o755)
    cx.blank("criu")
    tool = os.path.join(cx.build, "libexec", "ckpt-criu")
    path = script(cx, "criu", f"CKPT_CRIU={fake} exec {tool} \"$@\"")
    configure(cx, *[f"$action {name} 20 !{path} {verb} %path" for name, verb in
                    (("checkpoint", "dump"), ("checkpoint_abort", "dump"), ("restart", "restore"))])


@history
def test_criu_is_asked_to_dump_each_session_and_to_restore_them(cx):
    criu(cx)
    dsh = os.path.join(cx.build, "bin", "pbsdsh")
    job = cx.submit(f"{dsh} -o -n 0 -- /bin/sleep 600\necho one; touch {cx.work}/begun; sleep 600")
    os.chmod(cx.work, 0o777)
    until(lambda: cx.file("begun") is not None, "its task")
    session = cx.stat(job)["session_id"]
    cx.api.hold(job)
    cx.wait(job, state="H")
    dumps = cx.file("criu").splitlines()
    assert len(dumps) == 2 and dumps[0].startswith(f"dump -t {session} -D ")
    assert all(" --leave-running -v1 --manage-cgroups=ignore" in line for line in dumps)
    with open(os.path.join(cx.dir, "mom", "n1", "spool", f"{job}.OU"), "a", encoding="ascii") as f:
        f.write("behind the dump\n")
    cx.api.release(job)
    running(cx, job)
    restores = cx.file("criu").splitlines()[2:]
    assert len(restores) == 2 and all(line.startswith("restore -D ") and " -d " in line for line in restores)
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "6"
    assert cx.file("out") == "one\n"  # what was written behind the dump will be written again


@history
def test_the_user_reads_the_words_of_a_failed_criu_and_the_job_runs_on(cx):
    criu(cx)
    job = cx.submit("exec sleep 600")
    running(cx, job)
    with open(os.path.join(cx.work, "bad"), "w", encoding="ascii"):
        pass
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert "no such luck" in e.value.text and cx.state(job) == "R"


def test_the_probe_of_ckpt_criu_says_whether_it_can_work_here_or_why_not(shared):
    tool = os.path.join(shared.build, "libexec", "ckpt-criu")
    done = subprocess.run([tool, "--probe"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == (done.stdout == "")
    done = subprocess.run([tool, "--probe"], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "CKPT_CRIU": "/nowhere/criu"})
    assert done.returncode == 1 and "/nowhere/criu" in done.stdout


@alone
def test_a_run_that_was_given_up_leaves_the_next_one_its_directory(cx):
    """Both are on one host for a while: the end of the first must not take the place for images away."""
    configure(cx, "$action checkpoint_abort 20 !/bin/true")
    job = cx.submit("echo $PBS_CHECKPOINT_DIR > where; exec sleep 600".replace("where", f"{cx.work}/where"))
    cx.api.run(job, "(n1:ncpus=1)")
    old = until(lambda: shepherd(cx, job, "n1"), "its shepherd")
    until(lambda: (cx.file("where") or "").strip(), "the first run")
    with frozen(old):
        cx.api.rerun(job, "force")
        cx.wait(job, "Q")
        os.remove(os.path.join(cx.work, "where"))
        cx.api.run(job, "(n1:ncpus=1)")
        place = until(lambda: (cx.file("where") or "").strip(), "the second run")
    until(lambda: not is_alive(old), "the end of the first")
    assert stays(lambda: os.path.isdir(place), 0.4) and cx.state(job) == "R"
