"""Tasks on the other hosts of a job: letters between shepherds, carried by their MOMs."""
import os
import re
import struct

import pytest

from harness import rpc_caller
from harness.build import program
from harness.sis import Stranger
from harness.tasks import is_gone, output_of, parent_of, run, running, stands_still, start
from harness.wait import until
from harness.work import touch

TWO = {"select": "2:ncpus=1", "l_place": "scatter"}


def pids(cx, *names):
    """The numbers that tasks have written into files."""
    return [int(until(lambda: (cx.file(n) or "").strip(), n)) for n in names]


@pytest.mark.complex(nodes=3)
def test_pbsdsh_runs_on_every_host_and_all_output_is_the_jobs(cx):
    out = run(cx, "pbsdsh sh -c 'echo out $PBS_NODENUM $PBS_TASKNUM; echo err $PBS_NODENUM >&2'; echo exit $?",
              "3:ncpus=1", l_place="scatter")
    lines = sorted(out.splitlines())
    assert lines == ["err 0", "err 1", "err 2", "exit 0", "out 0 2", f"out 1 {(1 << 18) + 2}", f"out 2 {(2 << 18) + 2}"]


@pytest.mark.complex(nodes=2)
def test_tm_works_across_hosts(cx):
    probe = program(cx, "tm_probe")
    out = run(cx, f"""
        {probe} init nodes 'spawn:1:exit 5' obit obit 'spawn:1:sleep 600' tasks:1 tasks:0 kill:15 obit atnode \\
            'spawn:1:{probe} init publish:where=there; touch {cx.work}/published; sleep 600' await:published \\
            subscribe:{(1 << 18) + 4}:where kill:9 obit resources:1 spawn:1:/bin/true obit
    """, **TWO)
    lines = out.splitlines()
    assert lines[:6] == ["task 1 of 0, 2 nodes", "nodes 0 1", "spawned", "ended 5", "ended 5", "spawned"]
    assert lines[6:11] == ["tasks 1", "tasks 1", "signalled", f"ended {256 + 15}", "at node 1 (0)"]
    assert "where is there (6)" in lines and f"ended {256 + 9}" in lines and lines[-1] == "ended 0"
    assert any(re.match(r"resources Linux .*:ncpus=1", line) for line in lines)
    assert f"task {(1 << 18) + 4} of 1, 2 nodes" in lines


@pytest.mark.complex(nodes=2)
def test_pbs_tmrsh_relays_from_another_host(cx):
    out = run(cx, """
        pbs_tmrsh n2 'echo here $PBS_NODENUM; echo complaint >&2; exit 4' > tmrsh.out 2> tmrsh.err; echo exit $?
        pbs_tmrsh n2 'yes 0123456789 | head -c 5000000' | wc -c
    """, **TWO)
    assert out.split() == ["exit", "4", "5000000"]
    assert cx.file("tmrsh.out") == "here 1\n" and cx.file("tmrsh.err") == "complaint\n"


@pytest.mark.complex(nodes=2)
def test_tasks_on_sisters_are_suspended_resumed_and_ended_with_the_job(cx):
    job = start(cx, f"pbsdsh sh -c 'echo $$ > {cx.work}/pid.$PBS_NODENUM; exec sleep 600'", **TWO)
    tasks = pids(cx, "pid.0", "pid.1")
    assert parent_of(tasks[0]) != parent_of(tasks[1])
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    assert all(stands_still(t) for t in tasks)
    cx.api.signal(job, "resume")
    cx.wait(job, state="R")
    cx.api.delete(job)
    until(lambda: all(is_gone(t) for t in tasks), "the end of the tasks")
    cx.wait_gone(job)


@pytest.mark.complex(nodes=2, history=True)
def test_the_cpu_time_of_sisters_counts(cx):
    job = start(cx, "pbsdsh -n 1 sh -c 'ulimit -t 2; while :; do :; done'; true", **TWO)
    cput = cx.wait(job, state="F")["resources_used"]["cput"]
    assert cput != "00:00:00"


@pytest.mark.complex(nodes=2)
def test_tasks_on_sisters_outlive_every_mom_and_the_server(cx):
    """An mpirun with open connections notices nothing: what it asks meanwhile is done when the MOMs are back."""
    probe = program(cx, "tm_probe")
    job = start(cx, f"{probe} init 'spawn:1:touch {cx.work}/first; until test -e {cx.work}/go2; do sleep 0.05; done; "
                    f"echo from afar; exit 6' await:first await:go1 obit 'spawn:1:exit 7' obit", **TWO)
    until(lambda: cx.file("first") is not None, "the first task")
    for daemon in ("n1", "n2", "server"):
        cx.kill(daemon)
    for name in ("go1", "go2"):
        with open(os.path.join(cx.work, name), "w", encoding="ascii"):
            pass
    for daemon in ("server", "n2", "n1"):
        cx.restart(daemon)
    cx.again()
    lines = output_of(cx, job).splitlines()
    lines.remove("from afar")  # before "ended 6", perhaps before "spawned": the answer comes on another way
    assert lines == ["task 1 of 0, 2 nodes", "spawned", "ended 6", "spawned", "ended 7"]


