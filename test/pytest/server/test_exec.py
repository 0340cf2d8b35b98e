"""Server and execution services: who is who, what each believes after a silence, and who obeys whom."""
import contextlib
import os
import shutil
import sqlite3
import subprocess

import pytest

from harness.faults import daemon_frozen, frozen, is_alive, stays
from harness.hosts import running, stores
from harness.shepherds import shepherd
from harness.wait import until

history = pytest.mark.complex(history=True)
two = pytest.mark.complex(nodes=2, history=True)
UNTIL_GO = "cd $PBS_O_WORKDIR; echo $$ > pid.$PBS_JOBID; while [ ! -e go ]; do sleep 0.05; done"


def go(cx):
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass


def pid_of(cx, job):
    return int(until(lambda: cx.file(f"pid.{job}"), f"the script of {job}"))


def mom_log(cx, node="n1", home=None):
    folder, text = os.path.join(home or f"{cx.dir}/mom/{node}", "mom_logs"), ""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            text += f.read()
    return text


def in_log(cx, what, **where):
    until(lambda: what in mom_log(cx, **where), f"in the MOM's log: {what}")


# --- a MOM that was away


@two
def test_a_mom_that_was_away_for_less_than_the_server_waits_keeps_its_job(cx):
    cx.set_server("node_fail_requeue", "60")
    job = cx.submit(UNTIL_GO + "; exit 3")
    node = running(cx, job)["exec_host"].split("/")[0]
    cx.kill(node)
    until(lambda: "down" in cx.node(node).state, "the node to be down")
    assert stays(lambda: cx.state(job) == "R", 1)
    cx.control("restart", node)
    go(cx)
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "3" and s["run_count"] == "1"


@two
def test_a_mom_that_comes_back_after_its_job_was_given_to_another_kills_its_copy(cx):
    cx.set_server("node_fail_requeue", "1")
    job = cx.submit(UNTIL_GO + "; exit 4")
    old = running(cx, job)["exec_host"].split("/")[0]
    first = pid_of(cx, job)
    os.unlink(os.path.join(cx.work, f"pid.{job}"))
    cx.kill(old)
    new = running(cx, job, 2)["exec_host"].split("/")[0]
    second = pid_of(cx, job)
    assert new != old and is_alive(first) and is_alive(second)  # the price without $server_lease
    cx.control("restart", old)
    until(lambda: not is_alive(first), "the end of the first copy")
    until(lambda: not shepherd(cx, job, old), "the end of its shepherd")
    assert is_alive(second) and cx.stat(job)["exec_host"].split("/")[0] == new
    go(cx)
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "4" and s["run_count"] == "2"
    in_log(cx, "the server does not know run 1 any more", node=old)


@two
def test_a_copy_that_comes_back_late_does_not_replace_what_the_job_has_written(cx):
    cx.set_server("node_fail_requeue", "1")
    cx.blank("runs")
    job = cx.submit("cd $PBS_O_WORKDIR; n=$(wc -l < runs); echo x >> runs; echo run $n\n"
                    "while [ ! -e go.$n ]; do sleep 0.02; done")
    old = running(cx, job)["exec_host"].split("/")[0]
    until(lambda: cx.file("runs") == "x\n", "the first run")
    cx.kill(old)
    running(cx, job, 2)
    until(lambda: cx.file("runs") == "x\nx\n", "the second run")
    with open(f"{cx.work}/go.1", "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    assert until(lambda: cx.file("out"), "its output") == "run 1\n"
    cx.control("restart", old)
    kept = os.path.join(cx.dir, "mom", old, "undelivered", f"{job}.1.OU")
    until(lambda: os.path.exists(kept), "the end of the first copy")
    with open(kept, encoding="ascii") as f:
        assert f.read() == "run 0\n"
    assert cx.file("out") == "run 1\n"


@stores
def test_a_server_that_was_killed_agrees_with_its_moms_about_every_run(cx, store):
    assert cx.store == store
    jobs = [cx.submit(UNTIL_GO + "; exit 5") for _ in range(3)]
    for job in jobs:
        running(cx, job)
    gone = jobs.pop()
    cx.kill("server")
    cx.control("restart", "server")
    cx.again()
    cx.api.delete(gone, "force")
    go(cx)
    for job in jobs:
        cx.wait_gone(job)
        s = cx.stat(job)
        assert s["Exit_status"] == "5" and s["run_count"] == "1"


# --- $server_lease


def configure(cx, text, node="n1"):
    path = f"{cx.dir}/mom/{node}/mom_priv/config"
    with open(path, "a", encoding="ascii") as f:
        f.write(text + "\n")
    os.chmod(path, 0o600)
    cx.control("restart", node)


@history
def test_a_host_without_a_server_ends_its_runs_when_its_lease_is_over(cx):
    configure(cx, "$server_lease 2")
    job = cx.submit(UNTIL_GO)
    running(cx, job)
    pid = pid_of(cx, job)
    assert stays(lambda: is_alive(pid), 3)  # with a server it lives on
    cx.kill("server")
    until(lambda: not is_alive(pid), "the end of the job")
    in_log(cx, "no server for 2 s ($server_lease)")
    cx.control("restart", "server")
    cx.again()
    running(cx, job, 2)  # it was no fault of the job: it goes back


@history
def test_without_a_lease_a_job_outlives_any_absence_of_the_server(cx):
    job = cx.submit(UNTIL_GO)
    running(cx, job)
    pid = pid_of(cx, job)
    cx.kill("server")
    assert stays(lambda: is_alive(pid), 3)


# --- two runs of one job on one host

alone = pytest.mark.complex(sched=False, history=True)
# The process that holds the lock is alive, and so is each of its children.
LOCKED = """cd $PBS_O_WORKDIR; exec 9>>lock
flock -n 9 && echo in >> marks || echo meets another >> marks
for i in 1 2 3 4 5 6 7 8; do sleep 600 & done
while [ ! -e go ]; do sleep 0.02; done"""
BESIDE = "run 2 begins beside what is left of it"


def marks(cx):
    return (cx.file("marks") or "").splitlines()


def first_run(cx, text=LOCKED):
    cx.blank("lock", "marks")
    job = cx.submit(text)
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: marks(cx), "the first run")
    return job