@pytest.mark.complex(nodes=2)
def test_a_spawn_is_done_once_however_often_its_mom_dies(cx):
    probe = program(cx, "tm_probe")
    job = start(cx, f"i=0; while [ ! -e {cx.work}/enough ]; do {probe} init 'spawn:1:echo x >> {cx.work}/spawned' obit; "
                    "i=$((i+1)); done; echo rounds $i", **TWO)
    for _ in range(3):
        seen = len((cx.file("spawned") or "").splitlines())
        until(lambda: len((cx.file("spawned") or "").splitlines()) > seen + 2, "a few more")
        cx.kill("n2")
        cx.restart("n2")
    touch(cx, "enough")
    said = output_of(cx, job)
    rounds = int(re.search(r"rounds (\d+)", said).group(1))
    assert said.count("ended 0") == len(cx.file("spawned").splitlines()) == rounds > 9


def store_of(cx, node):
    with open(os.path.join(cx.dir, "mom", node, "mom_priv", "service"), encoding="ascii") as f:
        return re.search(r"^store (\S+)", f.read(), re.M).group(1)


@pytest.mark.complex(nodes=3)
def test_a_mom_takes_letters_only_from_hosts_that_start_named(cx):
    """mom:n3 has a certificate of the complex, but is not a host of this job, and may not speak for one."""
    job = running(cx, **TWO)
    seq, store = int(job.split(".")[0]), store_of(cx, "n2")
    assert {h.split("/")[0] for h in cx.stat(job)["exec_host"].split("+")} == {"n1", "n2"}
    stranger = Stranger(cx, "n2", "mom:n3")
    assert stranger.letter(seq, 1, store, 0) == 15007
    assert stranger.letter(seq, 1, store, 1) == 15007
    assert stranger.letter(seq, 1, "another store", 0) == 15001
    assert stranger.letter(seq, 2, store, 0) == 15001
    cx.wait_log("n2", "refused a letter of mom:n3")
    # The server itself has no business there either; the host that was named has.
    reply = rpc_caller.call(Stranger(cx, "n2", "server").tls, rpc_caller.SIS, Stranger.LETTER, b"")
    assert struct.unpack(">3I", reply[4:16]) == (1, 1, 1), "denied, whatever it says"
    assert Stranger(cx, "n2", "mom:n1").letter(seq, 1, store, 0) == 0
    assert cx.state(job) == "R"


@pytest.mark.complex(nodes=2)
def test_a_mom_refuses_peers_without_a_certificate(cx):
    where = rpc_caller.connect(Stranger.port(cx, "n2"))
    reply = struct.unpack(">5I", rpc_caller.call(where, rpc_caller.SIS, Stranger.LETTER, b"\0" * 64)[:20])
    assert reply[1:3] == (1, 1), "the call is denied"


COUNT = "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); [ $((i % 100)) = 0 ] && sleep 0.1; done; true"


@pytest.mark.complex(nodes=2)
@pytest.mark.parametrize("how", [f"pbs_tmrsh n2 '{COUNT}' > lines.txt", f"pbsdsh -n 1 sh -c '{COUNT}'"],
                         ids=["relayed", "into the job's file"])
def test_output_from_another_host_is_whole_and_in_order_although_moms_die(cx, how):
    job = start(cx, f"touch begun; {how}; echo exit $?", **TWO)
    until(lambda: cx.file("begun") is not None, "the script")
    for daemon in ("n2", "n1", "n2", "n1"):
        cx.kill(daemon)
        cx.restart(daemon)
    out = output_of(cx, job)
    lines = (cx.file("lines.txt") or out).splitlines()
    assert [x for x in lines if not x.startswith("exit")] == [f"line {i}" for i in range(4000)]
    assert out.splitlines()[-1] == "exit 0"


@pytest.mark.complex(nodes=2)
def test_a_host_that_was_given_back_takes_no_tasks_any_more(cx):
    job = running(cx, f"until test -e go; do sleep 0.05; done; pbsdsh -n 1 true; echo exit $?; pbsdsh -n 0 true; echo exit $?",
                  **TWO)
    cx.command("pbs_release_nodes", "-j", job, "n2")
    until(lambda: "n2" not in cx.stat(job)["exec_vnode"], "the release")
    until(lambda: "jobs" not in cx.node("n2"), "a free n2")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    lines = output_of(cx, job).splitlines()
    assert "error 17000 on spawn, node 1" in lines[0]
    assert lines[1:] == ["exit 1", "exit 0"]


def spawn_letter(number, node, *argv):
    """A letter that asks for a task, as the shepherd of the first host writes it."""
    def text(s):
        b = s.encode()
        return struct.pack(">I", len(b)) + b + b"\0" * (-len(b) % 4)
    words = struct.pack(">I", len(argv)) + b"".join(text(a) for a in argv)
    return struct.pack(">QI3I", number, 102, node, 1, 0) + words + struct.pack(">2I", 0, 0)


@pytest.mark.complex(nodes=2)
def test_a_task_asked_for_while_the_job_is_suspended_begins_when_it_is_resumed(cx):
    job = running(cx, **TWO)
    seq, store = int(job.split(".")[0]), store_of(cx, "n2")
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    first, again = Stranger(cx, "n2", "mom:n1"), Stranger(cx, "n2", "mom:n1")
    letter = spawn_letter(1 << 40, 1, "/bin/sh", "-c", f"echo x >> {cx.work}/late")
    first.tls.settimeout(1)
    with pytest.raises(TimeoutError):
        first.letter(seq, 1, store, 0, letter)
    assert cx.file("late") is None
    cx.api.signal(job, "resume")
    cx.wait(job)
    until(lambda: cx.file("late"), "the task")
    # The same letter once more, as after the death of a MOM: the same task, not another one.
    assert again.letter(seq, 1, store, 0, letter) == 0
    assert again.letter(seq, 1, store, 0, spawn_letter((1 << 40) + 1, 1, "/bin/sh", "-c", f"echo y >> {cx.work}/late")) == 0
    assert until(lambda: "y" in cx.file("late") and cx.file("late"), "the next task") == "x\ny\n"


@pytest.mark.complex(nodes=2, sched=False)
def test_a_mom_gives_files_of_an_earlier_run_only_to_whom_has_the_key(cx):
    job = cx.submit("echo secret; sleep 600")
    cx.api.run(job, "(n1:ncpus=1)")
    spooled = os.path.join(cx.dir, "mom", "n1", "spool", job)
    until(lambda: os.path.exists(spooled + ".OU") and os.path.getsize(spooled + ".OU"), "its output")
    stranger = Stranger(cx, "n1", "mom:n2")
    assert stranger.fetch(job, b"0" * 32) == (15007, 0)  # it runs here, nothing is left to others
    cx.api.rerun(job)
    cx.wait(job, "Q")
    with open(spooled + ".KEY", encoding="ascii") as f:
        key = f.read().split()[0].encode()
    assert os.stat(spooled + ".KEY").st_mode & 0o777 == 0o600
    for wrong in (b"", b"0" * 32, key[:-1]):
        assert stranger.fetch(job, wrong) == (15007, 0)
    cx.wait_log("n1", "refused its files to mom:n2")
    assert stranger.fetch(job, key) == (0, 7)
    assert stranger.fetch(job, key, b"../../mom_priv/config")[0] == 15004
    os.rename(spooled + ".OU", spooled + ".old")
    os.symlink(spooled + ".old", spooled + ".OU")
    assert stranger.fetch(job, key) == (0, 0)  # what is not a plain file of the owner's is not there


@pytest.mark.complex(nodes=2, sched=False)
def test_the_key_of_one_job_removes_no_files_of_another(cx):
    spool = os.path.join(cx.dir, "mom", "n1", "spool")
    jobs = [cx.submit("echo kept; sleep 600") for _ in range(2)]
    for job in jobs:
        cx.api.run(job, "(n1:ncpus=1)")
        until(lambda job=job: os.path.exists(f"{spool}/{job}.OU") and os.path.getsize(f"{spool}/{job}.OU"), "its output")
        cx.api.rerun(job)
        cx.wait(job, "Q")
    mine, other = jobs
    with open(f"{spool}/{mine}.KEY", encoding="ascii") as f:
        key = f.read().split()[0].encode()
    stranger = Stranger(cx, "n1", "mom:n2")
    answers = [stranger.fetch(mine, key, number=other, done=True)[0],
               stranger.fetch("..", key, b"CK", number=other, done=True)[0]]
    assert os.path.exists(f"{spool}/{other}.OU") and os.path.exists(f"{spool}/{other}.KEY")
    assert answers == [15004, 15004]
    assert stranger.fetch(mine, key, done=True)[0] == 0
    assert not os.path.exists(f"{spool}/{mine}.OU") and os.path.exists(f"{spool}/{other}.OU")