def force_back_and_run(cx, job):
    cx.api.rerun(job, "force")
    cx.wait(job, "Q")
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: cx.stat(job)["run_count"] == "2", "the order of the second run")


@alone
def test_two_runs_of_a_job_never_overlap_when_its_mom_hangs(cx):
    """The MOM reads the end of run 1 and the start of run 2 in one breath, and the end takes a while."""
    job = first_run(cx)
    with frozen(shepherd(cx, job, "n1")):
        with daemon_frozen(cx, "n1"):
            force_back_and_run(cx, job)
        until(lambda: "run 2 waits for the end of an earlier one" in mom_log(cx) or len(marks(cx)) == 2, "START")
    until(lambda: len(marks(cx)) == 2, "the second run")
    assert marks(cx) == ["in", "in"] or BESIDE in mom_log(cx)  # on a machine that stops for seconds
    go(cx)
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "0" and s["run_count"] == "2"


@alone
def test_a_run_that_cannot_be_ended_does_not_keep_the_next_one_waiting_for_ever(cx):
    job = first_run(cx)
    with frozen(shepherd(cx, job, "n1")):
        force_back_and_run(cx, job)
        until(lambda: len(marks(cx)) == 2, "the second run")
        in_log(cx, BESIDE)
    go(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "0"


@alone
def test_a_run_that_waits_for_an_earlier_one_can_be_deleted(cx):
    job = first_run(cx)
    old = shepherd(cx, job, "n1")
    with frozen(old):
        force_back_and_run(cx, job)
        in_log(cx, "run 2 waits for the end of an earlier one")
        cx.api.delete(job)
        cx.wait_gone(job)
    until(lambda: not is_alive(old), "the end of the first run")
    assert marks(cx) == ["in"] or BESIDE in mom_log(cx)


# --- two MOMs with one name


@contextlib.contextmanager
def twin_of(cx, node):
    """A second MOM of this name with a home of its own and the right certificate; its home."""
    home = os.path.join(cx.top, "twin")
    conf = os.path.join(cx.top, "twin.conf")
    os.mkdir(home)
    with open(f"{cx.dir}/mom/{node}/pbs.conf", encoding="ascii") as f:
        lines = [x for x in f.read().splitlines() if not x.startswith(("PBS_MOM_HOME", "PBS_MOM_SERVICE_PORT",
                                                                       "PBS_MANAGER_SERVICE_PORT"))]
    with open(conf, "w", encoding="ascii") as f:
        f.write("\n".join(lines + [f"PBS_MOM_HOME={home}"]) + "\n")
    with subprocess.Popen([f"{cx.build}/sbin/pbs_mom", "-N"], env={**cx.env, "PBS_CONF_FILE": conf},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as mom:
        try:
            yield home
        finally:
            mom.kill()


@history
def test_of_two_moms_with_one_name_the_second_is_refused_and_told_so(cx):
    job = cx.submit(UNTIL_GO + "; exit 6")
    running(cx, job)
    with twin_of(cx, "n1") as home:
        in_log(cx, "the server refuses us: mom:n1 is here already", home=home)
        cx.kill("n1")  # it holds a run: the other one may not take its place
        until(lambda: "HELLO refused: another mom:n1 on" in cx.log("server"), "the refusal")
        assert cx.state(job) == "R"
        cx.control("restart", "n1")
        go(cx)
        cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "6" and s["run_count"] == "1"


@history
def test_a_second_mom_of_a_name_takes_the_place_of_one_that_is_gone_and_holds_nothing(cx):
    job = cx.submit("exit 0")
    cx.wait_gone(job)
    cx.kill("n1")
    with twin_of(cx, "n1") as home:
        in_log(cx, "accepted by server", home=home)
        until(lambda: cx.node().state == "free", "the node to be free")
        job = cx.submit("sleep 600")
        assert cx.wait(job)["exec_host"].startswith("n1/")
        cx.api.delete(job)  # no other program knows of its shepherd
        cx.wait_gone(job)


# --- servers that must not be obeyed


def move_store(cx, name):
    """The SQLite store under another name; the server must be down."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{cx.home}/server_priv/cede.db{suffix}", f"{cx.home}/server_priv/{name}.db{suffix}")


@history
def test_a_server_of_another_store_ends_no_job_of_a_mom_and_the_mom_says_so(cx):
    job = cx.submit(UNTIL_GO + "; exit 7")
    running(cx, job)
    pid = pid_of(cx, job)
    cx.kill("server")
    move_store(cx, "first")
    cx.control("restart", "server")  # a new store: it knows nothing of job 0
    cx.again()
    cx.qmgr("create node n1")
    in_log(cx, "run 1 is of another store")
    other = cx.submit("sleep 1")
    assert other == job  # even under the same name and run it is another job
    until(lambda: "another START had this job and run" in cx.log("server"), "the refusal")
    cx.api.delete(other, "force")
    assert is_alive(pid)
    cx.stop_daemon("server")
    move_store(cx, "second")
    os.rename(f"{cx.home}/server_priv/first.db", f"{cx.home}/server_priv/cede.db")
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{cx.home}/server_priv/first.db{suffix}", f"{cx.home}/server_priv/cede.db{suffix}")
    cx.control("restart", "server")
    cx.again()
    running(cx, job)
    go(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "7"


@history
def test_a_server_of_another_store_is_told_nothing_of_a_run_that_ended_meanwhile(cx):
    """The end waits for the server that the job is of; another one, which does not know the run, must not have it removed."""
    job = cx.submit(UNTIL_GO + "; exit 7")
    running(cx, job)
    cx.kill("server")
    go(cx)
    in_log(cx, "Terminated")
    move_store(cx, "first")
    cx.control("restart", "server")
    cx.again()
    cx.qmgr("create node n1")
    in_log(cx, "run 1 is of another store")
    other = cx.submit("sleep 1")  # its events are taken: the one before it would have been, too
    assert other == job
    until(lambda: "another START had this job and run" in cx.log("server"), "the refusal")
    cx.api.delete(other, "force")
    cx.stop_daemon("server")
    move_store(cx, "second")
    os.rename(f"{cx.home}/server_priv/first.db", f"{cx.home}/server_priv/cede.db")
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{cx.home}/server_priv/first.db{suffix}", f"{cx.home}/server_priv/cede.db{suffix}")
    cx.control("restart", "server")
    cx.again()
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "7"


@history
def test_a_server_of_a_lower_epoch_is_not_obeyed(cx):
    job = cx.submit(UNTIL_GO + "; exit 8")
    running(cx, job)
    pid = pid_of(cx, job)
    cx.stop_daemon("server")
    with sqlite3.connect(f"{cx.home}/server_priv/cede.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    shutil.copy(f"{cx.home}/server_priv/cede.db", f"{cx.home}/old.db")
    for epoch in (2, 3):
        cx.control("restart", "server")  # each start is a higher epoch, and the MOM obeys it
        in_log(cx, f"accepted by server {cx.again().stat('server')[0].name}, epoch {epoch}")
    cx.stop_daemon("server")
    until(lambda: "no server at present" in mom_log(cx).rpartition("accepted by server")[2],
          "the MOM saying that there is none: why it is refused it says all the same")
    move_store(cx, "new")
    os.rename(f"{cx.home}/old.db", f"{cx.home}/server_priv/cede.db")
    cx.control("restart", "server")
    cx.again()
    in_log(cx, "has obeyed a server of epoch")
    cx.api.delete(job, "force")
    assert stays(lambda: is_alive(pid), 1)
    assert shepherd(cx, job, "n1")
